//! What is kept of a finished pod: all of its [`Seen`], in 32 bytes with room for a discriminant.

use super::delivery::SourceId;
use super::reentry::LastTrue;
use super::seen::Seen;

/// What is kept of a finished pod.
///
/// The network condition has two names, and a pod has shown one of them or none; so one time and
/// the name do for both. A pod that has shown both lived through an upgrade of its kubelet from
/// Kubernetes 1.27, and is kept whole.
#[derive(Clone, Debug)]
pub(super) enum FinishedPod {
    /// A pod whose network condition has had one name at most
    Compact(Compact),
    /// Any other
    Whole(Box<Seen>),
}

/// [`Seen`] with one time for both names of the network condition.
#[derive(Clone, Copy, Debug)]
pub(super) struct Compact {
    newest_version: u64,
    network: u32,
    others: [u32; 3],
    created: u32,
    source: SourceId,
    form: Form,
}

/// What `network` is the time of.
#[derive(Clone, Copy, Debug)]
enum Form {
    ReadyToStartContainers,
    HasNetwork,
    /// Of nothing: conditions of static pods are not followed
    Static,
}

impl From<Seen> for FinishedPod {
    fn from(seen: Seen) -> Self {
        let [ready_to_start, has_network, others @ ..] = seen.last_true.seconds();
        let (form, network) = match (seen.is_static, ready_to_start, has_network) {
            (true, ..) => (Form::Static, 0),
            (false, second, 0) => (Form::ReadyToStartContainers, second),
            (false, 0, second) => (Form::HasNetwork, second),
            (false, ..) => return Self::Whole(Box::new(seen)),
        };
        Self::Compact(Compact {
            newest_version: seen.newest_version,
            network,
            others,
            created: seen.created,
            source: seen.source,
            form,
        })
    }
}

impl FinishedPod {
    /// What a later snapshot is held against.
    pub(super) fn seen(&self) -> Seen {
        match self {
            Self::Compact(usual) => usual.seen(),
            Self::Whole(seen) => **seen,
        }
    }
}

impl Compact {
    fn seen(self) -> Seen {
        let (ready_to_start, has_network) = match self.form {
            Form::HasNetwork => (0, self.network),
            Form::ReadyToStartContainers | Form::Static => (self.network, 0),
        };
        let [initialized, containers_ready, ready] = self.others;
        let seconds = [
            ready_to_start,
            has_network,
            initialized,
            containers_ready,
            ready,
        ];
        Seen {
            newest_version: self.newest_version,
            last_true: LastTrue::from_seconds(seconds),
            source: self.source,
            is_static: matches!(self.form, Form::Static),
            created: self.created,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(seconds: [u32; 5], is_static: bool) -> Seen {
        Seen {
            newest_version: u64::MAX,
            last_true: LastTrue::from_seconds(seconds),
            source: SourceId(u16::MAX),
            is_static,
            created: 7,
        }
    }

    #[test]
    fn nothing_is_lost() {
        let all = [
            seen([0; 5], false),
            seen([0; 5], true),
            seen([1, 0, 3, 4, 5], false),
            seen([0, 2, 3, 4, 5], false),
            seen([1, 2, 3, 4, 5], false),
        ];
        for seen in all {
            assert_eq!(FinishedPod::from(seen).seen(), seen);
        }
        assert!(matches!(FinishedPod::from(all[3]), FinishedPod::Compact(_)));
        assert!(matches!(FinishedPod::from(all[4]), FinishedPod::Whole(_)));
    }
}
