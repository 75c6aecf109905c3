//! The status lines of the demo, one at a time.

use std::time::Duration;

use podinit_core::lifecycle::Stage;
use podinit_expo::metrics::PodFigures;
use podinit_sim::scene::Scene;
use podinit_text::human_time::seconds;

/// How long a line stands.
const LINE_STANDS: Duration = Duration::from_secs(6);

/// What the lines are made of.
#[derive(Clone, Debug)]
pub(super) struct StatusLines<'a> {
    /// What breaks, and how long after the start
    pub(super) scene: Option<(Scene, Duration)>,
    /// Simulated time since the start
    pub(super) elapsed: Duration,
    pub(super) figures: &'a PodFigures,
}

impl StatusLines<'_> {
    /// The line that stands after so much real time.
    pub(super) fn line(&self, shown: Duration) -> String {
        let mut lines = self.lines();
        let turn = shown.as_secs() / LINE_STANDS.as_secs();
        let turn = usize::try_from(turn).unwrap_or(0) % lines.len();
        lines.swap_remove(turn)
    }

    /// All lines that can be said now, in their order; at least one.
    fn lines(&self) -> Vec<String> {
        let mut lines = vec![self.plot()];
        lines.extend(self.main_cause());
        lines.extend(self.worst_slo());
        lines
    }

    /// What is broken, or will be.
    fn plot(&self) -> String {
        let took = |duration: Duration| seconds(duration.as_secs() as f64);
        match self.scene {
            None => format!("{}Choose what breaks with --scene.", self.calm()),
            Some((scene, after)) => match after.checked_sub(self.elapsed) {
                Some(left) if !left.is_zero() => {
                    format!("Nothing is wrong yet. In {}: {}.", took(left), scene.breaks())
                }
                _ => {
                    format!("For {}: {}.", took(self.elapsed.saturating_sub(after)), scene.breaks())
                }
            },
        }
    }

    /// That nothing is broken, and what the pods are that failed nevertheless.
    fn calm(&self) -> String {
        match self.figures.failed() {
            0 => "Nothing is broken. ".to_owned(),
            1 => {
                "Nothing is broken: the failed pod is of a job that ends with an error. ".to_owned()
            }
            failed => format!(
                "Nothing is broken: the {failed} failed pods are of jobs that end with an error, each \
                 once. "
            ),
        }
    }

    /// For what most of the pods in the largest stage wait.
    fn main_cause(&self) -> Option<String> {
        let pods = self.figures.in_flight();
        let largest = Stage::ALL.into_iter().rev().max_by_key(|stage| pods[*stage as usize])?;
        let waiting = self.figures.waiting.iter();
        let of_stage = waiting.filter(|(waiting, _)| waiting.stage() == largest);
        let (waiting, pods) = of_stage.max_by_key(|(_, pods)| *pods)?;
        Some(format!(
            "Most of them wait in {} for the cause {}: {pods}. Metrics, alerts and records say the same word.",
            largest.as_str(),
            waiting.cause().as_str()
        ))
    }

    /// The SLO that has lost most.
    fn worst_slo(&self) -> Option<String> {
        let decided = self.figures.slos.iter().filter(|slo| slo.good + slo.bad > 0);
        let share = |bad: u64, good: u64| bad as f64 / (good + bad) as f64;
        let worst = decided.max_by(|a, b| share(a.bad, a.good).total_cmp(&share(b.bad, b.good)))?;
        Some(format!(
            "SLO {}: {:.1}% good of {}, promised {}%.",
            worst.doc.rule.name,
            100.0 - 100.0 * share(worst.bad, worst.good),
            worst.good + worst.bad,
            (worst.doc.objective_ratio * 1e4).round() / 1e2
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use podinit_core::lifecycle::{Outcome, SloRule, WaitReason};
    use podinit_expo::metrics::{SloDoc, SloFigures};

    fn figures() -> PodFigures {
        let image = WaitReason::ALL.into_iter().find(|waiting| {
            (waiting.stage(), waiting.cause().as_str()) == (Stage::Containers, "image")
        });
        let slo = |name: &str, bad| SloFigures {
            doc: SloDoc::new(&SloRule { name: name.into(), ..SloRule::default() }, 0.99, 604_800.0),
            good: 75,
            bad,
        };
        PodFigures {
            waiting: image.map(|waiting| (waiting, 40)).into_iter().collect(),
            slos: vec![slo("network-ready", 0), slo("scheduled-pod-ready", 25)],
            ..PodFigures::default()
        }
    }

    fn lines(elapsed: u64, scene: Option<(Scene, Duration)>) -> Vec<String> {
        let figures = figures();
        let lines = StatusLines { scene, elapsed: Duration::from_secs(elapsed), figures: &figures };
        let shown = (0..3).map(|turn| lines.line(LINE_STANDS * turn));
        shown.collect()
    }

    #[test]
    fn the_lines_follow_each_other() {
        let scene = Some((Scene::RegistryDown, Duration::from_secs(300)));
        assert_eq!(
            lines(760, scene),
            [
                "For 7m40s: registry.example.com refuses connections.",
                "Most of them wait in containers for the cause image: 40. Metrics, alerts and records say the \
                 same word.",
                "SLO scheduled-pod-ready: 75.0% good of 100, promised 99%.",
            ]
        );
        let before = "Nothing is wrong yet. In 60s: registry.example.com refuses connections.";
        assert_eq!(lines(240, scene)[0], before);
        let calm = "Nothing is broken. Choose what breaks with --scene.";
        assert_eq!(lines(240, None)[0], calm);
    }

    #[test]
    fn before_the_first_pod_there_is_a_line_too() {
        let figures = PodFigures::default();
        let lines = StatusLines { scene: None, elapsed: Duration::ZERO, figures: &figures };
        let calm = "Nothing is broken. Choose what breaks with --scene.";
        assert_eq!(lines.line(LINE_STANDS), calm);
    }

    #[test]
    fn failed_jobs_stand_beside_it_with_a_word() {
        let mut figures = PodFigures::default();
        figures.finished[Outcome::Failed as usize] = 7;
        let lines = StatusLines { scene: None, elapsed: Duration::ZERO, figures: &figures };
        let line = lines.line(Duration::ZERO);
        assert!(line.contains("the 7 failed pods are of jobs that end with an error"), "{line}");
    }
}
