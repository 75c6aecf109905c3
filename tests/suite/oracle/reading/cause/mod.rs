//! [§10.1](crate::specification#s10-1): why a pod waits.

mod rules;
pub(crate) mod scheduler;
pub(crate) mod tally;

pub(crate) use rules::{CauseRules, SpecCauses};
pub(crate) use scheduler::Clause;

use super::container::{Container, Kind, State};
use super::kube_event::KubeEvent;
use super::life::Folded;
use super::snapshot::Snapshot;
use super::startup::Startup;
use super::vocabulary::Milestone;

/// The stage and the cause of a pod in flight with the snapshot or Event at a place: "the first row
/// that fits its stage".
pub(crate) fn at(startup: &Startup<'_>, place: usize) -> (&'static str, &'static str) {
    let (stage, _) = startup.stage_at(place);
    let seen = &startup.life.folded[..=place];
    let pod = &startup.life.folded[place].pod;
    let rules = startup.rules.causes();
    let cause = match stage {
        _ if pod.is_terminating && rules.terminating_comes_first() => "terminating",
        "gated" => "gate",
        "scheduling" | "unschedulable" => scheduler::cause(startup, place),
        "network" if is_past_network(startup, pod) => beyond_network(startup, place),
        "network" => network(rules, pod, seen),
        "init" | "containers" => containers(startup, stage, place),
        _ => rules.behind_containers(startup.view(place).traits().readiness_gates),
    };
    (stage, cause)
}

/// "if another pod of its workload and revision is or was bound": by what was known with the newest snapshot
fn others_are_bound(startup: &Startup<'_>, place: usize) -> bool {
    let seen = &startup.life.folded[..=place];
    let newest = seen.iter().rfind(|folded| folded.event.is_none());
    newest.is_some_and(|Folded { pod, step, .. }| {
        let knows = |(revision, shown): &(String, usize)| {
            *revision == pod.revision && startup.rules.causes().is_known_by(*shown, *step)
        };
        pod.node_name.is_empty() && startup.bound.iter().any(knows)
    })
}

/// "its newest status has a `startTime` and neither RTSC nor PodHasNetwork (with any status), and one
/// of its containers, init containers included, […]"
fn is_past_network(startup: &Startup<'_>, pod: &Snapshot) -> bool {
    let (rules, starts) = (startup.rules.causes(), startup.rules.evidence());
    let lacks = |kind| rules.is_without_network(pod.condition(kind));
    let shows = |one: &Container| rules.shows_network(one, starts.start_of(one).is_some());
    pod.started.is_some()
        && lacks("PodReadyToStartContainers")
        && lacks("PodHasNetwork")
        && pod.containers.iter().any(shows)
}

/// "by the rows of `init` if it has init containers and Initialized is not reached, otherwise of
/// `readiness` if ContainersReady is reached, otherwise of `containers`"
fn beyond_network(startup: &Startup<'_>, place: usize) -> &'static str {
    let view = startup.view(place);
    let reached = |milestone| view.milestone(milestone).is_some();
    if view.traits().init_containers && !reached(Milestone::Initialized) {
        containers(startup, "init", place)
    } else if reached(Milestone::ContainersReady) {
        startup.rules.causes().behind_containers(view.traits().readiness_gates)
    } else {
        containers(startup, "containers", place)
    }
}

fn network(rules: &dyn CauseRules, pod: &Snapshot, seen: &[Folded]) -> &'static str {
    if pod.started.is_none() {
        return "acknowledge";
    }
    let mut standing: Vec<(&KubeEvent, &'static str)> = Vec::new();
    for event in seen.iter().filter_map(|folded| folded.event.as_ref()) {
        if let Some(cause) = rules.warning(event) {
            standing.push((event, cause));
        } else if (standing.last()).is_some_and(|(warning, _)| rules.clears(event, warning)) {
            standing.pop();
            if !rules.brings_earlier_back() {
                standing.clear();
            }
        }
    }
    let warnings: Vec<&'static str> = standing.into_iter().map(|(_, cause)| cause).collect();
    if let Some(cause) = rules.which_warning(&warnings) {
        return cause;
    }
    let condition = pod.condition("PodReadyToStartContainers");
    let condition = condition.filter(|condition| {
        condition.status == "False" && condition.reason == "PodSandboxNotReady"
    });
    let message = condition.map_or("", |condition| &condition.message);
    if message.contains("no pod sandbox") {
        "no_sandbox"
    } else if message.contains("no IP") {
        "no_ip"
    } else {
        "unknown"
    }
}

/// [§10.4](crate::specification#s10-4): "each pod in the stage `unschedulable` has one state of capacity"
pub(crate) fn capacity(startup: &Startup<'_>) -> &'static str {
    let rules = startup.rules.causes();
    let places = 0..=startup.last_place();
    let delivered = places.filter_map(|place| {
        let counts =
            rules.counts_before_unschedulable() || startup.stage_at(place).0 == "unschedulable";
        let event = startup.life.folded[place].event.as_ref()?;
        rules.capacity(event).filter(|_| counts)
    });
    rules.which_capacity(&delivered.collect::<Vec<_>>())
}

/// "Containers of the stage"
fn of_stage<'p>(startup: &Startup<'_>, stage: &str, pod: &'p Snapshot) -> Vec<&'p Container> {
    let rules = startup.rules.causes();
    let starts = startup.rules.evidence();
    let all = pod.containers.iter();
    if stage == "init" {
        let is_over = |container: &&Container| {
            rules.init_is_over(container, starts.start_of(container).is_some())
        };
        let mut init = all.filter(|container| container.is_init());
        return init.find(|container| !is_over(container)).into_iter().collect();
    }
    all.filter(|container| container.kind != Kind::Init).collect()
}

fn containers(startup: &Startup<'_>, stage: &str, place: usize) -> &'static str {
    const IMAGE: [&str; 8] = [
        "ErrImagePull",
        "ImagePullBackOff",
        "ErrImageNeverPull",
        "InvalidImageName",
        "ImageInspectError",
        "RegistryUnavailable",
        "SignatureValidationFailed",
        "ImageVolumeMountFailed",
    ];
    const CONFIG: [&str; 6] = [
        "CreateContainerConfigError",
        "CreateContainerError",
        "RunContainerError",
        "PreCreateHookError",
        "PreStartHookError",
        "PostStartHookError",
    ];
    let pod = &startup.life.folded[place].pod;
    let is_again = stage == "containers" && startup.rules.causes().runs_init_again(pod);
    let stage = if is_again { "init" } else { stage };
    let containers = of_stage(startup, stage, pod);
    let waits_with = |container: &Container, reasons: &[&str]| match &container.state {
        State::Waiting(reason) => reasons.contains(&reason.as_str()),
        _ => false,
    };
    let any = |holds: &dyn Fn(&Container) -> bool| containers.iter().any(|one| holds(one));
    let crashes = |one: &Container| {
        let failed = matches!(one.state, State::Terminated(code) if code != Some(0));
        waits_with(one, &["CrashLoopBackOff"]) || failed
    };
    if any(&|one| waits_with(one, &IMAGE)) {
        "image"
    } else if any(&|one| waits_with(one, &CONFIG)) {
        "config"
    } else if any(&crashes) {
        "crash"
    } else if any(&|one| startup.rules.causes().has_exited(one)) {
        "exited"
    } else if any(&|one| is_pulling(startup, one, place)) {
        "pull"
    } else if any(&|one| matches!(one.state, State::Waiting(_) | State::None)) {
        "create"
    } else if stage == "init" {
        "run"
    } else {
        "probe"
    }
}

/// "a container of the stage without a start has a `Pulling` event and no `Pulled`"
fn is_pulling(startup: &Startup<'_>, container: &Container, place: usize) -> bool {
    let rules = startup.rules.evidence();
    if rules.start_of(container).is_some() {
        return false;
    }
    let has = |reason: &str| {
        startup.life.folded[..=place].iter().any(|folded| {
            folded.event.as_ref().is_some_and(|event| {
                let of = rules.container_of(event, &folded.pod);
                event.reason == reason && of.is_some_and(|of| of.name == container.name)
            })
        })
    };
    has("Pulling") && !has("Pulled")
}
