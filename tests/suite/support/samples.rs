//! What Prometheus has of some counters that were scraped each minute, and what it makes of them.

/// Seconds between two samples.
pub const INTERVAL: f64 = 60.0;

/// One counter's values, a minute apart, the first at second 0.
#[derive(Debug, Default)]
pub struct Samples(Vec<f64>);

impl Samples {
    pub fn push(&mut self, value: f64) {
        self.0.push(value);
    }

    /// The value of `minute`.
    pub fn at(&self, minute: usize) -> f64 {
        self.0[minute]
    }

    /// `increase(counter[seconds])` at the sample of `minute`. The window is open to the left, and
    /// what lies between its edge and the first sample is extrapolated, but not below zero. These
    /// counters never reset.
    pub fn increase(&self, minute: usize, seconds: f64) -> Option<f64> {
        let end = minute as f64 * INTERVAL;
        let inside = |index: &usize| *index as f64 * INTERVAL > end - seconds;
        let first = (0..=minute).find(inside)?;
        let sampled = (minute - first) as f64 * INTERVAL;
        if sampled == 0.0 {
            return None;
        }
        let delta = self.0[minute] - self.0[first];
        let mut before = first as f64 * INTERVAL - (end - seconds);
        if before >= INTERVAL * 1.1 {
            before = INTERVAL / 2.0;
        }
        if delta > 0.0 {
            before = before.min(sampled * self.0[first] / delta);
        }
        Some(delta * (sampled + before) / sampled)
    }

    /// As the input series of a promtool unit test.
    pub fn written(&self) -> String {
        let values: Vec<String> = self.0.iter().map(f64::to_string).collect();
        values.join(" ")
    }
}
