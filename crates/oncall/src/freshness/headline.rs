//! The warning above an answer that cannot be trusted as it is.

use super::{Freshness, FreshnessState};
use podinit_core::timestamp::Timestamp;
use podinit_text::human_time::{clock_time, seconds, since};

impl Freshness {
    /// One or two sentences for people at `now`; `None` where there is nothing to warn of.
    pub fn headline(&self, now: Timestamp) -> Option<String> {
        let at = clock_time(self.since, now);
        let what = self.waits_for.as_deref().unwrap_or("the API server");
        let age = match self.age_seconds {
            Some(age) => format!("What it says is {} old.", seconds(age.round())),
            None => "It cannot say yet what is broken.".to_owned(),
        };
        Some(match self.state {
            FreshnessState::Current => return None,
            FreshnessState::Waiting => {
                format!("podinit waits since {at} UTC for {what}. {age}")
            }
            FreshnessState::Blind => {
                format!("podinit is blind since {at} UTC: it waits for {what}. {age}")
            }
            FreshnessState::Partial => {
                format!("podinit does not see all of its namespaces since {at} UTC: {what}.")
            }
            FreshnessState::JustStarted => format!(
                "podinit has just started: it is in sync since {at} UTC, for {}. It has hardly any startup to \
                 compare with.",
                seconds(since(self.since, now).floor())
            ),
            FreshnessState::Adopted => format!(
                "podinit has seen no pod start since {} UTC. It found all pods that it knows in its first list.",
                clock_time(self.started, now)
            ),
        })
    }

    /// Which pods the exporter does not see, as a sentence; `None` where it sees all.
    pub fn shard_note(&self) -> Option<String> {
        let shard = self.shard.as_deref()?;
        Some(format!("This exporter sees only the pods of shard {shard}."))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn freshness(state: FreshnessState) -> Freshness {
        Freshness {
            state,
            in_sync: false,
            started: Timestamp::from_seconds(1_772_359_507),
            since: Timestamp::from_seconds(1_772_359_567),
            waits_for: Some("the API server: connection refused".to_owned()),
            age_seconds: Some(125.4),
            adopted_everything: true,
            shard: Some("1/3".to_owned()),
            kubeconfig: None,
            clock_unchecked: false,
        }
    }

    #[test]
    fn what_is_wrong_and_since_when_comes_first() {
        let now = Timestamp::from_seconds(1_772_359_600);
        let said = FreshnessState::ALL.map(|state| freshness(state).headline(now));
        let expected = [
            Some(
                "podinit waits since 10:06 UTC for the API server: connection refused. What it says is 2m5s old.",
            ),
            Some(
                "podinit is blind since 10:06 UTC: it waits for the API server: connection refused. What it says \
                 is 2m5s old.",
            ),
            Some(
                "podinit does not see all of its namespaces since 10:06 UTC: the API server: connection refused.",
            ),
            Some(
                "podinit has just started: it is in sync since 10:06 UTC, for 33s. It has hardly any startup to \
                 compare with.",
            ),
            Some(
                "podinit has seen no pod start since 10:05 UTC. It found all pods that it knows in its first list.",
            ),
            None,
        ];
        assert_eq!(said.each_ref().map(Option::as_deref), expected);
        let unheard = Freshness { age_seconds: None, ..freshness(FreshnessState::Waiting) };
        let said = unheard.headline(now);
        assert!(said.is_some_and(|said| said.ends_with("It cannot say yet what is broken.")));
    }
}
