//! Planted bugs in causes, disruption and changes in place ([§10](crate::specification#s10)).

use super::Mutant;
use crate::oracle::reading::{CauseRules, Clause, Container, KubeEvent, Rules, SpecCauses, State};

/// Declares wrong readings by the clauses of [§10](crate::specification#s10) that each of them
/// overrides, and the list of them.
macro_rules! cause_mutants {
    ($($name:ident { $($clause:item)* })*) => {
        $(struct $name;
        impl CauseRules for $name { $($clause)* }
        impl Rules for $name {
            fn causes(&self) -> &dyn CauseRules {
                self
            }
        })*

        /// The injected bugs of this kind.
        pub(super) const MUTANTS: &[Mutant] = &[
            $(Mutant { name: stringify!($name), rules: &$name }),*
        ];
    };
}

cause_mutants! {
    SeesNoTermination {
        fn terminating_comes_first(&self) -> bool {
            false
        }
    }
    ReadsOnPastPreemption {
        fn cut<'m>(&self, message: &'m str) -> &'m str {
            message
        }
    }
    TakesTheFirstClause {
        fn most<'c>(&self, clauses: &'c [Clause]) -> Option<&'c Clause> {
            clauses.first()
        }
    }
    TakesTheLastClauseOnATie {
        fn most<'c>(&self, clauses: &'c [Clause]) -> Option<&'c Clause> {
            clauses.iter().max_by_key(|clause| clause.nodes)
        }
    }
    CountsNoNodesWithoutNumber {
        fn nodes_without_number(&self, _: u64) -> u64 {
            0
        }
    }
    HearsKubeletsOnly {
        fn warning(&self, event: &KubeEvent) -> Option<&'static str> {
            let reporter = match event.reporting_component.as_str() {
                "" => &event.source_component,
                reporter => reporter,
            };
            SpecCauses.warning(event).filter(|_| reporter == "kubelet")
        }
    }
    MindsTheCaseOfWarnings {
        fn warning(&self, event: &KubeEvent) -> Option<&'static str> {
            let message = &event.message;
            match SpecCauses.warning(event) {
                Some("cni") if event.reason == "FailedCreatePodSandBox" => {
                    let named = message.contains("network") || message.contains("cni");
                    Some(if named { "cni" } else { "sandbox" })
                }
                cause => cause,
            }
        }
    }
    TakesTheFirstWarning {
        fn which_warning(&self, delivered: &[&'static str]) -> Option<&'static str> {
            delivered.first().copied()
        }
    }
    WaitsForSidecarsToEnd {
        fn init_is_over(&self, container: &Container, _: bool) -> bool {
            container.state == State::Terminated(Some(0))
        }
    }
    TakesFailedInitForOver {
        fn init_is_over(&self, container: &Container, has_start: bool) -> bool {
            matches!(container.state, State::Terminated(_))
                || SpecCauses.init_is_over(container, has_start)
        }
    }
    BlamesWhatTheDeliveryShows {
        fn blamed_of_delivery(&self, place: usize) -> Option<usize> {
            Some(place)
        }
    }
    DisruptsNoFailure {
        fn is_instead_of(&self, outcome: &str) -> bool {
            matches!(outcome, "deleted" | "vanished")
        }
    }
    DisruptsTheCompleted {
        fn is_instead_of(&self, outcome: &str) -> bool {
            outcome != "ready"
        }
    }
    DisruptsTheReady {
        fn is_instead_of(&self, outcome: &str) -> bool {
            outcome != "completed"
        }
    }
    CountsResizesOpenAtFirstSight {
        fn counts_open_at_first_sight(&self) -> bool {
            true
        }
    }
}
