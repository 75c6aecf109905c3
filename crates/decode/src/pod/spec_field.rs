//! The names in the spec of a pod that labels can carry.

use std::fmt;

use podinit_core::pod::text;

/// A text of `spec` that names how the pod is to run, decoded only where a label wants it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SpecField {
    /// `runtimeClassName`
    RuntimeClass,
    /// `priorityClassName`
    PriorityClass,
    /// `schedulerName`
    Scheduler,
}

impl SpecField {
    /// All of them, in the order in which labels stand.
    pub const ALL: [Self; 3] = [Self::RuntimeClass, Self::PriorityClass, Self::Scheduler];

    /// Its key in `spec`.
    pub const fn key(self) -> &'static str {
        match self {
            Self::RuntimeClass => "runtimeClassName",
            Self::PriorityClass => "priorityClassName",
            Self::Scheduler => "schedulerName",
        }
    }

    /// The place of the field `key` of a spec among the fields that are `wanted`.
    pub(super) fn place(key: &str, wanted: &[Self]) -> Option<usize> {
        wanted.iter().position(|field| field.key() == key)
    }

    /// As much of a value as a name of Kubernetes can have. The API server checks not all of them.
    pub(super) fn value(text: &str) -> Box<str> {
        const MOST_BYTES: usize = 253;
        text::cut(text, MOST_BYTES).into()
    }
}

/// The path of the field in a pod, which no key of a label can be: it begins with a dot.
impl fmt::Display for SpecField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, ".spec.{}", self.key())
    }
}
