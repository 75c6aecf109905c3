//! Which failures of an outage the log names: the first one, and then each one that lasts. The first is often an
//! accident of how the outage began, such as a connection that broke.

/// So often in a row a failure has to come to be one that lasts. Twice as often after each line, so that an outage
/// whose failures take turns is a few lines.
const LASTS: u32 = 3;

/// The failures since something worked.
#[derive(Debug, Default)]
pub struct WatchOutage {
    /// What the log named last; `None` before the first failure
    named: Option<OutageFailure>,
    latest: OutageFailure,
    /// How often in a row the reason of the latest failure has come
    same_reason: u32,
    /// How often in a row its text has
    same_text: u32,
    /// How often a failure has to come to be named
    lasts: u32,
}

#[derive(Clone, Debug, Default)]
struct OutageFailure {
    reason: &'static str,
    /// The detail without its digits: ports, versions and times differ from one failure to the next
    text: String,
}

impl WatchOutage {
    /// Takes in a failure. True if the log has to name it.
    pub fn is_news(&mut self, reason: &'static str, detail: &str) -> bool {
        let text = detail.chars().filter(|c| !c.is_ascii_digit()).collect();
        let failure = OutageFailure { reason, text };
        let same = failure.reason == self.latest.reason;
        self.same_reason = 1 + if same { self.same_reason } else { 0 };
        let same = same && failure.text == self.latest.text;
        self.same_text = 1 + if same { self.same_text } else { 0 };
        self.latest = failure;
        let is_news = match &self.named {
            None => {
                self.lasts = LASTS;
                true
            }
            Some(named) => {
                let other_reason = named.reason != self.latest.reason;
                let lasts = other_reason && self.same_reason >= self.lasts
                    || named.text != self.latest.text && self.same_text >= self.lasts;
                if lasts {
                    self.lasts = self.lasts.saturating_mul(2);
                }
                lasts
            }
        };
        if is_news {
            self.named = Some(self.latest.clone());
        }
        is_news
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The failures that are named, by their place.
    fn named(failures: impl IntoIterator<Item = (&'static str, String)>) -> Vec<usize> {
        let mut outage = WatchOutage::default();
        let failures = failures.into_iter().enumerate();
        let named = failures.filter(|(_, (reason, detail))| outage.is_news(reason, detail));
        named.map(|(place, _)| place).collect()
    }

    #[test]
    fn the_first_failure_is_named_and_then_the_one_that_lasts() {
        let failures = (0..1_000).map(|number| match number {
            0 => ("transport", "unexpected EOF".to_owned()),
            _ => ("transport", "invalid peer certificate".to_owned()),
        });
        assert_eq!(named(failures), [0, 3]);
        let failures = (0..1_000).map(|number| match number {
            5 | 6 => ("timeout", "no answer".to_owned()),
            0..500 => ("transport", format!("port {number} refuses")),
            _ => ("server_error", "x".repeat(number)),
        });
        assert_eq!(named(failures), [0, 502]);
    }

    #[test]
    fn failures_that_take_turns_are_a_few_lines() {
        let turns = |length: usize| {
            named((0..10_000).map(|number| match number / length % 2 {
                0 => ("unauthorized", String::new()),
                _ => ("forbidden", String::new()),
            }))
        };
        assert_eq!(turns(1), [0]);
        assert_eq!(turns(4), [0, 6]);
        assert!(turns(40).len() <= 6, "{:?}", turns(40));
    }
}
