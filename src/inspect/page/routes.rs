//! The routes of the page, and what they ask for.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::extract::{Path, Query as Parameters, State};
use axum::response::{Html, IntoResponse, Response};
use axum::routing::get;
use http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, HeaderValue};
use http::{HeaderMap, StatusCode};
use serde::Deserialize;
use tokio::time::Instant;

use super::STYLE;
use super::history::{History, Sample};
use super::overview::{Foot, Overview};
use super::pod_page::pod_page;
use crate::cluster::clock::Clock;
use crate::inspect::explain::{Context, Explanation, Fleet, Peers};
use crate::inspect::problems::Finder;
use crate::inspect::records::{
    Answer, Filter, Position, Query, RecordsClient, Sort, Unanswered, Whole,
};
use crate::metrics::Exposition;
use crate::server::Health;
use crate::text::human_time::time_of_day;
use crate::watch::stats::WatchStats;
use podinit_core::lifecycle::{Outcome, Progress, Record};
use podinit_core::timestamp::Timestamp;

/// The page loads nothing but its style, runs nothing, and cannot be framed.
const POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; \
     frame-ancestors 'none'",
);
const REFRESH: HeaderName = HeaderName::from_static("refresh");
/// Seconds until a page loads again.
const REFRESH_AFTER: u64 = 10;
/// How long an overview serves everybody who asks.
const OVERVIEW_AGE: Duration = Duration::from_secs(2);
/// Pods in flight of one answer, and how many answers the page asks for.
const PAGE: usize = 500;
const MOST_PAGES: usize = 4;
/// So many of the slowest startups are shown.
const SLOWEST: usize = 20;
/// So many of the newest startups are the fleet that a pod is compared with.
const FLEET: usize = 500;

/// The history, written by its task and read by the page.
#[derive(Clone, Debug, Default)]
pub struct SharedHistory(Arc<Mutex<History>>);

impl SharedHistory {
    /// Takes a sample.
    pub fn sample(&self, now: Timestamp, exposition: &Exposition) {
        let sample = Sample::new(now, &exposition.figures());
        self.lock().add(sample);
    }

    fn get(&self) -> History {
        self.lock().clone()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, History> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where the page gets what it shows.
#[derive(Clone)]
pub struct PageSources {
    pub records: RecordsClient,
    pub finder: Arc<Finder>,
    pub exposition: Arc<Exposition>,
    pub stats: Arc<WatchStats>,
    pub health: Health,
    pub clock: Arc<dyn Clock>,
    pub history: SharedHistory,
}

struct Page {
    sources: PageSources,
    /// The newest overview; whoever finds it too old makes the next one while others wait
    overview: tokio::sync::Mutex<Option<Made>>,
}

/// An overview that was made.
struct Made {
    at: Instant,
    /// As it loads again by itself
    live: Arc<str>,
    /// As it does not
    still: Arc<str>,
}

/// `/`, `/style.css` and `/pods/NAMESPACE/NAME`.
pub fn router(sources: PageSources) -> Router {
    let page = Page {
        sources,
        overview: tokio::sync::Mutex::default(),
    };
    Router::new()
        .route("/", get(overview))
        .route("/style.css", get(style))
        .route("/pods/{namespace}/{name}", get(pod))
        .with_state(Arc::new(page))
}

/// What a reader can choose.
#[derive(Deserialize)]
struct Choice {
    /// `off`: the page does not load again by itself
    refresh: Option<String>,
}

impl Choice {
    fn refreshes(&self) -> bool {
        self.refresh.as_deref() != Some("off")
    }
}

async fn style() -> Response {
    let css = HeaderValue::from_static("text/css; charset=utf-8");
    ([(CONTENT_TYPE, css)], STYLE).into_response()
}

async fn overview(State(page): State<Arc<Page>>, choice: Parameters<Choice>) -> Response {
    let mut kept = page.overview.lock().await;
    let is_fresh = |made: &Made| made.at.elapsed() < OVERVIEW_AGE;
    let made = match kept.take().filter(is_fresh) {
        Some(made) => made,
        None => match page.sources.overview().await {
            Ok(made) => made,
            Err(error) => return unavailable(&error),
        },
    };
    let made = kept.insert(made);
    let html = match choice.refreshes() {
        true => &made.live,
        false => &made.still,
    };
    answer(html.to_string(), choice.refreshes())
}

async fn pod(
    State(page): State<Arc<Page>>,
    Path((namespace, name)): Path<(String, String)>,
    choice: Parameters<Choice>,
) -> Response {
    match page.sources.pod(namespace, name, choice.refreshes()).await {
        Ok(Some(html)) => answer(html, choice.refreshes()),
        Ok(None) => {
            let text = "no such pod is starting up, and no record of it is kept\n";
            (StatusCode::NOT_FOUND, text).into_response()
        }
        Err(error) => unavailable(&error),
    }
}

fn answer(html: String, refreshes: bool) -> Response {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_SECURITY_POLICY, POLICY);
    if refreshes {
        headers.insert(REFRESH, HeaderValue::from(REFRESH_AFTER));
    }
    (headers, Html(html)).into_response()
}

fn unavailable(error: &anyhow::Error) -> Response {
    (StatusCode::SERVICE_UNAVAILABLE, format!("{error}\n")).into_response()
}

impl PageSources {
    /// The page at `/`.
    async fn overview(&self) -> anyhow::Result<Made> {
        let at = Instant::now();
        let slowest = Query::Ended {
            filter: Filter::default(),
            sort: Sort::Slowest(Whole::CreatedToReady),
            after: None,
            limit: SLOWEST,
        };
        let overview = Overview {
            in_flight: self.in_flight(false).await?,
            stuck: self.in_flight(true).await?,
            problems: self.finder.problems().await?.problems.clone(),
            slowest: self.records.ask(slowest).await?.records,
            last_ready: self.newest_ready(1).await?.first().and_then(ended),
            figures: self.exposition.figures(),
            history: self.history.get(),
            foot: self.foot(true),
        };
        let now = self.clock.now();
        let still = Overview {
            foot: self.foot(false),
            ..overview.clone()
        };
        Ok(Made {
            at,
            live: overview.render(now)?.into(),
            still: still.render(now)?.into(),
        })
    }

    /// The page of a pod; `None` if nothing is known of it.
    async fn pod(
        &self,
        namespace: String,
        name: String,
        refreshes: bool,
    ) -> anyhow::Result<Option<String>> {
        let answer = self.records.ask(Query::Pod { namespace, name }).await?;
        let Some(record) = answer.records.into_iter().next() else {
            return Ok(None);
        };
        let context = Context {
            fleet: Fleet::of_records(&self.newest_ready(FLEET).await?, record.uid),
            peers: self.peers(&record).await?,
            ..Context::default()
        };
        let explanation = Explanation::new(&record, context, self.clock.now());
        Ok(Some(pod_page(&explanation, Some(self.foot(refreshes)))?))
    }

    async fn peers(&self, record: &Record) -> Result<Option<Peers>, Unanswered> {
        match record.progress {
            Progress::InFlight { .. } => Ok(Peers::among(&self.in_flight(false).await?, record)),
            Progress::Ended { .. } => Ok(None),
        }
    }

    /// The first pods in flight, or the stuck ones of them.
    async fn in_flight(&self, stuck: bool) -> Result<Vec<Record>, Unanswered> {
        let (mut records, mut after) = (Vec::new(), None);
        for _ in 0..MOST_PAGES {
            let query = Query::InFlight {
                filter: Filter::default(),
                stuck,
                after,
                limit: PAGE,
            };
            let Answer {
                records: found,
                next,
                ..
            } = self.records.ask(query).await?;
            records.extend(found);
            match next {
                Some(Position::InFlight(next)) => after = Some(next),
                _ => break,
            }
        }
        Ok(records)
    }

    /// The newest startups that ended as ready.
    async fn newest_ready(&self, limit: usize) -> Result<Vec<Record>, Unanswered> {
        let query = Query::Ended {
            filter: Filter {
                outcome: Some(Outcome::Ready),
                ..Filter::default()
            },
            sort: Sort::Newest,
            after: None,
            limit,
        };
        Ok(self.records.ask(query).await?.records)
    }

    fn foot(&self, refreshes: bool) -> Foot {
        let or_why = |state: Result<(), String>| match state {
            Ok(()) => "yes".to_owned(),
            Err(reason) => reason,
        };
        Foot {
            version: env!("CARGO_PKG_VERSION"),
            synced: self.stats.synced(),
            ready: or_why(self.health.readiness()),
            live: or_why(self.health.liveness()),
            time: time_of_day(self.clock.now()),
            refresh: refreshes.then_some(REFRESH_AFTER),
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
