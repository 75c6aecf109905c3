//! What changed in workloads, in words.

use super::pod_parts::WorkloadAspect;
use super::workload_changes::{AspectChange, WorkloadChange, WorkloadChanges};
use podinit_core::node::NO_POOL;
use podinit_text::words::{counted, listed, thousands};

/// So many sentences of it stand in the answer.
const MOST_SENTENCES: usize = 3;

/// So many names stand in a sentence.
const MOST_SPOKEN: usize = 5;

impl WorkloadChanges {
    /// The end of the answer: ` 12 workloads have a container more: istio-proxy.`
    pub(super) fn in_answer(&self) -> String {
        let first = self.sets.iter().take(MOST_SENTENCES);
        first.map(|set| format!(" {}.", set.in_words(str::to_owned))).collect()
    }

    /// All that is known of it. `shown` is how names are written in the format.
    pub(super) fn in_words(&self, shown: impl Fn(&str) -> String) -> String {
        let all: Vec<String> = self.sets.iter().map(|set| set.in_words(&shown)).collect();
        match self.count - self.sets.len() {
            0 => all.join("; "),
            more => format!("{}; and {more} more", all.join("; ")),
        }
    }
}

impl WorkloadChange {
    /// `12 workloads have a container more: istio-proxy`
    fn in_words(&self, shown: impl Fn(&str) -> String) -> String {
        let subject = match &*self.names {
            [name] => format!("{} has", shown(name)),
            _ => format!("{} have", counted(self.workloads, "workload", "workloads")),
        };
        let alike = self.changes.chunk_by(|one, other| one.kind() == other.kind());
        let clauses: Vec<(String, String)> = alike.map(|alike| clause(alike, &shown)).collect();
        match &*clauses {
            [(what, names)] => format!("{subject} {what}: {names}"),
            _ => {
                let clauses = clauses.iter().map(|(what, names)| format!("{what} ({names})"));
                format!("{subject} {}", listed(&clauses.collect::<Vec<_>>()))
            }
        }
    }
}

impl AspectChange {
    /// Changes of one kind are told together.
    const fn kind(&self) -> (WorkloadAspect, bool, bool) {
        (self.aspect, self.before.is_some(), self.after.is_some())
    }

    /// `nginx, before httpd`
    fn in_words(&self, shown: impl Fn(&str) -> String) -> String {
        let name = |name: &str| match self.aspect {
            WorkloadAspect::NodePool if name == NO_POOL => "none".to_owned(),
            _ => shown(name),
        };
        match (&self.before, &self.after) {
            (Some(before), Some(after)) => format!("{}, before {}", name(after), name(before)),
            (before, after) => before.iter().chain(after).map(|one| name(one)).collect(),
        }
    }
}

/// What changed, and the names: `a container more` and `istio-proxy`.
fn clause(alike: &[AspectChange], shown: impl Fn(&str) -> String) -> (String, String) {
    let names = alike.iter().take(MOST_SPOKEN).map(|one| one.in_words(&shown));
    let mut names: Vec<String> = names.collect();
    if alike.len() > MOST_SPOKEN {
        names.push(format!("{} more", alike.len() - MOST_SPOKEN));
    }
    let Some(first) = alike.first() else {
        return (String::new(), String::new());
    };
    let aspect = first.aspect.as_str().replace('_', " ");
    let article = if aspect.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" };
    let number = match alike.len() {
        1 => format!("{article} {aspect}"),
        several => format!("{} {aspect}s", thousands(several)),
    };
    match (&first.before, &first.after) {
        (None, _) => (format!("{number} more"), listed(&names)),
        (_, None) => (format!("{number} fewer"), listed(&names)),
        _ if alike.len() == 1 => (format!("another {aspect}"), listed(&names)),
        _ => (format!("other {aspect}s"), names.join("; ")),
    }
}
