//! One frame of the demo in a terminal: a bar for each stage, a status line, and where to look.

use std::fmt::Write;
use std::time::Duration;

use crate::metrics::Figures;
use crate::reports::report::Style;
use crate::text::human_time::seconds;
use crate::text::palette;
use podinit_core::lifecycle::{Outcome, Stage};

/// The columns of a bar's line that are not the bar.
const MARGIN: usize = 34;
/// The longest bar stands for at least so many pods, so that a single pod does not fill its line.
const LEAST_SCALE: u64 = 10;

/// What a frame shows.
#[derive(Clone, Debug, Default)]
pub(super) struct Frame {
    /// The name of the scene, if there is one
    pub(super) scene: Option<&'static str>,
    /// Simulated time since the start
    pub(super) elapsed: Duration,
    pub(super) figures: Figures,
    /// One status line
    pub(super) status: String,
    /// Where to look, a line each
    pub(super) look: Vec<String>,
}

impl Frame {
    /// The lines of the frame, at most `height`, none longer than the width of `style`.
    pub(super) fn lines(&self, style: Style, height: usize) -> Vec<String> {
        let mut lines = vec![self.head(style), String::new()];
        lines.extend(self.bars(style));
        lines.push(String::new());
        lines.extend(wrapped(&self.status, style.width));
        lines.push(String::new());
        lines.extend(self.look.iter().map(|line| cut(line, style.width)));
        lines.truncate(height);
        lines
    }

    fn head(&self, style: Style) -> String {
        let in_flight: u64 = self.figures.in_flight().iter().sum();
        let failed = self.figures.finished[Outcome::Failed as usize];
        let mut head = String::from("podinit demo");
        if let Some(scene) = self.scene {
            let _ = write!(head, ": {scene}");
        }
        let _ = write!(
            head,
            ", {} in: {} ready, {in_flight} starting, {failed} failed",
            seconds(self.elapsed.as_secs() as f64),
            self.figures.ready(),
        );
        let head = cut(&head, style.width);
        match style.colour {
            true => format!("\u{1b}[1m{head}\u{1b}[0m"),
            false => head,
        }
    }

    /// A bar for each stage, as long as its share of the largest one.
    fn bars(&self, style: Style) -> impl Iterator<Item = String> {
        let pods = self.figures.in_flight();
        let most = pods.iter().copied().max().unwrap_or(0).max(LEAST_SCALE);
        let columns = style.width.saturating_sub(MARGIN).clamp(1, 80);
        let stuck = self.figures.stuck;
        Stage::ALL.into_iter().map(move |stage| {
            let (pods, stuck) = (pods[stage as usize], stuck[stage as usize]);
            let length = (pods as f64 / most as f64 * columns as f64).ceil() as usize;
            let bar = "█".repeat(length.min(columns));
            let bar = match style.colour && !bar.is_empty() {
                true => format!("\u{1b}[{}m{bar}\u{1b}[0m", palette::ansi(stage.as_str())),
                false => bar,
            };
            let stuck = match stuck {
                0 => String::new(),
                stuck => format!(" {stuck} stuck"),
            };
            let line = format!("{:<14}{pods:>6} {bar}{stuck}", stage.as_str());
            line.trim_end().to_owned()
        })
    }
}

/// The text in lines of at most `width` columns, broken between words.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let is_full = lines.last().is_some_and(|line| {
            !line.is_empty() && line.chars().count() + 1 + word.chars().count() > width
        });
        if is_full {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines.iter().map(|line| cut(line, width)).collect()
}

fn cut(line: &str, width: usize) -> String {
    line.chars().take(width).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use podinit_core::lifecycle::WaitReason;

    /// So many pods in a stage, whatever the cause.
    fn waiting(stage: Stage, pods: u64) -> (WaitReason, u64) {
        let mut all = WaitReason::ALL.into_iter();
        let waiting = all.find(|waiting| waiting.stage() == stage);
        (waiting.unwrap_or(WaitReason::ALL[0]), pods)
    }

    fn frame() -> Frame {
        let mut figures = Figures {
            waiting: vec![
                waiting(Stage::Scheduling, 3),
                waiting(Stage::Network, 1),
                waiting(Stage::Containers, 46),
            ],
            ..Figures::default()
        };
        figures.stuck[Stage::Containers as usize] = 12;
        figures.finished[Outcome::Ready as usize] = 2_980;
        figures.finished[Outcome::Failed as usize] = 7;
        Frame {
            scene: Some("registry-down"),
            elapsed: Duration::from_secs(760),
            figures,
            status: "registry.example.com refuses connections for 7m40s: 46 pods wait for their containers."
                .to_owned(),
            look: vec!["page    http://127.0.0.1:8080/".to_owned()],
        }
    }

    fn plain(width: usize) -> Style {
        Style {
            colour: false,
            width,
        }
    }

    #[test]
    fn a_frame_has_a_bar_for_each_stage_one_status_line_and_where_to_look() {
        let expected = "\
podinit demo: registry-down, 12m40s in: 2980 ready, 50 starting, 7 failed

gated              0
scheduling         3 ███
unschedulable      0
network            1 █
init               0
containers        46 ██████████████████████████████████████████████ 12 stuck
readiness          0

registry.example.com refuses connections for 7m40s: 46 pods wait for their
containers.

page    http://127.0.0.1:8080/";
        assert_eq!(frame().lines(plain(80), 100).join("\n"), expected);
    }

    #[test]
    fn nothing_is_wider_or_higher_than_the_terminal() {
        for width in [20, 40, 79, 80, 120, 300] {
            for height in [1, 5, 24] {
                let lines = frame().lines(plain(width), height);
                assert!(lines.len() <= height, "{lines:#?}");
                let widest = lines.iter().map(|line| line.chars().count()).max();
                assert!(widest <= Some(width.max(MARGIN)), "{width}: {lines:#?}");
            }
        }
    }

    #[test]
    fn colours_are_only_added() {
        let coloured = Style {
            colour: true,
            width: 80,
        };
        let mut text = frame().lines(coloured, 100).join("\n");
        assert!(text.contains("\u{1b}[36m█"), "{text}");
        for code in ["0", "1", "33", "34", "36"] {
            text = text.replace(&format!("\u{1b}[{code}m"), "");
        }
        assert_eq!(text, frame().lines(plain(80), 100).join("\n"));
    }

    #[test]
    fn one_pod_does_not_fill_its_line() {
        let one = Frame {
            figures: Figures {
                waiting: vec![waiting(Stage::Init, 1)],
                ..Figures::default()
            },
            ..Frame::default()
        };
        let lines = one.lines(plain(80), 100);
        assert_eq!(lines[6], "init               1 █████");
    }
}
