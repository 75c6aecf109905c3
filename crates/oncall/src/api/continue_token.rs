//! The parameter `continue`: where the next page begins. Clients give it back as they got it.

use crate::records::{EndedPosition, QueryPosition};
use podinit_core::lifecycle::{InFlightPosition, Latency, Stage};
use podinit_core::pod::PodUid;
use podinit_core::timestamp::Timestamp;

/// The token of a place.
pub(super) fn write(position: QueryPosition) -> String {
    match position {
        QueryPosition::InFlight(InFlightPosition { stage, entered, uid }) => {
            let [high, low] = uid.words();
            format!(
                "{stage}.{entered}.{high:x}.{low:x}",
                stage = stage as usize,
                entered = entered.as_nanos()
            )
        }
        QueryPosition::Ended(EndedPosition { duration, number }) => {
            format!("{}.{number}", duration.as_nanos())
        }
    }
}

/// The place among the pods in flight that a token names.
pub(super) fn in_flight(token: &str) -> Option<InFlightPosition> {
    let mut parts = token.split('.');
    let stage = *Stage::ALL.get(parts.next()?.parse::<usize>().ok()?)?;
    let entered = Timestamp::from_nanos(parts.next()?.parse().ok()?);
    let words = [parts.next()?, parts.next()?].map(|word| u64::from_str_radix(word, 16).ok());
    let uid = PodUid::from_words([words[0]?, words[1]?]);
    parts.next().is_none().then_some(InFlightPosition { stage, entered, uid })
}

/// The place among the startups that have ended that a token names.
pub(super) fn ended(token: &str) -> Option<EndedPosition> {
    let (duration, number) = token.split_once('.')?;
    Some(EndedPosition {
        duration: Latency::from_nanos(duration.parse().ok()?),
        number: number.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_leads_back_to_its_place() {
        for stage in Stage::ALL {
            let position = InFlightPosition {
                stage,
                entered: Timestamp::from_nanos(-7),
                uid: PodUid::from_words([u64::MAX, 3]),
            };
            let token = write(QueryPosition::InFlight(position));
            assert_eq!(in_flight(&token), Some(position), "{token}");
            assert_eq!(ended(&token), None, "{token}");
        }
        let position = EndedPosition { duration: Latency::from_nanos(12), number: u64::MAX };
        let token = write(QueryPosition::Ended(position));
        assert_eq!((ended(&token), in_flight(&token)), (Some(position), None));
    }

    #[test]
    fn anything_else_is_no_token() {
        for token in ["", ".", "a", "7.1.0.0", "0.1.0", "0.1.0.0.0", "0.1.g.0", "1.x", "-1.2"] {
            assert_eq!((in_flight(token), ended(token)), (None, None), "{token}");
        }
    }
}
