//! What containers have written: a few lines that fit what became of them, made of the pod's status.

use axum::extract::Query;
use http::Uri;
use serde::Deserialize;
use serde_json::Value;

use super::sim_clock::meta_time;
use super::status::StatusFailure;
use podinit_core::timestamp::Timestamp;

/// Which log, as the parameters of a request say it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Wanted {
    container: Option<String>,
    /// That of the run before
    #[serde(default)]
    previous: Option<String>,
    /// So many lines of its end
    #[serde(default)]
    tail_lines: Option<usize>,
}

impl Wanted {
    /// The parameters of `query`.
    ///
    /// # Errors
    /// If a parameter that states a number is not one.
    pub(crate) fn parse(query: &str) -> Result<Self, StatusFailure> {
        let uri = format!("/?{query}").parse::<Uri>();
        let uri = uri.map_err(|error| StatusFailure::bad_request(error.to_string()))?;
        let query = Query::try_from_uri(&uri);
        Ok(query.map_err(|error| StatusFailure::bad_request(error.body_text()))?.0)
    }
}

/// The log of a container of `pod` at `now`.
///
/// # Errors
/// As a kubelet answers: no such container, or it has not run yet.
pub(crate) fn pod_log(
    pod: &Value,
    wanted: &Wanted,
    now: Timestamp,
) -> Result<String, StatusFailure> {
    let name = pod["metadata"]["name"].as_str().unwrap_or_default();
    let of_kind = |specs: &str, statuses: &str| {
        let specs = elements(&pod["spec"][specs]).iter();
        let status = move |spec: &Value| {
            let mut all = elements(&pod["status"][statuses]).iter();
            all.find(|one| one["name"] == spec["name"]).cloned()
        };
        specs.map(move |spec| (text(&spec["name"]).to_owned(), status(spec))).collect::<Vec<_>>()
    };
    let regular = of_kind("containers", "containerStatuses");
    let container = match &wanted.container {
        Some(container) => container.clone(),
        None if regular.len() == 1 => regular[0].0.clone(),
        None => {
            let names: Vec<_> = regular.iter().map(|(name, _)| name.as_str()).collect();
            let names = names.join(" ");
            return Err(StatusFailure::bad_request(format!(
                "a container name must be specified for pod {name}, choose one of: [{names}]"
            )));
        }
    };
    let init = of_kind("initContainers", "initContainerStatuses");
    let mut all = init.into_iter().chain(regular);
    let Some((_, status)) = all.find(|(name, _)| *name == container) else {
        let message = format!("container {container} is not valid for pod {name}");
        return Err(StatusFailure::bad_request(message));
    };
    // The API server answers so for a pod without a node.
    let Some(status) = status else {
        return Ok(String::new());
    };
    let (state, last) = (&status["state"], &status["lastState"]["terminated"]);
    let of_previous = wanted.previous.as_deref() == Some("true");
    let lines = match (&state["waiting"], of_previous) {
        (_, true) | (Value::Object(_), false) if !last.is_null() => of_run(last, false, now),
        (_, true) => {
            return Err(StatusFailure::bad_request(format!(
                "previous terminated container \"{container}\" in pod \"{name}\" not found"
            )));
        }
        (Value::Object(waiting), false) => {
            let why = match waiting.get("reason").map_or("", text) {
                "ErrImagePull" => "image can't be pulled",
                "ImagePullBackOff" => "trying and failing to pull image",
                reason => reason,
            };
            return Err(StatusFailure::bad_request(format!(
                "container \"{container}\" in pod \"{name}\" is waiting to start: {why}"
            )));
        }
        _ if !state["terminated"].is_null() => of_run(&state["terminated"], false, now),
        _ => of_run(&state["running"], status["ready"] == true, now),
    };
    let skipped = wanted.tail_lines.map_or(0, |most| lines.len().saturating_sub(most));
    Ok(lines[skipped..].concat())
}

/// What a run wrote that ended with this code, where it says why.
pub(super) fn last_words(exit_code: i32) -> Option<&'static str> {
    match exit_code {
        1 => Some("fatal: the setting PAYMENT_URL is missing"),
        42 => Some("fatal: row 1017 has no column \"total\""),
        _ => None,
    }
}

/// The lines of one run, by its state.
fn of_run(state: &Value, is_ready: bool, now: Timestamp) -> Vec<String> {
    let now = meta_time(now).0.to_string();
    let began = text(&state["startedAt"]);
    let mut lines = vec![line(began, "info: starting"), line(began, "info: read /etc/app")];
    match (state["exitCode"].as_i64(), is_ready) {
        (Some(code), _) => {
            let ended = text(&state["finishedAt"]);
            let code = i32::try_from(code).unwrap_or_default();
            let words = last_words(code).or((code == 0).then_some("info: done"));
            lines.extend(words.map(|words| line(ended, words)));
        }
        (None, true) => lines.push(line(began, "info: serving on :8080")),
        (None, false) => lines
            .push(line(&now, "warning: not ready: dial tcp 10.96.12.7:5432: connection refused")),
    }
    lines
}

fn line(at: &str, said: &str) -> String {
    format!("{at} {said}\n")
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn elements(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use serde_json::json;

    use super::*;

    const NOW: Timestamp = Timestamp::from_seconds(1_767_323_045);

    fn pod(state: &Value, last: &Value) -> Value {
        json!({
            "metadata": {"name": "web"},
            "spec": {"containers": [{"name": "app"}, {"name": "proxy"}], "initContainers": [{"name": "init"}]},
            "status": {"containerStatuses": [{"name": "app", "state": state, "lastState": {"terminated": last}}]},
        })
    }

    fn answer(pod: &Value, query: &str) -> String {
        let found = pod_log(pod, &Wanted::parse(query).unwrap(), NOW);
        found.unwrap_or_else(|failure| failure.to_json())
    }

    #[test]
    fn a_crash_says_why_in_the_log_of_the_run_before() {
        let run = json!({"exitCode": 1, "startedAt": "2026-01-02T03:04:00Z", "finishedAt": "2026-01-02T03:04:01Z"});
        let crashed = pod(&json!({"waiting": {"reason": "CrashLoopBackOff"}}), &run);
        let expected = "2026-01-02T03:04:01Z fatal: the setting PAYMENT_URL is missing\n";
        for query in ["previous=true&", ""] {
            let found = answer(&crashed, &format!("{query}container=app&tailLines=1"));
            assert_eq!(found, expected);
        }
        let running = pod(&json!({"running": {"startedAt": "2026-01-02T03:04:00Z"}}), &Value::Null);
        assert!(answer(&running, "container=app").contains("connection refused"));
        let none = answer(&running, "container=app&previous=true");
        assert!(none.contains("previous terminated container"), "{none}");
    }

    #[test]
    fn what_has_no_log_says_so() {
        let waits = pod(&json!({"waiting": {"reason": "ImagePullBackOff"}}), &Value::Null);
        for (query, words) in [
            ("container=app", "is waiting to start: trying and failing to pull image"),
            ("", "choose one of: [app proxy]"),
            ("container=no", "container no is not valid for pod web"),
        ] {
            let found = answer(&waits, query);
            assert!(found.contains(words) && found.contains("BadRequest"), "{found}");
        }
        assert_eq!(answer(&waits, "container=init"), "");
        assert!(Wanted::parse("tailLines=x").is_err());
    }
}
