//! What the metrics must say: the specification ([§2](crate::specification#s2) to
//! [§5](crate::specification#s5), `fused`), applied to the cluster's own records. Everything that
//! happened was delivered, and the times of delivery are known.

use std::collections::BTreeMap;

use podinit_core::timestamp::Timestamp;
use podinit_sim::truth::{Ending, PodTruth, Reached};

use super::claims::Claims;
use super::facts::Facts;

const SECOND: i64 = 1_000_000_000;

/// What is known of a run.
pub struct History {
    /// The pods of the first list, as they stood
    pub listed: Vec<PodTruth>,
    /// By UID
    pub facts: BTreeMap<String, Facts>,
    /// When the cluster was looked at: first by a list, then by a watch, to which each event was
    /// delivered at the first of these instants that is not before it
    pub looks: Vec<Timestamp>,
    /// The pod that never starts up, and when it was created
    pub marker: (&'static str, Timestamp),
}

/// A milestone that was reached; `None` is an unknown time.
type At = Option<Timestamp>;

impl History {
    /// What the metrics must say when `pods` are all that there have been.
    pub fn claims(&self, pods: &[PodTruth]) -> Claims {
        let mut claims = Claims::default();
        // The marker was listed, is in flight, and stays so.
        claims.count("podinit_pods_discovered_total", &[]);
        claims.count("podinit_synced", &[]);
        for (pod, listed) in self.followed(pods) {
            self.claim_pod(pod, listed, &mut claims);
        }
        claims
    }

    /// How many pods must have been discovered, the marker among them: one of the claims.
    pub fn discovered(&self, pods: &[PodTruth]) -> f64 {
        1.0 + self.followed(pods).count() as f64
    }

    /// The pods that were not gone before the first list, with what it said of them.
    fn followed<'a>(
        &'a self,
        pods: &'a [PodTruth],
    ) -> impl Iterator<Item = (&'a PodTruth, Option<&'a PodTruth>)> {
        let listed = |pod: &PodTruth| self.listed.iter().find(|listed| listed.uid == pod.uid);
        pods.iter()
            .map(move |pod| (pod, listed(pod)))
            .filter(|(_, listed)| listed.is_none_or(|listed| listed.removed.is_none()))
    }

    fn claim_pod(&self, pod: &PodTruth, listed: Option<&PodTruth>, claims: &mut Claims) {
        let facts = &self.facts[&pod.uid];
        claims.count("podinit_pods_discovered_total", &[]);
        let outcome = match (listed.and_then(|listed| listed.ending), pod.ending) {
            _ if facts.mirror => Some("static"),
            (Some(_), _) => Some("preexisting"),
            (None, Some(Ending::Ready)) => Some("ready"),
            (None, Some(Ending::Completed)) => Some("completed"),
            (None, Some(Ending::Failed)) => Some("failed"),
            (None, Some(Ending::Removed)) if pod.disrupted => Some("disrupted"),
            (None, Some(Ending::Removed)) if pod.unseen => Some("vanished"),
            (None, Some(Ending::Removed)) => Some("deleted"),
            (None, None) => None,
        };
        if let Some(outcome) = outcome {
            claims.count("podinit_pods_finished_total", &[("outcome", outcome)]);
        }
        if outcome == Some("static") {
            return;
        }
        for (milestone, times) in &facts.returns {
            let series = format!("podinit_reentries_total{{milestone=\"{milestone}\"}}");
            claims.add(series, *times as f64);
        }
        if outcome != Some("preexisting") {
            let startup = Startup { history: self, pod, facts, adopted: listed.is_some() };
            startup.claim(matches!(outcome, Some("ready" | "completed")), claims);
        }
    }
}

/// A startup that was followed.
struct Startup<'a> {
    history: &'a History,
    pod: &'a PodTruth,
    facts: &'a Facts,
    adopted: bool,
}

impl Startup<'_> {
    /// When what was written at `written` was delivered; `None` is by the first list.
    fn look(&self, written: Timestamp) -> Option<Timestamp> {
        let looks = &self.history.looks;
        let position = looks.partition_point(|look| *look < written);
        (position > 0).then(|| looks[position])
    }

    /// The estimate for a time that the API states to the second, and whether it was skewed.
    fn fused(&self, stamped: Timestamp, written: Timestamp) -> (Timestamp, bool) {
        let second = Timestamp::from_seconds(stamped.as_nanos().div_euclid(SECOND));
        match self.look(written) {
            // A clock is ahead: nothing is shown before it happened.
            Some(look) if second.as_nanos() - look.as_nanos() > SECOND => (look, true),
            Some(look) if look < second => (second, true),
            Some(look) if look.as_nanos() - second.as_nanos() < SECOND => (look, false),
            _ => (second.plus_nanos(SECOND / 2), false),
        }
    }

    /// The milestone, if it was reached before the startup was over. Ready ends it.
    fn in_time(&self, milestone: Option<Reached>) -> Option<Reached> {
        let ready = self.pod.ready;
        milestone.filter(|reached| ready.is_none_or(|ready| reached.written <= ready.written))
    }

    /// When a milestone was reached that counts no skew ([§9.1](crate::specification#s9-1)).
    fn reached_without_skew(&self, milestone: Option<Reached>) -> Option<At> {
        let reached = self.in_time(milestone)?;
        Some(Some(self.fused(reached.stamped, reached.written).0))
    }

    /// [§9.2](crate::specification#s9-2): the earliest of the condition and of the starts of containers
    /// in the version that first shows it, never before Scheduled.
    fn network(&self, scheduled: Option<At>, claims: &mut Claims) -> Option<At> {
        let condition = self.reached(self.pod.network_ready, claims)??;
        let started = self.facts.started_with_network.map(|second| {
            let second = Timestamp::from_seconds(second);
            second.plus_nanos(SECOND / 2)
        });
        let earlier = started.filter(|started| *started < condition);
        let written = self.pod.network_ready.map(|reached| reached.written);
        let at_first_sight = written.is_some_and(|written| written <= self.history.looks[0]);
        if !(self.adopted && at_first_sight) {
            let source = if earlier.is_some() { "container" } else { "condition" };
            claims.count("podinit_network_evidence_total", &[("source", source)]);
        }
        let at = earlier.unwrap_or(condition);
        let known = self.pod.scheduled.map(|reached| reached.written) <= written || at_first_sight;
        let scheduled = scheduled.flatten().filter(|_| known);
        Some(Some(scheduled.map_or(at, |scheduled| scheduled.max(at))))
    }

    fn reached(&self, milestone: Option<Reached>, claims: &mut Claims) -> Option<At> {
        let reached = self.in_time(milestone)?;
        let (at, skewed) = self.fused(reached.stamped, reached.written);
        if skewed {
            claims.count("podinit_clock_anomalies_total", &[("kind", "skew")]);
        }
        Some(Some(at))
    }

    fn claim(&self, over: bool, claims: &mut Claims) {
        let (pod, facts) = (self.pod, self.facts);
        let shown = self.reached(pod.scheduled, claims);
        let network = self.network(shown, claims);
        let acknowledged = self.reached_without_skew(pod.acknowledged);
        let started = self.reached_without_skew(pod.containers_started);
        let initialized = self.reached(pod.initialized, claims);
        let containers_ready = self.reached(pod.containers_ready, claims);
        let ready = self.reached(pod.ready, claims);
        let later = [network, initialized, containers_ready, ready];
        let unknown = later.iter().any(Option::is_some).then_some(None);
        let scheduled = shown.or(unknown);
        let created = Some(Some(self.fused(pod.created, pod.created).0));
        let ungated = pod.ungated.map(|at| self.look(at));
        let start = if facts.gated { ungated } else { created };
        let prepared = match (network, initialized) {
            (Some(network), Some(initialized)) if facts.has_init => Some(network.max(initialized)),
            (network, _) if !facts.has_init => network,
            _ => None,
        };
        let scheduling = if facts.unschedulable { "unschedulable" } else { "scheduling" };
        let stages = [
            ("gated", facts.gated, created, ungated, pod.ungated),
            (scheduling, true, start, scheduled, written(pod.scheduled)),
            ("network", true, scheduled, network, written(pod.network_ready)),
            ("init", facts.has_init, network, initialized, written(pod.initialized)),
            ("containers", true, prepared, containers_ready, written(pod.containers_ready)),
            ("readiness", facts.readiness_gated, containers_ready, ready, written(pod.ready)),
        ];
        for (stage, applies, from, to, end) in stages {
            if applies {
                self.claim_part("stage", stage, from, to, end, over, claims);
            }
        }
        let steps = [
            ("acknowledge", scheduled, acknowledged, pod.acknowledged),
            ("sandbox", acknowledged, network, pod.network_ready),
            ("start", prepared, started, pod.containers_started),
            ("probe", started, containers_ready, pod.containers_ready),
        ];
        for (step, from, to, end) in steps {
            self.claim_part("step", step, from, to, written(end), over, claims);
        }
        for (name, from) in [
            ("podinit_scheduled_to_ready_duration_seconds", scheduled),
            ("podinit_created_to_ready_duration_seconds", created),
        ] {
            if let (Some(from), Some(to)) = (from, ready) {
                self.judge(name, "", from, to, claims);
            }
        }
    }

    /// Claims a stage or a step, `kind`.
    #[allow(clippy::too_many_arguments)]
    fn claim_part(
        &self,
        kind: &str,
        stage: &str,
        from: Option<At>,
        to: Option<At>,
        end: Option<Timestamp>,
        over: bool,
        claims: &mut Claims,
    ) {
        let listed_at = self.history.looks[0];
        let reason = match (from, to) {
            (_, Some(_)) if self.adopted && end.is_some_and(|end| end <= listed_at) => {
                Some("preexisting")
            }
            (Some(from), Some(to)) => {
                let label = format!("{kind}=\"{stage}\",");
                let name = format!("podinit_{kind}_duration_seconds");
                (!self.judge(&name, &label, from, to, claims)).then_some("time")
            }
            _ if !over => None,
            _ if self.lacks_condition(stage) => Some("condition_absent"),
            _ => Some("not_seen"),
        };
        if let Some(reason) = reason {
            claims.count("podinit_unobserved_total", &[("stage", stage), ("reason", reason)]);
        }
    }

    /// Whether no condition about the network stood by the end of the startup.
    fn lacks_condition(&self, stage: &str) -> bool {
        let end = self.pod.ready.and_then(|ready| self.look(ready.written));
        let shown = self.facts.network_shown;
        let stood = shown.is_some_and(|shown| end.is_none_or(|end| shown <= end));
        ["network", "init", "containers", "sandbox", "start"].contains(&stage) && !stood
    }

    /// Claims a duration, or the anomaly that there is instead; whether it was usable.
    fn judge(&self, name: &str, label: &str, from: At, to: At, claims: &mut Claims) -> bool {
        let nanos = match (from, to) {
            (Some(from), Some(to)) => Some(to.as_nanos() - from.as_nanos()),
            _ => None,
        };
        let anomaly = match nanos {
            None => Some("missing"),
            Some(..-1_000_000_000) => Some("negative"),
            Some(..0) => Some("rounded"),
            Some(_) => None,
        };
        if let Some(kind) = anomaly {
            claims.count("podinit_clock_anomalies_total", &[("kind", kind)]);
        }
        let usable = !matches!(anomaly, Some("missing" | "negative"));
        if usable {
            let labels = format!("{{{label}namespace=\"{}\"}}", self.pod.namespace);
            claims.add(format!("{name}_count{labels}"), 1.0);
            let seconds = nanos.unwrap_or(0).max(0) as f64 / SECOND as f64;
            claims.add(format!("{name}_sum{labels}"), seconds);
        }
        usable
    }
}

fn written(milestone: Option<Reached>) -> Option<Timestamp> {
    milestone.map(|reached| reached.written)
}
