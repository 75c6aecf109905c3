//! What an exporter shows of single startups: the API, the problems and the page.

use std::panic::resume_unwind;
use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use axum::response::IntoResponse;
use http::StatusCode;
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use super::api;
use super::freshness::FreshnessSource;
use super::page::{self, PageSources, SharedHistory};
use super::problems::{self, FindingSnapshots, ProblemFinder};
use super::records::RecordsClient;
use super::rollouts;
use podinit_exporter::start::Exporter;

/// What an exporter leads readers to.
#[derive(Clone, Debug, Default)]
pub struct ExporterLinks {
    /// The path of the file with which kubectl reaches the cluster; only a demo names one
    pub kubeconfig: Option<String>,
    /// Where the runbooks are, if not in the exporter itself; `#` and the anchor of a section are appended
    pub runbook_url: Option<String>,
}

/// Gives an exporter the API, the problems and the page, of the records that it keeps. Problems are found on one thread,
/// and readers are answered on another, since both take long where there are very many pods: so readers together take no
/// more than one processor from what accounts and what finds. Returns what knows the problems, too.
pub fn show(
    exporter: Exporter,
    records: RecordsClient,
    ExporterLinks { kubeconfig, runbook_url }: ExporterLinks,
    (finding, reading): (&Handle, &Handle),
) -> (Exporter, FindingSnapshots) {
    let views = exporter.views().clone();
    let freshness = Arc::new(FreshnessSource::of_exporter(&views, kubeconfig));
    let (publisher, problems) = problems::channel();
    let finder = ProblemFinder::new(records.clone(), publisher, views.problem_pods)
        .with_stuck_rollouts(views.stuck_rollouts)
        .with_runbooks(runbook_url.clone());
    let api = api::router(records.clone(), views.label_keys, Arc::clone(&freshness));
    let routes = api
        .merge(problems::router(problems.clone(), Arc::clone(&freshness)))
        .merge(rollouts::router(problems.clone(), Arc::clone(&freshness)));
    let sources = PageSources {
        metrics_path: views.metrics_path,
        cluster: views.cluster,
        runbook_url: runbook_url.map(Arc::from),
        records,
        problems: problems.clone(),
        freshness,
        exposition: views.exposition,
        health: views.health,
        clock: views.clock,
        history: SharedHistory::default(),
    };
    let budgets = sources.clone();
    let finder = finder.with_budgets(move || budgets.history.lost_budgets(&budgets));
    let page = page::router(sources.clone());
    let exporter = exporter
        .showing(answered_on(reading, routes), answered_on(reading, page))
        .running("the history of the page", &Handle::current(), |shutdown| {
            sample(sources, shutdown)
        })
        .running("the problems", finding, |shutdown| finder.run(shutdown));
    (exporter, problems)
}

/// Routes whose requests run on `thread`. A client that goes away cancels its request.
fn answered_on(thread: &Handle, routes: Router) -> Router {
    let thread = thread.clone();
    routes.layer(from_fn(move |request: Request, next: Next| {
        let answer = AbortOnDropHandle::new(thread.spawn(next.run(request)));
        async move {
            answer.await.unwrap_or_else(|failed| match failed.try_into_panic() {
                Ok(panic) => resume_unwind(panic),
                Err(_) => StatusCode::SERVICE_UNAVAILABLE.into_response(),
            })
        }
    }))
}

/// Whether the API or the page has the path, so that metrics cannot be there.
pub fn serves(path: &str) -> bool {
    page::serves(path) || path.starts_with("/api/")
}

/// Takes samples for the history of the page, after findings, until `shutdown`.
async fn sample(sources: PageSources, shutdown: CancellationToken) {
    let mut findings = sources.problems.clone();
    while shutdown.run_until_cancelled(findings.next()).await == Some(true) {
        // This also records when the sync came, by a clock that may run faster than this machine's.
        _ = sources.freshness.now();
        sources.history.sample(sources.clock.now(), &sources);
    }
}
