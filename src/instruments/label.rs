//! The values of labels: from a closed list, or any text.

use std::borrow::Cow;

use podinit_core::label_value::LabelValue;
use podinit_core::label_values;

/// The text of a label value.
pub type LabelText = Cow<'static, str>;

/// The values that a label can take.
pub trait LabelDomain {
    /// Whether this is one of them.
    fn contains(text: &str) -> bool;
}

impl<L: LabelValue> LabelDomain for L {
    fn contains(text: &str) -> bool {
        L::from_text(text).is_some()
    }
}

/// A label whose values are not known before the program runs, such as the name of an SLO.
#[derive(Debug)]
pub enum AnyText {}

impl LabelDomain for AnyText {
    fn contains(_: &str) -> bool {
        true
    }
}

label_values! {
    /// The value of the label `result` for what either works or does not.
    pub enum OperationResult {
        /// It worked
        Success => "success",
        /// It did not
        Failure => "failure",
    }
}

impl From<bool> for OperationResult {
    fn from(successful: bool) -> Self {
        match successful {
            true => Self::Success,
            false => Self::Failure,
        }
    }
}
