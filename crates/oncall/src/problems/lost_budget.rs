//! What is said of an SLO that lost its error budget within the last hour: where no pod has a problem now, that is what an
//! alert is about.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use podinit_core::timestamp::Timestamp;
use podinit_text::human_time::clock_time;

/// An SLO of which more startups were bad in the last hour than it allows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "lost_budget")]
pub struct LostBudget {
    /// Its name
    pub slo: String,
    /// When it began to lose its budget
    pub from: Timestamp,
    /// Until when; left out while it does
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// How many times more were bad in the last hour than it allows
    pub burn: f64,
}

/// A clause on the first of `lost`, which counts the others: `fast lost its budget from 05:02 to 05:14`; `None` if no
/// SLO did.
pub(crate) fn clause(lost: &[LostBudget], now: Timestamp) -> Option<String> {
    let (first, others) = lost.split_first()?;
    let from = clock_time(first.from, now);
    let when = match first.until {
        Some(until) => format!("lost its budget from {from} to {}", clock_time(until, now)),
        None => format!("is losing its budget since {from}"),
    };
    let others = match others.len() {
        0 => String::new(),
        1 => ", and 1 more SLO did too".to_owned(),
        more => format!(", and {more} more SLOs did too"),
    };
    Some(format!("{} {when}{others}", first.slo))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_is_named_and_the_others_are_counted() {
        let at = |minute: i64| Timestamp::from_seconds(1_772_344_800 + 60 * minute);
        let lost = |until| LostBudget {
            slo: "fast".to_owned(),
            from: at(2),
            until,
            ..LostBudget::default()
        };
        let said = |lost: &[LostBudget]| clause(lost, at(20));
        assert_eq!(said(&[]), None);
        let over = lost(Some(at(14)));
        let one = "fast lost its budget from 06:02 to 06:14";
        assert_eq!(said(std::slice::from_ref(&over)).as_deref(), Some(one));
        let two = [over.clone(), over.clone()];
        assert_eq!(said(&two), Some(format!("{one}, and 1 more SLO did too")));
        let three = [lost(None), over.clone(), over];
        let lasts = "fast is losing its budget since 06:02, and 2 more SLOs did too";
        assert_eq!(said(&three).as_deref(), Some(lasts));
    }
}
