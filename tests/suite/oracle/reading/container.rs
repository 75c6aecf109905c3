//! The containers of a pod, with what its status says of each.

use serde_json::Value;

use super::snapshot::api_time;
use crate::oracle::instant::Nanos;

/// One container of `spec.initContainers` or `spec.containers`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Container {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) state: State,
    /// [§9.1](crate::specification#s9-1): its starts that are not absurd: of the state, and of the
    /// last one
    pub(crate) starts: Vec<Nanos>,
    /// [§5.9](crate::specification#s5-9): "or as `terminated` (`state` or `lastState`)"
    pub(crate) was_terminated: bool,
    /// "its newest status says `started: true`"
    pub(crate) says_started: bool,
    /// [§9.4](crate::specification#s9-4): how long its runs took that have ended, of the state and of the
    /// last one, where both times are stated
    pub(crate) runs: Vec<Nanos>,
    /// Its own `restartPolicy`
    pub(crate) policy: Option<String>,
    /// Its `restartPolicyRules`
    pub(crate) rules: Vec<RestartRule>,
}

/// A rule of `restartPolicyRules`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RestartRule {
    pub(crate) action: String,
    pub(crate) operator: String,
    pub(crate) exit_codes: Vec<i64>,
}

impl RestartRule {
    fn read(rule: &Value) -> Self {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let codes = rule["exitCodes"]["values"].as_array();
        Self {
            action: text(&rule["action"]),
            operator: text(&rule["exitCodes"]["operator"]),
            exit_codes: codes.into_iter().flatten().filter_map(Value::as_i64).collect(),
        }
    }

    /// Whether it is about this exit code.
    pub(crate) fn matches(&self, exit_code: i64) -> bool {
        match self.operator.as_str() {
            "In" => self.exit_codes.contains(&exit_code),
            "NotIn" => !self.exit_codes.contains(&exit_code),
            _ => false,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Init,
    /// An init container with `restartPolicy: Always`
    RestartableInit,
    Regular,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum State {
    /// No status has its name
    None,
    /// For this reason; a status without a state waits, too
    Waiting(String),
    Running,
    /// With this exit code
    Terminated(Option<i64>),
}

impl Container {
    pub(crate) fn is_init(&self) -> bool {
        self.kind != Kind::Regular
    }
}

/// Every container of the pod's spec, init containers first.
pub(super) fn all(pod: &Value) -> Vec<Container> {
    let mut all = read(pod, "initContainers", "initContainerStatuses");
    all.extend(read(pod, "containers", "containerStatuses"));
    all
}

fn read(pod: &Value, containers: &str, statuses: &str) -> Vec<Container> {
    let of = |section: &str, list: &str| pod[section][list].as_array().cloned().unwrap_or_default();
    let statuses = of("status", statuses);
    let container = |spec: &Value| {
        let is_own = |status: &&Value| status["name"].is_string() && status["name"] == spec["name"];
        let status = statuses.iter().find(is_own);
        Container {
            name: spec["name"].as_str().unwrap_or_default().to_owned(),
            kind: match containers {
                "containers" => Kind::Regular,
                _ if spec["restartPolicy"] == "Always" => Kind::RestartableInit,
                _ => Kind::Init,
            },
            state: status.map_or(State::None, state),
            starts: status.map(starts).unwrap_or_default(),
            was_terminated: status.is_some_and(was_terminated),
            says_started: status.is_some_and(|status| status["started"] == true),
            runs: status.map(runs).unwrap_or_default(),
            policy: spec["restartPolicy"].as_str().map(str::to_owned),
            rules: (spec["restartPolicyRules"].as_array().into_iter().flatten())
                .map(RestartRule::read)
                .collect(),
        }
    };
    of("spec", containers).iter().map(container).collect()
}

fn state(status: &Value) -> State {
    let state = &status["state"];
    if state["running"].is_object() {
        State::Running
    } else if state["terminated"].is_object() {
        State::Terminated(state["terminated"]["exitCode"].as_i64())
    } else {
        let reason = state["waiting"]["reason"].as_str().unwrap_or_default();
        State::Waiting(reason.to_owned())
    }
}

fn was_terminated(status: &Value) -> bool {
    let mut ended = ["/state/terminated", "/lastState/terminated"].into_iter();
    ended.any(|path| status.pointer(path).is_some_and(Value::is_object))
}

fn runs(status: &Value) -> Vec<Nanos> {
    let ended = ["/state/terminated", "/lastState/terminated"];
    let length = |ended: &Value| {
        let (from, to) = (&ended["startedAt"], &ended["finishedAt"]);
        Some(api_time(Some(to))? - api_time(Some(from))?)
    };
    let ended = ended.into_iter().filter_map(|path| status.pointer(path));
    ended.filter_map(length).collect()
}

fn starts(status: &Value) -> Vec<Nanos> {
    let stated = [
        "/state/running/startedAt",
        "/state/terminated/startedAt",
        "/lastState/terminated/startedAt",
    ];
    let times = stated.into_iter().map(|path| api_time(status.pointer(path)));
    times.flatten().collect()
}
