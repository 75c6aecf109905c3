//! Under which label values a pod is counted: a number that the observer gives, and that the tracker keeps for as long
//! as it remembers the pod. So the observer knows which values have a pod, whatever becomes of the pod and however it
//! leaves.

/// The number of the label values under which a remembered pod is counted, in three bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LabelHold([u8; 3]);

impl LabelHold {
    /// They are not known: the pod may have any value. Also where the observer counts nothing by label.
    pub const UNKNOWN: Self = Self([0; 3]);

    /// The greatest number.
    pub const MAX: u32 = (1 << 24) - 1;

    /// The values with this number. [`LabelHold::UNKNOWN`] for 0, and for a number above [`LabelHold::MAX`].
    pub const fn new(number: u32) -> Self {
        match number.to_be_bytes() {
            [0, a, b, c] => Self([a, b, c]),
            _ => Self::UNKNOWN,
        }
    }

    /// The number; 0 for [`LabelHold::UNKNOWN`].
    pub const fn get(self) -> u32 {
        let [a, b, c] = self.0;
        u32::from_be_bytes([0, a, b, c])
    }
}
