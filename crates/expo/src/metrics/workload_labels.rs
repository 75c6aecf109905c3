//! The labels of a label set that are of a workload, for what is counted by workload
//! ([§17.5](crate::specification#s17-5)).

use podinit_core::pod::Workload;
use podinit_text::strangers_text::label;

use super::labels::SeriesLabel;

const LABELS: [SeriesLabel; 3] =
    [SeriesLabel::Namespace, SeriesLabel::WorkloadType, SeriesLabel::Workload];

/// Which of these labels a label set has.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WorkloadLabels {
    pub(super) has: [bool; LABELS.len()],
}

/// The values of these labels, empty where a label set lacks one.
pub(super) type WorkloadLabelValues = [String; LABELS.len()];

impl WorkloadLabels {
    /// Those of a label set with these labels.
    pub(super) fn new<'a>(labels: impl Iterator<Item = &'a SeriesLabel> + Clone) -> Self {
        Self { has: LABELS.map(|known| labels.clone().any(|label| *label == known)) }
    }

    /// The values of a workload in a namespace.
    pub(super) fn values(self, namespace: &str, workload: &Workload) -> WorkloadLabelValues {
        let kind = Workload::type_of(&workload.kind);
        self.with(|place| label([namespace, &kind, &workload.name][place]).into_owned())
    }

    /// The same value for each.
    pub(super) fn all(self, value: &str) -> WorkloadLabelValues {
        self.with(|_| value.to_owned())
    }

    fn with(self, value: impl Fn(usize) -> String) -> WorkloadLabelValues {
        std::array::from_fn(|place| if self.has[place] { value(place) } else { String::new() })
    }

    /// The labels that there are, with their values.
    pub(super) fn pairs(self, values: &WorkloadLabelValues) -> Vec<(&'static str, &str)> {
        const NAMES: [&str; LABELS.len()] = ["namespace", "workload_type", "workload"];
        let pairs = NAMES.into_iter().zip(values).zip(self.has);
        pairs.filter(|(_, has)| *has).map(|((name, value), _)| (name, &**value)).collect()
    }
}
