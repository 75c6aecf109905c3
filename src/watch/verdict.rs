//! What a failed watch says of the version that it was to resume from, the same for every resource.

use crate::cluster::api_error::ApiErrorKind;

/// After this many failures at one version, the version is given up.
pub(super) const STUCK_AFTER: u32 = 3;

/// After this many consecutive watches without a byte, the API server's version is checked: one that was
/// restored from a backup stays silent until it reaches the version of the watch.
pub(crate) const SILENT_WATCHES: u32 = 4;

/// Whether the API server refuses the version of the watch.
pub(crate) const fn is_of_version(kind: ApiErrorKind) -> bool {
    matches!(
        kind,
        ApiErrorKind::Gone | ApiErrorKind::VersionAhead | ApiErrorKind::Rejected
    )
}

/// Whether the API server refused this very watch, so that its version may be the cause. A broken
/// connection, an overload, missing permissions, or a failure before the watch was opened say nothing
/// about the version.
pub(super) const fn is_verdict(kind: ApiErrorKind, opened: bool) -> bool {
    match kind {
        ApiErrorKind::Rejected | ApiErrorKind::ClientError | ApiErrorKind::UnexpectedStatus => true,
        ApiErrorKind::ServerError => opened,
        _ => false,
    }
}
