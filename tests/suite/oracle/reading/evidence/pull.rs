//! [§9.3](crate::specification#s9-3): what the kubelet's messages say of pulls.

use super::EvidenceRules;
use crate::oracle::instant::Nanos;
use crate::oracle::reading::life::Folded;
use crate::oracle::reading::startup::Startup;

/// What an Event says of an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Read {
    pub(crate) registry: String,
    pub(crate) result: Result,
}

/// The label value `result`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Result {
    Pulled {
        duration: Nanos,
        /// W, where it is stated
        with_wait: Option<Nanos>,
        bytes: Option<u64>,
    },
    Present,
    Failed,
}

impl Result {
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Pulled { .. } => "pulled",
            Self::Present => "present",
            Self::Failed => "failed",
        }
    }

    /// The length of what is taken off the SLI: W, and "then W = D" where no wait is stated.
    pub(crate) fn whole(&self) -> Option<Nanos> {
        match self {
            Self::Pulled { duration, with_wait, .. } => Some(with_wait.unwrap_or(*duration)),
            Self::Present | Self::Failed => None,
        }
    }
}

/// A pull of a container, and the Event that said so.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    pub(crate) container: String,
    pub(crate) place: usize,
    pub(crate) read: Read,
}

/// The pulls of a pod up to a place, and the failed ones: "at most once for each container" of each.
pub(crate) fn pulls(startup: &Startup<'_>, until: usize) -> Vec<Found> {
    let rules = startup.rules.evidence();
    let mut all: Vec<Found> = Vec::new();
    let delivered = startup.life.folded[..=until].iter().enumerate();
    for (place, folded) in delivered {
        all.extend(found(rules, place, folded));
    }
    let mut counted = Vec::new();
    for container in &startup.life.folded[0].pod.containers {
        for failed in [false, true] {
            let is_own = |found: &&Found| {
                found.container == container.name && (found.read.result == Result::Failed) == failed
            };
            let own: Vec<Found> = all.iter().filter(is_own).cloned().collect();
            counted.extend(rules.counted(&own).and_then(|which| own.get(which).cloned()));
        }
    }
    counted
}

fn found(rules: &dyn EvidenceRules, place: usize, folded: &Folded) -> Option<Found> {
    let event = folded.event.as_ref()?;
    let container = rules.container_of(event, &folded.pod)?;
    Some(Found {
        container: container.name.clone(),
        place,
        read: read(&event.reason, &event.message)?,
    })
}

/// What a reason and a message say; `None` where it "is no pull".
pub(crate) fn read(reason: &str, message: &str) -> Option<Read> {
    let quoted = |rest: &str| -> Option<(String, String)> {
        let (image, rest) = rest.split_once('"')?;
        Some((registry(image), rest.to_owned()))
    };
    match reason {
        "Pulled" => {
            if let Some(rest) = message.strip_prefix("Successfully pulled image \"") {
                let (registry, rest) = quoted(rest)?;
                let result = pulled(rest.strip_prefix(" in ")?)?;
                return Some(Read { registry, result });
            }
            let rest = message.strip_prefix("Container image \"")?;
            let (registry, rest) = quoted(rest)?;
            rest.starts_with(" already present on machine")
                .then_some(Read { registry, result: Result::Present })
        }
        "Failed" => {
            let (registry, _) = quoted(message.strip_prefix("Failed to pull image \"")?)?;
            Some(Read { registry, result: Result::Failed })
        }
        _ => None,
    }
}

/// `D (W including waiting)` with what may follow, or only `D`.
fn pulled(rest: &str) -> Option<Result> {
    let Some((duration, rest)) = rest.split_once(" (") else {
        return Some(Result::Pulled { duration: go_duration(rest)?, with_wait: None, bytes: None });
    };
    let (with_wait, rest) = rest.split_once(" including waiting)")?;
    let size = rest.rsplit_once(". Image size: ");
    let size = size.and_then(|(_, size)| size.strip_suffix(" bytes."));
    Some(Result::Pulled {
        duration: go_duration(duration)?,
        with_wait: Some(go_duration(with_wait)?),
        bytes: size.and_then(|size| size.parse().ok()),
    })
}

/// A duration as Go's `time.ParseDuration` reads it, cut to nanoseconds; none below zero.
pub(crate) fn go_duration(text: &str) -> Option<Nanos> {
    let units: [(&str, Nanos); 8] = [
        ("ns", 1),
        ("us", 1_000),
        ("\u{b5}s", 1_000),
        ("\u{3bc}s", 1_000),
        ("ms", 1_000_000),
        ("s", 1_000_000_000),
        ("m", 60_000_000_000),
        ("h", 3_600_000_000_000),
    ];
    let text = text.strip_prefix('+').unwrap_or(text);
    if text == "0" {
        return Some(0);
    }
    if text.is_empty() {
        return None;
    }
    let mut total: Nanos = 0;
    let mut rest = text;
    while !rest.is_empty() {
        let number_ends = rest.find(|letter: char| !letter.is_ascii_digit() && letter != '.')?;
        let (number, after) = rest.split_at(number_ends);
        let unit_ends = after
            .find(|letter: char| letter.is_ascii_digit() || letter == '.')
            .unwrap_or(after.len());
        let (unit, after) = after.split_at(unit_ends);
        let (_, nanos) = units.into_iter().find(|(name, _)| *name == unit)?;
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if (whole.is_empty() && fraction.is_empty()) || fraction.contains('.') {
            return None;
        }
        let whole: Nanos = format!("0{whole}").parse().ok()?;
        let digits: Nanos = format!("0{fraction}").parse().ok()?;
        total += whole * nanos + digits * nanos / (10 as Nanos).pow(fraction.len() as u32);
        rest = after;
    }
    (total <= Nanos::from(i64::MAX)).then_some(total)
}

/// "the image reference's domain as container tools normalize it (`docker.io` where none stands,
/// and for `index.docker.io`)": what stands before the first slash is a domain where it has a dot
/// or a colon, is `localhost`, or has a capital letter.
pub(crate) fn registry(image: &str) -> String {
    let domain = image.split_once('/').map(|(first, _)| first);
    let is_domain = |first: &&str| {
        first.contains(['.', ':']) || *first == "localhost" || first.to_lowercase() != **first
    };
    match domain.filter(is_domain) {
        None | Some("index.docker.io") => "docker.io".to_owned(),
        Some(domain) => domain.to_owned(),
    }
}

#[test]
fn durations_are_read_as_go_reads_them() {
    for (text, nanos) in [
        ("0", Some(0)),
        ("0s", Some(0)),
        ("1.5s", Some(1_500_000_000)),
        ("345.6ms", Some(345_600_000)),
        ("1m2.345s", Some(62_345_000_000)),
        ("1h2m3s", Some(3_723_000_000_000)),
        ("12\u{b5}s", Some(12_000)),
        ("12\u{3bc}s", Some(12_000)),
        ("7us3ns", Some(7_003)),
        (".5s", Some(500_000_000)),
        ("5.s", Some(5_000_000_000)),
        ("1.23456789012s", Some(1_234_567_890)),
        ("+3s", Some(3_000_000_000)),
        ("", None),
        ("3", None),
        ("s", None),
        (".s", None),
        ("1.2.3s", None),
        ("3 s", None),
        ("3d", None),
        ("-3s", None),
        ("1s2", None),
    ] {
        assert_eq!(go_duration(text), nanos, "{text}");
    }
}

#[test]
fn registries_are_those_of_container_tools() {
    for (image, domain) in [
        ("nginx", "docker.io"),
        ("nginx:1.27", "docker.io"),
        ("library/nginx", "docker.io"),
        ("index.docker.io/library/nginx", "docker.io"),
        ("docker.io/library/nginx@sha256:00", "docker.io"),
        ("registry.k8s.io/pause:3.10", "registry.k8s.io"),
        ("localhost/x", "localhost"),
        ("localhost:5000/x", "localhost:5000"),
        ("reg:5000/a/b", "reg:5000"),
        ("team/app:1.2", "docker.io"),
        ("Reg/app", "Reg"),
    ] {
        assert_eq!(registry(image), domain, "{image}");
    }
}

#[test]
fn messages_are_read() {
    let pulled = |duration, with_wait, bytes| Some(Result::Pulled { duration, with_wait, bytes });
    let result = |reason: &str, message: &str| read(reason, message).map(|read| read.result);
    for (message, expected) in [
        (
            "Successfully pulled image \"a\" in 1.5s (2s including waiting). Image size: 17 bytes.",
            pulled(1_500_000_000, Some(2_000_000_000), Some(17)),
        ),
        (
            "Successfully pulled image \"a\" in 1.5s (2s including waiting)",
            pulled(1_500_000_000, Some(2_000_000_000), None),
        ),
        ("Successfully pulled image \"a\" in 20ms", pulled(20_000_000, None, None)),
        ("Successfully pulled image \"a\"", None),
        ("Successfully pulled image \"a\" in soon", None),
        ("Successfully pulled image \"a\" in 1s (soon including waiting)", None),
        (
            "Container image \"a\" already present on machine and can be accessed by the pod",
            Some(Result::Present),
        ),
        ("Container image \"a\" is not present", None),
    ] {
        assert_eq!(result("Pulled", message), expected, "{message}");
        assert_eq!(result("Pulling", message), None, "{message}");
    }
    let failed = "Failed to pull image \"a\": not found";
    assert_eq!(result("Failed", failed), Some(Result::Failed));
    assert_eq!(result("Failed", "Error: ErrImagePull"), None);
    assert_eq!(result("Pulled", failed), None);
}
