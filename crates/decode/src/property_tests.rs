//! Random pods, mutilated at random, against a plain reading of the same fields from a
//! `serde_json::Value`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::time::Duration;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use podinit_core::label_value::LabelValue;
use podinit_core::pod::{
    Claims, ConditionStatus, ConditionType, ContainerKind, ContainerSpec, ContainerState,
    DisruptionReason, GateNames, InPlaceChanges, MOST_GATES, NamedConditions, NotScheduled,
    NotScheduledReason, PodPhase, PodResize, PodUid, ResizeState, SandboxNotReady, StatusCondition,
    WaitingReason,
};
use podinit_core::rfc3339;
use podinit_testing::random::{any_pod, any_value, same_in_every_run};

/// `value` as JSON text, the keys of its objects in an order that `seed` decides.
fn shuffled(value: &Value, seed: &mut u64) -> String {
    match value {
        Value::Array(elements) => {
            let elements: Vec<_> = elements.iter().map(|value| shuffled(value, seed)).collect();
            format!("[{}]", elements.join(","))
        }
        Value::Object(entries) => {
            let mut entries: Vec<_> = entries
                .iter()
                .map(|(key, value)| {
                    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    let entry = format!("{}: {}", Value::from(key.as_str()), shuffled(value, seed));
                    (*seed >> 32, entry)
                })
                .collect();
            entries.sort();
            let entries: Vec<_> = entries.into_iter().map(|(_, entry)| entry).collect();
            format!("{{{}}}", entries.join(", "))
        }
        other => other.to_string(),
    }
}

/// The snapshot of `pod`, read field by field from the parsed JSON.
fn plain_reading(pod: &Value) -> PodSnapshot {
    plain_reading_with(pod, &[])
}

/// The same with the conditions of these milestones.
fn plain_reading_with(pod: &Value, milestones: &[String]) -> PodSnapshot {
    let (metadata, spec, status) = (&pod["metadata"], &pod["spec"], &pod["status"]);
    let time = |value: &Value| value.as_str().and_then(rfc3339::parse);
    let not_empty = |value: &Value| value.as_array().is_some_and(|array| !array.is_empty());
    let uid = PodUid::from_text(metadata["uid"].as_str().unwrap());
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut snapshot =
        PodSnapshot::bare(uid, text(&metadata["namespace"]), text(&metadata["name"]));
    snapshot.resource_version = match &metadata["resourceVersion"] {
        Value::String(text) if text.chars().all(|c| c.is_ascii_digit()) && !text.is_empty() => {
            Some(text.parse().unwrap_or(u64::MAX))
        }
        Value::Number(number) => number.as_u64(),
        _ => None,
    };
    snapshot.info.host_network = spec["hostNetwork"] == true;
    snapshot.created = time(&metadata["creationTimestamp"]);
    snapshot.started = time(&status["startTime"]);
    snapshot.latest_api_time = snapshot.created.max(snapshot.started);
    snapshot.phase = match status["phase"].as_str() {
        Some("Succeeded") => PodPhase::Succeeded,
        Some("Failed") => PodPhase::Failed,
        _ => PodPhase::Active,
    };
    for condition in status["conditions"].as_array().into_iter().flatten() {
        let last_transition = time(&condition["lastTransitionTime"]);
        snapshot.latest_api_time = snapshot.latest_api_time.max(last_transition);
        let kind = condition["type"].as_str().and_then(ConditionType::from_text);
        let Some(kind) = kind else { continue };
        let status = match condition["status"].as_str() {
            Some("True") => ConditionStatus::True,
            Some("False") => ConditionStatus::False,
            _ => ConditionStatus::Unknown,
        };
        snapshot.conditions.insert(kind, StatusCondition { status, last_transition });
    }
    plain_reasons(&mut snapshot, pod);
    snapshot.named = plain_named(&snapshot, pod, milestones);
    let node_name = spec["nodeName"].as_str().unwrap_or_default();
    snapshot.is_bound = !node_name.is_empty();
    snapshot.gated = not_empty(&spec["schedulingGates"]);
    snapshot.has_init_containers = not_empty(&spec["initContainers"]);
    let init = plain_containers(spec, status, "initContainers", "initContainerStatuses");
    let regular = plain_containers(spec, status, "containers", "containerStatuses");
    snapshot.containers = init.into_iter().chain(regular).collect();
    snapshot.init_runs = plain_init_runs(spec, status);
    snapshot.has_run = plain_has_run(spec, status);
    snapshot.is_stateful = spec["volumes"].as_array().is_some_and(|volumes| {
        let mut objects = volumes.iter().filter_map(Value::as_object);
        let stateless = ["secret", "configMap", "downwardAPI", "emptyDir", "projected"];
        objects.any(|volume| !stateless.iter().any(|source| volume.contains_key(*source)))
    });
    let mut volumes = spec["volumes"].as_array().into_iter().flatten();
    let has_volume = volumes.any(|volume| {
        let has = |source: &str| volume.get(source).is_some();
        has("persistentVolumeClaim") || has("ephemeral")
    });
    snapshot.claims = Claims::new(has_volume, not_empty(&spec["resourceClaims"]));
    snapshot.has_readiness_gates = not_empty(&spec["readinessGates"]);
    let annotations = metadata["annotations"].as_object();
    snapshot.is_static = annotations.is_some_and(|entries| {
        let source = entries.get("kubernetes.io/config.source");
        let source = source.and_then(Value::as_str);
        entries.contains_key("kubernetes.io/config.mirror")
            || matches!(source, Some("file" | "http"))
    });
    snapshot
}

/// The gates by name, and the conditions that only they and milestones of your own need.
fn plain_named(
    snapshot: &PodSnapshot,
    pod: &Value,
    milestones: &[String],
) -> Option<Box<NamedConditions>> {
    let names = |list: &str, field: &str| {
        let mut names: Vec<std::sync::Arc<str>> = Vec::new();
        for gate in pod["spec"][list].as_array().into_iter().flatten() {
            let name = gate[field].as_str().unwrap_or_default();
            if !name.is_empty() && !names.iter().any(|known| **known == *name) {
                names.push(name.into());
            }
        }
        names.truncate(MOST_GATES);
        names
    };
    let gates = GateNames {
        scheduling: names("schedulingGates", "name").into_iter().collect(),
        readiness: names("readinessGates", "conditionType").into_iter().collect(),
    };
    let condition = |kind: &str| {
        if let Some(known) = ConditionType::from_text(kind) {
            return snapshot.conditions.get(known);
        }
        let mut all = pod["status"]["conditions"].as_array().into_iter().flatten();
        let first = all.find(|one| one["type"] == kind)?;
        Some(StatusCondition {
            status: match first["status"].as_str() {
                Some("True") => ConditionStatus::True,
                Some("False") => ConditionStatus::False,
                _ => ConditionStatus::Unknown,
            },
            last_transition: first["lastTransitionTime"].as_str().and_then(rfc3339::parse),
        })
    };
    let of_milestones: Vec<_> = milestones.iter().map(|kind| condition(kind)).collect();
    let has_milestone = of_milestones.iter().any(Option::is_some);
    let readiness = gates.readiness.iter().map(condition).collect();
    let has_gates = !gates.is_empty();
    let named = NamedConditions {
        gates: has_gates.then(|| gates.into()),
        readiness,
        milestones: if has_milestone { of_milestones.into() } else { Box::default() },
    };
    (has_gates || has_milestone).then(|| Box::new(named))
}

/// Adds what says why a pod waits, and what is changed in place.
fn plain_reasons(snapshot: &mut PodSnapshot, pod: &Value) {
    let (metadata, spec, status) = (&pod["metadata"], &pod["spec"], &pod["status"]);
    let is_text = |value: &Value| value.as_str().is_some_and(|text| !text.is_empty());
    let conditions = status["conditions"].as_array().into_iter().flatten();
    let conditions: Vec<&Value> = conditions.filter(|one| one.is_object()).collect();
    let first = |kind: &str| conditions.iter().find(|one| one["type"] == kind).copied();
    let holding = |kind: &str| first(kind).filter(|one| one["status"] == "True");
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    snapshot.terminating = is_text(&metadata["deletionTimestamp"]);
    let grace = metadata["deletionGracePeriodSeconds"].as_u64().unwrap_or(0);
    let deleted = metadata["deletionTimestamp"].as_str().and_then(podinit_core::rfc3339::parse);
    snapshot.deletion_due = deleted;
    snapshot.deletion_asked = deleted.map(|at| {
        at.plus_nanos(i64::try_from(grace).unwrap_or(i64::MAX).saturating_mul(-1_000_000_000))
    });
    let ends_for_good = matches!(spec["restartPolicy"].as_str(), Some("OnFailure" | "Never"));
    snapshot.ended_by_deletion = snapshot.terminating
        && !is_text(&status["reason"])
        && (snapshot.phase == PodPhase::Failed
            || snapshot.phase == PodPhase::Succeeded && !ends_for_good);
    snapshot.has_nominated_node = is_text(&status["nominatedNodeName"]);
    let scheduled = first("PodScheduled").filter(|one| one["status"] != "True");
    snapshot.not_scheduled = scheduled.map(|said| {
        let reason = NotScheduledReason::from_text(&text(&said["reason"]));
        Box::new(NotScheduled {
            is_false: said["status"] == "False",
            reason: reason.unwrap_or(NotScheduledReason::Other),
            message: text(&said["message"]).into(),
        })
    });
    let said = snapshot.not_scheduled.as_deref();
    snapshot.unschedulable =
        said.is_some_and(|said| said.is_false && said.reason == NotScheduledReason::Unschedulable);
    let sandbox = first("PodReadyToStartContainers");
    let sandbox =
        sandbox.filter(|one| one["status"] == "False" && one["reason"] == "PodSandboxNotReady");
    snapshot.sandbox_not_ready =
        sandbox.and_then(|one| SandboxNotReady::parse(&text(&one["message"])));
    snapshot.disruption = holding("DisruptionTarget").map(|one| {
        let reason = DisruptionReason::from_text(&text(&one["reason"]));
        reason.unwrap_or(DisruptionReason::Other)
    });
    let time = |one: &Value| one["lastTransitionTime"].as_str().and_then(rfc3339::parse);
    let resize = holding("PodResizePending").map(|one| PodResize {
        state: match one["reason"] == "Infeasible" {
            true => ResizeState::Infeasible,
            false => ResizeState::Deferred,
        },
        since: time(one),
    });
    let condition = |one: &Value| StatusCondition {
        status: match one["status"].as_str() {
            Some("True") => ConditionStatus::True,
            Some("False") => ConditionStatus::False,
            _ => ConditionStatus::Unknown,
        },
        last_transition: time(one),
    };
    let gates = spec["readinessGates"].as_array().into_iter().flatten();
    let gated = gates.into_iter().any(|gate| gate["conditionType"] == "InPlaceUpdateReady");
    let update_ready = first("InPlaceUpdateReady").filter(|_| gated).map(condition);
    let in_place = InPlaceChanges { resize, update_ready };
    snapshot.in_place = (in_place != InPlaceChanges::default()).then(|| Box::new(in_place));
}

/// The containers of one list of a `spec`, each with the first status of its name.
fn plain_containers(
    spec: &Value,
    status: &Value,
    list: &str,
    statuses: &str,
) -> Vec<ContainerSpec> {
    let array = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let (declared, statuses) = (array(&spec[list]), array(&status[statuses]));
    let containers = declared.iter().map(|declared| {
        let name = declared["name"].as_str().unwrap_or_default();
        let kind = match (list, declared["restartPolicy"].as_str()) {
            ("containers", _) => ContainerKind::Regular,
            (_, Some("Always")) => ContainerKind::RestartableInit,
            _ => ContainerKind::Init,
        };
        let mut found = statuses.iter();
        let found = found.find(|status| status["name"].as_str() == Some(name));
        ContainerSpec {
            name: name.into(),
            kind,
            state: found.map_or(ContainerState::NoStatus, plain_state),
            started: found.and_then(plain_start),
            has_started: kind == ContainerKind::RestartableInit
                && found.is_some_and(|status| status["started"] == true),
            has_restarted: found.is_some_and(|status| status["restartCount"].as_u64() > Some(0)),
            is_ready: found.is_some_and(|status| {
                status["ready"] == true && plain_state(status) == ContainerState::Running
            }),
            ends_for_good: kind == ContainerKind::Regular && plain_end(spec, declared),
        }
    });
    containers.collect()
}

/// Whether the status of a container of the spec shows that it has run.
fn plain_has_run(spec: &Value, status: &Value) -> bool {
    let lists = [("initContainers", "initContainerStatuses"), ("containers", "containerStatuses")];
    lists.into_iter().any(|(list, statuses)| {
        let declared = spec[list].as_array().into_iter().flatten();
        let mut names = declared.map(|declared| declared["name"].as_str().unwrap_or_default());
        names.any(|name| {
            let mut statuses = status[statuses].as_array().into_iter().flatten();
            let found = statuses.find(|status| status["name"].as_str() == Some(name));
            found.is_some_and(|status| {
                let ended = |state: &Value| {
                    !state["running"].is_object() && state["terminated"].is_object()
                };
                plain_start(status).is_some()
                    || ["state", "lastState"].iter().any(|state| ended(&status[*state]))
            })
        })
    })
}

/// Whether nothing runs a regular container again that has ended with exit code 0.
fn plain_end(spec: &Value, declared: &Value) -> bool {
    let array = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let lists = ["initContainers", "containers"].map(|list| array(&spec[list]));
    let mut rules = (lists.iter().flatten()).flat_map(|one| array(&one["restartPolicyRules"]));
    let matches = |rule: &Value| {
        let listed = array(&rule["exitCodes"]["values"]);
        let is_listed = listed.iter().any(|code| code.as_u64() == Some(0));
        match rule["exitCodes"]["operator"].as_str() {
            Some("In") => is_listed,
            Some("NotIn") => !is_listed,
            _ => false,
        }
    };
    let policies = [&declared["restartPolicy"], &spec["restartPolicy"]];
    let policies = policies.into_iter().filter_map(Value::as_str);
    let mut known = policies.filter(|name| ["Always", "OnFailure", "Never"].contains(name));
    !rules.any(|rule| rule["action"] == "RestartAllContainers")
        && !array(&declared["restartPolicyRules"]).iter().any(matches)
        && known.next().unwrap_or("Always") != "Always"
}

/// How long the init containers have run that are not restartable.
fn plain_init_runs(spec: &Value, status: &Value) -> Duration {
    let array = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let statuses = array(&status["initContainerStatuses"]);
    let mut total = Duration::ZERO;
    for declared in array(&spec["initContainers"]) {
        let name = declared["name"].as_str().unwrap_or_default();
        let own = |status: &&Value| status["name"].as_str() == Some(name);
        let Some(status) = statuses.iter().find(own) else {
            continue;
        };
        for state in ["state", "lastState"] {
            let run = &status[state]["terminated"];
            let at = |time: &str| run[time].as_str().and_then(rfc3339::parse);
            if let Some((from, to)) = at("startedAt").zip(at("finishedAt"))
                && declared["restartPolicy"].as_str() != Some("Always")
            {
                let nanos = u64::try_from(to.nanos_since(from)).unwrap_or_default();
                total += Duration::from_nanos(nanos);
            }
        }
    }
    total
}

fn plain_state(status: &Value) -> ContainerState {
    let state = &status["state"];
    if state["running"].is_object() {
        ContainerState::Running
    } else if state["terminated"].is_object() {
        match state["terminated"]["exitCode"].as_u64() {
            Some(0) => ContainerState::Succeeded,
            _ => ContainerState::Failed,
        }
    } else {
        ContainerState::Waiting(match state["waiting"]["reason"].as_str() {
            None | Some("") => WaitingReason::Unstated,
            Some(reason) => WaitingReason::from_text(reason).unwrap_or(WaitingReason::Other),
        })
    }
}

fn plain_start(status: &Value) -> Option<Timestamp> {
    let places = ["/state/running", "/state/terminated", "/lastState/terminated"];
    let starts = places.into_iter().filter_map(|place| {
        let text = status.pointer(&format!("{place}/startedAt"))?.as_str()?;
        rfc3339::parse(text)
    });
    starts.min()
}

proptest! {
    #![proptest_config(same_in_every_run(512))]

    #[test]
    fn a_pod_with_a_uid_is_read_whatever_else_it_holds(pod in any_pod(), seed in any::<u64>()) {
        let text = shuffled(&json!({"type": "MODIFIED", "object": pod}), &mut seed.clone());
        let event = PodDecoder::new(DecodeOptions::default()).watch_event(text.as_bytes());
        prop_assert_eq!(event.unwrap().kind, WatchEventKind::Modified(plain_reading(&pod)));
    }

    #[test]
    fn what_is_read_in_addition_does_not_change_what_is_counted(pod in any_pod()) {
        let text = json!({"type": "MODIFIED", "object": pod}).to_string();
        let options = DecodeOptions { pod_labels: vec!["x".into()], spec_fields: SpecField::ALL.into(), node: true, workload: true, probes: true, images: true, messages: true, endings: true, claims: true, nodes: None, milestones: vec!["DisruptionTarget".into(), "PodResizePending".into(), "x".into()] };
        let milestones = options.milestones.clone();
        let event = PodDecoder::new(options).watch_event(text.as_bytes()).unwrap();
        let WatchEventKind::Modified(mut read) = event.kind else { panic!("not MODIFIED") };
        prop_assert_eq!(read.info.pod_labels.len(), 4);
        let plain = plain_reading_with(&pod, &milestones);
        read.info = plain.info.clone();
        read.waiting_messages = plain.waiting_messages.clone();
        read.ending = None;
        read.said_of_ready = None;
        read.claim_names = None;
        prop_assert_eq!(read, plain);
    }

    #[test]
    fn no_json_and_no_bytes_make_it_panic(value in any_value(), bytes in any::<Vec<u8>>()) {
        let mut decoder = PodDecoder::new(DecodeOptions::default());
        for text in [
            value.to_string(),
            json!({"type": "ADDED", "object": value}).to_string(),
            json!({"kind": "PodList", "metadata": value, "items": value}).to_string(),
        ] {
            let _ = decoder.watch_event(text.as_bytes());
            let _ = decoder.list_page(text.as_bytes());
        }
        let _ = decoder.watch_event(&bytes);
    }
}
