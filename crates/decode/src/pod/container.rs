//! The containers of a pod: what `spec` declares, and what `status` says of each.
//!
//! `spec` and `status` can come in either order, so both are read by themselves, and
//! `with_statuses` puts them together.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use serde::de::{MapAccess, SeqAccess};

use super::DecodeContext;
use super::lenient::{
    LenientField, LenientFlag, LenientNumber, LenientParsed, LenientSeed, LenientText, LenientTime,
    skip,
};
use super::probes::ProbeReader;
use super::restarts::{RestartPolicies, RestartPolicy, RestartPolicyRules, RulesReader};
use podinit_core::pod::{
    ContainerKind, ContainerProbe, ContainerProbes, ContainerSpec, ContainerState, Termination,
    WaitingReason,
};
use podinit_core::reason;
use podinit_core::timestamp::Timestamp;

/// Reads `containers` or `initContainers` of a `spec`. Every element is a container, whatever it is;
/// one without a name has an empty one.
pub(super) struct ContainersReader<'c> {
    pub context: &'c mut DecodeContext,
    /// Where the probes of `containers` go, if they are wanted; `None` for `initContainers`, since the
    /// step `probe` is of the others
    pub probes: Option<&'c mut Vec<ContainerProbes>>,
    /// Where the images go, if they are wanted
    pub images: &'c mut Vec<Arc<str>>,
    /// Where it goes which of them run again
    pub restarts: &'c mut RestartPolicies,
}

impl<'de> LenientField<'de> for ContainersReader<'_> {
    type Value = Vec<ContainerSpec>;

    fn absent(self) -> Self::Value {
        Vec::new()
    }

    fn seq<A: SeqAccess<'de>>(mut self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut containers = Vec::new();
        while let Some(declared) =
            seq.next_element_seed(LenientSeed(DeclaredReader(self.context)))?
        {
            let ContainerDeclaration { name, policy, rules, startup, readiness, liveness, image } =
                declared;
            if self.context.options.images {
                let image = image.unwrap_or_else(|| self.context.text(""));
                self.images.push(image);
            }
            let name = name.unwrap_or_else(|| self.context.text(""));
            let has_probe = [startup, readiness, liveness].iter().any(Option::is_some);
            if let (true, Some(probes)) = (has_probe, &mut self.probes) {
                probes.push(ContainerProbes {
                    container: Arc::clone(&name),
                    startup,
                    readiness,
                    liveness,
                });
            }
            self.restarts.all |= rules.may_restart_all;
            let kind = match (&self.probes, policy) {
                (Some(_), _) => ContainerKind::Regular,
                (None, Some(RestartPolicy::Always)) => ContainerKind::RestartableInit,
                (None, _) => ContainerKind::Init,
            };
            let runs_again = (rules.match_success.then_some(true))
                .or(policy.map(|policy| policy == RestartPolicy::Always))
                .filter(|_| kind == ContainerKind::Regular);
            let own = runs_again.map(|runs_again| (containers.len(), runs_again));
            self.restarts.own.extend(own);
            containers.push(ContainerSpec::new(name, kind));
        }
        Ok(containers)
    }
}

/// What is read of a container of a `spec`.
#[derive(Default)]
struct ContainerDeclaration {
    name: Option<Arc<str>>,
    /// Its `restartPolicy`
    policy: Option<RestartPolicy>,
    rules: RestartPolicyRules,
    startup: Option<ContainerProbe>,
    readiness: Option<ContainerProbe>,
    liveness: Option<ContainerProbe>,
    image: Option<Arc<str>>,
}

/// Reads a [`ContainerDeclaration`], without probes and image unless they are wanted.
struct DeclaredReader<'c>(&'c mut DecodeContext);

impl<'de> LenientField<'de> for DeclaredReader<'_> {
    type Value = ContainerDeclaration;

    fn absent(self) -> ContainerDeclaration {
        ContainerDeclaration::default()
    }

    fn map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let Self(context) = self;
        let mut declared = ContainerDeclaration::default();
        while let Some(key) = map.next_key_seed(LenientSeed(LenientText))? {
            match key.as_deref() {
                Some("name") => {
                    let share = LenientParsed(|text: &str| Some(context.text(text)));
                    declared.name = map.next_value_seed(LenientSeed(share))?;
                }
                Some("restartPolicy") => {
                    declared.policy =
                        map.next_value_seed(LenientSeed(LenientParsed(RestartPolicy::parse)))?;
                }
                Some("restartPolicyRules") => {
                    declared.rules = map.next_value_seed(LenientSeed(RulesReader))?;
                }
                Some("image") if context.options.images => {
                    let share = LenientParsed(|text: &str| Some(context.image(text)));
                    declared.image = map.next_value_seed(LenientSeed(share))?;
                }
                Some("startupProbe") if context.options.probes => {
                    declared.startup = map.next_value_seed(LenientSeed(ProbeReader))?;
                }
                Some("readinessProbe") if context.options.probes => {
                    declared.readiness = map.next_value_seed(LenientSeed(ProbeReader))?;
                }
                Some("livenessProbe") if context.options.probes => {
                    declared.liveness = map.next_value_seed(LenientSeed(ProbeReader))?;
                }
                _ => skip(&mut map)?,
            }
        }
        Ok(declared)
    }
}

/// One entry of `containerStatuses` or `initContainerStatuses`.
#[derive(Default)]
pub struct ContainerStatus<'de> {
    name: Option<Cow<'de, str>>,
    state: StateFields<'de>,
    last_state: StateFields<'de>,
    restarts: Option<u64>,
    started: bool,
    ready: bool,
}

/// A `state` or `lastState`.
#[derive(Default)]
struct StateFields<'de> {
    state: ContainerState,
    running: Option<Timestamp>,
    terminated: Option<Timestamp>,
    /// How it ended, where the state is `terminated`
    ended: Option<TerminatedState<'de>>,
    /// How long a run took that has ended
    run: Duration,
    /// Why it waits
    message: Option<Cow<'de, str>>,
}

/// What `terminated` says beside the start.
struct TerminatedState<'de> {
    finished: Option<Timestamp>,
    exit_code: Option<u64>,
    signal: Option<u64>,
    reason: Option<Cow<'de, str>>,
    message: Option<Cow<'de, str>>,
}

impl TerminatedState<'_> {
    /// Of the container at a position, which began at `started`.
    fn termination(
        &self,
        container: usize,
        started: Option<Timestamp>,
        restarts: Option<u64>,
    ) -> Termination {
        Termination {
            restarts: restarts.unwrap_or_default(),
            container,
            started,
            finished: self.finished,
            exit_code: self.exit_code,
            signal: self.signal.filter(|signal| *signal > 0),
            reason: said(self.reason.as_deref()),
            message: said(self.message.as_deref()),
        }
    }
}

/// What a container that crashes says: why Kubernetes waits, and how the last run ended, so that the real error
/// stands at the end.
fn crash(
    waits: Option<&str>,
    ended: Option<&TerminatedState<'_>>,
    restarts: Option<u64>,
) -> String {
    let waits = waits.filter(|text| !text.is_empty()).map(str::to_owned);
    let ended = ended.map(|ended| {
        let signal = ended.signal.filter(|signal| *signal > 0);
        let restarts = restarts.unwrap_or_default();
        let facts = Termination::facts(ended.reason.as_deref(), ended.exit_code, signal, restarts);
        let last = reason::extract(ended.message.as_deref().unwrap_or_default());
        let both = [facts, last].map(|text| Some(text).filter(|text| !text.is_empty()));
        both.into_iter().flatten().collect::<Vec<_>>().join(": ")
    });
    let both = waits.into_iter().chain(ended.filter(|ended| !ended.is_empty()));
    both.collect::<Vec<_>>().join(": ")
}

/// A text that says something, as much of it as is kept of the messages of Events.
pub fn said(text: Option<&str>) -> Option<Box<str>> {
    const MOST_BYTES: usize = 256;
    let text = text?.trim();
    (!text.is_empty()).then(|| reason::keep(text, MOST_BYTES).into())
}

/// Where what statuses say in words goes; each gets the position of the container.
pub trait StatusTexts {
    /// The message of a container that waits with a problem.
    fn waits(&mut self, container: usize, message: &str);
    /// Whether it is wanted how containers ended.
    fn wants_endings(&self) -> bool;
    /// How a container ended.
    fn ended(&mut self, termination: Termination);
}

/// What the statuses of one list say of runs.
#[derive(Default)]
pub struct ContainerRuns {
    /// How long the init containers have run that run to their end
    pub of_init: Duration,
    /// A container has a start, or is `terminated` in its `state` or `lastState`
    pub any: bool,
}

/// Sets in `containers`, which are those of one list of the `spec`, what `statuses` say. The first
/// entry of a name counts. `said` gets what they say of each in words; the first has the position `first`.
pub(super) fn with_statuses(
    containers: &mut [ContainerSpec],
    mut statuses: Vec<ContainerStatus<'_>>,
    first: usize,
    said: &mut impl StatusTexts,
) -> ContainerRuns {
    let mut runs = ContainerRuns::default();
    // The sort is stable, and nearly always finds them in order: kubelets sort regular containers.
    statuses.sort_by(|one, other| one.name.cmp(&other.name));
    for (position, container) in containers.iter_mut().enumerate() {
        let before =
            statuses.partition_point(|status| status.name.as_deref() < Some(&container.name));
        let found = statuses.get(before);
        if let Some(status) = found.filter(|status| status.name.as_deref() == Some(&container.name))
        {
            let position = first + position;
            let StateFields { state, running, terminated, ref ended, run, ref message } =
                status.state;
            let waits = message.as_deref();
            let text = match state {
                ContainerState::Waiting(WaitingReason::CrashLoopBackOff) => {
                    let last = status.last_state.ended.as_ref();
                    Cow::Owned(crash(waits, last, status.restarts))
                }
                ContainerState::Failed => Cow::Owned(crash(None, ended.as_ref(), status.restarts)),
                ContainerState::Waiting(reason) if reason.is_problem() => {
                    Cow::Borrowed(waits.unwrap_or_default())
                }
                _ => Cow::default(),
            };
            if !text.is_empty() {
                said.waits(position, &text);
            }
            if let Some(ended) = ended.as_ref().filter(|_| said.wants_endings()) {
                said.ended(ended.termination(position, terminated, status.restarts));
            }
            container.state = match state {
                ContainerState::NoStatus => ContainerState::Waiting(WaitingReason::Unstated),
                other => other,
            };
            let starts = [running, terminated, status.last_state.terminated];
            container.started = starts.into_iter().flatten().min();
            container.has_started =
                status.started && container.kind == ContainerKind::RestartableInit;
            container.is_ready = status.ready && container.state == ContainerState::Running;
            container.has_restarted = status.restarts.is_some_and(|restarts| restarts > 0);
            runs.any |= container.has_run() || status.last_state.ended.is_some();
            if container.kind == ContainerKind::Init {
                for run in [run, status.last_state.run] {
                    runs.of_init = runs.of_init.saturating_add(run);
                }
            }
        }
    }
    runs
}

/// Reads `containerStatuses` or `initContainerStatuses`.
pub(super) struct StatusesReader;

impl<'de> LenientField<'de> for StatusesReader {
    type Value = Vec<ContainerStatus<'de>>;

    fn absent(self) -> Self::Value {
        Vec::new()
    }

    fn seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut statuses = Vec::new();
        while let Some(status) = seq.next_element_seed(LenientSeed(ContainerStatusReader))? {
            statuses.push(status);
        }
        Ok(statuses)
    }
}

struct ContainerStatusReader;

impl<'de> LenientField<'de> for ContainerStatusReader {
    type Value = ContainerStatus<'de>;

    fn absent(self) -> Self::Value {
        ContainerStatus::default()
    }

    fn map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut status = ContainerStatus::default();
        while let Some(key) = map.next_key_seed(LenientSeed(LenientText))? {
            match key.as_deref() {
                Some("name") => status.name = map.next_value_seed(LenientSeed(LenientText))?,
                Some("state") => status.state = map.next_value_seed(LenientSeed(StateReader))?,
                Some("lastState") => {
                    status.last_state = map.next_value_seed(LenientSeed(StateReader))?
                }
                Some("ready") => status.ready = map.next_value_seed(LenientSeed(LenientFlag))?,
                Some("started") => {
                    status.started = map.next_value_seed(LenientSeed(LenientFlag))?
                }
                Some("restartCount") => {
                    status.restarts = map.next_value_seed(LenientSeed(LenientNumber))?
                }
                _ => skip(&mut map)?,
            }
        }
        Ok(status)
    }
}

/// Reads a `state` or `lastState`. Of several, which Kubernetes never writes, `running` counts before
/// `terminated`, and that before `waiting`.
struct StateReader;

impl<'de> LenientField<'de> for StateReader {
    type Value = StateFields<'de>;

    fn absent(self) -> Self::Value {
        StateFields::default()
    }

    fn map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut fields = StateFields::default();
        let (mut running, mut terminated, mut waiting) = (false, None::<StateDetails<'de>>, None);
        while let Some(key) = map.next_key_seed(LenientSeed(LenientText))? {
            match key.as_deref() {
                Some("running") => {
                    let read = map.next_value_seed(LenientSeed(DetailsReader))?;
                    running = read.is_some();
                    fields.running = read.and_then(|details| details.started);
                }
                Some("terminated") => {
                    terminated = map.next_value_seed(LenientSeed(DetailsReader))?;
                    fields.terminated = terminated.as_ref().and_then(|details| details.started);
                    let run = terminated.as_ref().and_then(StateDetails::run);
                    fields.run = run.unwrap_or_default();
                }
                Some("waiting") => waiting = map.next_value_seed(LenientSeed(DetailsReader))?,
                _ => skip(&mut map)?,
            }
        }
        fields.state = if running {
            ContainerState::Running
        } else if let Some(details) = terminated {
            let exit_code = details.exit_code;
            fields.ended = Some(TerminatedState {
                finished: details.finished,
                exit_code,
                signal: details.signal,
                reason: details.reason,
                message: details.message,
            });
            match exit_code {
                Some(0) => ContainerState::Succeeded,
                _ => ContainerState::Failed,
            }
        } else if let Some(StateDetails { reason, message, .. }) = waiting {
            fields.message = message;
            ContainerState::Waiting(WaitingReason::from_stated(reason.as_deref()))
        } else {
            ContainerState::NoStatus
        };
        Ok(fields)
    }
}

/// The fields of a `running`, `terminated` or `waiting`.
struct StateDetails<'de> {
    started: Option<Timestamp>,
    finished: Option<Timestamp>,
    exit_code: Option<u64>,
    signal: Option<u64>,
    reason: Option<Cow<'de, str>>,
    message: Option<Cow<'de, str>>,
}

impl StateDetails<'_> {
    /// From its start to its end.
    fn run(&self) -> Option<Duration> {
        let nanos = self.finished?.nanos_since(self.started?);
        u64::try_from(nanos).ok().map(Duration::from_nanos)
    }
}

/// Reads [`StateDetails`]; `None` for what is no object.
struct DetailsReader;

impl<'de> LenientField<'de> for DetailsReader {
    type Value = Option<StateDetails<'de>>;

    fn absent(self) -> Self::Value {
        None
    }

    fn map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut details = StateDetails {
            started: None,
            finished: None,
            exit_code: None,
            signal: None,
            reason: None,
            message: None,
        };
        while let Some(key) = map.next_key_seed(LenientSeed(LenientText))? {
            match key.as_deref() {
                Some("startedAt") => {
                    details.started = map.next_value_seed(LenientSeed(LenientTime))?;
                }
                Some("finishedAt") => {
                    details.finished = map.next_value_seed(LenientSeed(LenientTime))?;
                }
                Some("exitCode") => {
                    details.exit_code = map.next_value_seed(LenientSeed(LenientNumber))?
                }
                Some("signal") => {
                    details.signal = map.next_value_seed(LenientSeed(LenientNumber))?
                }
                Some("reason") => details.reason = map.next_value_seed(LenientSeed(LenientText))?,
                Some("message") => {
                    details.message = map.next_value_seed(LenientSeed(LenientText))?
                }
                _ => skip(&mut map)?,
            }
        }
        Ok(Some(details))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crash_says_how_the_run_before_ended() {
        let ended = |reason: &'static str, code, message: &'static str| TerminatedState {
            finished: None,
            exit_code: Some(code),
            signal: None,
            reason: Some(reason.into()),
            message: Some(message.into()),
        };
        let backs_off = "back-off 20s restarting failed container=main pod=web_shop(1)";
        assert_eq!(
            crash(Some(backs_off), Some(&ended("Error", 1, "one\n fatal: no disk \n\n")), Some(3)),
            "back-off 20s restarting failed container=main pod=web_shop(1): exit code 1, 3 restarts: \
             fatal: no disk"
        );
        let killed = crash(None, Some(&ended("OOMKilled", 137, "")), Some(1));
        assert_eq!(killed, "OOMKilled, exit code 137, 1 restart");
        let by_signal =
            TerminatedState { signal: Some(9), exit_code: None, ..ended("Error", 0, "") };
        assert_eq!(crash(None, Some(&by_signal), Some(0)), "signal 9");
        assert_eq!(crash(Some(backs_off), None, Some(3)), backs_off);
    }

    struct Nothing;

    impl StatusTexts for Nothing {
        fn waits(&mut self, _: usize, _: &str) {}

        fn wants_endings(&self) -> bool {
            false
        }

        fn ended(&mut self, _: Termination) {}
    }

    fn named(name: &'static str, started: i64) -> ContainerStatus<'static> {
        ContainerStatus {
            name: Some(Cow::Borrowed(name)),
            state: StateFields {
                state: ContainerState::Running,
                running: Some(Timestamp::from_seconds(started)),
                terminated: None,
                ended: None,
                run: Duration::ZERO,
                message: None,
            },
            last_state: StateFields::default(),
            restarts: None,
            ready: false,
            started: false,
        }
    }

    #[test]
    fn a_status_is_found_by_its_name_and_the_first_of_a_name_counts() {
        let mut read =
            ["c", "a", "", "b"].map(|name| ContainerSpec::new(name.into(), ContainerKind::Regular));
        let statuses =
            vec![ContainerStatus::default(), named("b", 5), named("a", 6), named("b", 4)];
        with_statuses(&mut read, statuses, 0, &mut Nothing);
        let started: Vec<_> = read.iter().map(|container| container.started).collect();
        let at = |second| Some(Timestamp::from_seconds(second));
        assert_eq!(started, [None, at(6), None, at(5)]);
    }
}
