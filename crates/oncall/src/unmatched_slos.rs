//! Sentences about an SLO that matches no pod, or that names a kind without pods ([§6.13](crate::specification#s6-13)).

use podinit_core::lifecycle::UnmatchedSlo;
use podinit_text::human_time::date_and_minute;
use podinit_text::nearest::nearest;
use podinit_text::words::capitalized;

/// The kinds whose pods most clusters have.
const KINDS: [&str; 11] = [
    "CloneSet",
    "CronJob",
    "CronWorkflow",
    "DaemonSet",
    "Deployment",
    "Job",
    "Node",
    "ReplicaSet",
    "Rollout",
    "StatefulSet",
    "Workflow",
];

/// One or two clauses: `the SLO fast has matched no pod since 2026-03-01 23:05 UTC`.
pub fn clause(slo: &UnmatchedSlo) -> String {
    let since = date_and_minute(slo.since);
    let none = format!("the SLO {} has matched no pod since {since} UTC", slo.slo);
    let kinds = slo.kinds.iter().map(|kind| {
        let meant = meant(kind).filter(|meant| *meant != &**kind);
        let meant = meant.map_or_else(String::new, |meant| format!(" (did you mean {meant}?)"));
        let of =
            if slo.matched { format!(" that the SLO {} names", slo.slo) } else { String::new() };
        format!("no pod has had the kind {kind}{of}{meant}")
    });
    let clauses = (!slo.matched).then_some(none).into_iter().chain(kinds);
    clauses.collect::<Vec<_>>().join("; ")
}

/// The kind that was most likely intended; `None` if none is similar.
fn meant(kind: &str) -> Option<&'static str> {
    let small = KINDS.map(str::to_ascii_lowercase);
    let near = nearest(kind, &small.each_ref().map(String::as_str))?;
    KINDS.into_iter().find(|known| known.eq_ignore_ascii_case(near))
}

/// The clauses as a sentence that stands beside the name of the SLO.
pub(crate) fn sentence(slo: &UnmatchedSlo) -> String {
    format!("{}.", capitalized(&clause(slo)))
}

/// Logs the SLOs of `now` that are not in `before`, and those of `before` that are no longer in `now`.
pub(crate) fn log_changes(before: &[UnmatchedSlo], now: &[UnmatchedSlo]) {
    for slo in now.iter().filter(|slo| !before.contains(slo)) {
        tracing::warn!("{}; check namespaces and owner_kinds in the SLO file", clause(slo));
    }
    let is_said = |slo: &&UnmatchedSlo| !now.iter().any(|other| other.slo == slo.slo);
    for slo in before.iter().filter(is_said) {
        tracing::info!("the SLO {} has pods now, or was changed", slo.slo);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use podinit_core::timestamp::Timestamp;

    #[test]
    fn what_matches_nothing_is_named_with_what_was_meant() {
        let said = |matched, kinds: &[&str]| {
            clause(&UnmatchedSlo {
                slo: "fast".into(),
                since: Timestamp::from_seconds(1_772_359_507),
                matched,
                kinds: kinds.iter().copied().map(Box::from).collect(),
            })
        };
        let none = "the SLO fast has matched no pod since 2026-03-01 10:05 UTC";
        assert_eq!(said(false, &[]), none);
        assert_eq!(
            said(false, &["Deployments"]),
            format!("{none}; no pod has had the kind Deployments (did you mean Deployment?)")
        );
        assert_eq!(
            said(true, &["Job", "SparkApplication"]),
            "no pod has had the kind Job that the SLO fast names; \
             no pod has had the kind SparkApplication that the SLO fast names"
        );
    }
}
