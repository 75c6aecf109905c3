//! The events of a pod's life, encoded once: for each pod only its name, its version and its times are
//! written over, so that the server takes little of the machine.

use std::io::Write;
use std::time::{SystemTime, UNIX_EPOCH};

use podinit_sim::protobuf;
use serde_json::{Value, json};

use super::support::{self, Step};

/// The number of the pod that the templates are of, which nothing else in them looks like.
const NUMBER: &str = "99999";
const NAMESPACE: &str = "team-99999";
const VERSION: &str = "8888888888";
const UID: &str = "99999999-7af5-46a4-8768-000000000000";

/// The second in which step 0 of the templates is; the n-th is n seconds later (2030-01-01).
const BASE: u64 = 1_893_456_000;

/// A pod, as of the step that is sent.
pub(crate) struct Pod {
    pub(crate) number: usize,
    pub(crate) namespace: usize,
    pub(crate) version: usize,
    /// By step: when its event was sent
    pub(crate) times: [Option<SystemTime>; LifeSteps::COUNT],
}

/// The UID of a pod, in which its number is found again.
pub(crate) fn number_of(uid: &str) -> Option<usize> {
    uid.get(..8)?.parse().ok()
}

/// What is written over, and where.
#[derive(Clone, Copy)]
enum Field {
    Number,
    Namespace,
    Version,
    Uid,
    /// The second of a step
    Second(usize),
}

struct Template {
    bytes: Vec<u8>,
    fields: Vec<(usize, Field)>,
}

/// The events of all steps of a life.
pub(crate) struct LifeSteps {
    protobuf: bool,
    steps: Vec<Template>,
}

impl LifeSteps {
    pub(crate) const COUNT: usize = Step::ALL.len();

    pub(crate) fn new(protobuf: bool) -> Self {
        let steps = (0..Self::COUNT).map(|step| Template::new(step, protobuf));
        Self { protobuf, steps: steps.collect() }
    }

    /// Writes the event of `step` of `pod` to `chunk`, as a chunk of HTTP/1.1.
    pub(crate) fn write(&self, step: usize, pod: &Pod, chunk: &mut Vec<u8>) {
        let template = &self.steps[step];
        chunk.clear();
        write!(chunk, "{:x}\r\n", template.bytes.len()).unwrap();
        let begin = chunk.len();
        chunk.extend_from_slice(&template.bytes);
        for &(at, field) in &template.fields {
            let text = match field {
                Field::Number => format!("{:05}", pod.number % 100_000),
                Field::Namespace => format!("team-{:05}", pod.namespace),
                Field::Version => format!("{:010}", 1_000_000_000 + pod.version),
                Field::Uid => format!("{:08}{}", pod.number, &UID[8..]),
                Field::Second(step) => {
                    let second = second_of(pod.times[step]);
                    let encoded = encoded_second(second, self.protobuf);
                    chunk[begin + at..][..encoded.len()].copy_from_slice(&encoded);
                    continue;
                }
            };
            chunk[begin + at..][..text.len()].copy_from_slice(text.as_bytes());
        }
        chunk.extend_from_slice(b"\r\n");
    }
}

impl Template {
    fn new(step: usize, protobuf: bool) -> Self {
        let line = event(Step::ALL[step]).to_string() + "\n";
        let bytes = match protobuf {
            true => protobuf::framed(&protobuf::event(line.as_bytes()).expect("an event of a pod")),
            false => line.into_bytes(),
        };
        let texts = [
            (NUMBER, Field::Number),
            (NAMESPACE, Field::Namespace),
            (VERSION, Field::Version),
            (UID, Field::Uid),
        ];
        let texts = texts.map(|(text, field)| (text.as_bytes().to_vec(), field));
        let seconds = (0..LifeSteps::COUNT).map(|step| {
            let second = BASE + step as u64;
            (encoded_second(second, protobuf), Field::Second(step))
        });
        let fields = texts.into_iter().chain(seconds).flat_map(|(marker, field)| {
            let found: Vec<_> = memchr::memmem::find_iter(&bytes, &marker).collect();
            found.into_iter().map(move |at| (at, field))
        });
        let mut fields: Vec<_> = fields.collect();
        // A longer text is written over a part of itself that looks like a shorter one.
        fields.sort_by_key(|(_, field)| matches!(field, Field::Namespace | Field::Uid));
        Self { bytes, fields }
    }
}

/// A second in the form of a time that is not a fraction: text, or the varint of a `Timestamp`.
fn encoded_second(second: u64, protobuf: bool) -> Vec<u8> {
    if protobuf {
        let mut bytes = Vec::new();
        prost::encoding::encode_varint(second, &mut bytes);
        return bytes;
    }
    let second = i64::try_from(second).unwrap_or_default();
    let time = jiff::Timestamp::from_second(second).unwrap_or_default();
    time.to_string().into_bytes()
}

fn second_of(time: Option<SystemTime>) -> u64 {
    let since = time.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    since.unwrap_or_default().as_secs()
}

/// The event of a step, with the markers in place of what differs between pods.
fn event(step: Step) -> Value {
    let mut event = support::watch_event(0, step);
    let at = |step: Step| format!("2030-01-01T00:00:{:02}Z", step as usize);
    let object = &mut event["object"];
    let metadata = &mut object["metadata"];
    metadata["name"] = json!(format!("app-0007-7c9d8f6b5d-{NUMBER}"));
    metadata["namespace"] = json!(NAMESPACE);
    metadata["uid"] = json!(UID);
    metadata["resourceVersion"] = json!(VERSION);
    metadata["creationTimestamp"] = json!(at(Step::Created));
    let status = &mut object["status"];
    for condition in status["conditions"].as_array_mut().into_iter().flatten() {
        let since = match condition["type"].as_str() {
            Some("PodScheduled") => Step::Scheduled,
            Some("PodReadyToStartContainers") => Step::NetworkReady,
            Some("Initialized") => Step::Initialized,
            _ => Step::Ready,
        };
        condition["lastTransitionTime"] =
            json!(at(if (since as usize) < step as usize { since } else { step }));
    }
    status["startTime"] = json!(at(Step::Accepted));
    let container = &mut status["containerStatuses"][0];
    container["state"]["running"]["startedAt"] = json!(at(Step::Initialized));
    let fields = status.as_object_mut().expect("a status");
    if (step as usize) < Step::Accepted as usize {
        fields.remove("startTime");
    }
    if (step as usize) < Step::Initialized as usize {
        fields.remove("containerStatuses");
    }
    event
}
