//! No startup is lost and none is counted twice: the real list-watch, tracker and recorder against
//! an API server with the faults of real API servers, networks and machines.
//!
//! The simulator's pods start up in virtual time. An API server in the process ([`server`]) serves lists
//! and watches of them, through the real client but without a connection, and every trial
//! has faults of one class ([`classes`]). The server logs what it has delivered
//! ([`delivery_log`]), and it is compared with what the accounting was given and with what was counted of
//! each pod ([`audit`]):
//!
//! - a pod is *lost* where something that happened was not counted, or where the server had a
//!   version that no fault withheld and that the program never received;
//! - it is *double* where anything was counted more often than it happened;
//! - it is *wrong* where the accounting was given anything else than what was delivered, or another time.
//!
//! The oracle checks durations, the reasons why one is missing, and the verdicts of SLOs ([`crate::oracle`]). Here each
//! is counted once.
//!
//! In some classes the pods are divided among four processes ([`process`], [`shard`]). Each of them is audited by
//! what the API server has delivered of its own pods, and their sums as those of one process.
//!
//! Everything follows from the class and the seed. `tests/README.md` has the table of the long run.
//!
//! ```text
//! cargo test --test suite proof::                                    # about 600 pods
//! cargo test --test suite proof::slow:: -- --ignored               # about 20,000, and the injected bugs
//! cargo test --test suite million_pods -- --ignored --nocapture    # 1,000,000 and more, the table
//! PROOF_CLASS=gone PROOF_SEED=17 cargo test --test suite proof::replay -- --ignored --nocapture
//! ```

mod audit;
mod batch;
mod checkpoint;
mod classes;
mod delivery_log;
mod exporter;
mod history;
mod ingest;
mod injected_bug;
mod list;
mod lives;
mod process;
mod server;
mod server_faults;
mod shard;
mod table;
mod tally;
mod trial;
mod watch;
mod world_faults;

use audit::Fault;
use classes::Class;
use injected_bug::{Bug, InjectedBug};
use table::Table;
use trial::{Report, Trial};

/// Pods of one trial, apart from those that are re-created under their names.
const PODS: u32 = 700;

/// Trials of each class in the long run: with 30 classes, more than a million pods.
const TRIALS: u64 = 62;

/// The seeds of the long run begin here, those of the short one elsewhere.
const FIRST_SEED: u64 = 1;
const SHORT_SEED: u64 = 900_000;

#[test]
fn nothing_is_lost_and_nothing_is_double() {
    let table = Table::of(None, SHORT_SEED, 1, 20);
    println!("{table}");
    assert!(table.pods() >= 512, "{table}");
    assert!(table.is_clean(), "{table}");
}

#[test]
#[ignore = "a million pods: some minutes on two cores; see the head of this file"]
fn nothing_is_lost_and_nothing_is_double_of_a_million_pods() {
    let trials = number("PROOF_TRIALS").unwrap_or(TRIALS);
    let first = number("PROOF_SEED").unwrap_or(FIRST_SEED);
    let only = std::env::var("PROOF_CLASS").ok();
    let only = only.map(|name| Class::of_name(&name).expect("PROOF_CLASS is the name of a class"));
    let table = Table::of(only, first, trials, PODS);
    println!("{table}");
    let is_whole = only.is_none() && trials >= TRIALS;
    assert!(table.pods() >= 1_000_000 || !is_whole, "{table}");
    assert!(table.is_clean(), "{table}");
}

#[test]
#[ignore = "repeats the one trial that PROOF_CLASS and PROOF_SEED name (PROOF_PODS: its size)"]
fn replay() {
    let name = std::env::var("PROOF_CLASS").expect("PROOF_CLASS names a class");
    let class = Class::of_name(&name).expect("PROOF_CLASS is the name of a class");
    let seed = number("PROOF_SEED").expect("PROOF_SEED is a number");
    let pods = number("PROOF_PODS").map_or(PODS, |pods| u32::try_from(pods).unwrap());
    let report = Trial::new(class, seed, pods).run();
    println!("{}", table::in_words(&report));
    assert!(report.findings.is_empty());
}

fn number(variable: &str) -> Option<u64> {
    let text = std::env::var(variable).ok()?;
    Some(text.parse().expect("a number"))
}

#[test]
fn a_trial_is_the_same_whenever_it_is_run() {
    let run = || Trial::new(Class::Everything, SHORT_SEED, 150).run();
    let (one, other) = (run(), run());
    assert_eq!(one.versions, other.versions);
    assert_eq!(one.delivered, other.delivered);
    assert_eq!(one.counted, other.counted);
}

/// Four shards count of each pod what one process counts, whatever the API server knows of shards.
#[test]
fn shards_count_what_one_process_counts() {
    let run = |class| Trial::new(class, SHORT_SEED, 100).run();
    let one = run(Class::None);
    for class in [Class::Shards, Class::ShardsUnknown] {
        let four = run(class);
        assert!(four.findings.is_empty(), "{}", table::in_words(&four));
        assert_eq!(four.versions, one.versions, "the same pods");
        for (number, (four, one)) in four.counted.iter().zip(&one.counted).enumerate() {
            assert_eq!(four, one, "{class:?}: pod {number}");
        }
    }
}

/// The fault that the bug causes.
fn fault_of(bug: Bug) -> Fault {
    match bug {
        Bug::DoublesMeasured
        | Bug::DoublesDiscovery
        | Bug::DoublesSlo
        | Bug::CountsAllShards
        // Gone from here, and counted there.
        | Bug::KeepsMoved
        | Bug::KnowsNoPod => Fault::Double,
        _ => Fault::Lost,
    }
}

/// A trial with a bug that is triggered among relists, or at a restart.
fn with(bug: Bug) -> Report {
    let class = match bug {
        Bug::ResumesLate | Bug::KnowsNoPod | Bug::CountsFromZero => Class::Restart,
        Bug::IgnoresRollback => Class::RolledBack,
        Bug::CountsAllShards => Class::ShardsUnknown,
        Bug::KeepsMoved => Class::ShardsRenumbered,
        // A later list makes up for these.
        Bug::LosesPod | Bug::LosesDeletions => Class::None,
        _ => Class::Gone,
    };
    Trial {
        injected: InjectedBug { bug, countdown: 20, ..InjectedBug::default() },
        ..Trial::new(class, SHORT_SEED, 500)
    }
    .run()
}

mod slow {
    use super::*;

    #[test]
    #[ignore = "takes long; .ci/run full runs it"]
    fn nothing_is_lost_and_nothing_is_double_of_20_000_pods() {
        let table = Table::of(None, SHORT_SEED, 1, 680);
        println!("{table}");
        assert!(table.pods() >= 20_000, "{table}");
        assert!(table.is_clean(), "{table}");
    }

    /// Each bug is injected, and the audit must find it.
    #[test]
    #[ignore = "takes long; .ci/run full runs it"]
    fn every_injected_bug_is_found() {
        let unnoticed: Vec<Bug> = (Bug::ALL.iter().copied())
            .filter(|bug| with(*bug).findings.pods(fault_of(*bug)) == 0)
            .collect();
        assert!(unnoticed.is_empty(), "not found: {unnoticed:?}");
        for class in [Class::Gone, Class::Restart] {
            let report = Trial::new(class, SHORT_SEED, 500).run();
            assert!(report.findings.is_empty(), "{}", table::in_words(&report));
        }
    }
}
