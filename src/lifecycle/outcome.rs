//! How a pod's startup can end.

/// How a pod's startup ended (§5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// Ready was seen
    Ready,
    /// Succeeded before Ready was seen
    Completed,
    /// Failed before Ready was seen
    Failed,
    /// Deleted before Ready was seen
    Deleted,
    /// Absent from a completed list
    Vanished,
    /// Had finished its startup before podinit first saw it
    Preexisting,
    /// A static (mirror) pod, whose times are artificial
    Static,
}

impl Outcome {
    /// Every outcome, in the order of their discriminants.
    pub const ALL: [Self; 7] = [
        Self::Ready,
        Self::Completed,
        Self::Failed,
        Self::Deleted,
        Self::Vanished,
        Self::Preexisting,
        Self::Static,
    ];

    /// The value of the label `outcome`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Deleted => "deleted",
            Self::Vanished => "vanished",
            Self::Preexisting => "preexisting",
            Self::Static => "static",
        }
    }
}
