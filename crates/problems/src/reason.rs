//! The reason in what Kubernetes says of a pod ([§13.6](crate::specification#s13-6)).

use podinit_core::lifecycle::{Cause, said_of_nodes};
use podinit_core::reason;

/// What a kubelet says of a readiness gate whose condition nobody has set.
const NEVER_SET: &str = "corresponding condition of pod readiness gate";

/// Whether a message about a readiness gate is the kubelet's, which only says which gate it is.
pub fn is_of_kubelet(message: &str) -> bool {
    [NEVER_SET, "the status of pod readiness gate"].iter().any(|begin| message.starts_with(begin))
}

/// The reason in what Kubernetes says, or what the scheduler says of nodes. `None` for a back-off alone.
pub fn reason(cause: Cause, message: &str) -> Option<String> {
    let of_nodes = said_of_nodes(message, cause);
    let text = match &of_nodes {
        Some(clauses) => clauses,
        None if cause == Cause::Crash => reason::crash(message),
        None if cause == Cause::Rejected => return rejection(message),
        None if cause == Cause::ReadinessGate => return gate_reason(message),
        None => match message.split_once(" probe failed: ") {
            Some((probe, why)) => &format!("{probe} probe failed: {}", reason::extract(why)),
            None => &reason::extract(message),
        },
    };
    // A probe that fails without output leaves a colon.
    let text = text.trim().trim_end_matches(['.', ':']);
    let repeats = ["Back-off ", "back-off "].iter().any(|head| text.starts_with(head));
    let says_more = !text.is_empty() && !repeats;
    says_more.then(|| reason::shorten(text, reason::MOST_CHARACTERS).into_owned())
}

/// What the controller of a readiness gate says. The kubelet only says which gate it is, or that nobody has set its
/// condition.
fn gate_reason(message: &str) -> Option<String> {
    if message.starts_with(NEVER_SET) {
        return Some("nothing has set its condition".to_owned());
    }
    let says = message.trim().trim_end_matches('.');
    let says_more = !says.is_empty() && !is_of_kubelet(message);
    says_more.then(|| reason::shorten(says, reason::MOST_CHARACTERS).into_owned())
}

/// The reason and the words of a kubelet that has refused a pod: `UnexpectedAdmissionError: no devices left`. The
/// words begin `Pod was rejected: `, or only `Pod ` in older kubelets, which the sentence says already.
fn rejection(message: &str) -> Option<String> {
    let (reason, words) = message.split_once(": ").unwrap_or((message, ""));
    let begins = ["Pod was rejected: ", "Pod "];
    let rest = begins.iter().find_map(|begin| words.strip_prefix(begin));
    let words = rest.unwrap_or(words).trim().trim_end_matches('.');
    let both = match (reason.trim(), words) {
        (reason, "") => reason.to_owned(),
        (reason, words) => format!("{reason}: {words}"),
    };
    (!both.is_empty()).then(|| reason::shorten(&both, reason::MOST_CHARACTERS).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_real_error_stands_at_the_end_of_a_chain() {
        let refused = "failed to pull and unpack image \"r.example.com/web:2\": failed to do request: \
                       dial tcp 10.0.0.1:443: connect: connection refused";
        assert_eq!(
            reason(Cause::Image, refused).as_deref(),
            Some("dial tcp 10.0.0.1:443: connection refused")
        );
        let backs_off = "Back-off pulling image \"r.example.com/web:2\"";
        assert_eq!(reason(Cause::Image, backs_off), None);
        let scheduler =
            "0/5 nodes are available: 5 Insufficient cpu. preemption: 0/5 nodes are available";
        assert_eq!(reason(Cause::Resources, scheduler).as_deref(), Some("5 Insufficient cpu"));
        let long = "x".repeat(200);
        let cut = reason(Cause::Config, &long).map(|text| text.chars().count());
        assert!(cut.is_some_and(|cut| (100..=reason::MOST_CHARACTERS).contains(&cut)));
        let ends = reason(Cause::Config, &format!("{long} real error"));
        assert!(ends.is_some_and(|text| text.ends_with("real error")));
    }

    #[test]
    fn a_crash_says_how_it_ended_and_how_often() {
        let backs_off = "back-off 20s restarting failed container=main pod=web_shop(1)";
        let ended = "OOMKilled, exit code 137, 3 restarts: fatal: no memory";
        let both = format!("{backs_off}: {ended}");
        assert_eq!(reason(Cause::Crash, &both).as_deref(), Some(ended));
        assert_eq!(reason(Cause::Crash, ended).as_deref(), Some(ended));
        assert_eq!(reason(Cause::Crash, backs_off), None);
    }

    #[test]
    fn a_rejection_says_the_reason_of_the_kubelet_and_its_words() {
        for (message, said) in [
            (
                "UnexpectedAdmissionError: Pod was rejected: Allocate failed due to no healthy devices present",
                "UnexpectedAdmissionError: Allocate failed due to no healthy devices present",
            ),
            (
                "OutOfcpu: Pod Node didn't have enough resource: cpu, requested: 1000, used: 3500, capacity: 4000",
                "OutOfcpu: Node didn't have enough resource: cpu, requested: 1000, used: 3500, capacity: 4000",
            ),
            (
                "Evicted: Pod was rejected: The node had condition: [DiskPressure]. ",
                "Evicted: The node had condition: [DiskPressure]",
            ),
            ("NodeAffinity", "NodeAffinity"),
        ] {
            assert_eq!(reason(Cause::Rejected, message).as_deref(), Some(said));
        }
    }

    #[test]
    fn a_probe_without_output_has_failed() {
        for message in ["Readiness probe failed: ", "Readiness probe failed:"] {
            assert_eq!(reason(Cause::Probe, message).as_deref(), Some("Readiness probe failed"));
        }
        let refused = "Readiness probe failed: dial tcp 10.0.1.7:8080: connect: connection refused";
        assert_eq!(
            reason(Cause::Probe, refused).as_deref(),
            Some("Readiness probe failed: dial tcp 10.0.1.7:8080: connection refused")
        );
    }

    #[test]
    fn a_full_disk_is_said() {
        let disk = "Failed to create pod sandbox: rpc error: code = Unknown desc = failed to create containerd \
                    task: mkdir /run/containerd/io.containerd.runtime.v2.task: no space left on device";
        assert_eq!(
            reason(Cause::Sandbox, disk).as_deref(),
            Some("mkdir /run/containerd/io.containerd.runtime.v2.task: no space left on device")
        );
    }
}
