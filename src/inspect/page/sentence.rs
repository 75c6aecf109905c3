//! The first sentence of the page: what is going on.

use crate::text::human_time::hour_and_minute;
use podinit_core::lifecycle::Stage;
use podinit_core::timestamp::Timestamp;

/// What the sentence is made of.
#[derive(Clone, Debug, PartialEq)]
pub struct Situation {
    /// Pods in flight, by stage
    pub in_flight: [u64; Stage::ALL.len()],
    /// Those that are stuck, by stage
    pub stuck: [u64; Stage::ALL.len()],
    /// When the pod that has been in the stage longest entered it
    pub oldest: [Option<Timestamp>; Stage::ALL.len()],
    /// The node with the most pods in the stage that has the most, and how many
    pub node: Option<(String, usize)>,
    /// When a pod became ready last
    pub last_ready: Option<Timestamp>,
    pub now: Timestamp,
}

/// A node with at least so large a share of the pods is named.
const NODE_SHARE: f64 = 0.2;
/// So many minutes without a ready pod are worth a word.
const QUIET_MINUTES: i64 = 2;

impl Situation {
    /// The stage that the sentence is about: the one with the most stuck pods, or without any, with the
    /// most pods in flight. `None` if no pod is in flight.
    pub fn stage(&self) -> Option<Stage> {
        let counts = match self.stuck.iter().sum::<u64>() {
            0 => &self.in_flight,
            _ => &self.stuck,
        };
        // Of equals the first.
        let stages = Stage::ALL.into_iter().rev();
        stages
            .filter(|stage| counts[*stage as usize] > 0)
            .max_by_key(|stage| counts[*stage as usize])
    }

    /// The sentence.
    pub fn sentence(&self) -> String {
        let Some(stage) = self.stage() else {
            return match self.last_ready {
                Some(at) => format!(
                    "No pod is starting up; the last one became ready at {}.",
                    hour_and_minute(at)
                ),
                None => "No pod is starting up.".to_owned(),
            };
        };
        let total: u64 = self.in_flight.iter().sum();
        let stuck: u64 = self.stuck.iter().sum();
        let here = self.in_flight[stage as usize];
        let mut sentence = if stuck > 0 || total == here {
            waits(stage, here)
        } else {
            format!("{}, {}", starting(total), of_them(stage, here))
        };
        if let Some(oldest) = self.oldest[stage as usize] {
            sentence += &format!(" since {}", hour_and_minute(oldest));
        }
        if let Some((node, pods)) = &self.node
            && *pods > 1
            && *pods as f64 >= NODE_SHARE * here as f64
        {
            sentence += &format!("; {pods} of them on {node}");
        }
        sentence += &match (stuck, self.quiet_minutes(stage)) {
            (0, None) => "; none is stuck".to_owned(),
            (stuck, None) => format!("; {stuck} {} stuck", if stuck == 1 { "is" } else { "are" }),
            (_, Some(minutes)) => format!("; none has become ready for {minutes} min"),
        };
        sentence + "."
    }

    /// For how long no pod has become ready although there were some in `stage`, where that is worth a
    /// word.
    fn quiet_minutes(&self, stage: Stage) -> Option<i64> {
        let since = self.last_ready?.max(self.oldest[stage as usize]?);
        let minutes = self.now.nanos_since(since) / 60_000_000_000;
        (minutes >= QUIET_MINUTES).then_some(minutes)
    }
}

fn starting(pods: u64) -> String {
    match pods {
        1 => "1 pod is starting up".to_owned(),
        pods => format!("{pods} pods are starting up"),
    }
}

/// "461 pods wait for their network"
fn waits(stage: Stage, pods: u64) -> String {
    let (one, more) = words(stage);
    match pods {
        1 => format!("1 pod {one}"),
        pods => format!("{pods} pods {more}"),
    }
}

/// "2 of them wait for their network"
fn of_them(stage: Stage, pods: u64) -> String {
    let (one, more) = words(stage);
    let words = if pods == 1 { one } else { more };
    format!("{pods} of them {words}")
}

/// What one pod, and what several do in a stage.
const fn words(stage: Stage) -> (&'static str, &'static str) {
    match stage {
        Stage::Gated => ("waits for its scheduling gates", "wait for their scheduling gates"),
        Stage::Scheduling => ("waits for the scheduler", "wait for the scheduler"),
        Stage::Unschedulable => ("fits on no node", "fit on no node"),
        Stage::Network => ("waits for its network", "wait for their network"),
        Stage::Init => ("waits for its init containers", "wait for their init containers"),
        Stage::Containers => ("waits for its containers", "wait for their containers"),
        Stage::Readiness => ("waits for its readiness gates", "wait for their readiness gates"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 23:13 on some day.
    const NOW: i64 = 1_772_406_780;

    fn at(minutes_ago: i64) -> Timestamp {
        Timestamp::from_seconds(NOW - 60 * minutes_ago)
    }

    fn situation(pods: &[(Stage, u64, u64)]) -> Situation {
        let mut situation = Situation {
            in_flight: [0; Stage::ALL.len()],
            stuck: [0; Stage::ALL.len()],
            oldest: [None; Stage::ALL.len()],
            node: None,
            last_ready: Some(at(0)),
            now: at(0),
        };
        for (stage, pods, stuck) in pods {
            situation.in_flight[*stage as usize] = *pods;
            situation.stuck[*stage as usize] = *stuck;
            situation.oldest[*stage as usize] = Some(at(8));
        }
        situation
    }

    #[test]
    fn an_outage_in_one_sentence() {
        let outage = Situation {
            node: Some(("node-a0".to_owned(), 133)),
            last_ready: Some(at(8)),
            ..situation(&[(Stage::Network, 461, 400), (Stage::Containers, 7, 0)])
        };
        assert_eq!(
            outage.sentence(),
            "461 pods wait for their network since 23:05; 133 of them on node-a0; none has become ready \
             for 8 min."
        );
        // A quiet hour before the pods came is no sign of an outage.
        let idle_before = Situation {
            last_ready: Some(at(60)),
            oldest: [Some(at(1)); Stage::ALL.len()],
            node: None,
            ..outage.clone()
        };
        assert_eq!(
            idle_before.sentence(),
            "461 pods wait for their network since 23:12; 400 are stuck."
        );
        let spread =
            Situation { node: Some(("node-a0".to_owned(), 92)), last_ready: None, ..outage };
        assert_eq!(
            spread.sentence(),
            "461 pods wait for their network since 23:05; 400 are stuck."
        );
    }

    #[test]
    fn an_ordinary_moment_in_one_sentence() {
        let ordinary = situation(&[(Stage::Scheduling, 2, 0), (Stage::Containers, 5, 0)]);
        assert_eq!(
            ordinary.sentence(),
            "7 pods are starting up, 5 of them wait for their containers since 23:05; none is stuck."
        );
        let one = situation(&[(Stage::Init, 1, 1)]);
        assert_eq!(one.sentence(), "1 pod waits for its init containers since 23:05; 1 is stuck.");
    }

    #[test]
    fn a_stuck_stage_comes_before_a_larger_one() {
        let both = situation(&[(Stage::Unschedulable, 3, 3), (Stage::Containers, 50, 0)]);
        assert_eq!(both.stage(), Some(Stage::Unschedulable));
        let equal = situation(&[(Stage::Network, 3, 0), (Stage::Containers, 3, 0)]);
        assert_eq!(equal.stage(), Some(Stage::Network));
    }

    #[test]
    fn silence_in_one_sentence() {
        let idle = situation(&[]);
        assert_eq!(idle.sentence(), "No pod is starting up; the last one became ready at 23:13.");
        let new = Situation { last_ready: None, ..idle };
        assert_eq!(new.sentence(), "No pod is starting up.");
    }
}
