//! The JSON of a panel.

use podinit_core::palette::PALETTE;
use serde_json::{Value, json};

use super::{Kind, Panel, Target, datasource};

impl Panel {
    /// The panel as JSON.
    pub(crate) fn json(&self, id: u32, x: u32, y: u32) -> Value {
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
            let renamed: serde_json::Map<String, Value> =
                names.map(|(column, id)| (self.value_field(id), json!(column.name))).collect();
            json["transformations"] = json!([
                {"id": "merge", "options": {}},
                {"id": "organize", "options": {
                    "excludeByName": {"Time": true}, "indexByName": {}, "renameByName": renamed}},
            ]);
        }
        if matches!(self.kind, Kind::Lines | Kind::Stack) && self.is_by_stage() {
            // Prometheus answers in the order of the alphabet.
            let stages = PALETTE.iter().map(|one| one.stage.as_str());
            let order: serde_json::Map<String, Value> = std::iter::once("Time")
                .chain(stages)
                .zip(0..)
                .map(|(name, place)| (name.to_owned(), json!(place)))
                .collect();
            json["transformations"] = json!([
                {"id": "joinByField", "options": {"byField": "Time", "mode": "outer"}},
                {"id": "organize", "options": {
                    "excludeByName": {}, "indexByName": order, "renameByName": {}}},
            ]);
        }
        json
    }

    /// Whether a target has one series for each stage.
    fn is_by_stage(&self) -> bool {
        let mut targets = self.targets.iter();
        targets.any(|target| target.legend == "{{stage}}")
    }

    /// Grafana shows no letter if there is only one target.
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
        let lines = if self.steps.is_empty() { "off" } else { "dashed" };
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

    /// Stages have their colours, deadlines and objectives are dashed red lines, columns have their own units.
    fn overrides(&self) -> Vec<Value> {
        let property = |id: &str, value: Value| json!({"id": id, "value": value});
        match &self.kind {
            Kind::Lines | Kind::Stack => {
                let stages = PALETTE.iter().filter(|_| self.is_by_stage()).map(|one| {
                    json!({
                        "matcher": {"id": "byName", "options": one.stage.as_str()},
                        "properties": [
                            property("color", json!({"mode": "fixed", "fixedColor": one.light})),
                        ],
                    })
                });
                let deadlines = json!({
                    "matcher": {"id": "byRegexp", "options": "/^(deadline|objective) .*/"},
                    "properties": [
                        property("color", json!({"mode": "fixed", "fixedColor": "red"})),
                        property("custom.lineStyle", json!({"fill": "dash", "dash": [8, 8]})),
                        property("custom.fillOpacity", json!(0)),
                        property("custom.stacking", json!({"mode": "none", "group": "B"})),
                    ],
                });
                stages.chain([deadlines]).collect()
            }
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
