//! The routes of the page, and what they ask for.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{Path, Query as Parameters, State};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use http::StatusCode;
use http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderValue};
use parking_lot::Mutex;
use serde::Deserialize;
use tokio::time::Instant;

use super::history::{HistorySample, OverviewHistory};
use super::overview::{Overview, PageFooter};
use super::pod_page::pod_page;
use super::{runbooks, style};
use crate::explain::{ExplainTarget, TargetName};
use crate::freshness::FreshnessSource;
use crate::pods::{ExporterAnswer, SourcePods};
use crate::problems::{FindingSnapshots, LostBudget, PodFilter};
use crate::records::{
    EndToEndDuration, RecordFilter, RecordOrder, RecordQuery, RecordsClient, UnansweredQuery,
};
use podinit_core::label_value::LabelValue;
use podinit_core::lifecycle::{Cause, Outcome, Progress, Record};
use podinit_core::timestamp::Timestamp;
use podinit_expo::metrics::Exposition;
use podinit_http::{MetricsPath, ProcessHealth};
use podinit_kube::cluster::clock::DeliveryClock;
use podinit_text::human_time::time_of_day;

/// The page loads its own style, script and icon, asks nobody but its own exporter, and cannot be framed.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; \
     base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
);
/// What a page loads.
const STYLE: &str = "/style.css";
const SCRIPT: &str = "/page.js";
const ICON: &str = "/favicon.svg";
/// The list of runbooks; each has a page below it.
const RUNBOOKS: &str = "/runbooks";
/// Seconds until a page loads again.
const REFRESH_AFTER: u64 = 10;
/// How long an overview serves everybody who wants to see the same.
const OVERVIEW_AGE: Duration = Duration::from_secs(2);
/// With how many pods in flight the page of a pod compares it.
const MOST_PEERS: usize = 2_000;
/// How many of the slowest startups are shown.
const SLOWEST: usize = 10;
/// With how many of the newest startups a pod is compared.
const FLEET: usize = 500;

/// The history, written by its task and read by the page.
#[derive(Clone, Debug, Default)]
pub(crate) struct SharedHistory(Arc<Mutex<OverviewHistory>>);

impl SharedHistory {
    /// Takes a sample where one is due, and the problems are known: what an earlier process has counted is no
    /// event of the last hour.
    pub(crate) fn sample(&self, now: Timestamp, sources: &PageSources) {
        if sources.health.readiness().is_err() || !self.0.lock().is_due(now) {
            return;
        }
        let Some(seen) = sources.problems.newest() else {
            return;
        };
        let sample =
            HistorySample::new(now, &sources.exposition.figures(), &seen.problems.problems);
        let mut history = self.0.lock();
        history.add(sample);
        history.add_durations(now, || sources.exposition.durations());
    }

    /// The SLOs that lost their budget in the last hour.
    pub(crate) fn lost_budgets(&self, sources: &PageSources) -> Vec<LostBudget> {
        let slos = sources.exposition.figures().slos;
        self.0.lock().lost_budgets(sources.clock.now(), &slos)
    }

    fn get(&self) -> OverviewHistory {
        self.0.lock().clone()
    }
}

/// Where the page gets what it shows.
#[derive(Clone)]
pub struct PageSources {
    pub metrics_path: MetricsPath,
    /// What the reader calls the cluster
    pub cluster: Option<String>,
    /// Where the runbooks are, if not here
    pub runbook_url: Option<Arc<str>>,
    pub records: RecordsClient,
    pub problems: FindingSnapshots,
    pub freshness: Arc<FreshnessSource>,
    pub exposition: Arc<Exposition>,
    pub health: ProcessHealth,
    pub clock: Arc<dyn DeliveryClock>,
    pub(crate) history: SharedHistory,
}

struct PageState {
    sources: PageSources,
    /// The newest overview; whoever finds it too old makes the next one while others wait
    overview: tokio::sync::Mutex<Option<CachedOverview>>,
}

/// An overview that was made.
struct CachedOverview {
    at: Instant,
    choice: Choice,
    html: String,
}

/// `/` and what it loads, `/pods/NAMESPACE/NAME`, and the runbooks.
pub fn router(sources: PageSources) -> Router {
    let page = PageState { sources, overview: tokio::sync::Mutex::default() };
    let file = |kind: &'static str, text: String| {
        let kind = HeaderValue::from_static(kind);
        get(|| async move { ([(CONTENT_TYPE, kind)], text) })
    };
    let script = include_str!("templates/page.js").to_owned();
    let icon = include_str!("templates/favicon.svg").to_owned();
    Router::new()
        .route("/", get(overview))
        .route(STYLE, file("text/css; charset=utf-8", style()))
        .route(SCRIPT, file("text/javascript; charset=utf-8", script))
        .route(ICON, file("image/svg+xml", icon))
        .route("/pods/{namespace}/{name}", get(pod))
        .route(RUNBOOKS, get(runbook_index))
        .route("/runbooks/{name}", get(runbook))
        .with_state(Arc::new(page))
}

/// Whether the page has this path.
pub fn serves(path: &str) -> bool {
    ["/", STYLE, SCRIPT, ICON, RUNBOOKS].contains(&path)
        || path.starts_with("/pods/")
        || path.starts_with("/runbooks/")
}

/// What a reader can choose.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
struct Choice {
    /// `off`: the page does not load again by itself
    refresh: Option<String>,
    namespace: Option<String>,
    node: Option<String>,
    workload: Option<String>,
    cause: Option<String>,
}

impl Choice {
    fn refreshes(&self) -> bool {
        self.refresh.as_deref() != Some("off")
    }

    /// Which pods; or the cause that there is not.
    fn wanted(&self) -> Result<PodFilter, String> {
        let cause = |text: &String| Cause::from_text(text).ok_or_else(|| text.clone());
        Ok(PodFilter {
            namespace: self.namespace.clone(),
            node: self.node.clone(),
            workload: self.workload.clone(),
            cause: self.cause.as_ref().map(cause).transpose()?,
        })
    }
}

async fn overview(
    State(page): State<Arc<PageState>>,
    Parameters(choice): Parameters<Choice>,
) -> Response {
    let wanted = match choice.wanted() {
        Ok(wanted) => wanted,
        Err(cause) => {
            let text =
                format!("there is no cause {cause}, see docs/causes.md for those there are\n");
            return (StatusCode::BAD_REQUEST, text).into_response();
        }
    };
    let mut kept = page.overview.lock().await;
    if let Some(made) = &*kept
        && made.choice == choice
        && made.at.elapsed() < OVERVIEW_AGE
    {
        return answer(made.html.clone());
    }
    let at = Instant::now();
    match page.sources.overview(wanted, choice.refreshes()).await {
        Ok(html) => {
            *kept = Some(CachedOverview { at, choice, html: html.clone() });
            answer(html)
        }
        Err(error) => unavailable(&error),
    }
}

async fn pod(
    State(page): State<Arc<PageState>>,
    Path((namespace, name)): Path<(String, String)>,
    choice: Parameters<Choice>,
) -> Response {
    match page.sources.pod(namespace, name, choice.refreshes()).await {
        Ok(Some(html)) => answer(html),
        Ok(None) => {
            let text = "no such pod is starting up, and no record of it is kept\n";
            (StatusCode::NOT_FOUND, text).into_response()
        }
        Err(error) => unavailable(&error),
    }
}

async fn runbook_index() -> Response {
    rendered(runbooks::index())
}

async fn runbook(Path(name): Path<String>) -> Response {
    match runbooks::page(&name) {
        Some(page) => rendered(page),
        None => {
            let text = "there is no such runbook, see /runbooks for those there are\n";
            (StatusCode::NOT_FOUND, text).into_response()
        }
    }
}

fn rendered(page: askama::Result<String>) -> Response {
    page.map_or_else(|error| unavailable(&error.into()), answer)
}

fn answer(html: String) -> Response {
    ([(CONTENT_SECURITY_POLICY, POLICY)], Html(html)).into_response()
}

fn unavailable(error: &anyhow::Error) -> Response {
    (StatusCode::SERVICE_UNAVAILABLE, format!("{error}\n")).into_response()
}

impl PageSources {
    /// The page at `/`. Where the records cannot be had, it says why, and shows the rest.
    async fn overview(&self, wanted: PodFilter, refreshes: bool) -> anyhow::Result<String> {
        let slowest = RecordQuery::Ended {
            filter: RecordFilter {
                namespace: wanted.namespace.clone(),
                workload: wanted.workload.clone(),
                node: wanted.node.clone(),
                cause: wanted.cause,
                ..RecordFilter::default()
            },
            sort: RecordOrder::Slowest(EndToEndDuration::CreatedToReady),
            after: None,
            limit: SLOWEST,
        };
        let newest = self.newest_ready(1).await.unwrap_or_default();
        let overview = Overview {
            cluster: self.cluster.clone(),
            freshness: self.freshness.now(),
            figures: self.exposition.figures(),
            durations: self.exposition.durations(),
            history: self.history.get(),
            seen: self.problems.newest().unwrap_or_default(),
            unanswered: self.problems.unknown(),
            wanted,
            slowest: self.records.ask(slowest).await.unwrap_or_default().records,
            last_ready: newest.first().and_then(ended),
            foot: self.foot(refreshes),
        };
        Ok(overview.render(self.clock.now())?)
    }

    /// The page of a pod; `None` if nothing is known of it.
    async fn pod(
        &self,
        namespace: String,
        name: String,
        refreshes: bool,
    ) -> anyhow::Result<Option<String>> {
        let answer = self.records.ask(RecordQuery::Pod { namespace, name }).await?;
        let Some(record) = answer.records.into_iter().next() else {
            return Ok(None);
        };
        let target = ExplainTarget {
            namespace: Some(record.pod.namespace.to_string()),
            name: TargetName::Pod(record.pod.name.to_string()),
        };
        let seen = self.problems.newest().unwrap_or_default();
        let problem = seen.problem_of(record.uid);
        let mut told = ExporterAnswer {
            time: Some(self.clock.now()),
            freshness: Some(self.freshness.now()),
            ready: self.newest_ready(FLEET).await?,
            clocks: seen.problems.clocks.clone(),
            ..ExporterAnswer::default()
        };
        match record.progress {
            Progress::InFlight { .. } => {
                told.in_flight = self.records.in_flight(MOST_PEERS).await?;
                told.add_in_flight(record);
            }
            Progress::Ended { .. } => told.ended.push(record),
        }
        let Ok(explanation) = SourcePods::from(told).explanation(&target) else {
            return Ok(None);
        };
        Ok(Some(pod_page(&explanation, Some(self.foot(refreshes)), problem)?))
    }

    /// The newest startups that ended as ready.
    async fn newest_ready(&self, limit: usize) -> Result<Vec<Record>, UnansweredQuery> {
        let query = RecordQuery::Ended {
            filter: RecordFilter { outcome: Some(Outcome::Ready), ..RecordFilter::default() },
            sort: RecordOrder::Newest,
            after: None,
            limit,
        };
        Ok(self.records.ask(query).await?.records)
    }

    fn foot(&self, refreshes: bool) -> PageFooter {
        let or_why = |state: Result<(), String>| match state {
            Ok(()) => "yes".to_owned(),
            Err(reason) => reason,
        };
        PageFooter {
            version: env!("CARGO_PKG_VERSION"),
            metrics: self.metrics_path.clone(),
            ready: or_why(self.health.readiness()),
            live: or_why(self.health.liveness()),
            time: time_of_day(self.clock.now()),
            refresh: refreshes.then_some(REFRESH_AFTER),
            runbook_url: self.runbook_url.clone(),
        }
    }
}

/// When a startup ended.
fn ended(record: &Record) -> Option<Timestamp> {
    match record.progress {
        Progress::Ended { at, .. } => Some(at),
        Progress::InFlight { .. } => None,
    }
}
