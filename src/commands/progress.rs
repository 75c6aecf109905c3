//! A progress bar on standard error while a recording is read, if that takes long.

use std::fmt::Write;
use std::time::{Duration, Instant};

use indicatif::{
    BinaryBytes, HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle,
};

use podinit_recordings::reader::{ReadProgress, Recording, RecordingDocument, RecordingError};

/// No progress bar is shown before.
const SHOWN_AFTER: Duration = Duration::from_secs(1);

/// A recording that shows a progress bar while it is read.
pub(super) struct WithProgressBar {
    recording: Recording,
    progress: ReadProgress,
    begun: Instant,
    bar: Option<ProgressBar>,
}

impl WithProgressBar {
    pub(super) fn new(recording: Recording) -> Self {
        let progress = recording.progress();
        Self { recording, progress, begun: Instant::now(), bar: None }
    }

    fn show(&mut self) {
        if self.bar.is_none() && self.begun.elapsed() >= SHOWN_AFTER {
            self.bar = Some(bar(self.progress.size()).with_elapsed(self.begun.elapsed()));
        }
        if let Some(bar) = &self.bar {
            bar.set_position(self.progress.bytes_read());
        }
    }
}

impl Iterator for WithProgressBar {
    type Item = Result<RecordingDocument, RecordingError>;

    fn next(&mut self) -> Option<Self::Item> {
        let document = self.recording.next();
        self.show();
        document
    }
}

impl Drop for WithProgressBar {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// A bar if the size is known, otherwise a counter. It draws nothing unless standard error is a
/// terminal.
fn bar(size: Option<u64>) -> ProgressBar {
    let (bar, template) = match size {
        Some(size) => (ProgressBar::new(size), "{bar:30} {bytes}/{total_bytes} {speed}"),
        None => (ProgressBar::no_length(), "{spinner} {bytes} {speed}"),
    };
    bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(5));
    let write_speed = |state: &ProgressState, out: &mut dyn Write| {
        // A progress bar that cannot be written is no reason to fail.
        let _ = out.write_str(&speed(state.pos(), state.len(), state.elapsed()));
    };
    match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style.with_key("speed", write_speed)),
        Err(_) => bar,
    }
}

/// How fast the recording was read so far, and how long the rest of it takes at that speed. Over the
/// whole time and not over the newest documents: a bar appears with much of the recording read, and
/// that was not read in its first moment.
fn speed(read: u64, size: Option<u64>, elapsed: Duration) -> String {
    if read == 0 || elapsed < SHOWN_AFTER {
        return String::new();
    }
    let per_second = read as f64 / elapsed.as_secs_f64();
    let mut text = format!("{}/s", BinaryBytes(per_second as u64));
    if let Some(rest) = size.and_then(|size| size.checked_sub(read)) {
        let left = Duration::from_secs_f64(rest as f64 / per_second);
        let _ = write!(text, ", {} left", HumanDuration(left));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    #[test]
    fn the_first_speed_is_that_of_the_time_before_the_bar() {
        let second = Duration::from_secs(1);
        assert_eq!(speed(62 * MIB, None, second), "62.00 MiB/s");
        assert_eq!(speed(62 * MIB, Some(186 * MIB), second), "62.00 MiB/s, 2 seconds left");
        assert_eq!(speed(6 * MIB, None, 3 * second), "2.00 MiB/s");
    }

    #[test]
    fn no_speed_is_made_of_a_moment_or_of_nothing() {
        assert_eq!(speed(62 * MIB, Some(63 * MIB), Duration::from_nanos(1)), "");
        assert_eq!(speed(0, Some(63 * MIB), Duration::from_secs(9)), "");
    }

    /// What the terminal shows is the whole template with the speed in it.
    #[test]
    fn a_bar_knows_its_speed() {
        for size in [Some(MIB), None] {
            let bar = bar(size).with_elapsed(Duration::from_secs(2));
            bar.set_position(MIB);
            assert_eq!(bar.position(), MIB);
            assert!(bar.elapsed() >= Duration::from_secs(2));
        }
    }
}
