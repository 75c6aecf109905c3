//! The resources that the simulated API server serves.

/// A resource of the API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    /// `v1` Pods
    Pods,
    /// `v1` Events
    Events,
}

impl Resource {
    /// As it stands in paths and in messages.
    pub const fn plural(self) -> &'static str {
        match self {
            Self::Pods => "pods",
            Self::Events => "events",
        }
    }

    /// `kind` of its objects; that of its lists ends in `List`.
    pub const fn kind(self) -> &'static str {
        match self {
            Self::Pods => "Pod",
            Self::Events => "Event",
        }
    }

    /// The fields that its objects can be selected by, besides name and namespace.
    pub(super) const fn fields(self) -> &'static [&'static str] {
        match self {
            Self::Pods => &["spec.nodeName", "status.phase"],
            Self::Events => &[
                "involvedObject.kind",
                "involvedObject.namespace",
                "involvedObject.name",
                "involvedObject.uid",
                "involvedObject.apiVersion",
                "involvedObject.fieldPath",
                "reason",
                "type",
                "reportingComponent",
            ],
        }
    }
}
