//! The ids of traces and spans: derived from the pod's UID, so that whoever knows the pod knows its trace,
//! and two exporters that see one pod send the same spans.

use std::fmt;

use opentelemetry::trace::{SpanId, TraceId};

use podinit_core::lifecycle::{GateKind, Interval};
use podinit_core::pod::PodUid;
use podinit_instruments::SpanRef;

/// What a span of a startup is about: its name, and for pulls the container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SpanName<'a> {
    /// The whole startup: the root
    Startup,
    /// A stage or a step
    Interval(Interval),
    /// The pull of the image of this container
    ImagePull { container: &'a str },
    /// The wait for this gate
    Gate { kind: GateKind, gate: &'a str },
}

impl<'a> SpanName<'a> {
    /// The span that shows an interval: of an end-to-end duration the root.
    pub(crate) const fn from_interval(interval: Interval) -> Self {
        match interval {
            Interval::CreatedToReady | Interval::ScheduledToReady => Self::Startup,
            Interval::Stage(_) | Interval::Step(_) => Self::Interval(interval),
        }
    }

    /// The name of the span, the same for every pod.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Startup => "pod startup",
            Self::Interval(interval) => interval.as_str(),
            Self::ImagePull { .. } => "image pull",
            Self::Gate { .. } => "gate",
        }
    }
}

/// What the span's id is derived from, beside the UID.
impl fmt::Display for SpanName<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())?;
        match self {
            Self::ImagePull { container } => write!(f, "/{container}"),
            Self::Gate { kind, gate } => write!(f, "/{}/{gate}", kind.as_str()),
            Self::Startup | Self::Interval(_) => Ok(()),
        }
    }
}

/// The trace of a pod's startup: the 128 bits of its UID.
pub(crate) fn trace_id(uid: PodUid) -> TraceId {
    let [high, low] = uid.words().map(u128::from);
    TraceId::from(high << 64 | low)
}

/// A span of a pod's startup: the FNV-1a hash of 64 bits of `UID/NAME`, of a pull `UID/NAME/CONTAINER`.
pub(crate) fn span_id(uid: PodUid, name: SpanName<'_>) -> SpanId {
    const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    let text = format!("{uid}/{name}");
    let hash = text.bytes().fold(OFFSET, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME));
    // 0 is no id.
    SpanId::from(hash.max(1))
}

/// The span that stands for an interval of the startup of this pod.
pub fn span_ref(uid: PodUid, interval: Interval) -> SpanRef {
    SpanRef {
        trace_id: trace_id(uid).to_string(),
        span_id: span_id(uid, SpanName::from_interval(interval)).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use podinit_core::lifecycle::Stage;

    const UID: &str = "0f8fad5b-d9cb-469f-a165-70867728950e";

    #[test]
    fn the_trace_id_is_the_uid_without_hyphens() {
        let uid = PodUid::from_text(UID);
        assert_eq!(trace_id(uid).to_string(), UID.replace('-', ""));
        assert_ne!(trace_id(PodUid::from_text("")), TraceId::INVALID);
    }

    #[test]
    fn spans_of_a_pod_have_ids_of_their_own_and_always_the_same() {
        let uid = PodUid::from_text(UID);
        let network = SpanName::from_interval(Interval::Stage(Stage::Network));
        let pull = |container| SpanName::ImagePull { container };
        let names = [SpanName::Startup, network, pull("app"), pull("proxy")];
        let ids = names.map(|name| span_id(uid, name));
        for (position, id) in ids.iter().enumerate() {
            assert!(!ids[..position].contains(id));
            assert_ne!(*id, span_id(PodUid::from_text("other"), names[position]));
        }
        // FNV-1a of "0f8fad5b-d9cb-469f-a165-70867728950e/pod startup"
        assert_eq!(ids[0].to_string(), "d44d438397813a20");
    }
}
