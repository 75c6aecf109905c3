//! The demo in a terminal: frames on the alternate screen, until the demo ends. A key ends it.

use std::io::{self, BufRead, IsTerminal, Write};
use std::sync::Arc;
use std::time::Duration;

use rustix::process::getpgrp;
use rustix::termios::{
    LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcgetpgrp, tcsetattr,
};
use tokio::time::{Instant, MissedTickBehavior};
use tokio_util::sync::CancellationToken;

use super::frame::DemoFrame;
use super::status_lines::StatusLines;
use crate::commands::output::style;
use podinit_core::timestamp::Timestamp;
use podinit_expo::metrics::Exposition;
use podinit_kube::cluster::clock::DeliveryClock;
use podinit_oncall::problems::FindingSnapshots;
use podinit_sim::scene::Scene;

/// Between two frames.
const FRAME_EVERY: Duration = Duration::from_millis(500);

/// Enters the alternate screen and hides the cursor.
const ENTER: &str = "\u{1b}[?1049h\u{1b}[?25l";
/// Shows the cursor and leaves the alternate screen.
const LEAVE: &str = "\u{1b}[?25h\u{1b}[?1049l";
/// Moves to the first line.
const HOME: &str = "\u{1b}[H";
/// Erases the rest of a line, and what is below it.
const ERASE_LINE: &str = "\u{1b}[K";
const ERASE_BELOW: &str = "\u{1b}[J";

/// What the frames are made of.
pub(super) struct LiveView {
    pub(super) exposition: Arc<Exposition>,
    pub(super) problems: FindingSnapshots,
    pub(super) clock: Arc<dyn DeliveryClock>,
    /// What breaks, and how long after the start
    pub(super) scene: Option<(Scene, Duration)>,
    /// Where to look
    pub(super) look: Vec<String>,
    /// Where a key ends the demo
    pub(super) keys: Option<KeyInput>,
}

/// Whether standard output is a terminal that can show frames.
pub(super) fn is_possible() -> bool {
    let is_dumb = std::env::var_os("TERM").is_none_or(|term| term.is_empty() || term == "dumb");
    io::stdout().is_terminal() && !is_dumb
}

impl LiveView {
    /// Shows frames until `closing`, or until the terminal is gone. Then the terminal is as it was before.
    pub(super) async fn run(self, closing: CancellationToken) {
        let (began, opened) = (self.clock.now(), Instant::now());
        let mut ticks = tokio::time::interval(FRAME_EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let Ok(mut screen) = AlternateScreen::enter(io::stdout()) else {
            return;
        };
        while closing.run_until_cancelled(ticks.tick()).await.is_some() {
            let frame = self.frame(began, opened.elapsed());
            if screen.show(&frame.lines(style(), height())).is_err() {
                return;
            }
        }
    }

    fn frame(&self, began: Timestamp, shown: Duration) -> DemoFrame {
        let now = self.clock.now();
        let elapsed = u64::try_from(now.nanos_since(began)).unwrap_or(0);
        let elapsed = Duration::from_nanos(elapsed);
        let figures = self.exposition.figures();
        // An exporter that cannot answer yet knows of no problem.
        let problems = self.problems.newest();
        let problem = problems.map(|seen| seen.problems.summary());
        let lines = StatusLines { scene: self.scene, elapsed, figures: &figures };
        DemoFrame {
            scene: self.scene.map(|(scene, _)| scene.as_str()),
            elapsed,
            status: lines.line(shown),
            look: self.look.clone(),
            has_keys: self.keys.is_some(),
            durations: self.exposition.durations(),
            problem: problem.unwrap_or_default(),
            figures,
        }
    }
}

/// The rows of the terminal.
fn height() -> usize {
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok();
    let rows = size.map(|size| usize::from(size.ws_row));
    rows.filter(|rows| *rows > 0).unwrap_or(24)
}

/// The alternate screen; dropping it leaves it.
struct AlternateScreen<W: Write>(W);

impl<W: Write> AlternateScreen<W> {
    fn enter(mut out: W) -> io::Result<Self> {
        out.write_all(ENTER.as_bytes())?;
        out.flush()?;
        Ok(Self(out))
    }

    /// Shows a frame in the place of the one before. What the log has written between them vanishes.
    fn show(&mut self, lines: &[String]) -> io::Result<()> {
        let end_of_line = format!("{ERASE_LINE}\r\n");
        let frame = lines.join(&end_of_line);
        self.0.write_all(format!("{HOME}{frame}{ERASE_LINE}{ERASE_BELOW}").as_bytes())?;
        self.0.flush()
    }
}

impl<W: Write> Drop for AlternateScreen<W> {
    fn drop(&mut self) {
        // Without a terminal there is nothing to restore.
        let _ = self.0.write_all(LEAVE.as_bytes());
        let _ = self.0.flush();
    }
}

/// Keys are read as they are pressed; dropping it lets the terminal be as it was.
pub(super) struct KeyInput(Termios);

impl KeyInput {
    /// From now on the key `q` cancels `ends`. `None` where standard input is no terminal, or one that belongs
    /// to another job: reading it would stop the process.
    pub(super) fn listen(ends: CancellationToken) -> Option<Self> {
        let input = io::stdin();
        if !input.is_terminal() || tcgetpgrp(&input).ok()? != getpgrp() {
            return None;
        }
        let before = tcgetattr(&input).ok()?;
        let mut modes = before.clone();
        modes.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
        modes.special_codes[SpecialCodeIndex::VMIN] = 1;
        modes.special_codes[SpecialCodeIndex::VTIME] = 0;
        tcsetattr(&input, OptionalActions::Now, &modes).ok()?;
        // A read cannot be interrupted, so the thread lives as long as the process.
        std::thread::spawn(move || {
            if is_pressed(io::stdin().lock()) {
                ends.cancel();
            }
        });
        Some(Self(before))
    }
}

impl Drop for KeyInput {
    fn drop(&mut self) {
        // A terminal that is gone needs nothing.
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.0);
    }
}

/// Waits for the key; `false` where the input ends before.
fn is_pressed(input: impl BufRead) -> bool {
    let mut keys = input.bytes().map_while(Result::ok);
    keys.any(|key| matches!(key, b'q' | b'Q'))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn the_terminal_is_restored_however_the_screen_is_left() {
        let mut written = Vec::new();
        let mut screen = AlternateScreen::enter(&mut written).unwrap();
        screen.show(&["one".to_owned(), "two".to_owned()]).unwrap();
        drop(screen);
        let text = String::from_utf8(written).unwrap();
        let expected = "\u{1b}[?1049h\u{1b}[?25l\u{1b}[Hone\u{1b}[K\r\ntwo\u{1b}[K\u{1b}[J\u{1b}[?25h\u{1b}[?1049l";
        assert_eq!(text, expected);
    }

    #[test]
    fn a_terminal_that_is_gone_ends_the_frames() {
        struct Gone(bool);
        impl Write for Gone {
            fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
                match self.0 {
                    true => Err(io::ErrorKind::BrokenPipe.into()),
                    false => Ok(bytes.len()),
                }
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let mut screen = AlternateScreen::enter(Gone(false)).unwrap();
        screen.0.0 = true;
        assert!(screen.show(&[String::new()]).is_err());
    }
}

#[cfg(test)]
mod keys_tests {
    use super::*;

    #[test]
    fn q_ends_it_and_no_other_key() {
        assert!(is_pressed(&b"abcq"[..]) && is_pressed(&b"Q"[..]));
        assert!(!is_pressed(&b"hello, world\x1b[A"[..]));
    }
}
