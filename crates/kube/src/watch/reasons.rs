//! What the list-watches count: each enum is the set of values of one label.

use crate::cluster::api_error::ApiErrorKind;
use podinit_core::label_values;
use podinit_decode::PodEventType;

label_values! {
    /// The types of watch events, as the Kubernetes API spells them.
    pub enum EventType {
        /// `ADDED`
        Added => "ADDED",
        /// `MODIFIED`
        Modified => "MODIFIED",
        /// `DELETED`
        Deleted => "DELETED",
        /// `BOOKMARK`
        Bookmark => "BOOKMARK",
        /// `ERROR`
        Error => "ERROR",
    }
}

impl From<PodEventType> for EventType {
    fn from(event_type: PodEventType) -> Self {
        match event_type {
            PodEventType::Added => Self::Added,
            PodEventType::Modified => Self::Modified,
            PodEventType::Deleted => Self::Deleted,
        }
    }
}

label_values! {
    /// Why a request or a watch failed, or what in its answer could not be used.
    pub enum WatchErrorReason {
        /// The connection could not be made, or broke
        Transport => "transport",
        /// Our credentials could not be obtained (token file, credential plugin)
        Credentials => "credentials",
        /// A deadline of ours passed: no answer, a stalled body, or an idle watch
        Timeout => "timeout",
        /// An object, an event or a page that could not be decoded
        Decode => "decode",
        /// A watch event longer than the limit; it was skipped
        LineTooLong => "line_too_long",
        /// A list that was requested as a stream and is requested in pages instead
        WatchList => "watch_list",
        /// A list page longer than the limit; it is requested again with fewer pods
        PageTooLarge => "page_too_large",
        /// The resource version or continue token has expired (410)
        Gone => "gone",
        /// The API server does not know the resource version yet ("Too large resource version")
        VersionAhead => "version_ahead",
        /// 401
        Unauthorized => "unauthorized",
        /// 403
        Forbidden => "forbidden",
        /// 429
        TooManyRequests => "too_many_requests",
        /// Any other 4xx
        ClientError => "client_error",
        /// 5xx
        ServerError => "server_error",
        /// A status that a list or watch never has
        UnexpectedStatus => "unexpected_status",
    }
}

impl From<ApiErrorKind> for WatchErrorReason {
    fn from(kind: ApiErrorKind) -> Self {
        match kind {
            ApiErrorKind::Transport => Self::Transport,
            ApiErrorKind::Credentials => Self::Credentials,
            ApiErrorKind::Timeout => Self::Timeout,
            ApiErrorKind::Malformed | ApiErrorKind::NoVersion => Self::Decode,
            ApiErrorKind::AnswerTooLong => Self::PageTooLarge,
            ApiErrorKind::EventTooLong => Self::LineTooLong,
            ApiErrorKind::Gone => Self::Gone,
            ApiErrorKind::VersionAhead => Self::VersionAhead,
            ApiErrorKind::Unauthorized => Self::Unauthorized,
            ApiErrorKind::Forbidden => Self::Forbidden,
            ApiErrorKind::TooManyRequests => Self::TooManyRequests,
            ApiErrorKind::Rejected | ApiErrorKind::NotAcceptable | ApiErrorKind::ClientError => {
                Self::ClientError
            }
            ApiErrorKind::ServerError | ApiErrorKind::NotImplemented => Self::ServerError,
            ApiErrorKind::UnexpectedStatus => Self::UnexpectedStatus,
        }
    }
}

label_values! {
    /// Why the pods were listed again, or the watch of Events began anew.
    pub enum RelistReason {
        /// The version to resume from has expired (410), so events were missed
        Gone => "gone",
        /// The API server says that it is behind the version to resume from: a restored backup, or a
        /// lagging replica
        VersionAhead => "version_ahead",
        /// A version went back, which only a restored backup explains
        Restored => "restored",
        /// The version to resume from cannot be used: it is no number, or the API server refuses it
        UnusableVersion => "unusable_version",
        /// A DELETED event that could not be read, or did not come; nothing else reports that deletion
        LostDelete => "lost_delete",
        /// The watch kept failing at the same version
        Stuck => "stuck",
        /// The interval of the reconciliation has passed; nothing was lost that is known
        Reconciliation => "reconciliation",
        /// A recording holds another list
        Recorded => "recorded",
        /// Events were lost, and their watch begins anew at the current version
        /// ([§9.5](crate::specification#s9-5)); nothing is listed
        Events => "events",
        /// The list-watch of nodes begins anew with a list
        Nodes => "nodes",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_distinct() {
        let texts: std::collections::HashSet<_> =
            WatchErrorReason::ALL.map(WatchErrorReason::as_str).into();
        assert_eq!(texts.len(), WatchErrorReason::ALL.len());
    }
}
