//! A literal reading of [§1](crate::specification#s1) to [§6](crate::specification#s6),
//! [§7](crate::specification#s7) (label `namespace` alone), [§8](crate::specification#s8),
//! [§9](crate::specification#s9), [§10](crate::specification#s10), [§16](crate::specification#s16) and
//! [§17](crate::specification#s17).
//!
//! It is as slow as it is plain: the documents become, for each UID, the complete list of what
//! happened to it ([`stream`]); that becomes the lives under which the UID was known ([`life`]);
//! and each life is read from its raw snapshots, again from the first one for every question
//! ([`view`], [`startup`]). Nothing is kept up to date. The clauses that can be got wrong are the
//! methods of [`Rules`], so that [`super::mutants`] can get them wrong.
//!
//! Deadlines ([§6](crate::specification#s6)) are one more question to a life, with the points of
//! the replay at which they pass ([`slo`]).

mod cause;
mod container;
mod evidence;
mod in_place;
mod kube_event;
mod life;
mod lone;
mod named;
mod node;
mod rollouts;
mod rules;
mod slo;
mod snapshot;
mod startup;
mod stream;
mod tally;
mod view;
mod vocabulary;

use serde_json::Value;

pub(crate) use cause::{CauseRules, Clause, SpecCauses};
pub(crate) use container::{Container, Kind, State};
pub(crate) use evidence::{EvidenceRules, Found, Source, SpecEvidence};
pub(crate) use kube_event::KubeEvent;
pub(crate) use life::Folded;
pub(crate) use lone::{LoneRules, Said, SpecLone, Told, lone_list};
pub(crate) use named::{NamedRules, Own, OwnInterval, SpecNamed, Start};
pub(crate) use node::{NodeLife, NodeRules, NodeSnapshot, SpecNodes};
pub(crate) use rollouts::{End, RolloutRules, SpecRollouts, State as RolloutState};
pub(crate) use rules::{Classification, Entry, Rules, Showing, Spec, Verdict};
pub(crate) use slo::{Moment, Namespaces, Slo, SloEvent, SloInterval, SloRules, SpecSlo};
pub(crate) use snapshot::{Condition, Snapshot};
pub(crate) use view::View;
pub(crate) use vocabulary::{Interval, Milestone, Traits};

use super::figures::Figures;
use super::instant::{Nanos, SECOND};

/// The present while recordings are read: 2026-11-01T00:00:00Z
pub(crate) const PRESENT: Nanos = 1_793_491_200 * SECOND;

/// `--timestamps`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Timestamps {
    /// Differences of API times, as they are
    Api,
    /// Estimates from the API's second and the instant of observation
    Fused,
}

/// The options of `replay` that decide figures.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Options {
    pub(crate) timestamps: Timestamps,
    pub(crate) backfill: bool,
    pub(crate) until: Option<Nanos>,
    pub(crate) slos: Vec<Slo>,
    /// `--milestone`
    pub(crate) milestones: &'static [Own],
    /// `--evidence events`
    pub(crate) events: bool,
    /// `--evidence nodes`
    pub(crate) nodes: bool,
    /// The labels in `--labels` besides `namespace`: of nodes, or of workloads
    pub(crate) labels: &'static [&'static str],
    /// `--node-pool-label`
    pub(crate) pool_label: Option<&'static str>,
    /// `--shard`
    pub(crate) shard: Option<(u64, u64)>,
}

impl Options {
    /// The defaults of `replay` ([§4](crate::specification#s4), [§8](crate::specification#s8)).
    pub(crate) const DEFAULT: Self = Self::of(Timestamps::Api, false, [false, false]);

    /// Without SLOs and labels, with Events and nodes as sources or not.
    pub(crate) const fn of(timestamps: Timestamps, backfill: bool, evidence: [bool; 2]) -> Self {
        let [events, nodes] = evidence;
        Self {
            timestamps,
            backfill,
            until: None,
            slos: Vec::new(),
            milestones: &[],
            events,
            nodes,
            labels: &[],
            pool_label: None,
            shard: None,
        }
    }

    /// [§12](crate::specification#s12): "the UIDs whose FNV-1a 64 hash […] lies in [⌊I·2⁶⁴/N⌋, ⌊(I+1)·2⁶⁴/N⌋)"
    pub(crate) fn accounts_for(&self, uid: &str) -> bool {
        let Some((index, count)) = self.shard.map(|(i, n)| (u128::from(i), u128::from(n))) else {
            return true;
        };
        let hash = uid.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        let hash = u128::from(hash);
        (index << 64) / count <= hash && hash < ((index + 1) << 64) / count
    }
}

/// The figures that the specification expects of the documents.
pub(crate) fn read(documents: &[Value], options: &Options) -> Figures {
    read_by(&Spec, documents, options)
}

/// The figures under the given rules, right or wrong.
pub(crate) fn read_by(rules: &dyn Rules, documents: &[Value], options: &Options) -> Figures {
    let recording = recorded(rules, documents, options);
    let mut figures = tally::known_from_the_start();
    slo::tally::known_from_the_start(options, &mut figures);
    evidence::tally::known_from_the_start(options, &mut figures);
    cause::tally::known_from_the_start(options, &mut figures);
    in_place::known_from_the_start(&mut figures);
    node::tally::known_from_the_start(options, &mut figures);
    named::tally::known_from_the_start(options, &mut figures);
    for (kind, count) in &recording.watch_events {
        figures.add("podinit_watch_events_total", &[("event", kind)], *count);
    }
    let mut ready = Vec::new();
    let dropped = for_each_life(rules, &recording, options, |startup| {
        node::tally::count(startup, options, &mut figures);
        ready.extend(node::tally::ready_pod(startup));
        tally::count(startup, &mut figures);
        evidence::tally::count(startup, &mut figures);
        cause::tally::count(startup, options, &mut figures);
        in_place::count(startup, &mut figures);
        named::tally::count(startup, options, &mut figures);
        slo::tally::count(startup, options, &recording.passings, &mut figures);
    });
    evidence::tally::count_dropped(dropped, &mut figures);
    rollouts::tally::count(rules, &recording, options, &mut figures);
    node::tally::count_nodes(
        rules,
        (&recording.nodes, ready),
        options,
        recording.now,
        &mut figures,
    );
    figures
}

/// What the documents say, with the deadlines that pass later because deliveries are late.
fn recorded(rules: &dyn Rules, documents: &[Value], options: &Options) -> stream::Recording {
    let mut recording = stream::read(rules, documents, options);
    let mut stamps = Vec::new();
    for_each_life(rules, &recording, options, |startup| stamps.extend(slo::lag::stamps(startup)));
    slo::lag::hold_back(rules.slo(), stamps, &recording.syncs, &mut recording.passings);
    recording
}

/// Where the pods stand that an SLO is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Standing {
    pub(crate) matching: usize,
    pub(crate) undecided: usize,
    /// Undecided though their startup has ended: never any
    pub(crate) forgotten: usize,
}

/// Where the pods stand that an SLO of the options is about.
pub(crate) fn standing(documents: &[Value], options: &Options, slo: &Slo) -> Standing {
    let recording = recorded(&Spec, documents, options);
    let mut standing = Standing::default();
    for_each_life(&Spec, &recording, options, |startup| {
        if slo.matches(&startup.life.folded[0].pod) {
            let pursuit = slo::Pursuit { startup, slo, passings: &recording.passings };
            let undecided = pursuit.event().is_none();
            standing.matching += 1;
            standing.undecided += usize::from(undecided);
            let end = match slo.interval {
                SloInterval::Own(interval) => startup.end_of_own(interval.own),
                _ => startup.end(),
            };
            standing.forgotten += usize::from(undecided && end.is_some());
        }
    });
    standing
}

/// Of how many pods it is settled what became of a milestone of your own: it was reached while they were followed, or its
/// time passed, or they ended as `completed` without ([§16.6](crate::specification#s16-6)).
pub(crate) fn settled(documents: &[Value], options: &Options, own: Own) -> usize {
    let recording = recorded(&Spec, documents, options);
    let mut settled = 0;
    for_each_life(&Spec, &recording, options, |startup| {
        let is_followed = matches!(startup.entry(), Entry::Full | Entry::Adopted);
        let followed = &startup.life.folded[..=startup.last_of_own(own)];
        let is_true =
            |folded: &Folded| folded.pod.condition(own.kind).is_some_and(Condition::is_true);
        let outcome = startup.end_of_own(own).map(|end| end.outcome);
        let has_ended = matches!(outcome, Some("ready" | "completed"));
        settled += usize::from(is_followed && (has_ended || followed.iter().any(is_true)));
    });
    settled
}

/// How many pods have had no event of the official SLI ([§9.4](crate::specification#s9-4)).
pub(crate) fn sli_undecided(documents: &[Value], options: &Options) -> usize {
    let recording = stream::read(&Spec, documents, options);
    let mut undecided = 0;
    for_each_life(&Spec, &recording, options, |startup| {
        undecided += usize::from(evidence::sli::event(startup).is_none());
    });
    undecided
}

fn for_each_life(
    rules: &dyn Rules,
    recording: &stream::Recording,
    options: &Options,
    mut with: impl FnMut(&startup::Startup<'_>),
) -> stream::Dropped {
    let mut dropped = recording.dropped;
    for history in &recording.pods {
        let (lives, untaken) = life::lives(rules, history);
        dropped = dropped.and(untaken);
        for life in lives {
            if !options.accounts_for(&life.folded[0].pod.uid) {
                continue;
            }
            with(&startup::Startup {
                rules,
                life: &life,
                timestamps: options.timestamps,
                backfill: options.backfill,
                first_list_began: recording.first_list_began,
                events: options.events,
                nodes: &recording.nodes,
                labels: options.labels,
                pool_label: options.pool_label,
                slos: &options.slos,
                passings: &recording.passings,
                bound: &recording.bound,
            });
        }
    }
    dropped
}
