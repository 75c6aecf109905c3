//! What the list-watches count, by name: each enum is the set of values of one label.

use crate::cluster::api_error::ApiErrorKind;

/// The types of watch events, as the Kubernetes API spells them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventType {
    /// `ADDED`
    Added,
    /// `MODIFIED`
    Modified,
    /// `DELETED`
    Deleted,
    /// `BOOKMARK`
    Bookmark,
    /// `ERROR`
    Error,
}

impl EventType {
    /// Every type, in the order of their discriminants.
    pub const ALL: [Self; 5] = [
        Self::Added,
        Self::Modified,
        Self::Deleted,
        Self::Bookmark,
        Self::Error,
    ];

    /// The value of the label `type`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Added => "ADDED",
            Self::Modified => "MODIFIED",
            Self::Deleted => "DELETED",
            Self::Bookmark => "BOOKMARK",
            Self::Error => "ERROR",
        }
    }
}

/// Why a request or a watch failed, or what in its answer could not be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WatchErrorReason {
    /// The connection could not be made, or broke
    Transport,
    /// Our credentials could not be obtained (token file, credential plugin)
    Credentials,
    /// A deadline of ours passed: no answer, a stalled body, or an idle watch
    Timeout,
    /// An object, an event or a page that could not be decoded
    Decode,
    /// A watch event longer than the limit; it was skipped
    LineTooLong,
    /// A list that was requested as a stream and is requested in pages instead
    WatchList,
    /// A list page longer than the limit; it is requested again with fewer pods
    PageTooLarge,
    /// The resource version or continue token has expired (410)
    Gone,
    /// The API server does not know the resource version yet ("Too large resource version")
    VersionAhead,
    /// 401
    Unauthorized,
    /// 403
    Forbidden,
    /// 429
    TooManyRequests,
    /// Any other 4xx
    ClientError,
    /// 5xx
    ServerError,
    /// A status that a list or watch never has
    UnexpectedStatus,
}

impl WatchErrorReason {
    /// Every reason, in the order of their discriminants.
    pub const ALL: [Self; 15] = [
        Self::Transport,
        Self::Credentials,
        Self::Timeout,
        Self::Decode,
        Self::LineTooLong,
        Self::WatchList,
        Self::PageTooLarge,
        Self::Gone,
        Self::VersionAhead,
        Self::Unauthorized,
        Self::Forbidden,
        Self::TooManyRequests,
        Self::ClientError,
        Self::ServerError,
        Self::UnexpectedStatus,
    ];

    /// The value of the label `reason`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Transport => "transport",
            Self::Credentials => "credentials",
            Self::Timeout => "timeout",
            Self::Decode => "decode",
            Self::LineTooLong => "line_too_long",
            Self::WatchList => "watch_list",
            Self::PageTooLarge => "page_too_large",
            Self::Gone => "gone",
            Self::VersionAhead => "version_ahead",
            Self::Unauthorized => "unauthorized",
            Self::Forbidden => "forbidden",
            Self::TooManyRequests => "too_many_requests",
            Self::ClientError => "client_error",
            Self::ServerError => "server_error",
            Self::UnexpectedStatus => "unexpected_status",
        }
    }
}

impl From<ApiErrorKind> for WatchErrorReason {
    fn from(kind: ApiErrorKind) -> Self {
        match kind {
            ApiErrorKind::Transport => Self::Transport,
            ApiErrorKind::Credentials => Self::Credentials,
            ApiErrorKind::Timeout => Self::Timeout,
            ApiErrorKind::Malformed => Self::Decode,
            ApiErrorKind::AnswerTooLong => Self::PageTooLarge,
            ApiErrorKind::EventTooLong => Self::LineTooLong,
            ApiErrorKind::Gone => Self::Gone,
            ApiErrorKind::VersionAhead => Self::VersionAhead,
            ApiErrorKind::Unauthorized => Self::Unauthorized,
            ApiErrorKind::Forbidden => Self::Forbidden,
            ApiErrorKind::TooManyRequests => Self::TooManyRequests,
            ApiErrorKind::Rejected | ApiErrorKind::ClientError => Self::ClientError,
            ApiErrorKind::ServerError => Self::ServerError,
            ApiErrorKind::UnexpectedStatus => Self::UnexpectedStatus,
        }
    }
}

/// Why the pods were listed again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RelistReason {
    /// The version to resume from has expired (410), so events were missed
    Gone,
    /// The API server is behind the version to resume from: a restored backup, or a lagging
    /// replica
    VersionAhead,
    /// A DELETED event that could not be read; nothing else would report that deletion
    LostDelete,
    /// The watch kept failing at the same version
    Stuck,
    /// A recording holds another list
    Recorded,
}

impl RelistReason {
    /// Every reason, in the order of their discriminants.
    pub const ALL: [Self; 5] = [
        Self::Gone,
        Self::VersionAhead,
        Self::LostDelete,
        Self::Stuck,
        Self::Recorded,
    ];

    /// The value of the label `reason`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Gone => "gone",
            Self::VersionAhead => "version_ahead",
            Self::LostDelete => "lost_delete",
            Self::Stuck => "stuck",
            Self::Recorded => "recorded",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn discriminants_index_the_tables_and_names_are_distinct() {
        for (index, kind) in EventType::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, index);
        }
        for (index, reason) in RelistReason::ALL.into_iter().enumerate() {
            assert_eq!(reason as usize, index);
        }
        let mut names = std::collections::HashSet::new();
        for (index, reason) in WatchErrorReason::ALL.into_iter().enumerate() {
            assert_eq!(reason as usize, index);
            assert!(names.insert(reason.as_str()));
        }
    }
}
