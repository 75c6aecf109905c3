//! When a list-watch came to versions that its API server turns out not to have.

use crate::timestamp::Timestamp;

/// How many steps are kept.
const KEPT: usize = 8;

/// The largest steps from one version that a list-watch has reached to the next. A version that lies far
/// ahead is such a step.
#[derive(Debug, Default)]
pub(super) struct VersionSteps(Vec<Step>);

#[derive(Clone, Copy, Debug)]
struct Step {
    from: u64,
    to: u64,
    at: Timestamp,
}

impl Step {
    const fn size(&self) -> u64 {
        self.to - self.from
    }
}

impl VersionSteps {
    /// The list-watch has come from one version to another at `at`. Ignored unless it went forward.
    pub(super) fn record(&mut self, from: u64, to: u64, at: Timestamp) {
        if to <= from {
            return;
        }
        let step = Step { from, to, at };
        if self.0.len() < KEPT {
            self.0.push(step);
        } else if let Some(smallest) = self.0.iter_mut().min_by_key(|kept| kept.size())
            && smallest.size() < step.size()
        {
            *smallest = step;
        }
    }

    /// When the list-watch came to its first version beyond `version`, if that was in a step that is kept.
    /// Nothing that came later is of the history that ends with `version`.
    pub(super) fn beyond(&self, version: u64) -> Option<Timestamp> {
        let step = |step: &&Step| (step.from..step.to).contains(&version);
        self.0.iter().find(step).map(|step| step.at)
    }

    /// Forgets all steps: the versions that follow are of another history.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// The clock was corrected and reads `now`: no step came after that.
    pub(super) fn set_time(&mut self, now: Timestamp) {
        for step in &mut self.0 {
            step.at = now.min(step.at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_seconds(second)
    }

    #[test]
    fn the_largest_steps_are_kept_with_their_times() {
        let mut steps = VersionSteps::default();
        let mut version = 100;
        for second in 0..1000 {
            let to = match second {
                300 => 1_000_000,
                600 => 5_000_000,
                _ => version + 1 + second % 7,
            };
            steps.record(version, to, at(second.try_into().unwrap_or_default()));
            version = to;
        }
        steps.record(version, version, at(2000));
        steps.record(version, 7, at(2000));
        assert_eq!(steps.0.len(), KEPT);
        for (version, beyond) in [
            (999_999, Some(300)),
            (5000, Some(300)),
            (4_999_999, Some(600)),
            (2_000_000, Some(600)),
            (1, None),
            (6_000_000, None),
        ] {
            assert_eq!(steps.beyond(version), beyond.map(at), "{version}");
        }
        steps.set_time(at(400));
        assert_eq!(steps.beyond(2_000_000), Some(at(400)));
        assert_eq!(steps.beyond(5000), Some(at(300)));
        steps.clear();
        assert_eq!(steps.beyond(5000), None);
    }
}
