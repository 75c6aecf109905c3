//! How far a recording was read, on standard error: for a person at a terminal, and only when it
//! takes long enough to wonder.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::recordings::reader::{Document, ReadProgress, Recording, RecordingError};

/// A shorter wait needs no explanation.
const PATIENCE: Duration = Duration::from_secs(1);

/// A recording that shows how far it was read.
pub(super) struct Watched {
    recording: Recording,
    progress: ReadProgress,
    begun: Instant,
    bar: Option<ProgressBar>,
}

impl Watched {
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
        if self.bar.is_none() && self.begun.elapsed() >= PATIENCE {
            self.bar = Some(bar(self.progress.size()));
        }
        if let Some(bar) = &self.bar {
            bar.set_position(self.progress.bytes_read());
        }
    }
}

impl Iterator for Watched {
    type Item = Result<Document, RecordingError>;

    fn next(&mut self) -> Option<Self::Item> {
        let document = self.recording.next();
        self.show();
        document
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// A bar where the size is known, a counter where it is not. It draws nothing unless standard
/// error is a terminal.
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
