//! The landing page: what podinit is, its state, and links.

use std::fmt::{self, Write};

use super::scrape::ExporterStatus;
use podinit_text::strangers_text::shown_as;

/// What the page shows.
#[derive(Clone, Debug)]
pub(super) struct Page<'a> {
    /// The version of podinit
    pub(super) version: &'a str,
    /// Unknown parts are left out
    pub(super) status: ExporterStatus,
    /// Ready, or why not
    pub(super) readiness: &'a Result<(), String>,
    /// Live, or why not
    pub(super) liveness: &'a Result<(), String>,
}

/// Links, and where they lead.
const LINKS: [(&str, &str); 3] = [
    ("/metrics", "metrics for Prometheus: protobuf, OpenMetrics or text"),
    ("/readyz", "readiness: whether the first list of pods is complete"),
    ("/livez", "liveness: whether every task of this process runs"),
];

impl fmt::Display for Page<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(concat!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n",
            "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n",
            "<title>podinit</title>\n<style>",
            ":root{color-scheme:light dark}",
            "body{font:1rem/1.5 system-ui,sans-serif;max-width:42rem;margin:2rem auto;padding:0 1rem}",
            "dt{font-weight:600}dd{margin:0 0 .5rem}",
            "</style>\n</head>\n<body>\n<main>\n<h1>podinit</h1>\n",
            "<p>How fast, and how reliably, this cluster starts its pods.</p>\n<dl>\n",
        ))?;
        entry(f, "Version", &self.version)?;
        if let Some(synced) = self.status.synced {
            entry(f, "Watch", &if synced { "in sync" } else { "not in sync" })?;
        }
        if let Some(pods) = self.status.pods_in_flight {
            entry(f, "Pods in flight", &pods)?;
        }
        entry(f, "Ready", &yes_or_why(self.readiness))?;
        entry(f, "Live", &yes_or_why(self.liveness))?;
        f.write_str("</dl>\n<h2>Endpoints</h2>\n<ul>\n")?;
        for (path, meaning) in LINKS {
            writeln!(f, "<li><a href=\"{path}\">{path}</a>: {meaning}</li>")?;
        }
        f.write_str("</ul>\n</main>\n</body>\n</html>\n")
    }
}

fn yes_or_why(state: &Result<(), String>) -> &str {
    match state {
        Ok(()) => "yes",
        Err(reason) => reason,
    }
}

fn entry(f: &mut fmt::Formatter<'_>, term: &str, description: &dyn fmt::Display) -> fmt::Result {
    write!(f, "<dt>{term}</dt><dd>")?;
    write!(Escaped(f), "{description}")?;
    f.write_str("</dd>\n")
}

/// Escapes text for elements and quoted attributes.
struct Escaped<'a, W>(&'a mut W);

impl<W: Write> Write for Escaped<'_, W> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for character in text.chars() {
            match character {
                '&' => self.0.write_str("&amp;")?,
                '<' => self.0.write_str("&lt;")?,
                '>' => self.0.write_str("&gt;")?,
                '"' => self.0.write_str("&quot;")?,
                '\'' => self.0.write_str("&#39;")?,
                other => self.0.write_char(shown_as(other))?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_shows_only_what_is_known() {
        let unknown = Page {
            version: "1.2.3",
            status: ExporterStatus::default(),
            readiness: &Ok(()),
            liveness: &Ok(()),
        };
        let text = unknown.to_string();
        assert!(text.contains("<dt>Version</dt><dd>1.2.3</dd>"));
        assert!(!text.contains("Watch"));
        let known = Page {
            status: ExporterStatus { synced: Some(false), pods_in_flight: Some(7) },
            ..unknown
        };
        let text = known.to_string();
        assert!(text.contains("<dt>Watch</dt><dd>not in sync</dd>"));
        assert!(text.contains("<dt>Pods in flight</dt><dd>7</dd>"));
        for (path, _) in LINKS {
            assert!(text.contains(&format!("<a href=\"{path}\">")));
        }
    }

    #[test]
    fn reasons_are_escaped() {
        let page = Page {
            version: "1",
            status: ExporterStatus::default(),
            readiness: &Err("<script>'a' & \"b\"".to_owned()),
            liveness: &Ok(()),
        };
        let text = page.to_string();
        assert!(text.contains("&lt;script&gt;&#39;a&#39; &amp; &quot;b&quot;"));
        assert!(!text.contains("<script"));
    }
}
