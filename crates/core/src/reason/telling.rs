//! How much a text tells ([§10.1](crate::specification#s10-1)): a back-off says that something failed, and not what.

/// How much a text tells of why something fails. What tells less comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Telling {
    /// That it is tried again, or only the reason of a container's state
    Nothing,
    /// That it takes too long, or that another attempt is under way
    Waits,
    /// What is wrong
    Why,
}

/// What a text says that was given up or is under way still, as the words of kubelets and runtimes.
const WAITS: [&str; 5] = [
    "timed out waiting for",
    "context deadline exceeded",
    "DeadlineExceeded",
    "An operation with the given",
    "is reserved for",
];

/// How much `text` tells.
pub fn telling(text: &str) -> Telling {
    let text = text.trim();
    let error = text.strip_prefix("Error: ").unwrap_or(text);
    let is_back_off = text.starts_with("Back-off ") || text.starts_with("back-off ");
    // `Error: ImagePullBackOff`, and a back-off without what failed
    let says_nothing = match is_back_off {
        true => !text.contains(": "),
        false => error.is_empty() || error != text && !error.contains(' '),
    };
    if says_nothing {
        Telling::Nothing
    } else if WAITS.iter().any(|words| text.contains(words)) {
        Telling::Waits
    } else {
        Telling::Why
    }
}

/// How the run before ended, without the back-off that says nothing else: `exit code 1, 3 restarts: …`.
pub fn crash(message: &str) -> &str {
    match message.split_once(": ") {
        Some((head, rest)) if head.starts_with("back-off ") => rest,
        _ if message.starts_with("back-off ") => "",
        _ => message,
    }
}

#[cfg(test)]
mod tests {
    use super::{Telling, telling};

    #[test]
    fn a_back_off_tells_less_than_a_wait_and_a_wait_less_than_an_error() {
        for (text, tells) in [
            ("", Telling::Nothing),
            ("Back-off pulling image \"r.io/a:1\"", Telling::Nothing),
            ("back-off 10s restarting failed container=web pod=web_shop(1)", Telling::Nothing),
            ("Error: ImagePullBackOff", Telling::Nothing),
            (
                "Back-off pulling image \"r.io/a:1\": ErrImagePull: r.io/a:1: not found",
                Telling::Why,
            ),
            ("Error: secret \"db\" not found", Telling::Why),
            (
                "Unable to attach or mount volumes: unmounted volumes=[data]: timed out waiting for the condition",
                Telling::Waits,
            ),
            ("rpc error: code = DeadlineExceeded desc = context deadline exceeded", Telling::Waits),
            (
                "Multi-Attach error for volume \"pvc-1\" Volume is already exclusively attached to one node",
                Telling::Why,
            ),
        ] {
            assert_eq!(telling(text), tells, "{text}");
        }
    }
}
