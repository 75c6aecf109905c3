//! The first line of the page: how things stand, in one word, one colour and one sentence.

use super::slo_card::SloCard;
use crate::explain::addressed;
use crate::freshness::{Freshness, FreshnessState};
use crate::node_clocks;
use crate::problems::{LateDeliveries, LostBudget, Problem, lost_budgets, untold};
use podinit_core::lifecycle::NodeClock;
use podinit_core::timestamp::Timestamp;
use podinit_text::human_time::clock_time;
use podinit_text::words::{count, counted};

/// A problem with this many pods is red, as one with stuck pods is.
const MANY: usize = 10;

/// How things stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OverviewStatus {
    /// `calm`, `warn` or `bad`: green, amber or red
    pub level: &'static str,
    pub word: &'static str,
    /// The headline of the worst problem, or `No problem: …`, or which SLO lost its budget
    pub headline: String,
    /// How many pods that problem has, since when and where; empty without one
    pub(crate) extent: String,
    /// The command that shows more about it; empty without one
    pub command: String,
    /// What the next problem is, and its extent
    pub next: Option<(String, String)>,
    /// How many more problems there are
    pub more: usize,
    /// What else is wrong, below the sentence
    pub(super) also: Option<String>,
    /// What else stands above everything, where the sentence cannot be trusted as it is
    pub warning: Option<String>,
}

/// What the status is made of.
pub(super) struct StatusSigns<'a> {
    pub freshness: &'a Freshness,
    /// The worst first
    pub problems: &'a [Problem],
    /// Why the problems and pods are not known now
    pub unanswered: Option<&'a str>,
    pub slos: &'a [SloCard],
    /// Those that lost their budget in the last hour
    pub lost_budgets: &'a [LostBudget],
    pub in_flight: usize,
    /// Nodes that have been starting for more than a quarter of an hour
    pub late_nodes: u64,
    /// The nodes whose clocks are off
    pub clocks: &'a [NodeClock],
    /// How late deliveries are, if they are
    pub(crate) late_deliveries: Option<&'a LateDeliveries>,
    /// When a pod became ready last
    pub last_ready: Option<Timestamp>,
    pub now: Timestamp,
}

impl OverviewStatus {
    pub(super) fn from_signs(signs: &StatusSigns<'_>) -> Self {
        let late = signs.late_deliveries.map(LateDeliveries::sentence);
        let warning: Vec<String> =
            signs.freshness.headline(signs.now).into_iter().chain(late).collect();
        let of_freshness = match signs.freshness.state {
            FreshnessState::Waiting => Some(("warn", "Waiting")),
            FreshnessState::Blind => Some(("bad", "Blind")),
            FreshnessState::Partial => Some(("warn", "Partly blind")),
            FreshnessState::JustStarted => Some(("warn", "Just started")),
            FreshnessState::Adopted => Some(("warn", "No start seen")),
            FreshnessState::Current => None,
        };
        let worst = signs.problems.first();
        let is_red = |problem: &Problem| {
            !problem.is_of_clock() && (problem.stuck > 0 || problem.pods >= MANY)
        };
        let of_problems = worst.map(|_| match signs.problems.iter().any(is_red) {
            true => ("bad", "Broken"),
            false => ("warn", "Attention"),
        });
        let burns = slo_clause(signs).is_some();
        let of_answer = signs.unanswered.map(|_| ("warn", "Busy"));
        let is_off =
            signs.late_nodes > 0 || !signs.clocks.is_empty() || signs.late_deliveries.is_some();
        let of_rest = (burns || is_off).then_some(("warn", "Attention"));
        // Where it does not know the present, that comes first.
        let (level, word) = match signs.freshness.is_fresh() {
            true => of_problems.or(of_answer).or(of_freshness).or(of_rest),
            false => of_freshness.or(of_problems),
        }
        .unwrap_or(("calm", "All well"));
        Self {
            level,
            word,
            headline: worst.map_or_else(|| calm(signs), |problem| problem.headline.clone()),
            extent: worst.map_or_else(String::new, |problem| problem.extent.clone()),
            command: worst.map_or_else(String::new, |problem| {
                addressed(&problem.next_command, signs.freshness.kubeconfig.as_deref())
            }),
            next: (signs.problems.get(1))
                .map(|problem| (problem.headline.clone(), problem.extent.clone())),
            more: signs.problems.len().saturating_sub(2),
            also: also(signs),
            warning: (!warning.is_empty()).then(|| warning.join(" ")),
        }
    }
}

/// What is wrong with nodes, and which pods start up where the sentence is about an SLO.
fn also(signs: &StatusSigns<'_>) -> Option<String> {
    let told = signs.problems.iter().filter_map(|problem| problem.late_nodes.as_ref());
    let told: usize = told.map(|nodes| nodes.nodes).sum();
    let untold = signs.late_nodes.saturating_sub(told as u64);
    let is_of_slo =
        signs.problems.is_empty() && signs.unanswered.is_none() && slo_clause(signs).is_some();
    let pods = is_of_slo.then(|| format!("{}.", starting(signs, "No pod")));
    let all = pods.into_iter().chain(late(untold)).chain(clocks(signs));
    let all: Vec<String> = all.collect();
    (!all.is_empty()).then(|| all.join(" "))
}

/// A sentence on the clocks that are off, without those of problems; `None` if no clock is left.
fn clocks(signs: &StatusSigns<'_>) -> Option<String> {
    let untold: Vec<&NodeClock> = untold(signs.clocks, signs.problems).collect();
    let (first, more) = untold.split_first()?;
    let more = match more.len() {
        0 => String::new(),
        1 => ", and that of 1 more node is off".to_owned(),
        more => format!(", and those of {more} more nodes are off"),
    };
    Some(format!("{}{more}.", node_clocks::sentence(first)))
}

/// A sentence that so many nodes are late; `None` for 0.
fn late(nodes: u64) -> Option<String> {
    let which = count(nodes, "node has", "nodes have");
    let text = format!(
        "{which} been starting for more than 15 minutes: their taints say what they wait for."
    );
    (nodes > 0).then_some(text)
}

/// The sentence where there is no problem.
fn calm(signs: &StatusSigns<'_>) -> String {
    if let Some(why) = signs.unanswered {
        return format!("It is not known now what is broken: {why}.");
    }
    let known = match signs.freshness.in_sync {
        true => "No problem",
        false => "No problem is known",
    };
    match slo_clause(signs) {
        Some(lost) => format!("{known} now; {lost}."),
        None => format!("{known}: {}.", starting(signs, "no pod")),
    }
}

/// Which SLO lost its budget in the last hour, or else has none left, or burns; `None` if each is kept.
fn slo_clause(signs: &StatusSigns<'_>) -> Option<String> {
    let of_card = || {
        let mut cards = signs.slos.iter();
        let card = cards.find(|slo| ["warn", "bad"].contains(&slo.level))?;
        Some(match card.has_budget {
            true => format!("{} burns its budget {}", card.name, card.burn),
            false => format!("{} has no budget left", card.name),
        })
    };
    lost_budgets(signs.lost_budgets, signs.now).or_else(of_card)
}

/// How many pods start up, and when the last one became ready; `none` stands for no pod.
fn starting(signs: &StatusSigns<'_>, none: &str) -> String {
    let starting = match signs.in_flight {
        0 => format!("{none} is starting up"),
        pods => counted(pods, "pod is starting up", "pods are starting up"),
    };
    let last = signs.last_ready.map_or_else(String::new, |at| {
        format!("; the last one became ready at {}", clock_time(at, signs.now))
    });
    starting + &last
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::problems::ClockCheck;
    use podinit_core::lifecycle::ClockFault;

    fn freshness(state: FreshnessState) -> Freshness {
        let at = Timestamp::from_seconds(1_772_359_507);
        Freshness {
            state,
            in_sync: !matches!(
                state,
                FreshnessState::Waiting | FreshnessState::Blind | FreshnessState::Partial
            ),
            started: at,
            since: at,
            waits_for: None,
            age_seconds: None,
            adopted_everything: false,
            shard: None,
            kubeconfig: None,
            clock_unchecked: false,
        }
    }

    /// What is known where nothing but this is to be said.
    fn signs<'a>(freshness: &'a Freshness, problems: &'a [Problem]) -> StatusSigns<'a> {
        StatusSigns {
            freshness,
            problems,
            unanswered: None,
            slos: &[],
            lost_budgets: &[],
            in_flight: 7,
            late_nodes: 0,
            clocks: &[],
            late_deliveries: None,
            last_ready: None,
            now: Timestamp::from_seconds(1_772_360_000),
        }
    }

    fn status(state: FreshnessState, pods: &[(usize, usize)]) -> (&'static str, &'static str) {
        let problem =
            |&(pods, stuck): &(usize, usize)| Problem { pods, stuck, ..Problem::default() };
        let problems: Vec<_> = pods.iter().map(problem).collect();
        let found = OverviewStatus::from_signs(&signs(&freshness(state), &problems));
        assert_eq!(found.warning.is_some(), state != FreshnessState::Current);
        (found.level, found.word)
    }

    #[test]
    fn only_who_knows_the_present_says_that_all_is_well() {
        use FreshnessState::*;
        assert_eq!(status(Current, &[]), ("calm", "All well"));
        assert_eq!(status(Waiting, &[]), ("warn", "Waiting"));
        assert_eq!(status(Blind, &[(100, 0)]), ("bad", "Blind"));
        assert_eq!(status(JustStarted, &[]), ("warn", "Just started"));
        assert_eq!(status(Adopted, &[]), ("warn", "No start seen"));
        assert_eq!(status(Partial, &[]), ("warn", "Partly blind"));
        assert_eq!(status(Partial, &[(3, 1)]), ("bad", "Broken"));
        assert_eq!(status(JustStarted, &[(3, 1)]), ("bad", "Broken"));
        assert_eq!(status(Current, &[(3, 0)]), ("warn", "Attention"));
        assert_eq!(status(Current, &[(12, 0), (3, 0)]), ("bad", "Broken"));
    }

    #[test]
    fn late_nodes_need_attention_beside_any_problem() {
        let problem =
            Problem { pods: 3, headline: "Pods fit on no node".to_owned(), ..Problem::default() };
        let found = |late_nodes, problems| {
            let known = freshness(FreshnessState::Current);
            let found =
                OverviewStatus::from_signs(&StatusSigns { late_nodes, ..signs(&known, problems) });
            (found.word, found.headline, found.also)
        };
        let problems = [problem];
        let (word, headline, also) = found(2, &problems);
        assert_eq!((word, &*headline), ("Attention", "Pods fit on no node"));
        let expected = "2 nodes have been starting for more than 15 minutes: their taints say what they wait for.";
        assert_eq!(also.as_deref(), Some(expected));
        let (word, _, also) = found(1, &[]);
        assert_eq!(word, "Attention");
        assert!(also.unwrap().starts_with("1 node has been starting"));
        assert_eq!(found(0, &[]).2, None);
    }

    #[test]
    fn late_deliveries_need_attention_and_stand_above_everything() {
        let found = |state, late: &LateDeliveries| {
            let known = freshness(state);
            let found = OverviewStatus::from_signs(&StatusSigns {
                late_deliveries: Some(late),
                ..signs(&known, &[])
            });
            (found.word, found.warning.unwrap())
        };
        let late = LateDeliveries::new(40, ClockCheck::ByDate);
        let said = "What is known of pods is old: deliveries are 40s late. Deadlines pass later.";
        let expected = "Attention";
        assert_eq!(found(FreshnessState::Current, &late), (expected, said.to_owned()));
        let (word, warning) = found(FreshnessState::JustStarted, &late);
        assert!(word == "Just started" && warning.ends_with(said), "{word}: {warning}");
    }

    #[test]
    fn two_problems_are_both_said_and_more_are_counted() {
        let problem = |headline: &str| Problem {
            headline: headline.to_owned(),
            extent: format!("{headline} here"),
            next_command: "kubectl get events".to_owned(),
            ..Problem::default()
        };
        let problems = ["one", "two", "three"].map(problem);
        let known = freshness(FreshnessState::Current);
        let found = |problems| OverviewStatus::from_signs(&signs(&known, problems));
        let all = found(&problems);
        assert_eq!((&*all.headline, &*all.extent), ("one", "one here"));
        assert_eq!(all.command, "kubectl get events");
        assert_eq!((all.next, all.more), (Some(("two".to_owned(), "two here".to_owned())), 1));
        let one = found(&problems[..1]);
        assert_eq!((one.next, one.more), (None, 0));
    }

    #[test]
    fn no_problem_is_said_of_the_pods_that_start() {
        let known = freshness(FreshnessState::Current);
        let signs = StatusSigns {
            last_ready: Some(Timestamp::from_seconds(1_772_359_507)),
            ..signs(&known, &[])
        };
        let expected = "No problem: 7 pods are starting up; the last one became ready at 10:05.";
        assert_eq!(OverviewStatus::from_signs(&signs).headline, expected);
        let found = OverviewStatus::from_signs(&StatusSigns {
            unanswered: Some("podinit is busy, try again"),
            ..signs
        });
        assert_eq!((found.level, found.word), ("warn", "Busy"));
        let expected = "It is not known now what is broken: podinit is busy, try again.";
        assert_eq!(found.headline, expected);
    }

    #[test]
    fn without_a_problem_the_headline_says_which_slo_lost_its_budget() {
        let at = |minute: i64| Timestamp::from_seconds(1_772_341_200 + 60 * minute);
        let lost = [LostBudget {
            slo: "scheduled-pod-ready".to_owned(),
            from: at(2),
            until: Some(at(14)),
            burn: 60.0,
        }];
        let known = freshness(FreshnessState::Current);
        let signs = StatusSigns {
            lost_budgets: &lost,
            last_ready: Some(at(21)),
            now: at(25),
            ..signs(&known, &[])
        };
        let found = OverviewStatus::from_signs(&signs);
        assert_eq!((found.level, found.word), ("warn", "Attention"));
        let headline = "No problem now; scheduled-pod-ready lost its budget from 05:02 to 05:14.";
        assert_eq!(found.headline, headline);
        let also = "7 pods are starting up; the last one became ready at 05:21.";
        assert_eq!(found.also.as_deref(), Some(also));
        // A problem says why.
        let problems = [Problem { headline: "Pods crash".to_owned(), ..Problem::default() }];
        let signs = StatusSigns { problems: &problems, ..signs };
        let broken = OverviewStatus::from_signs(&signs);
        assert_eq!((&*broken.headline, broken.also), ("Pods crash", None));
        // Without a loss in the last hour, it is what the card of the SLO says.
        let of_card = |has_budget| {
            let card = SloCard {
                name: "fast".to_owned(),
                burn: "2.5× over 5 min".to_owned(),
                level: "warn",
                has_budget,
                ..SloCard::default()
            };
            let slos = [card];
            let signs = StatusSigns { slos: &slos, lost_budgets: &[], problems: &[], ..signs };
            let found = OverviewStatus::from_signs(&signs);
            (found.word, found.headline)
        };
        let burns = "No problem now; fast burns its budget 2.5× over 5 min.";
        assert_eq!(of_card(true), ("Attention", burns.to_owned()));
        let spent = "No problem now; fast has no budget left.";
        assert_eq!(of_card(false), ("Attention", spent.to_owned()));
    }

    #[test]
    fn a_clock_that_is_off_needs_attention_and_is_told_once() {
        let clock = |node: &str| NodeClock {
            node: node.into(),
            fault: ClockFault::Ahead,
            seconds: 7_199,
            since: Timestamp::from_seconds(1_772_359_000),
        };
        let problem = Problem {
            cause: "clock".to_owned(),
            value: Some("node-1".to_owned()),
            pods: 12,
            stuck: 3,
            ..Problem::default()
        };
        let found = |clocks: &[NodeClock], problems: &[Problem]| {
            let found = OverviewStatus::from_signs(&StatusSigns {
                freshness: &freshness(FreshnessState::Current),
                problems,
                unanswered: None,
                slos: &[],
                lost_budgets: &[],
                in_flight: 12,
                late_nodes: 0,
                clocks,
                late_deliveries: None,
                last_ready: None,
                now: Timestamp::from_seconds(1_772_360_000),
            });
            (found.word, found.also)
        };
        let two = ["node-1", "node-2"].map(clock);
        assert_eq!(found(&two[..1], std::slice::from_ref(&problem)), ("Attention", None));
        let (word, also) = found(&two, &[problem]);
        assert_eq!(word, "Attention");
        assert_eq!(also.as_deref(), Some("The clock of node-2 is at least 1h59m ahead."));
        let (_, also) = found(&two, &[]);
        let both = "The clock of node-1 is at least 1h59m ahead, and that of 1 more node is off.";
        assert_eq!(also.as_deref(), Some(both));
    }
}
