//! The page of one pod.

use askama::Template;

use super::overview::Foot;
use super::waterfall::{ROW, WIDTH, Waterfall, waterfall};
use crate::inspect::explain::Explanation;
use crate::text::human_time::seconds;

#[derive(Template)]
#[template(path = "inspect/page/templates/pod.html", config = "src/askama.toml")]
struct PodPage<'a> {
    root: &'static str,
    explanation: &'a Explanation,
    waterfall: Waterfall,
    width: f64,
    row: f64,
    parts: Vec<(String, String, u64)>,
    /// Of a page of the exporter; `None` of a file by itself
    foot: Option<Foot>,
    /// The style of a file by itself
    style: Option<&'static str>,
}

/// The page of an explained startup: of an exporter with its `foot`, or a file by itself.
///
/// # Errors
/// None: the template writes to a text.
pub fn pod_page(explanation: &Explanation, foot: Option<Foot>) -> askama::Result<String> {
    let parts = explanation.parts.iter().map(|part| {
        let percent = (part.share * 100.0).round() as u64;
        (part.part.to_owned(), seconds(part.seconds), percent)
    });
    let page = PodPage {
        root: "../../",
        explanation,
        waterfall: waterfall(explanation),
        width: WIDTH,
        row: ROW,
        parts: parts.collect(),
        style: foot.is_none().then_some(super::STYLE),
        foot,
    };
    page.render()
}
