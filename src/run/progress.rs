//! A progress bar on standard error while a recording is read, if that takes long.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::recordings::reader::{Document, ReadProgress, Recording, RecordingError};

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
        Self {
            recording,
            progress,
            begun: Instant::now(),
            bar: None,
        }
    }

    fn show(&mut self) {
        if self.bar.is_none() && self.begun.elapsed() >= SHOWN_AFTER {
            self.bar = Some(bar(self.progress.size()));
        }
        if let Some(bar) = &self.bar {
            bar.set_position(self.progress.bytes_read());
        }
    }
}

impl Iterator for WithProgressBar {
    type Item = Result<Document, RecordingError>;

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
        Some(size) => (
            ProgressBar::new(size),
            "{bar:30} {bytes}/{total_bytes} {bytes_per_sec} {eta}",
        ),
        None => (
            ProgressBar::no_length(),
            "{spinner} {bytes} {bytes_per_sec}",
        ),
    };
    bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(5));
    match ProgressStyle::with_template(template) {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}
