//! Waits on a cluster: its list-watches, and a look at what they have brought, again and again.
//!
//! ```text
//! object ──────┐
//! revisions ───┤
//! pods ────────┼─▶ Wait ─ look ─▶ a line … the answer
//! Events ──────┘
//! ```

use std::sync::Arc;
use std::time::Duration;

use podinit_core::lifecycle::{Cause, Delivery};
use podinit_core::pod::PodUid;
use podinit_kube::cluster::api_error::{ApiError, ApiErrorKind};
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
/// How often the pods that crash are asked for.
const CRASH_EVERY: Duration = Duration::from_secs(5);
/// Of a target so many pods that crash are asked for, and their logs read.
const MOST_CRASHING: usize = 3;
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

/// What a list-watch brings.
enum News {
    /// Of the namespace, for all targets
    Event(ObjectNews),
    /// For the target with this number
    Of(usize, TargetNews),
}

enum TargetNews {
    Object(ObjectNews),
    Revisions(ObjectNews),
    Pods(Box<Delivery>),
    Crash(PodUid, CrashFacts),
}

/// The waits for all targets, and their list-watches.
struct Waits<'a> {
    cluster: &'a ClusterClient,
    clock: Arc<dyn DeliveryClock>,
    options: &'a WaitOptions,
    all: Vec<Wait>,
    to: mpsc::Sender<News>,
    tasks: JoinSet<()>,
    cancel: CancellationToken,
    /// When the pods that crash were asked for
    asked: Option<Instant>,
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
    let begin = |target: &WaitTarget| {
        Wait::new(target.clone(), &options.namespace, options.fail_after, began)
    };
    let mut waits = Waits {
        cluster,
        clock: Arc::clone(&clock),
        options,
        all: options.targets.iter().map(begin).collect(),
        to,
        tasks: JoinSet::new(),
        cancel: CancellationToken::new(),
        asked: None,
    };
    // Ends them however this ends.
    let _guard = waits.cancel.clone().drop_guard();
    waits.begin();
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
                waits.take(one)?;
                while let Ok(one) = news.try_recv() {
                    waits.take(one)?;
                }
                due = due.min(Instant::now() + LOOK_AFTER);
                continue;
            }
        };
        due = Instant::now() + LOOK_EVERY;
        let now = clock.now();
        let looks: Vec<Look> = waits.all.iter_mut().map(|wait| wait.look(now)).collect();
        if let Some(absent) = looks.iter().find(|look| look.is_absent && !options.until_created) {
            return Err(WaitError::Absent {
                target: absent.answer.target.clone(),
                namespace: options.namespace.clone(),
                server: cluster.server.clone(),
            });
        }
        waits.ask_of_crashes(&looks);
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
            answer.logs = waits.logs(&answer, &crashing).await;
        }
        answers.push(answer);
    }
    Ok(WaitAnswer::new(outcome, answers))
}

/// Lists are of the most recent state: a cache may not know yet what was applied a moment ago.
fn reflector() -> ReflectorConfig {
    ReflectorConfig { lists: ListMode::Pages, ..ReflectorConfig::default() }
}

impl Waits<'_> {
    fn begin(&mut self) {
        let of_namespace = PodSelectors::default();
        self.objects("Events", ("/api/v1", "events"), of_namespace, News::Event);
        for (number, target) in self.options.targets.iter().enumerate() {
            let selectors = target.selectors();
            match target {
                WaitTarget::Workload(kind, _) => {
                    let news = move |news| News::Of(number, TargetNews::Object(news));
                    self.objects("the object", kind.resource(), selectors, news);
                }
                WaitTarget::Pod(_) | WaitTarget::Selected { .. } => self.pods(number, selectors),
            }
        }
    }

    fn objects(
        &mut self,
        what: &'static str,
        (group, resource): (&str, &'static str),
        selectors: PodSelectors,
        news: impl Fn(ObjectNews) -> News + Send + Sync + 'static,
    ) {
        let namespace = &self.options.namespace;
        let requests = RequestBuilder::of_objects(group, resource, namespace, selectors);
        let source = ObjectSource { what, resource, requests };
        let (client, to) = (&self.cluster.client, self.to.clone());
        objects::spawn(client, source, reflector(), to, news, &mut self.tasks);
    }

    fn pods(&mut self, number: usize, selectors: PodSelectors) {
        let config = WatchConfig {
            scopes: vec![PodScope::Namespace(self.options.namespace.clone())],
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
        let pods = |delivery| TargetNews::Pods(Box::new(delivery));
        self.tasks.spawn(async move {
            while let Some(delivery) = delivered.recv().await {
                if to.send(News::Of(number, pods(delivery))).await.is_err() {
                    break;
                }
            }
            tasks.abort_all();
        });
    }

    /// Takes in news, and begins to watch what they make known.
    fn take(&mut self, news: News) -> Result<(), WaitError> {
        let (number, news) = match news {
            News::Of(number, news) => (number, news),
            News::Event(news) => {
                let now = self.clock.now();
                let events = match news {
                    ObjectNews::Listed(events) => events,
                    ObjectNews::Applied(event) => vec![event],
                    ObjectNews::Deleted(_) | ObjectNews::Unread(_) => Vec::new(),
                };
                for event in &events {
                    self.all.iter_mut().for_each(|wait| wait.take_event(event, now));
                }
                return Ok(());
            }
        };
        let Some(wait) = self.all.get_mut(number) else {
            return Ok(());
        };
        match news {
            TargetNews::Object(news) => return self.take_object(number, &news),
            TargetNews::Revisions(news) => wait.take_revisions(news),
            TargetNews::Pods(delivery) => wait.take_pods(*delivery),
            TargetNews::Crash(uid, facts) => _ = wait.restarts.insert(uid, facts.restarts),
        }
        Ok(())
    }

    /// Takes in what is said of the object of a target. Once it is known, its pods are watched, and what says which
    /// revision is the new one.
    fn take_object(&mut self, number: usize, news: &ObjectNews) -> Result<(), WaitError> {
        let Some(wait) = self.all.get_mut(number) else {
            return Ok(());
        };
        let was_known = wait.object.is_some();
        let refused = |error: &ApiError| {
            matches!(error.kind, ApiErrorKind::Forbidden | ApiErrorKind::Unauthorized)
        };
        let failed = match news {
            ObjectNews::Unread(error) if !was_known && refused(error) => {
                Some((error.detail.clone(), "grant the verbs list and watch on it"))
            }
            news => wait
                .take_object(news)
                .err()
                .map(|error| (error.to_string(), "the API server may be of another version")),
        };
        if let Some((why, remedy)) = failed {
            return Err(WaitError::Unread {
                target: wait.target.to_string(),
                namespace: wait.namespace.clone(),
                server: self.cluster.server.clone(),
                why,
                remedy,
            });
        }
        if let Some(object) = wait.object.as_ref().filter(|_| !was_known) {
            let label = object.selector.clone();
            let selectors = PodSelectors { label, ..PodSelectors::default() };
            let revisions = wait.kind().and_then(WorkloadKind::revisions);
            self.pods(number, selectors.clone());
            if let Some((what, resource)) = revisions {
                let news = move |news| News::Of(number, TargetNews::Revisions(news));
                self.objects(what, ("/apis/apps/v1", resource), selectors, news);
            }
        }
        Ok(())
    }

    /// Asks how often the pods that crash were restarted, now and then.
    fn ask_of_crashes(&mut self, looks: &[Look]) {
        if self.asked.is_some_and(|asked| asked.elapsed() < CRASH_EVERY) {
            return;
        }
        for (number, look) in looks.iter().enumerate() {
            for CrashingPod { uid, name, .. } in look.crashing.iter().take(MOST_CRASHING).cloned() {
                self.asked = Some(Instant::now());
                let (client, to) = (self.cluster.client.clone(), self.to.clone());
                let namespace = self.options.namespace.clone();
                self.tasks.spawn(async move {
                    if let Some(facts) = crash::facts(&client, &namespace, &name).await {
                        let news = News::Of(number, TargetNews::Crash(uid, facts));
                        // Who asked may have ended.
                        let _ = to.send(news).await;
                    }
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
        let (client, namespace) = (&self.cluster.client, &*self.options.namespace);
        let mut logs = Vec::new();
        for pod in pods.into_iter().take(MOST_CRASHING) {
            if let Some(facts) = crash::facts(client, namespace, pod).await {
                logs.extend(crash::last_lines(client, namespace, pod, facts).await);
            }
        }
        logs
    }
}
