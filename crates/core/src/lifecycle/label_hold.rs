//! Under which label values a pod is counted: a number that the sink gives, and that the tracker keeps for as long
//! as it remembers the pod. So the sink knows which values have a pod, whatever becomes of the pod and however it
//! leaves.

/// The number of the label values under which a remembered pod is counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LabelHold(u32);

impl LabelHold {
    /// They are not known: the pod may have any value. Also where the sink counts nothing by label.
    pub const UNKNOWN: Self = Self(0);

    /// The values with this number; 0 is [`LabelHold::UNKNOWN`].
    pub const fn new(number: u32) -> Self {
        Self(number)
    }

    /// The number.
    pub const fn get(self) -> u32 {
        self.0
    }
}
