//! The page of one pod.

use askama::Template;

use super::link::query;
use super::overview::PageFooter;
use super::runbooks;
use super::waterfall::{PodWaterfall, ROW, WIDTH, waterfall};
use crate::explain::{
    AutoscalerLine, CauseLine, Explanation, MilestoneLine, SloLine, StartupHealth, gate_in_words,
};
use crate::problems::Problem;
use podinit_core::lifecycle::RecordedGate;
use podinit_text::human_time::{date_and_time, seconds};
use podinit_text::words::{percent, thousands};

/// From its path to the root.
const ROOT: &str = "../../";

#[derive(Template)]
#[template(path = "page/templates/pod.html")]
struct PodPage<'a> {
    root: &'static str,
    explanation: &'a Explanation,
    /// `calm`, `warn` or `bad`: green, amber or red; `plain` of what may still go either way
    level: &'static str,
    problem: Option<PodProblem<'a>>,
    waterfall: PodWaterfall,
    width: f64,
    row: f64,
    parts: Vec<(String, String, String)>,
    /// What an autoscaler has said, and since when
    autoscaler: Option<(&'a AutoscalerLine, String)>,
    /// Its times for people
    began: String,
    milestones: Vec<(&'a MilestoneLine, String)>,
    gates: Vec<(&'a RecordedGate, String)>,
    causes: Vec<(&'a CauseLine, String)>,
    slos: Vec<(&'a SloLine, String)>,
    /// The cause for which it waits, and what to do, on a page of the exporter
    runbook: Option<(&'static str, String)>,
    /// Of a page of the exporter; `None` of a file by itself
    foot: Option<PageFooter>,
    /// The style of a file by itself
    style: Option<String>,
}

/// The problem that a pod is one of the pods of.
struct PodProblem<'a> {
    problem: &'a Problem,
    /// `One of 939 pods`
    text: String,
    /// The overview of it
    page: String,
}

impl<'a> PodProblem<'a> {
    fn new(problem: &'a Problem) -> Self {
        let text = match problem.pods {
            1 => "The only pod".to_owned(),
            pods => format!("One of {} pods", thousands(pods)),
        };
        let page = query(&[("cause", &problem.cause)]) + "#problems";
        Self { problem, text, page }
    }
}

/// The page of an explained startup: of an exporter with its `foot`, and the `problem` that the pod is one of, or a
/// file by itself.
///
/// # Errors
/// None: the template writes to a text.
pub fn pod_page(
    explanation: &Explanation,
    foot: Option<PageFooter>,
    problem: Option<&Problem>,
) -> askama::Result<String> {
    let parts = explanation
        .parts
        .iter()
        .map(|part| (part.part.to_owned(), seconds(part.seconds), percent(part.share)));
    let runbook = foot.as_ref().zip(explanation.cause()).map(|(foot, cause)| {
        let cause = cause.as_str();
        (cause, runbooks::link(ROOT, foot.runbook_url.as_deref(), cause))
    });
    let page = PodPage {
        runbook,
        root: ROOT,
        explanation,
        level: match explanation.standing {
            StartupHealth::Ready => "calm",
            StartupHealth::Failed | StartupHealth::Stuck => "bad",
            StartupHealth::Open if problem.is_some() => "warn",
            StartupHealth::Open => "plain",
        },
        problem: problem.map(PodProblem::new),
        waterfall: waterfall(explanation),
        width: WIDTH,
        row: ROW,
        parts: parts.collect(),
        autoscaler: (explanation.unschedulable.as_ref())
            .and_then(|said| Some((said, date_and_time(said.since?)))),
        began: date_and_time(explanation.began),
        milestones: (explanation.milestones.iter())
            .map(|line| (line, line.time.map_or_else(|| "not known".to_owned(), date_and_time)))
            .collect(),
        gates: explanation.gates.iter().map(|gate| (gate, gate_in_words(gate))).collect(),
        causes: (explanation.causes.iter()).map(|line| (line, date_and_time(line.began))).collect(),
        slos: (explanation.slos.iter())
            .map(|slo| (slo, slo.deadline.map_or_else(String::new, date_and_time)))
            .collect(),
        style: foot.is_none().then(super::style),
        foot,
    };
    page.render()
}
