//! A panel: what it shows, and how Grafana writes that down.

use serde_json::{Value, json};

/// One query of a panel.
#[derive(Clone, Debug)]
pub(super) struct Target {
    pub(super) expr: String,
    pub(super) legend: String,
    /// Whether pods are marked that are examples of what the query shows
    pub(super) exemplars: bool,
}

impl Target {
    pub(super) fn new(expr: impl Into<String>, legend: impl Into<String>) -> Self {
        Self {
            expr: expr.into(),
            legend: legend.into(),
            exemplars: false,
        }
    }

    pub(super) fn with_exemplars(self) -> Self {
        Self {
            exemplars: true,
            ..self
        }
    }
}

/// What a panel draws.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    /// The newest value, large
    Stat,
    /// Lines
    Lines,
    /// Areas upon each other
    Stack,
    /// Colours for how many lie in which bucket
    Heatmap,
    /// One row per label set; the columns are named, and have units, in the order of the targets
    Table(Vec<Column>),
}

/// A column of a table: the value of one target.
#[derive(Clone, Debug)]
pub(super) struct Column {
    pub(super) name: &'static str,
    pub(super) unit: &'static str,
}

pub(super) const fn column(name: &'static str, unit: &'static str) -> Column {
    Column { name, unit }
}

/// Where a value changes its colour: from this value on.
pub(super) type Step = (f64, &'static str);

/// A panel. Title, description, unit and queries have to be given: there is none without.
#[derive(Clone, Debug)]
pub(super) struct Panel {
    title: String,
    description: String,
    kind: Kind,
    unit: &'static str,
    targets: Vec<Target>,
    pub(super) width: u32,
    pub(super) height: u32,
    steps: Vec<Step>,
    below: &'static str,
    logarithmic: bool,
    mappings: Vec<(&'static str, &'static str, &'static str)>,
    link: Option<(&'static str, &'static str)>,
    coarse: bool,
}

impl Panel {
    pub(super) fn new(
        kind: Kind,
        title: &str,
        unit: &'static str,
        description: &str,
        targets: Vec<Target>,
    ) -> Self {
        let (width, height) = match kind {
            Kind::Stat => (4, 4),
            Kind::Table(_) => (24, 8),
            Kind::Lines | Kind::Stack | Kind::Heatmap => (12, 8),
        };
        Self {
            title: title.to_owned(),
            description: description.to_owned(),
            kind,
            unit,
            targets,
            width,
            height,
            steps: vec![],
            below: "green",
            logarithmic: false,
            mappings: vec![],
            link: None,
            coarse: false,
        }
    }

    pub(super) fn sized(self, width: u32, height: u32) -> Self {
        Self {
            width,
            height,
            ..self
        }
    }

    /// Colours by value, and on graphs a line at each step.
    pub(super) fn steps(self, below: &'static str, steps: &[Step]) -> Self {
        Self {
            below,
            steps: steps.to_vec(),
            ..self
        }
    }

    /// A logarithmic axis: durations and burn rates span orders of magnitude.
    pub(super) fn logarithmic(self) -> Self {
        Self {
            logarithmic: true,
            ..self
        }
    }

    /// Few points: each reads a long range of samples.
    pub(super) fn coarse(self) -> Self {
        Self {
            coarse: true,
            ..self
        }
    }

    /// Words and colours in place of values.
    pub(super) fn words(self, words: &[(&'static str, &'static str, &'static str)]) -> Self {
        Self {
            mappings: words.to_vec(),
            ..self
        }
    }

    /// A link from each of the panel's series: its title and address.
    pub(super) fn link(self, title: &'static str, url: &'static str) -> Self {
        Self {
            link: Some((title, url)),
            ..self
        }
    }

    /// The panel as Grafana reads it.
    pub(super) fn json(&self, id: u32, x: u32, y: u32) -> Value {
        let mut json = json!({
            "id": id,
            "title": self.title,
            "description": self.description,
            "type": self.type_name(),
            "datasource": datasource(),
            "gridPos": {"x": x, "y": y, "w": self.width, "h": self.height},
            "fieldConfig": {"defaults": self.defaults(), "overrides": self.overrides()},
            "options": self.options(),
            "targets": self.targets.iter().zip('A'..).map(|(target, id)| self.target(target, id)).collect::<Vec<_>>(),
        });
        if self.coarse {
            json["interval"] = json!("5m");
        }
        if let Kind::Table(columns) = &self.kind {
            let names = columns.iter().zip('A'..);
            let renamed: serde_json::Map<String, Value> = names
                .map(|(column, id)| (self.value_field(id), json!(column.name)))
                .collect();
            json["transformations"] = json!([
                {"id": "merge", "options": {}},
                {"id": "organize", "options": {
                    "excludeByName": {"Time": true}, "indexByName": {}, "renameByName": renamed}},
            ]);
        }
        json
    }

    /// With one target Grafana leaves the letter out.
    fn value_field(&self, id: char) -> String {
        match self.targets.len() {
            1 => "Value".to_owned(),
            _ => format!("Value #{id}"),
        }
    }

    const fn type_name(&self) -> &'static str {
        match self.kind {
            Kind::Stat => "stat",
            Kind::Lines | Kind::Stack => "timeseries",
            Kind::Heatmap => "heatmap",
            Kind::Table(_) => "table",
        }
    }

    fn target(&self, target: &Target, id: char) -> Value {
        let instant = matches!(self.kind, Kind::Stat | Kind::Table(_));
        let format = match self.kind {
            Kind::Heatmap => "heatmap",
            Kind::Table(_) => "table",
            Kind::Stat | Kind::Lines | Kind::Stack => "time_series",
        };
        json!({
            "refId": id,
            "datasource": datasource(),
            "editorMode": "code",
            "expr": target.expr,
            "legendFormat": target.legend,
            "exemplar": target.exemplars,
            "instant": instant,
            "range": !instant,
            "format": format,
        })
    }

    fn defaults(&self) -> Value {
        let mut steps = vec![json!({"color": self.below, "value": null})];
        let more = self.steps.iter();
        steps.extend(more.map(|(value, color)| json!({"color": color, "value": value})));
        let mappings: serde_json::Map<String, Value> = self
            .mappings
            .iter()
            .map(|(value, text, color)| {
                ((*value).to_owned(), json!({"text": text, "color": color}))
            })
            .collect();
        let mut defaults = json!({
            "unit": self.unit,
            "thresholds": {"mode": "absolute", "steps": steps},
            "color": {"mode": if matches!(self.kind, Kind::Stat) { "thresholds" } else { "palette-classic" }},
            "custom": self.custom(),
            "mappings": if mappings.is_empty() { json!([]) } else { json!([{"type": "value", "options": mappings}]) },
        });
        if let Some((title, url)) = self.link {
            defaults["links"] = json!([{"title": title, "url": url}]);
        }
        defaults
    }

    fn custom(&self) -> Value {
        let stacked = matches!(self.kind, Kind::Stack);
        let scale = if self.logarithmic {
            json!({"type": "log", "log": 10})
        } else {
            json!({"type": "linear"})
        };
        let lines = if self.steps.is_empty() {
            "off"
        } else {
            "dashed"
        };
        match self.kind {
            Kind::Lines | Kind::Stack => json!({
                "drawStyle": "line",
                "lineWidth": 1,
                "fillOpacity": if stacked { 40 } else { 5 },
                "stacking": {"mode": if stacked { "normal" } else { "none" }, "group": "A"},
                "showPoints": "never",
                "spanNulls": false,
                "scaleDistribution": scale,
                "thresholdsStyle": {"mode": lines},
            }),
            Kind::Stat | Kind::Heatmap | Kind::Table(_) => json!({}),
        }
    }

    /// Deadlines and objectives are dashed red lines; columns have units of their own.
    fn overrides(&self) -> Vec<Value> {
        let property = |id: &str, value: Value| json!({"id": id, "value": value});
        match &self.kind {
            Kind::Lines | Kind::Stack => vec![json!({
                "matcher": {"id": "byRegexp", "options": "/^(deadline|objective) .*/"},
                "properties": [
                    property("color", json!({"mode": "fixed", "fixedColor": "red"})),
                    property("custom.lineStyle", json!({"fill": "dash", "dash": [8, 8]})),
                    property("custom.fillOpacity", json!(0)),
                    property("custom.stacking", json!({"mode": "none", "group": "B"})),
                ],
            })],
            Kind::Table(columns) => columns
                .iter()
                .map(|column| {
                    json!({
                        "matcher": {"id": "byName", "options": column.name},
                        "properties": [property("unit", json!(column.unit))],
                    })
                })
                .collect(),
            Kind::Stat | Kind::Heatmap => vec![],
        }
    }

    fn options(&self) -> Value {
        match &self.kind {
            Kind::Stat => json!({
                "colorMode": "value",
                "graphMode": "none",
                "textMode": "auto",
                "reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": false},
            }),
            Kind::Lines | Kind::Stack => json!({
                "legend": {"displayMode": "table", "placement": "bottom", "showLegend": true,
                           "calcs": ["lastNotNull", "max"]},
                "tooltip": {"mode": "multi", "sort": "desc"},
            }),
            Kind::Heatmap => json!({
                "calculate": false,
                "cellGap": 1,
                "color": {"mode": "scheme", "scheme": "Oranges", "steps": 64, "exponent": 0.5,
                          "fill": "dark-orange", "reverse": false},
                "exemplars": {"color": "rgba(31,120,193,0.8)"},
                "filterValues": {"le": 1e-9},
                "legend": {"show": true},
                "rowsFrame": {"layout": "auto"},
                "tooltip": {"mode": "single", "yHistogram": true},
                "yAxis": {"axisPlacement": "left", "reverse": false, "unit": self.unit},
            }),
            Kind::Table(columns) => json!({
                "showHeader": true,
                "cellHeight": "sm",
                "footer": {"show": false},
                "sortBy": columns.last().map(|column| json!({"displayName": column.name, "desc": true})).into_iter().collect::<Vec<_>>(),
            }),
        }
    }
}

/// The data source that is chosen at the head of the dashboard.
pub(super) fn datasource() -> Value {
    json!({"type": "prometheus", "uid": "${datasource}"})
}
