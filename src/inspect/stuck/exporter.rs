//! The stuck pods of a running exporter: the pages of its `/api/v1/stuck`.

use super::{StuckPod, StuckPods};
use crate::cluster::api_error::{ApiError, ApiErrorKind};
use crate::cluster::client::Cluster;
use crate::inspect::api::client::{encoded, fetch};
use crate::inspect::api::model::Page;
use crate::inspect::api::parameters::MOST;
use crate::inspect::explain::addressed;
use crate::inspect::freshness::Freshness;
use crate::inspect::problems::Problems;
use podinit_core::lifecycle::Record;

/// So many pages in a row may add no pod. A page may be empty, since a query looks at 20,000 pods in flight at most:
/// these are two million.
const MOST_EMPTY_PAGES: u32 = 100;

/// Why the exporter has not answered; one line that says what to do.
#[derive(Debug, thiserror::Error)]
#[error("cannot read the stuck pods of {server}: {why}; {fix}")]
pub struct AskError {
    server: String,
    why: String,
    fix: &'static str,
}

/// An exporter, and which of its stuck pods to ask for.
pub struct StuckOfExporter {
    /// A client of the exporter
    pub exporter: Cluster,
    /// Only pods of these; none means all
    pub namespaces: Vec<String>,
}

impl StuckOfExporter {
    /// Asks for at most `limit` stuck pods.
    ///
    /// # Errors
    /// If it does not answer, or with something else.
    pub async fn ask(&self, limit: usize) -> Result<StuckPods, AskError> {
        let mut found = StuckPods {
            complete: true,
            fresh: true,
            source: format!(" --url {}", self.exporter.server.trim_end_matches('/')),
            ..StuckPods::default()
        };
        let all = [None];
        let chosen: Vec<_> = self.namespaces.iter().map(|name| Some(&**name)).collect();
        let namespaces = if chosen.is_empty() { &all[..] } else { &chosen };
        for namespace in namespaces {
            let added = self.add(&mut found, *namespace, limit).await;
            added.map_err(|error| self.explain(error))?;
        }
        // Problems are of all namespaces.
        if found.pods.is_empty() && self.namespaces.is_empty() {
            found.problems = self.problems().await;
        }
        Ok(found)
    }

    /// How many problems there are; `None` where the exporter does not say, as one of an earlier version, or says that it
    /// does not know the present.
    async fn problems(&self) -> Option<usize> {
        let answer = fetch(&self.exporter, "/api/v1/problems").await.ok()?;
        let found: Problems = serde_json::from_slice(answer.body()).ok()?;
        found.fresh.then_some(found.problems.len())
    }

    /// Adds the stuck pods of a namespace, or of all, as long as there are at most `limit`.
    async fn add(
        &self,
        found: &mut StuckPods,
        namespace: Option<&str>,
        limit: usize,
    ) -> Result<(), ApiError> {
        let mut next: Option<String> = None;
        let mut empty = 0;
        loop {
            let before = found.pods.len();
            let room = limit - found.pods.len();
            if room == 0 {
                found.complete = false;
                return Ok(());
            }
            let path = path(namespace, room.min(MOST), next.as_deref());
            let page = self.page(&path).await?;
            // An exporter of an earlier version does not say.
            found.fresh &= page.freshness.as_ref().is_none_or(Freshness::is_fresh);
            found.freshness = page.freshness;
            if let Some(now) = page.time {
                let kubeconfig = found.freshness.as_ref();
                let kubeconfig = kubeconfig.and_then(|freshness| freshness.kubeconfig.as_deref());
                let rows = page.items.iter().filter_map(|item| StuckPod::of(item, now));
                found.pods.extend(rows.take(room).map(|row| StuckPod {
                    next_command: addressed(&row.next_command, kubeconfig),
                    ..row
                }));
                found.time = page.time;
            }
            if page.next.is_none() {
                return Ok(());
            }
            // The place of a page moves on; one that does not would never end.
            if page.next == next {
                return Err(ApiError::malformed("the same page is continued again"));
            }
            empty = match found.pods.len() == before {
                true => empty + 1,
                false => 0,
            };
            if empty == MOST_EMPTY_PAGES {
                let detail = format!(
                    "{empty} pages in a row have no stuck pod, and the last names a further one"
                );
                return Err(ApiError::malformed(detail));
            }
            next = page.next;
        }
    }

    async fn page(&self, path: &str) -> Result<Page<Record>, ApiError> {
        let answer = fetch(&self.exporter, path).await?;
        let (status, body) = (answer.status(), answer.body());
        if !status.is_success() {
            return Err(ApiError::from_response(status, answer.headers(), body));
        }
        serde_json::from_slice(body).map_err(ApiError::malformed)
    }

    fn explain(&self, error: ApiError) -> AskError {
        let fix = match error.kind {
            ApiErrorKind::Unauthorized | ApiErrorKind::Credentials => {
                "give credentials that it accepts: --token-file, or --username and --password-file"
            }
            ApiErrorKind::Forbidden => {
                "grant the right to get /api/v1/stuck, or show a certificate with --cert-file"
            }
            ApiErrorKind::TooManyRequests | ApiErrorKind::ServerError => "try again",
            ApiErrorKind::Transport | ApiErrorKind::Timeout => {
                "check --url, the network and the certificates"
            }
            ApiErrorKind::Malformed => {
                "check that --url is that of a podinit, and use the podinit of its version"
            }
            _ => "check that --url is that of a podinit with the API",
        };
        AskError { server: self.exporter.server.clone(), why: error.detail, fix }
    }
}

fn path(namespace: Option<&str>, limit: usize, next: Option<&str>) -> String {
    let mut path = format!("/api/v1/stuck?limit={limit}");
    for (key, value) in [("namespace", namespace), ("continue", next)] {
        if let Some(value) = value {
            path.push_str(&format!("&{key}={}", encoded(value)));
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_of_a_page_is_encoded() {
        assert_eq!(path(None, 500, None), "/api/v1/stuck?limit=500");
        assert_eq!(
            path(Some("shop"), 7, Some("1.-2.a&b é")),
            "/api/v1/stuck?limit=7&namespace=shop&continue=1.-2.a%26b%20%C3%A9"
        );
    }
}
