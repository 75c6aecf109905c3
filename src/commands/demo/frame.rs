//! One frame of the demo in a terminal: a bar for each stage and how long it takes, a status line, where to
//! look, and the worst problem.

use std::fmt::Write;
use std::time::Duration;

use podinit_core::lifecycle::Stage;
use podinit_core::palette;
use podinit_expo::metrics::{LEAST_OF_P99, PodFigures, StageDurations};
use podinit_text::document::TerminalStyle;
use podinit_text::human_time::{rounded_seconds, seconds};

/// The columns of a bar's line that are neither the bar nor the durations: the stage, its pods, and how many are stuck.
const MARGIN: usize = 32;
/// The columns of the median and the 99th percentile.
const DURATIONS: usize = 18;
/// The longest bar stands for at least so many pods, so that a single pod does not fill its line.
const LEAST_SCALE: u64 = 10;

/// What a frame shows.
#[derive(Clone, Debug, Default)]
pub(super) struct DemoFrame {
    /// The name of the scene, if there is one
    pub(super) scene: Option<&'static str>,
    /// Simulated time since the start
    pub(super) elapsed: Duration,
    pub(super) figures: PodFigures,
    /// How long stages took, since the start
    pub(super) durations: StageDurations,
    /// One status line
    pub(super) status: String,
    /// Where to look, a line each
    pub(super) look: Vec<String>,
    /// Whether a key ends the demo
    pub(super) has_keys: bool,
    /// The worst problem
    pub(super) problem: String,
}

impl DemoFrame {
    /// The lines of the frame, at most `height`, none longer than the width of `style`. Where there is too
    /// little room, empty lines go first, then lines of where to look; the problem stays.
    pub(super) fn lines(&self, style: TerminalStyle, height: usize) -> Vec<String> {
        let width = style.width;
        let mut bars = vec![self.heads(style)];
        bars.extend(self.bars(style));
        let mut look: Vec<_> = self.look.iter().flat_map(|line| wrapped(line, width)).collect();
        if self.has_keys {
            look.push(cut("to end this    q", width));
        }
        let problem = wrapped(&self.problem, width);
        let mut parts = [vec![self.head(style)], bars, wrapped(&self.status, width), look, problem];
        let all = |parts: &[Vec<String>]| parts.iter().map(Vec::len).sum::<usize>();
        let missing = all(&parts).saturating_sub(height);
        let kept = parts[3].len().saturating_sub(missing);
        parts[3].truncate(kept);
        let is_loose = all(&parts) + parts.len() - 1 <= height;
        let between = if is_loose { vec![String::new()] } else { Vec::new() };
        let mut lines = parts.join(&between[..]);
        lines.truncate(height);
        lines
    }

    /// What stands above the columns.
    fn heads(&self, style: TerminalStyle) -> String {
        let left = format!("{:<14}{:>6}", "stage", "pods");
        match has_durations(style.width) {
            true => format!("{left}{:>9}{:>9}", "median", "p99"),
            false => cut(&left, style.width),
        }
    }

    fn head(&self, style: TerminalStyle) -> String {
        let in_flight: u64 = self.figures.in_flight().iter().sum();
        let mut head = String::from("podinit demo");
        if let Some(scene) = self.scene {
            let _ = write!(head, ": {scene}");
        }
        let _ = write!(
            head,
            ", {} in: {} ready, {in_flight} starting, {} failed",
            seconds(self.elapsed.as_secs() as f64),
            self.figures.ready(),
            self.figures.failed(),
        );
        let head = cut(&head, style.width);
        match style.colour {
            true => format!("\u{1b}[1m{head}\u{1b}[0m"),
            false => head,
        }
    }

    /// A line for each stage: its pods, how long they took, and a bar as long as its share of the largest one.
    fn bars(&self, style: TerminalStyle) -> impl Iterator<Item = String> {
        let pods = self.figures.in_flight();
        let most = pods.iter().copied().max().unwrap_or(0).max(LEAST_SCALE);
        let with_durations = has_durations(style.width);
        let room = if with_durations { style.width - DURATIONS } else { style.width };
        let columns = room.saturating_sub(MARGIN).clamp(1, 80);
        Stage::ALL.into_iter().map(move |stage| {
            let (pods, stuck) = (pods[stage as usize], self.figures.stuck[stage as usize]);
            let length = (pods as f64 / most as f64 * columns as f64).ceil() as usize;
            let bar = "█".repeat(length.min(columns));
            let stuck = match stuck {
                0 => String::new(),
                stuck => format!(" {stuck} stuck"),
            };
            let took = if with_durations { self.took(stage) } else { String::new() };
            let mut line = format!("{:<14}{pods:>6}{took} {bar}{stuck}", stage.as_str());
            if style.colour && !bar.is_empty() {
                let colour = palette::ansi(stage.as_str());
                line = line.replacen(&bar, &format!("\u{1b}[{colour}m{bar}\u{1b}[0m"), 1);
            }
            line.trim_end().to_owned()
        })
    }

    /// The median and the 99th percentile of a stage.
    fn took(&self, stage: Stage) -> String {
        let durations = &self.durations[stage as usize];
        let at = |percent, least| match durations.count() >= least {
            true => durations.quantile(percent).map(rounded_seconds),
            false => None,
        };
        let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
        format!("{:>9}{:>9}", or_dash(at(50, 1)), or_dash(at(99, LEAST_OF_P99)))
    }
}

/// Whether a line of so many columns has room for durations.
const fn has_durations(width: usize) -> bool {
    width > MARGIN + DURATIONS
}

/// The text in lines of at most `width` columns, broken between words, and within a word that is longer.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let word: Vec<char> = word.chars().collect();
        let mut rest = &word[..];
        loop {
            let used = lines.last().map_or(0, |line| line.chars().count());
            let room = width.saturating_sub(used + usize::from(used > 0));
            if rest.len() > room && used > 0 {
                lines.push(String::new());
                continue;
            }
            let taken = rest.len().min(room.max(1));
            if let Some(line) = lines.last_mut() {
                if used > 0 && rest.len() == word.len() {
                    line.push(' ');
                }
                line.extend(&rest[..taken]);
            }
            rest = &rest[taken..];
            if rest.is_empty() {
                break;
            }
            lines.push(String::new());
        }
    }
    lines
}

fn cut(line: &str, width: usize) -> String {
    line.chars().take(width).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use podinit_core::lifecycle::{Outcome, WaitReason};
    use podinit_expo::metrics::DurationDistribution;

    /// So many pods in a stage, whatever the cause.
    fn waiting(stage: Stage, pods: u64) -> (WaitReason, u64) {
        let mut all = WaitReason::ALL.into_iter();
        let waiting = all.find(|waiting| waiting.stage() == stage);
        (waiting.unwrap_or(WaitReason::ALL[0]), pods)
    }

    fn frame() -> DemoFrame {
        let mut figures = PodFigures {
            waiting: vec![
                waiting(Stage::Scheduling, 3),
                waiting(Stage::Network, 1),
                waiting(Stage::Containers, 46),
            ],
            ..PodFigures::default()
        };
        figures.stuck[Stage::Containers as usize] = 12;
        figures.finished[Outcome::Ready as usize] = 2_980;
        figures.finished[Outcome::Failed as usize] = 7;
        DemoFrame {
            scene: Some("registry-down"),
            elapsed: Duration::from_secs(760),
            figures,
            status: "registry.example.com refuses connections for 7m40s: 46 pods wait for their containers."
                .to_owned(),
            look: vec!["the page       http://127.0.0.1:8080/".to_owned()],
            durations: std::array::from_fn(|stage| {
                DurationDistribution::of_nanos((0..95 + stage as u64).map(|_| 2_000_000_000))
            }),
            has_keys: true,
            problem: "46 pods cannot pull images.".to_owned(),
        }
    }

    fn plain(width: usize) -> TerminalStyle {
        TerminalStyle { colour: false, width }
    }

    #[test]
    fn a_frame_has_a_bar_for_each_stage_a_status_line_where_to_look_and_the_worst_problem() {
        let expected = "\
podinit demo: registry-down, 12m40s in: 2980 ready, 50 starting, 7 failed

stage           pods   median      p99
gated              0     1.9s        -
scheduling         3     1.9s        - ██
unschedulable      0     1.9s        -
network            1     1.9s        - █
init               0     1.9s        -
containers        46     1.9s       2s ██████████████████████████████ 12 stuck
readiness          0     1.9s       2s

registry.example.com refuses connections for 7m40s: 46 pods wait for their
containers.

the page       http://127.0.0.1:8080/
to end this    q

46 pods cannot pull images.";
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
    fn a_terminal_of_24_lines_shows_everything_and_ends_with_the_problem() {
        let words = |count| vec!["word"; count].join(" ");
        let full = DemoFrame {
            status: words(30),
            look: vec!["look".to_owned(); 6],
            problem: words(60) + " end",
            ..frame()
        };
        let lines = full.lines(plain(80), 24);
        let text = lines.join("\n");
        assert!(lines.len() <= 24 && text.ends_with(" end"), "{text}");
        assert_eq!(text.matches("word").count(), 90);
        assert_eq!(text.matches("look").count(), 6);
        let small = full.lines(plain(80), 18).join("\n");
        assert!(small.ends_with(" end"), "{small}");
        assert_eq!(wrapped("ab abcdefgh", 3), ["ab", "abc", "def", "gh"]);
    }

    #[test]
    fn colours_are_only_added() {
        let coloured = TerminalStyle { colour: true, width: 80 };
        let mut text = frame().lines(coloured, 100).join("\n");
        let containers = palette::ansi(Stage::Containers.as_str());
        assert!(text.contains(&format!("\u{1b}[{containers}m█")), "{text}");
        let codes = Stage::ALL.map(|stage| palette::ansi(stage.as_str()));
        for code in codes.into_iter().chain([0, 1]) {
            text = text.replace(&format!("\u{1b}[{code}m"), "");
        }
        assert_eq!(text, frame().lines(plain(80), 100).join("\n"));
    }

    #[test]
    fn one_pod_does_not_fill_its_line() {
        let one = DemoFrame {
            figures: PodFigures { waiting: vec![waiting(Stage::Init, 1)], ..PodFigures::default() },
            ..DemoFrame::default()
        };
        let lines = one.lines(plain(80), 100);
        assert_eq!(lines[7], "init               1        -        - ███");
    }
}
