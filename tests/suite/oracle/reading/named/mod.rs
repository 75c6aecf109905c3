//! [§16](crate::specification#s16): gates and milestones by name.

mod gates;
mod own;
mod rules;
pub(crate) mod tally;

pub(crate) use own::{Own, OwnInterval, Start};
pub(crate) use rules::{NamedRules, SpecNamed};
