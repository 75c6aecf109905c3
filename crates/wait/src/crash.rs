//! What the API says of a container that crashes: how often it was restarted, and its last lines.

use std::time::Duration;

use k8s_openapi::api::core::v1::{ContainerState, ContainerStatus, Pod, PodStatus};
use kube::Client;
use kube::api::{Api, LogParams};
use tokio::time::timeout;

use super::answer::ContainerLog;

/// The deadline of a request.
const DEADLINE: Duration = Duration::from_secs(5);
/// So many lines are told, of so many bytes.
const LINES: i64 = 10;
const BYTES: i64 = 8 << 10;

/// What is known of the container of a pod that crashes most.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CrashFacts {
    pub restarts: i32,
    pub container: String,
    /// It runs or waits after a run that failed
    pub is_after_crash: bool,
}

/// Asks for a pod; `None` where there is no answer.
pub(crate) async fn facts(client: &Client, namespace: &str, pod: &str) -> Option<CrashFacts> {
    let pods: Api<Pod> = Api::namespaced(client.clone(), namespace);
    let pod = timeout(DEADLINE, pods.get_opt(pod)).await.ok()?.ok()??;
    of_pod(&pod.status?)
}

/// What is known of the containers that have failed, without init containers that have succeeded since.
fn of_pod(status: &PodStatus) -> Option<CrashFacts> {
    let init = status.init_container_statuses.iter().flatten();
    let all =
        init.filter(|one| !has_succeeded(one)).chain(status.container_statuses.iter().flatten());
    all.filter_map(of_container).max_by_key(|facts| facts.restarts)
}

fn has_succeeded(container: &ContainerStatus) -> bool {
    exit_code(container.state.as_ref()) == Some(0)
}

/// The exit code of a state in which a container has ended.
fn exit_code(state: Option<&ContainerState>) -> Option<i32> {
    Some(state?.terminated.as_ref()?.exit_code)
}

/// What is known of a container that has failed.
fn of_container(container: &ContainerStatus) -> Option<CrashFacts> {
    let has_failed =
        |state: &Option<ContainerState>| exit_code(state.as_ref()).is_some_and(|code| code != 0);
    let now = has_failed(&container.state);
    let before = has_failed(&container.last_state) || container.restart_count > 0;
    (now || before).then(|| CrashFacts {
        restarts: container.restart_count,
        container: container.name.clone(),
        is_after_crash: !now,
    })
}

/// The last lines of the container that crashed; `None` where the API does not give them.
pub(crate) async fn last_lines(
    client: &Client,
    namespace: &str,
    pod: &str,
    facts: CrashFacts,
) -> Option<ContainerLog> {
    let CrashFacts { container, is_after_crash, .. } = facts;
    let pods: Api<Pod> = Api::namespaced(client.clone(), namespace);
    let params = LogParams {
        container: Some(container.clone()),
        previous: is_after_crash,
        tail_lines: Some(LINES),
        limit_bytes: Some(BYTES),
        ..LogParams::default()
    };
    let text = timeout(DEADLINE, pods.logs(pod, &params)).await.ok()?.ok()?;
    let lines: Vec<String> = text.lines().map(str::to_owned).collect();
    (!lines.is_empty()).then(|| ContainerLog { pod: pod.to_owned(), container, lines })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use serde_json::json;

    use super::*;

    fn container(name: &str, status: serde_json::Value) -> serde_json::Value {
        let mut container =
            json!({"name": name, "image": "i", "imageID": "", "ready": false, "restartCount": 0});
        container.as_object_mut().unwrap().extend(status.as_object().unwrap().clone());
        container
    }

    fn facts(status: serde_json::Value) -> Option<CrashFacts> {
        of_container(&serde_json::from_value(container("app", status)).unwrap())
    }

    #[test]
    fn an_init_container_that_has_succeeded_crashes_no_more() {
        let failed = json!({"terminated": {"exitCode": 1}});
        let succeeded = json!({"terminated": {"exitCode": 0}});
        let of_pod = |init: &serde_json::Value| {
            let status = json!({
                "initContainerStatuses": [container("init", json!({"state": init, "lastState": failed, "restartCount": 5}))],
                "containerStatuses": [container("app", json!({"state": {"running": {}}, "lastState": failed, "restartCount": 1}))],
            });
            let facts = of_pod(&serde_json::from_value(status).unwrap()).unwrap();
            (facts.container, facts.restarts)
        };
        assert_eq!(of_pod(&succeeded), ("app".to_owned(), 1));
        assert_eq!(of_pod(&json!({"running": {}})), ("init".to_owned(), 5));
    }

    #[test]
    fn the_run_that_failed_is_the_last_or_the_one_before() {
        let failed = json!({"terminated": {"exitCode": 1}});
        assert_eq!(facts(json!({"state": {"running": {}}})), None);
        assert!(!facts(json!({"state": failed})).unwrap().is_after_crash);
        let waits = json!({"state": {"waiting": {"reason": "CrashLoopBackOff"}}, "lastState": failed, "restartCount": 3});
        let waits = facts(waits).unwrap();
        assert_eq!((waits.restarts, waits.is_after_crash), (3, true));
        assert_eq!(facts(json!({"state": {"terminated": {"exitCode": 0}}})), None);
    }
}
