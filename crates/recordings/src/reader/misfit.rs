//! Files that people take for recordings, told by how it begins, so that the error names it and no place in
//! it that has no fault.

use std::fmt;

use podinit_decode::pod::object::{ObjectFields, shorten};

/// What something is that is no recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NonRecording {
    /// HTML
    WebPage,
    /// The exposition of a Prometheus client
    Metrics,
    /// What `kubectl get` prints without `-o`, or the API server's `Table`
    Table,
    /// What `kubectl get -o name` prints
    Names,
    /// What `kubectl describe` prints
    Description,
    /// What kubectl prints in place of pods
    Complaint(String),
    /// A log of a component of Kubernetes
    Log,
    /// A struct as Go prints it
    GoText,
    /// An object as Python prints it
    PythonText,
    /// A `Status`: the API server's answer where there is no other
    Status(String),
    /// A pod that was never in a cluster
    Manifest,
    /// An object without a kind and without a UID
    NoKind,
}

/// How the complaints of kubectl begin.
const COMPLAINTS: [&str; 5] = [
    "Error from server",
    "error: ",
    "No resources found",
    "The connection to the server",
    "Unable to connect to the server",
];

impl NonRecording {
    /// What a text is that is neither JSON nor YAML of Kubernetes, judged by its first line.
    pub(super) fn of_text(text: &[u8]) -> Option<Self> {
        let text = String::from_utf8_lossy(text);
        let line = text.trim_start().lines().next()?.trim_end();
        let begins = |heads: &[&str]| heads.iter().any(|head| line.starts_with(head));
        if line.starts_with('<') {
            Some(Self::WebPage)
        } else if begins(&["# HELP ", "# TYPE "]) || is_sample(line) {
            Some(Self::Metrics)
        } else if begins(&["NAME ", "NAMESPACE ", "LAST SEEN "]) {
            Some(Self::Table)
        } else if begins(&["pod/", "pods/"]) && !line.contains(' ') {
            Some(Self::Names)
        } else if begins(&["Name:  "]) {
            Some(Self::Description)
        } else if begins(&COMPLAINTS) {
            Some(Self::Complaint(shorten(line)))
        } else if is_log(line) {
            Some(Self::Log)
        } else if begins(&["&Pod{", "&PodList{", "Pod{", "v1.Pod{", "&v1.Pod"]) {
            Some(Self::GoText)
        } else {
            None
        }
    }

    /// What an object is that is neither a pod with a UID nor another document of a recording.
    pub(super) fn of_object(object: &ObjectFields<'_>) -> Option<Self> {
        match object.kind.as_deref() {
            Some("Status") => {
                let said = object.message.as_deref().or(object.reason.as_deref());
                Some(Self::Status(shorten(said.unwrap_or("without a message"))))
            }
            Some("Table") => Some(Self::Table),
            Some("Pod") if object.metadata.uid.is_none() => Some(Self::Manifest),
            None if object.metadata.uid.is_none() => Some(Self::NoKind),
            _ => None,
        }
    }
}

impl fmt::Display for NonRecording {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::WebPage => "a web page",
            Self::Metrics => "metrics of Prometheus",
            Self::Table => "a table for people, without the times of pods",
            Self::Names => "names of pods alone",
            Self::Description => "a description for people (kubectl describe)",
            Self::Complaint(line) => {
                return write!(f, "what kubectl says in place of pods ({line})");
            }
            Self::Log => "a log of Kubernetes",
            Self::GoText => "a struct as Go prints it",
            Self::PythonText => "an object as Python prints it, and not as json.dumps() does",
            Self::Status(said) => {
                return write!(f, "an answer of the API server without pods ({said})");
            }
            Self::Manifest => "the manifest of a pod that was not created, with no metadata.uid",
            Self::NoKind => "an object without a kind and with no metadata.uid",
        })
    }
}

/// A line such as `I1120 10:00:00.000000       1 main.go:12] starting`.
fn is_log(line: &str) -> bool {
    let mut words = line.split(' ');
    let (Some(level), Some(time)) = (words.next(), words.next()) else {
        return false;
    };
    let is_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    level.len() == 5
        && level.starts_with(['I', 'W', 'E', 'F'])
        && is_digits(&level[1..])
        && time.split(':').count() == 3
}

/// A sample without its comments: `up{job="a"} 1`.
fn is_sample(line: &str) -> bool {
    let Some((name, value)) = line.rsplit_once(' ') else {
        return false;
    };
    let name = name.split('{').next().unwrap_or_default();
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b':');
    !name.is_empty()
        && !name.ends_with(':')
        && name.contains('_')
        && name.bytes().all(is_name)
        && value.parse::<f64>().is_ok()
}
