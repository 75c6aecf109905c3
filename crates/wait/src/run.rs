//! Waits on a cluster: its list-watches, and a look at what they have brought, again and again.
//!
//! ```text
//! object ──────┐
//! revisions ───┤
//! pods ────────┼─▶ Wait ─ look ─▶ a line … the answer
//! Events ──────┘
//! ```

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use podinit_core::lifecycle::{Cause, Delivery};
use podinit_core::pod::PodUid;
use podinit_kube::cluster::api_error::ApiErrorKind;
use podinit_kube::cluster::client::ClusterClient;
use podinit_kube::cluster::clock::DeliveryClock;
use podinit_kube::watch::config::{ListMode, ReflectorConfig};
use podinit_kube::watch::objects::{self, ObjectNews, ObjectSource};
use podinit_kube::watch::requests::{PodScope, PodSelectors, RequestBuilder};
use podinit_kube::watch::stats::WatchStats;
use podinit_kube::watch::{self, WatchConfig};
use podinit_oncall::problems::Problem;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::answer::{ContainerLog, TargetAnswer, TargetOutcome, WaitAnswer, WaitOutcome};
use super::crash::{self, CrashFacts};
use super::look::{CrashingPod, Look};
use super::target::{WaitTarget, WorkloadKind};
use super::wait::{Wait, decode_options};

/// The longest time between two looks.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// The shortest.
const LOOK_AFTER: Duration = Duration::from_millis(100);
/// How often a pod that crashes is asked for.
const CRASH_EVERY: Duration = Duration::from_secs(5);
/// Of a target so many pods that crash are asked for.
const MOST_ASKED: usize = 3;
/// Of so many pods the logs are read.
const MOST_LOGS: usize = 3;
/// So much news may wait.
const QUEUE: usize = 4_096;

/// What is waited for, and how long.
#[derive(Clone, Debug)]
pub struct WaitOptions {
    pub namespace: String,
    pub targets: Vec<WaitTarget>,
    /// How long all of it may take
    pub timeout: Duration,
    /// How long something may fail before it is given up; `None` never gives up
    pub fail_after: Option<Duration>,
    /// An object that is not there is waited for
    pub until_created: bool,
}

/// Why it cannot be waited.
#[derive(Debug, thiserror::Error)]
pub enum WaitError {
    /// There is no such object
    #[error(
        "namespace {namespace} at {server} has no {target}; check the name, --namespace and --context, or wait for it \
         with --until-created"
    )]
    Absent { target: String, namespace: String, server: String },
    /// The object cannot be read
    #[error("cannot read {target} in namespace {namespace} at {server}: {why}; {remedy}")]
    Unread { target: String, namespace: String, server: String, why: String, remedy: &'static str },
}

/// What a list-watch brings for the target with a number.
enum News {
    Object(usize, ObjectNews),
    Revisions(usize, &'static str, ObjectNews),
    Pods(usize, Box<Delivery>),
    /// For all
    Event(ObjectNews),
    Crash(usize, PodUid, Option<CrashFacts>),
}

/// The list-watches of all targets.
struct Watches<'a> {
    cluster: &'a ClusterClient,
    clock: Arc<dyn DeliveryClock>,
    namespace: &'a str,
    to: mpsc::Sender<News>,
    tasks: JoinSet<()>,
    cancel: CancellationToken,
    /// The pods that crash, and when each was asked for
    asked: HashMap<PodUid, Instant>,
}

/// Waits until all targets are done, one has failed, the time is over, or `interrupted`. After each look, `show` is given
/// a line for each target, and what tells it from one that says the same some time later.
///
/// # Errors
/// If there is no such object, or it cannot be read.
pub async fn wait(
    cluster: &ClusterClient,
    clock: Arc<dyn DeliveryClock>,
    options: &WaitOptions,
    interrupted: &CancellationToken,
    mut show: impl FnMut(&[(String, String)]),
) -> Result<WaitAnswer, WaitError> {
    let (to, mut news) = mpsc::channel(QUEUE);
    let began = clock.now();
    let mut waits: Vec<Wait> = (options.targets.iter())
        .map(|target| Wait::new(target.clone(), &options.namespace, options.fail_after, began))
        .collect();
    let mut watches = Watches {
        cluster,
        clock: Arc::clone(&clock),
        namespace: &options.namespace,
        to,
        tasks: JoinSet::new(),
        cancel: CancellationToken::new(),
        asked: HashMap::new(),
    };
    // Ends them however this ends.
    let _guard = watches.cancel.clone().drop_guard();
    watches.begin(&waits);
    let deadline = Instant::now() + options.timeout;
    let mut due = Instant::now() + LOOK_EVERY;
    let (outcome, looks) = loop {
        let is_over = tokio::select! {
            biased;
            () = interrupted.cancelled() => Some(WaitOutcome::Interrupted),
            () = sleep_until(due.min(deadline)) => {
                (deadline <= Instant::now()).then_some(WaitOutcome::TimedOut)
            }
            Some(one) = news.recv() => {
                watches.take(one, &mut waits, options)?;
                while let Ok(one) = news.try_recv() {
                    watches.take(one, &mut waits, options)?;
                }
                due = due.min(Instant::now() + LOOK_AFTER);
                continue;
            }
        };
        due = Instant::now() + LOOK_EVERY;
        let now = clock.now();
        let looks: Vec<Look> = waits.iter_mut().map(|wait| wait.look(now)).collect();
        if let Some(absent) = looks.iter().find(|look| look.is_absent && !options.until_created) {
            return Err(watches.absent(&absent.answer.target));
        }
        watches.ask_of_crashes(&looks);
        let outcomes = looks.iter().map(|look| look.answer.outcome);
        let has_failed = outcomes.clone().any(|one| one == TargetOutcome::Failed);
        let are_done = outcomes.clone().all(|one| one == TargetOutcome::Done);
        match (has_failed, are_done, is_over) {
            (true, ..) => break (WaitOutcome::Failed, looks),
            (_, true, _) => break (WaitOutcome::Done, looks),
            (.., Some(outcome)) => break (outcome, looks),
            (.., None) => {}
        }
        // There is nothing to say of what is not known yet.
        let lines = looks.into_iter().map(|look| match look.is_known {
            true => (look.answer.line(), look.key),
            false => Default::default(),
        });
        show(&lines.collect::<Vec<_>>());
    };
    let mut answers = Vec::new();
    for Look { mut answer, crashing, .. } in looks {
        let is_told = matches!(outcome, WaitOutcome::Failed | WaitOutcome::TimedOut);
        if is_told && answer.outcome != TargetOutcome::Done {
            answer.logs = watches.logs(&answer, &crashing).await;
        }
        answers.push(answer);
    }
    Ok(WaitAnswer::new(outcome, answers))
}

/// Lists are of the most recent state: a cache may not know yet what was applied a moment ago.
fn reflector() -> ReflectorConfig {
    ReflectorConfig { lists: ListMode::Pages, ..ReflectorConfig::default() }
}

impl Watches<'_> {
    fn begin(&mut self, waits: &[Wait]) {
        let events = RequestBuilder::of_objects(
            "/api/v1",
            "events",
            self.namespace,
            PodSelectors::default(),
        );
        self.objects("Events", "events", events, News::Event);
        for (number, wait) in waits.iter().enumerate() {
            if let Some((kind, requests)) = wait.target.requests(self.namespace) {
                let news = move |news| News::Object(number, news);
                self.objects("the object", kind.resource(), requests, news);
            }
            if let Some(selectors) = wait.target.selectors() {
                self.pods(number, selectors);
            }
        }
    }

    fn objects(
        &mut self,
        what: &'static str,
        resource: &'static str,
        requests: RequestBuilder,
        news: impl Fn(ObjectNews) -> News + Send + Sync + 'static,
    ) {
        let source = ObjectSource { what, resource, requests };
        let (client, to) = (&self.cluster.client, self.to.clone());
        objects::spawn(client, source, reflector(), to, news, &mut self.tasks);
    }

    fn pods(&mut self, number: usize, selectors: PodSelectors) {
        let config = WatchConfig {
            scopes: vec![PodScope::Namespace(self.namespace.to_owned())],
            selectors,
            decode: decode_options(),
            reflector: reflector(),
            ..WatchConfig::default()
        };
        let (deliveries, mut delivered) = mpsc::channel(QUEUE);
        let stats = Arc::new(WatchStats::of_scopes(&config.scopes));
        let clock = Arc::clone(&self.clock);
        let client = &self.cluster.client;
        let mut tasks = watch::spawn(client, &config, clock, &stats, &deliveries, &self.cancel);
        let to = self.to.clone();
        self.tasks.spawn(async move {
            while let Some(delivery) = delivered.recv().await {
                if to.send(News::Pods(number, Box::new(delivery))).await.is_err() {
                    break;
                }
            }
            tasks.abort_all();
        });
    }

    /// Takes in news, and begins to watch what they make known.
    fn take(
        &mut self,
        news: News,
        waits: &mut [Wait],
        options: &WaitOptions,
    ) -> Result<(), WaitError> {
        match news {
            News::Object(number, news) => {
                let Some(wait) = waits.get_mut(number) else {
                    return Ok(());
                };
                let was_known = wait.object().is_some();
                if let ObjectNews::Unread(error) = &news
                    && !was_known
                    && matches!(error.kind, ApiErrorKind::Forbidden | ApiErrorKind::Unauthorized)
                {
                    let why = error.detail.clone();
                    return Err(self.unread(
                        wait,
                        options,
                        why,
                        "grant the verbs list and watch on it",
                    ));
                }
                if let Err(error) = wait.take_object(&news) {
                    let why = error.to_string();
                    return Err(self.unread(
                        wait,
                        options,
                        why,
                        "the API server may be of another version",
                    ));
                }
                if !was_known && let Some(object) = wait.object() {
                    let selectors =
                        PodSelectors { label: object.selector(), ..PodSelectors::default() };
                    let (revisions, kind) = (selectors.clone(), wait.kind());
                    self.pods(number, selectors);
                    self.revisions(number, kind, revisions);
                }
            }
            News::Revisions(number, what, news) => {
                if let Some(wait) = waits.get_mut(number) {
                    wait.take_revisions(news, what);
                }
            }
            News::Pods(number, delivery) => {
                if let Some(wait) = waits.get_mut(number) {
                    wait.take_pods(*delivery);
                }
            }
            News::Event(news) => {
                let now = self.clock.now();
                let events = match news {
                    ObjectNews::Listed(events) => events,
                    ObjectNews::Applied(event) => vec![event],
                    ObjectNews::Deleted(_) | ObjectNews::Unread(_) => Vec::new(),
                };
                for event in &events {
                    waits.iter_mut().for_each(|wait| wait.take_event(event, now));
                }
            }
            News::Crash(number, uid, facts) => {
                if let (Some(wait), Some(facts)) = (waits.get_mut(number), facts) {
                    wait.crashes.insert(uid, facts);
                }
            }
        }
        Ok(())
    }

    /// Watches what says which revision is the new one.
    fn revisions(&mut self, number: usize, kind: Option<WorkloadKind>, selectors: PodSelectors) {
        let (what, resource) = match kind {
            Some(WorkloadKind::Deployment) => ("ReplicaSets", "replicasets"),
            Some(WorkloadKind::DaemonSet) => ("ControllerRevisions", "controllerrevisions"),
            _ => return,
        };
        let requests =
            RequestBuilder::of_objects("/apis/apps/v1", resource, self.namespace, selectors);
        self.objects(what, resource, requests, move |news| News::Revisions(number, what, news));
    }

    /// Asks how often the pods that crash were restarted, of each now and then.
    fn ask_of_crashes(&mut self, looks: &[Look]) {
        for (number, look) in looks.iter().enumerate() {
            for CrashingPod { uid, name, .. } in look.crashing.iter().take(MOST_ASKED).cloned() {
                let asked = self.asked.get(&uid);
                if asked.is_some_and(|asked| asked.elapsed() < CRASH_EVERY) {
                    continue;
                }
                self.asked.insert(uid, Instant::now());
                let (client, to) = (self.cluster.client.clone(), self.to.clone());
                let namespace = self.namespace.to_owned();
                self.tasks.spawn(async move {
                    let facts = crash::facts(&client, &namespace, &name).await;
                    // Who asked may have ended.
                    let _ = to.send(News::Crash(number, uid, facts)).await;
                });
            }
        }
    }

    /// The last lines of a container that crashes of the first pod of each problem, or else of the pods that crash.
    async fn logs(&self, answer: &TargetAnswer, crashing: &[CrashingPod]) -> Vec<ContainerLog> {
        let crashes = |problem: &&Problem| problem.cause == Cause::Crash.as_str();
        let told = answer.problems.iter().filter(crashes).filter_map(|one| one.oldest.first());
        let mut pods: Vec<&str> = told.map(|pod| &*pod.name).collect();
        if pods.is_empty() {
            pods.extend(crashing.iter().map(|pod| &*pod.name));
        }
        let (client, mut logs) = (&self.cluster.client, Vec::new());
        for pod in pods.into_iter().take(MOST_LOGS) {
            if let Some(facts) = crash::facts(client, self.namespace, pod).await {
                logs.extend(crash::last_lines(client, self.namespace, pod, facts).await);
            }
        }
        logs
    }

    fn absent(&self, target: &str) -> WaitError {
        WaitError::Absent {
            target: target.to_owned(),
            namespace: self.namespace.to_owned(),
            server: self.cluster.server.clone(),
        }
    }

    fn unread(
        &self,
        wait: &Wait,
        options: &WaitOptions,
        why: String,
        remedy: &'static str,
    ) -> WaitError {
        WaitError::Unread {
            target: wait.target.to_string(),
            namespace: options.namespace.clone(),
            server: self.cluster.server.clone(),
            why,
            remedy,
        }
    }
}
