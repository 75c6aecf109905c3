//! One sentence on a startup.

use super::ended::{ExplainedEnd, is_end_known};
use super::named;
use super::new_node;
use super::parts::{Share, StartupPart};
use crate::autoscaling;
use podinit_core::lifecycle::{Cause, Outcome, Progress, Record, Stage, WaitReason};
use podinit_core::reason::crash;
use podinit_core::timestamp::Timestamp;
use podinit_text::human_time::{date_and_time, seconds, since};

/// A part of this share is all that is named.
const NEARLY_ALL: f64 = 0.85;
/// A part below this share is not named.
const LEAST_SHARE: f64 = 0.15;

/// The verdict on a startup that began at `began`, as of `end`.
pub(super) fn verdict(
    record: &Record,
    ended: &ExplainedEnd,
    shares: &[Share],
    began: Timestamp,
    end: Timestamp,
) -> String {
    let total = seconds(since(began, end));
    match record.progress {
        Progress::InFlight { waiting, entered, .. } => {
            let (stage, cause) = (waiting.stage().as_str(), waiting.cause().as_str());
            let waits = seconds(since(entered, end));
            // What a crash says is short, and ends the search.
            let said = record.message.as_deref().map(crash);
            let says_more = matches!(waiting.cause(), Cause::Crash) || is_of_gate(record, waiting);
            let said = said.filter(|said| says_more && !said.is_empty());
            let said = said.map_or_else(String::new, |said| format!(": {said}"));
            let help = record.unschedulable.as_ref();
            let help = help.filter(|_| waiting.stage() == Stage::Unschedulable);
            let help = help.and_then(autoscaling::of_pod);
            let help = help.map_or_else(String::new, |help| format!("; {help}"));
            let node = new_node::steps(record);
            let node = node.map_or_else(String::new, |steps| {
                format!(" Before that, it waited for a node that had to start: {steps}.")
            });
            let container = container(record, waiting);
            let container = container.map_or_else(String::new, |what| format!(": {what}"));
            let never = match record.progress.is_never_ready() {
                true => NEVER_READY,
                false => "",
            };
            format!(
                "Not ready after {total}: in {stage} for {waits}, cause {cause}{container}{said}{help}.{never}{node}"
            )
        }
        Progress::Ended { outcome: Outcome::Ready, .. } if !is_end_known(record) => {
            "Ready, but nothing says since when: not measured.".to_owned()
        }
        Progress::Ended { outcome: Outcome::Ready, .. } => {
            let split = match shares.first() {
                Some(most)
                    if most.part == StartupPart::Unknown.as_str() && most.share >= NEARLY_ALL =>
                {
                    "; where the time went is not known".to_owned()
                }
                _ => split(shares).map_or_else(String::new, |split| format!(": {split}")),
            };
            let node = new_node::steps(record);
            let image = shares.iter().find(|share| share.part == StartupPart::Image.as_str());
            let image = image.map_or_else(String::new, |pulled| {
                format!(", then {} until its images were pulled", seconds(pulled.seconds))
            });
            let node = node.map_or_else(String::new, |steps| format!(" Its node: {steps}{image}."));
            let again = record.relapse.as_ref().map_or_else(String::new, |relapse| {
                let how = relapse.message.as_deref().map(crash).unwrap_or_default();
                let how = if how.is_empty() { String::new() } else { format!(": {how}") };
                format!(" It crashes again since {} UTC{how}.", date_and_time(relapse.since))
            });
            format!("Ready after {total}{split}.{node}{again}")
        }
        Progress::Ended { outcome: Outcome::Rejected, .. } => {
            let why = ended.in_words(record).map(|why| format!(": {why}"));
            format!(
                "Rejected by the kubelet after {total}, at {} UTC{}.",
                date_and_time(end),
                why.unwrap_or_default()
            )
        }
        Progress::Ended { outcome, .. } => {
            // What a pod waited for that had ended when it was first seen, nobody knows.
            let watched = !ended.is_over_at_first_sight;
            let last = record.causes.last().map(|cause| cause.waiting);
            let waited = last.filter(|_| watched).map(|waiting| {
                let (stage, cause) = (waiting.stage().as_str(), waiting.cause().as_str());
                format!(", without becoming ready, last in {stage}, cause {cause}")
            });
            let why = ended.in_words(record).map(|why| format!(": {why}"));
            format!(
                "Ended as {} after {total}{}{}.",
                outcome.as_str(),
                waited.unwrap_or_default(),
                why.unwrap_or_default()
            )
        }
    }
}

/// Whether the message is that of the controller of a readiness gate: a kubelet only says which gate it is.
fn is_of_gate(record: &Record, waiting: WaitReason) -> bool {
    let message = record.message.as_deref().unwrap_or_default();
    waiting.cause() == Cause::ReadinessGate && !podinit_problems::is_of_kubelet(message)
}

/// Why a pod is not judged that still runs.
const NEVER_READY: &str = " It can never be Ready: a container has ended with exit code 0 and is not run again, as in a \
                           job. So it is neither late nor stuck.";

/// What `waiting` is about, where its cause does not say that.
fn container(record: &Record, waiting: WaitReason) -> Option<String> {
    let node = record.pod.node.as_deref();
    match (waiting.cause(), waiting.stage()) {
        (cause @ (Cause::Gate | Cause::ReadinessGate), _) => named::held_by(record, cause),
        (Cause::Acknowledge, Stage::Scheduling | Stage::Unschedulable) => {
            Some(format!("it is bound to node {}, and the kubelet there has not taken it", node?))
        }
        (Cause::Run, _) => {
            let last = record.causes.last()?;
            let position = usize::from(last.container.filter(|_| last.waiting == waiting)?);
            let running = record.containers.get(position)?;
            Some(match running.is_sidecar {
                true => format!("the sidecar {} has not passed its startup probe", running.name),
                false => format!("the init container {} has not ended", running.name),
            })
        }
        _ => None,
    }
}

/// The largest parts in words, such as "half image, half application".
fn split(shares: &[Share]) -> Option<String> {
    let named = shares.iter().filter(|share| share.share >= LEAST_SHARE);
    let words: Vec<String> =
        named.map(|share| format!("{} {}", fraction(share.share), share.part)).collect();
    (!words.is_empty()).then(|| words.join(", "))
}

/// A share in words.
fn fraction(share: f64) -> &'static str {
    match share {
        0.95.. => "all",
        0.85.. => "nearly all",
        0.71.. => "three quarters",
        0.58.. => "two thirds",
        0.42.. => "half",
        0.29.. => "a third",
        0.22.. => "a quarter",
        _ => "a sixth",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(part: &'static str, share: f64) -> Share {
        Share { part, seconds: share * 10.0, share }
    }

    #[test]
    fn the_largest_parts_are_named_in_words() {
        let halves = [share("image", 0.48), share("application", 0.44), share("network", 0.08)];
        assert_eq!(split(&halves).as_deref(), Some("half image, half application"));
        let cases = [
            (0.99, "all image"),
            (0.9, "nearly all image"),
            (0.75, "three quarters image"),
            (0.66, "two thirds image"),
            (0.34, "a third image"),
            (0.25, "a quarter image"),
            (0.16, "a sixth image"),
        ];
        for (value, words) in cases {
            assert_eq!(split(&[share("image", value)]).as_deref(), Some(words));
        }
        assert_eq!(split(&[share("image", 0.14)]), None);
        assert_eq!(split(&[]), None);
    }
}
