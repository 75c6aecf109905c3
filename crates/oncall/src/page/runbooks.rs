//! The runbooks as pages: those of the repository, in the binary that they are about.
//!
//! `/runbooks` lists them, and `/runbooks/NAME` is the one of an alert or a cause. A link to a file that only the
//! repository has is text here.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use askama::Template;
use pulldown_cmark::{CowStr, Event, Options, Parser, Tag, TagEnd, html};

/// The text of all runbooks, of which the repository has the only copy.
const SOURCE: &str = include_str!("../../../../deploy/runbooks.md");
/// The heading of the runbook of a cause, before its name.
const CAUSE: &str = "Cause: ";

/// Each runbook by its name, in their order.
static RUNBOOKS: LazyLock<Vec<Runbook>> = LazyLock::new(|| read(SOURCE));

/// What to do for one alert or one cause.
#[derive(Debug)]
struct Runbook {
    /// As it stands in the path: the alert, or the cause without a prefix
    name: String,
    title: &'static str,
    /// The anchors of its headings, its own first
    anchors: Vec<String>,
    text: &'static str,
}

#[derive(Template)]
#[template(path = "page/templates/runbook.html")]
struct RunbookPage {
    root: &'static str,
    title: String,
    html: String,
    /// The paths and titles of alerts, and of causes
    alerts: Vec<(String, String)>,
    causes: Vec<(String, String)>,
}

/// The link to the runbook of `cause` on a page whose root is `root`; at `url`, where one was chosen.
pub(super) fn link(root: &str, url: Option<&str>, cause: &str) -> String {
    match url {
        Some(url) => format!("{url}#cause-{cause}"),
        None => format!("{root}runbooks/{cause}"),
    }
}

/// The page that lists all runbooks.
pub(super) fn index() -> askama::Result<String> {
    let entry = |runbook: &Runbook| {
        let title = runbook.title.strip_prefix(CAUSE).unwrap_or(runbook.title);
        (format!("runbooks/{}", runbook.name), title.to_owned())
    };
    let (causes, alerts): (Vec<&Runbook>, Vec<&Runbook>) =
        RUNBOOKS.iter().partition(|runbook| runbook.title.starts_with(CAUSE));
    RunbookPage {
        root: "",
        title: "Runbooks".to_owned(),
        html: String::new(),
        alerts: alerts.into_iter().map(entry).collect(),
        causes: causes.into_iter().map(entry).collect(),
    }
    .render()
}

/// The page of the runbook of this name; `None` if no runbook has it.
pub(super) fn page(name: &str) -> Option<askama::Result<String>> {
    let runbook = RUNBOOKS.iter().find(|runbook| runbook.name == name)?;
    let page = RunbookPage {
        root: "../",
        title: runbook.title.to_owned(),
        html: to_html(runbook.text),
        alerts: Vec::new(),
        causes: Vec::new(),
    };
    Some(page.render())
}

/// The sections of the second level, each without its heading.
fn read(source: &'static str) -> Vec<Runbook> {
    let sections = source.split("\n## ").skip(1);
    let runbooks = sections.map(|section| {
        let (title, text) = section.split_once('\n').unwrap_or((section, ""));
        let headings = text.lines().filter_map(|line| line.strip_prefix("### "));
        Runbook {
            name: title.strip_prefix(CAUSE).unwrap_or(title).to_owned(),
            title,
            anchors: [title].into_iter().chain(headings).map(anchor).collect(),
            text,
        }
    });
    runbooks.collect()
}

/// The anchor of a heading, as GitHub makes it.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|one| one.is_alphanumeric() || " -_".contains(*one));
    kept.map(|one| if one == ' ' { '-' } else { one.to_ascii_lowercase() }).collect()
}

/// Where a link leads from the page of a runbook; `None` where nothing is served.
fn target(link: &str) -> Option<String> {
    if link.starts_with("https://") {
        return Some(link.to_owned());
    }
    static PLACES: LazyLock<BTreeMap<&str, (&str, bool)>> = LazyLock::new(|| {
        let places = RUNBOOKS.iter().flat_map(|runbook| {
            let anchors = runbook.anchors.iter().enumerate();
            anchors.map(|(number, anchor)| (&**anchor, (&*runbook.name, number == 0)))
        });
        places.collect()
    });
    let anchor = link.strip_prefix('#')?;
    let (name, is_its_own) = PLACES.get(anchor)?;
    Some(if *is_its_own { (*name).to_owned() } else { format!("{name}#{anchor}") })
}

fn to_html(text: &str) -> String {
    let mut is_open = Vec::new();
    let events = Parser::new_ext(text, Options::ENABLE_TABLES).filter_map(|event| match event {
        Event::Start(Tag::Link { link_type, dest_url, title, id }) => {
            let target = target(&dest_url);
            is_open.push(target.is_some());
            let dest_url = CowStr::from(target?);
            Some(Event::Start(Tag::Link { link_type, dest_url, title, id }))
        }
        Event::End(TagEnd::Link) => is_open.pop()?.then_some(event),
        // Whatever looks like HTML is text.
        Event::Html(raw) | Event::InlineHtml(raw) => Some(Event::Text(raw)),
        event => Some(event),
    });
    let mut page = String::new();
    html::push_html(&mut page, with_anchors(events.collect()).into_iter());
    page
}

/// The events, with anchors at headings.
fn with_anchors(mut events: Vec<Event<'_>>) -> Vec<Event<'_>> {
    for place in 0..events.len() {
        let text: String = match &events[place] {
            Event::Start(Tag::Heading { .. }) => (events[place..].iter())
                .take_while(|event| !matches!(event, Event::End(TagEnd::Heading(_))))
                .filter_map(|event| match event {
                    Event::Text(text) | Event::Code(text) => Some(&**text),
                    _ => None,
                })
                .collect(),
            _ => continue,
        };
        if let Event::Start(Tag::Heading { id, .. }) = &mut events[place] {
            *id = Some(anchor(&text).into());
        }
    }
    events
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use podinit_core::lifecycle::Cause;

    #[test]
    fn every_cause_has_a_page_and_every_link_leads_somewhere() {
        let index = index().unwrap();
        for cause in Cause::ALL {
            let name = cause.as_str();
            assert!(index.contains(&format!("href=\"runbooks/{name}\"")), "{name}");
            let page = page(name).unwrap().unwrap();
            assert!(page.contains(&format!("<h1>Cause: {name}</h1>")), "{page}");
            assert!(page.contains("<strong>Means.</strong>"), "{page}");
        }
        assert!(page("nonsense").is_none() && page("").is_none());
        for runbook in RUNBOOKS.iter() {
            let page = page(&runbook.name).unwrap().unwrap();
            for link in page.split("href=\"").skip(1).map(|rest| rest.split('"').next().unwrap()) {
                let (name, anchor) = link.split_once('#').unwrap_or((link, ""));
                let is_page = RUNBOOKS.iter().any(|other| {
                    let has = anchor.is_empty() || other.anchors.iter().any(|one| one == anchor);
                    other.name == name && has
                });
                let is_other = link.starts_with("https://") || link.starts_with("../");
                assert!(is_page || is_other, "{}: {link}", runbook.name);
                assert!(!link.contains(".md"), "{}: {link}", runbook.name);
            }
        }
    }

    #[test]
    fn a_link_to_a_file_is_text_and_so_is_html() {
        let html =
            to_html("[queues](../docs/a.md) [clock](#cause-clock) <script>\n\n### A b: `c`\n");
        assert_eq!(
            html,
            "<p>queues <a href=\"clock\">clock</a> &lt;script&gt;</p>\n<h3 id=\"a-b-c\">A b: <code>c</code></h3>\n"
        );
        let find = to_html("[**Find**](#find-the-pods)");
        assert_eq!(find, "<p><a href=\"Causes#find-the-pods\"><strong>Find</strong></a></p>\n");
    }

    #[test]
    fn a_url_takes_the_place_of_the_pages() {
        assert_eq!(link("../../", None, "image"), "../../runbooks/image");
        let url = Some("https://wiki.example/runbooks");
        assert_eq!(link("", url, "image"), "https://wiki.example/runbooks#cause-image");
    }
}
