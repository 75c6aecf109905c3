//! The messages of a kubelet's Events about image pulls ([§9.3](crate::specification#s9-3)). The table in
//! `docs/measuring.md` shows which kubelet writes which.

use std::sync::Arc;
use std::time::Duration;

use super::go_duration;
use podinit_core::kube_event::SuccessfulPull;

/// The message of a `Pulled` Event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PullMessage<'a> {
    /// The image was on the node already
    Present { image: &'a str },
    /// The kubelet pulled it
    Pulled { image: &'a str, pull: PullFigures },
}

/// The figures that the message of a pull states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PullFigures {
    pub duration: Duration,
    pub with_wait: Option<Duration>,
    pub bytes: Option<u64>,
}

impl PullFigures {
    /// The pull from `registry` that has these figures.
    pub(super) fn of_registry(self, registry: Arc<str>) -> SuccessfulPull {
        let Self { duration, with_wait, bytes } = self;
        SuccessfulPull { registry, duration, with_wait, bytes }
    }
}

/// What the message of a `Pulled` Event says; `None` if it cannot be read.
pub fn pulled(message: &str) -> Option<PullMessage<'_>> {
    if let Some(rest) = message.strip_prefix("Container image \"") {
        let (image, rest) = rest.split_once('"')?;
        return rest
            .starts_with(" already present on machine")
            .then_some(PullMessage::Present { image });
    }
    let rest = message.strip_prefix("Successfully pulled image \"")?;
    let (image, rest) = rest.split_once('"')?;
    let figures = rest.strip_prefix(" in ")?;
    let pull = match figures.split_once(" (") {
        Some((duration, rest)) => {
            let (with_wait, end) = rest.split_once(" including waiting)")?;
            PullFigures {
                duration: go_duration::parse(duration)?,
                with_wait: Some(go_duration::parse(with_wait)?),
                bytes: image_size(end),
            }
        }
        None => {
            PullFigures { duration: go_duration::parse(figures)?, with_wait: None, bytes: None }
        }
    };
    Some(PullMessage::Pulled { image, pull })
}

/// The image in the message of a `Failed` Event about a pull; `None` if it is about something else.
pub fn failed_pull(message: &str) -> Option<&str> {
    let rest = message.strip_prefix("Failed to pull image \"")?;
    rest.split_once('"').map(|(image, _)| image)
}

/// The size that the end of a message states.
fn image_size(end: &str) -> Option<u64> {
    let (_, size) = end.rsplit_once(". Image size: ")?;
    let digits = size.strip_suffix(" bytes.")?;
    let decimal = digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|_| decimal)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]

    use super::*;

    fn pull(duration: u64, with_wait: Option<u64>, bytes: Option<u64>) -> PullFigures {
        PullFigures {
            duration: Duration::from_millis(duration),
            with_wait: with_wait.map(Duration::from_millis),
            bytes,
        }
    }

    #[test]
    fn a_pull_is_read_with_as_much_as_its_message_states() {
        for (end, figures) in [
            ("in 1.234s", pull(1_234, None, None)),
            ("in 1.2s (3.4s including waiting)", pull(1_200, Some(3_400), None)),
            (
                "in 345ms (1m0.5s including waiting). Image size: 104948 bytes.",
                pull(345, Some(60_500), Some(104_948)),
            ),
            (
                "in 1s (1s including waiting) from a mirror. Image size: 7 bytes.",
                pull(1_000, Some(1_000), Some(7)),
            ),
            ("in 1s (1s including waiting). Image size: -7 bytes.", pull(1_000, Some(1_000), None)),
            (
                "in 1s (1s including waiting). Image size: 7 bytes. Or so",
                pull(1_000, Some(1_000), None),
            ),
        ] {
            let message = format!("Successfully pulled image \"ghcr.io/a/b:1\" {end}");
            let image = "ghcr.io/a/b:1";
            let read = pulled(&message).unwrap_or_else(|| panic!("{message}"));
            assert_eq!(read, PullMessage::Pulled { image, pull: figures }, "{end}");
        }
    }

    #[test]
    fn an_image_that_was_there_is_present_whatever_follows() {
        for end in ["", " and can be accessed by the pod", "."] {
            let message = format!("Container image \"nginx\" already present on machine{end}");
            assert_eq!(pulled(&message), Some(PullMessage::Present { image: "nginx" }));
        }
    }

    #[test]
    fn what_cannot_be_read_is_no_pull() {
        for message in [
            "",
            "Successfully pulled image nginx in 1s",
            "Successfully pulled image \"nginx\"",
            "Successfully pulled image \"nginx",
            "Successfully pulled image \"nginx\" in",
            "Successfully pulled image \"nginx\" in soon",
            "Successfully pulled image \"nginx\" in -1s",
            "Successfully pulled image \"nginx\" in 1s.",
            "Successfully pulled image \"nginx\" in 1s. Image size: 7 bytes.",
            "Successfully pulled image \"nginx\" in 1s (long including waiting)",
            "Successfully pulled image \"nginx\" in 1s (2s including",
            "successfully pulled image \"nginx\" in 1s",
            "(combined from similar events): Successfully pulled image \"nginx\" in 1s",
            "Container image \"nginx\" is not present with pull policy of Never",
            "Container image \"nginx",
            "Container image nginx already present on machine",
        ] {
            assert_eq!(pulled(message), None, "{message}");
        }
    }

    #[test]
    fn a_failed_pull_names_its_image() {
        let message = "Failed to pull image \"nginx:x\": rpc error: code = NotFound";
        assert_eq!(failed_pull(message), Some("nginx:x"));
        assert_eq!(failed_pull("Failed to pull image \"nginx\""), Some("nginx"));
        for other in
            ["Failed to pull image nginx", "Error: ErrImagePull", "Failed to pull image \"x"]
        {
            assert_eq!(failed_pull(other), None);
        }
    }
}
