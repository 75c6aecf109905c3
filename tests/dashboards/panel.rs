//! The definition of a panel.

mod json;

use serde_json::{Value, json};

/// A query of a panel.
#[derive(Clone, Debug)]
pub(super) struct Target {
    pub(super) expr: String,
    pub(super) legend: String,
    /// Whether to show exemplars
    pub(super) exemplars: bool,
}

impl Target {
    pub(super) fn new(expr: impl Into<String>, legend: impl Into<String>) -> Self {
        Self { expr: expr.into(), legend: legend.into(), exemplars: false }
    }

    pub(super) fn with_exemplars(self) -> Self {
        Self { exemplars: true, ..self }
    }
}

/// The kind of visualization.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    /// The latest value
    Stat,
    /// Lines
    Lines,
    /// Stacked areas
    Stack,
    /// A heatmap of buckets
    Heatmap,
    /// One row per label set; one column, with title and unit, per target
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

/// A threshold: the value from which a colour applies.
pub(super) type Step = (f64, &'static str);

/// A panel. Title, description, unit and queries are mandatory.
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
        Self { width, height, ..self }
    }

    /// Sets colour thresholds; graphs show a line at each of them.
    pub(super) fn steps(self, below: &'static str, steps: &[Step]) -> Self {
        Self { below, steps: steps.to_vec(), ..self }
    }

    /// Makes the axis logarithmic, for values that span orders of magnitude.
    pub(super) fn logarithmic(self) -> Self {
        Self { logarithmic: true, ..self }
    }

    /// Reduces the number of points, for queries that read a long range of samples each.
    pub(super) fn coarse(self) -> Self {
        Self { coarse: true, ..self }
    }

    /// Shows words and colours instead of values.
    pub(super) fn words(self, words: &[(&'static str, &'static str, &'static str)]) -> Self {
        Self { mappings: words.to_vec(), ..self }
    }

    /// Adds a data link with this title and address.
    pub(super) fn link(self, title: &'static str, url: &'static str) -> Self {
        Self { link: Some((title, url)), ..self }
    }
}

/// The data source that the user selects.
pub(super) fn datasource() -> Value {
    json!({"type": "prometheus", "uid": "${datasource}"})
}
