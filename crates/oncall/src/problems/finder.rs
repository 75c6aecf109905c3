//! Finds the problems of a running exporter, again and again.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use super::{ClockCheck, FindingPublisher, LostBudget, ProblemSnapshot};
use crate::records::{
    EndedPosition, MOST_NEWEST, QueryPosition, RecordFilter, RecordOrder, RecordQuery,
    RecordsClient, UnansweredQuery,
};
use crate::rollouts::{FoundRollouts, RolloutParts};
use crate::unmatched_slos;
use podinit_core::lifecycle::{InFlightPosition, Progress, Record, UnmatchedSlo};
use podinit_core::pod::PodUid;
use podinit_core::timestamp::Timestamp;
use podinit_expo::metrics::{ProblemPods, StatedProblem, StuckRollouts};
use podinit_problems::{FAILED_LASTS, FINDING_LASTS, MOST_RECORDS, OverTime, ProblemFinding};

/// Problems are found at most once in so long ([§13.8](crate::specification#s13-8)).
const AT_MOST_EVERY: Duration = Duration::from_secs(5);

/// Where there are very many pods, at most this part of the time is spent on finding them ...
const PART_OF_TIME: u32 = 20;
/// ... but no more than this passes from the beginning of one finding to that of the next, unless it takes longer.
const AT_LEAST_EVERY: Duration = Duration::from_secs(8);

/// The newest records are as many as a search takes.
const _: () = assert!(MOST_NEWEST == MOST_RECORDS, "the record store keeps what a search takes");

/// How long after a question without an answer the next is asked.
const RETRY: Duration = Duration::from_millis(500);

/// So many records are asked for at a time.
const PAGE: usize = 500;

/// Finds problems by asking the owner of the records page by page: no answer makes that wait for long, and no more
/// than two pages of records are held at a time. It asks apart from the readers, so that none of them stands before it.
pub struct ProblemFinder {
    records: RecordsClient,
    publisher: FindingPublisher,
    metric: Arc<ProblemPods>,
    stuck_rollouts: Arc<StuckRollouts>,
    over_time: OverTime,
    /// What was said last of SLOs that match no pod
    unmatched_slos: Vec<UnmatchedSlo>,
    /// Where the runbooks are
    runbook_url: Option<String>,
    /// Tells which SLOs lost their budget lately
    budgets: Box<dyn Fn() -> Vec<LostBudget> + Send + Sync>,
}

/// A page of the pods in flight.
struct InFlightPage {
    records: Vec<Record>,
    /// Those that hold the rollout of their workload
    of_rollouts: HashSet<PodUid>,
    /// Up to when everything was accounted for
    now: Option<Timestamp>,
    /// Where to go on
    next: Option<InFlightPosition>,
}

impl InFlightPage {
    /// Adds its pods to a finding, those that hold a rollout to the part of their workload.
    fn add_to(&self, finding: &mut ProblemFinding, parts: &mut RolloutParts) {
        for record in &self.records {
            parts.add(finding, record, self.of_rollouts.contains(&record.uid));
        }
    }
}

impl ProblemFinder {
    /// A finder over the records that `records` answers for, which tells `publisher` and `metric`.
    pub fn new(
        records: RecordsClient,
        publisher: FindingPublisher,
        metric: Arc<ProblemPods>,
    ) -> Self {
        Self {
            records: records.apart(),
            publisher,
            metric,
            stuck_rollouts: Arc::default(),
            over_time: OverTime::default(),
            unmatched_slos: Vec::new(),
            runbook_url: None,
            budgets: Box::new(Vec::new),
        }
    }

    /// The same, which tells this metric of rollouts that are stuck.
    pub(crate) fn with_stuck_rollouts(self, stuck_rollouts: Arc<StuckRollouts>) -> Self {
        Self { stuck_rollouts, ..self }
    }

    /// The same with runbooks elsewhere.
    pub(crate) fn with_runbooks(self, url: Option<String>) -> Self {
        Self { runbook_url: url, ..self }
    }

    /// The same, which tells of the SLOs that lost their budget lately by `budgets`.
    pub(crate) fn with_budgets(
        self,
        budgets: impl Fn() -> Vec<LostBudget> + Send + Sync + 'static,
    ) -> Self {
        Self { budgets: Box::new(budgets), ..self }
    }

    /// Finds them until `shutdown`. It keeps its thread for as long as it takes to compare very many pods.
    pub async fn run(mut self, shutdown: CancellationToken) {
        let found = async {
            loop {
                let began = Instant::now();
                // Whoever reads the newest finding sees how old it is.
                let wait = match self.find(began).await {
                    Ok(true) => {
                        let wait = began.elapsed() * PART_OF_TIME;
                        wait.clamp(AT_MOST_EVERY, AT_LEAST_EVERY)
                    }
                    Ok(false) | Err(_) => RETRY,
                };
                sleep(wait.saturating_sub(began.elapsed()).max(RETRY)).await;
            }
        };
        shutdown.run_until_cancelled(found).await;
    }

    /// Finds them once, from `began` on. Returns whether anything is known.
    async fn find(&mut self, began: Instant) -> Result<bool, UnansweredQuery> {
        // They are asked for together, so that the owner is woken once where there is nothing to tell.
        let (mut page, mut ended, beside) = tokio::try_join!(
            self.in_flight(None),
            self.troubled(),
            self.records.ask(RecordQuery::BesidePods)
        )?;
        let mut of_rollouts = RolloutParts::default();
        let Some(now) = page.now else {
            return Ok(false);
        };
        // Where nothing is wrong and no pod is in flight there is nothing to compare.
        if !(page.records.is_empty() && ended.is_empty()) {
            ended.extend(self.newest().await?);
        }
        let finding = ProblemFinding::new(&ended, now).with_faults(&beside.node_faults);
        let mut finding = finding.after(&self.over_time);
        drop(ended);
        loop {
            // The next page is asked for first, so that it is made while this one is looked at.
            let (answer, ()) = tokio::join!(
                async {
                    match page.next {
                        Some(after) => self.in_flight(Some(after)).await.map(Some),
                        None => Ok(None),
                    }
                },
                async { page.add_to(&mut finding, &mut of_rollouts) }
            );
            match answer? {
                Some(next) => page = next,
                None => break,
            }
        }
        let mut found = finding.finish(&mut self.over_time);
        let parts = (&of_rollouts, &std::mem::take(&mut found.parts));
        let ended = beside.ended_rollouts;
        let rollouts = FoundRollouts::new(beside.rollouts, parts, ended, now);
        let problems = found.problems.iter().flat_map(|(problem, _)| {
            let shared = problem.shared.is_some().then(|| problem.shared_texts());
            let causes = problem.causes().into_iter();
            causes.map(move |(cause, pods)| StatedProblem { cause, shared, pods })
        });
        self.metric.state(problems, began + FINDING_LASTS);
        self.stuck_rollouts.state(rollouts.stuck(), began + FINDING_LASTS);
        let mut seen = ProblemSnapshot::new(found, beside.node_faults, now);
        seen.rollouts = rollouts;
        unmatched_slos::log_changes(&self.unmatched_slos, &beside.unmatched_slos);
        self.unmatched_slos.clone_from(&beside.unmatched_slos);
        seen.problems.unmatched_slos = beside.unmatched_slos;
        seen.problems.lost_budgets = (self.budgets)();
        seen.problems = seen.problems.with_late_deliveries(beside.late_by, ClockCheck::ByDate);
        if let Some(url) = &self.runbook_url {
            seen.problems.lead_to(url);
        }
        self.publisher.publish(seen, began);
        Ok(true)
    }

    /// A page of the pods in flight.
    async fn in_flight(
        &self,
        after: Option<InFlightPosition>,
    ) -> Result<InFlightPage, UnansweredQuery> {
        let query = RecordQuery::InFlight {
            filter: RecordFilter::default(),
            stuck: false,
            after,
            limit: PAGE,
        };
        let answer = self.records.ask(query).await?;
        let next = match answer.next {
            Some(QueryPosition::InFlight(next)) => Some(next),
            Some(QueryPosition::Ended(_)) | None => None,
        };
        let of_rollouts = answer.of_rollouts.into_iter().collect();
        Ok(InFlightPage { records: answer.records, of_rollouts, now: answer.now, next })
    }

    /// The newest records of startups that were rejected or failed lately, and of pods that crash right after they were
    /// ready, the oldest of them first.
    async fn troubled(&self) -> Result<Vec<Record>, UnansweredQuery> {
        let is_late = |record: &Record, now: Timestamp| match record.progress {
            Progress::Ended { at, .. } => at.plus(FAILED_LASTS) > now,
            Progress::InFlight { .. } => false,
        };
        self.ended(true, is_late).await
    }

    /// The newest records of the others, the oldest of them first.
    async fn newest(&self) -> Result<Vec<Record>, UnansweredQuery> {
        self.ended(false, |_, _| true).await
    }

    /// The newest records of these startups, or of the others, up to the first that is not wanted; the oldest of them
    /// first.
    async fn ended(
        &self,
        troubled: bool,
        is_wanted: impl Fn(&Record, Timestamp) -> bool,
    ) -> Result<Vec<Record>, UnansweredQuery> {
        let (mut found, mut after) = (Vec::new(), None::<EndedPosition>);
        loop {
            let query = RecordQuery::Ended {
                filter: RecordFilter { troubled: Some(troubled), ..RecordFilter::default() },
                sort: RecordOrder::Newest,
                after,
                limit: PAGE,
            };
            let answer = self.records.ask(query).await?;
            let all = found.len() + answer.records.len();
            let now = answer.now.unwrap_or_default();
            found.extend(answer.records.into_iter().take_while(|record| is_wanted(record, now)));
            let are_wanted = found.len() == all;
            match answer.next {
                Some(QueryPosition::Ended(next)) if are_wanted => after = Some(next),
                _ => break,
            }
        }
        found.reverse();
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::problems::{FindingSnapshots, PodFilter, channel};
    use crate::records::{self, RecordQueries, RecordStore};
    use podinit_core::lifecycle::{PodEvent, Tracker, TrackerConfig};
    use podinit_core::pod::{PodPhase, PodSnapshot, PodUid};
    use podinit_expo::metrics::{ExpositionBuilder, LabelConfig};
    use podinit_instruments::ExpositionFormat;
    use podinit_testing::records::{Ends, at, deliver};

    /// A tracker of pods that wait for their scheduler, as of second 400.
    fn waiting(pods: usize) -> Tracker {
        let mut tracker = Tracker::new(TrackerConfig::default());
        let mut ends = Ends::default();
        let began = at(-100);
        let listed = PodEvent::Listed { pods: Vec::new().into(), began };
        deliver(&mut tracker, &mut ends, -100, listed);
        for number in 0..pods {
            let name = format!("pod-{number}");
            let mut pod = PodSnapshot::bare(PodUid::from_text(&name), "shop", &*name);
            pod.created = Some(at(0));
            deliver(&mut tracker, &mut ends, 0, PodEvent::Applied(pod));
        }
        tracker.advance(at(400), &mut ends);
        tracker
    }

    /// Answers what is asked.
    async fn own(queries: RecordQueries, tracker: Tracker) {
        own_with(queries, tracker, Duration::ZERO).await;
    }

    /// Answers what is asked, with so much time for each step.
    async fn own_with(mut queries: RecordQueries, tracker: Tracker, step: Duration) {
        queries.begin();
        let store = RecordStore::default();
        loop {
            queries.waiting().await;
            queries.step(&tracker, &store);
            if !step.is_zero() {
                sleep(step).await;
            }
        }
    }

    /// Looks each second of two minutes after the first finding. Returns the greatest age of a finding, in seconds.
    async fn oldest(snapshots: &FindingSnapshots) -> u64 {
        let mut seconds = 0;
        while snapshots.newest().is_none() {
            sleep(Duration::from_secs(1)).await;
            seconds += 1;
            assert!(seconds < 15, "nothing was found");
        }
        let mut oldest = 0;
        for _ in 0..120 {
            sleep(Duration::from_secs(1)).await;
            oldest = oldest.max(snapshots.age().unwrap().as_secs());
        }
        oldest
    }

    /// A finder that runs, and what it tells.
    fn running(client: RecordsClient) -> (FindingSnapshots, Arc<ProblemPods>) {
        let (publisher, snapshots) = channel();
        let metric = Arc::new(ProblemPods::default());
        let finder = ProblemFinder::new(client, publisher, Arc::clone(&metric));
        tokio::spawn(finder.run(CancellationToken::new()));
        (snapshots, metric)
    }

    #[tokio::test(start_paused = true)]
    async fn they_are_found_before_anybody_asks_and_filtered_without_asking_again() {
        let (client, queries) = records::channel();
        let (snapshots, metric) = running(client);
        assert!(snapshots.newest().is_none() && snapshots.unknown().is_some());
        let owner = tokio::spawn(own(queries, waiting(1_200)));
        sleep(Duration::from_secs(6)).await;
        assert_eq!(snapshots.unknown(), None);
        let seen = snapshots.newest().unwrap();
        let found: Vec<_> = seen.problems.problems.iter().collect();
        assert_eq!((found.len(), found[0].pods), (1, 1_200));
        assert!(format!("{metric:?}").contains("1200"), "{metric:?}");
        // Nobody answers any more, and readers do not wait.
        owner.abort();
        let all = snapshots.newest().unwrap();
        assert_eq!(all.breakdown(&PodFilter::default()).pods(), 1_200);
        let elsewhere =
            PodFilter { namespace: Some("elsewhere".to_owned()), ..PodFilter::default() };
        assert_eq!(all.breakdown(&elsewhere).pods(), 0);
        sleep(Duration::from_secs(120)).await;
        assert!(snapshots.unknown().unwrap().contains("s ago"));
        assert!(snapshots.newest().is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn pods_that_fail_are_found_where_none_is_in_flight() {
        let (client, mut queries) = records::channel();
        let (snapshots, _) = running(client);
        let mut tracker = waiting(0);
        let (mut ends, mut store) = (Ends::default(), RecordStore::default());
        for number in 0..1_700 {
            let name = format!("pod-{number}");
            let mut pod = PodSnapshot::bare(PodUid::from_text(&name), "shop", &*name);
            pod.created = Some(at(400));
            pod.phase = PodPhase::Failed;
            // The first 900 failed too long ago.
            let second = if number < 900 { 400 } else { 500 };
            deliver(&mut tracker, &mut ends, second, PodEvent::Applied(pod));
        }
        ends.0.into_iter().for_each(|end| store.add(end));
        tracker.advance(at(1_000), &mut Ends::default());
        tokio::spawn(async move {
            queries.begin();
            loop {
                queries.waiting().await;
                queries.step(&tracker, &store);
            }
        });
        sleep(Duration::from_secs(6)).await;
        let seen = snapshots.newest().unwrap();
        let problem = &seen.problems.problems[0];
        assert_eq!((&*problem.cause, problem.pods, problem.failed), ("crash", 800, 800));
        let breakdown = seen.breakdown(&PodFilter::default());
        assert_eq!((breakdown.pods(), breakdown.in_flight()), (800, 0));
    }

    #[tokio::test(start_paused = true)]
    async fn readers_keep_nobody_from_finding_them() {
        let (client, queries) = records::channel();
        let (snapshots, _) = running(client.clone());
        tokio::spawn(own_with(queries, waiting(5_000), Duration::from_millis(5)));
        // More than may wait: the queue of the readers is always full.
        for _ in 0..32 {
            let client = client.clone();
            tokio::spawn(async move {
                loop {
                    _ = client.in_flight(500).await;
                    sleep(Duration::from_millis(1)).await;
                }
            });
        }
        assert!(oldest(&snapshots).await <= 15);
    }

    #[tokio::test(start_paused = true)]
    async fn a_finding_that_takes_seconds_is_followed_by_another_soon() {
        let (client, queries) = records::channel();
        let (snapshots, _) = running(client);
        let owner = own_with(queries, waiting(2_000), Duration::from_millis(75));
        let owner = tokio::spawn(owner);
        assert!(oldest(&snapshots).await <= 15);
        // It goes on where the owner is busy for longer than anybody waits.
        owner.abort();
        let (client, queries) = records::channel();
        let (snapshots, _) = running(client);
        tokio::spawn(own_with(queries, waiting(1_200), Duration::from_secs(3)));
        sleep(Duration::from_secs(300)).await;
        assert!(snapshots.newest().is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn a_finding_that_is_old_is_said_to_be_old() {
        let (client, queries) = records::channel();
        let (snapshots, metric) = running(client);
        let owner = tokio::spawn(own(queries, waiting(1)));
        sleep(Duration::from_secs(3)).await;
        owner.abort();
        let series = || {
            let builder = ExpositionBuilder::new(LabelConfig::default());
            let (_, exposition) = builder.source(Box::new(Arc::clone(&metric))).build().unwrap();
            let text = exposition.encode(ExpositionFormat::Text).unwrap();
            let text = String::from_utf8(text).unwrap();
            text.lines().any(|line| line.starts_with("podinit_problem_pods{"))
        };
        assert_eq!((snapshots.unknown(), series()), (None, true));
        let left = FINDING_LASTS - snapshots.age().unwrap();
        sleep(left).await;
        assert_eq!((snapshots.unknown(), series()), (None, true));
        sleep(Duration::from_secs(1)).await;
        assert_eq!(
            (snapshots.unknown().as_deref(), series()),
            (Some("podinit is busy, it looked 16 s ago"), false)
        );
    }

    #[tokio::test(start_paused = true)]
    async fn they_are_found_once_in_five_seconds() {
        let (client, queries) = records::channel();
        let (snapshots, _) = running(client);
        tokio::spawn(own(queries, waiting(1)));
        sleep(Duration::from_secs(3)).await;
        let first = snapshots.newest().unwrap();
        sleep(Duration::from_secs(1)).await;
        assert!(Arc::ptr_eq(&first, &snapshots.newest().unwrap()));
        sleep(Duration::from_secs(5)).await;
        assert!(!Arc::ptr_eq(&first, &snapshots.newest().unwrap()));
    }
}
