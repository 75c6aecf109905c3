//! The stuck pods of a running exporter.

use super::{StuckPod, StuckPods};
use crate::inspect::api::client::{ApiClient, AskError, List};
use crate::inspect::explain::addressed;
use crate::inspect::freshness::Freshness;

impl StuckPods {
    /// At most `limit` of the pods that are stuck for an exporter, of these namespaces; none means all.
    ///
    /// # Errors
    /// If there is no answer that can be used.
    pub async fn of_exporter(
        exporter: &ApiClient,
        namespaces: &[String],
        limit: usize,
    ) -> Result<Self, AskError> {
        let mut found = Self {
            complete: true,
            fresh: true,
            source: format!(" --url {}", exporter.url()),
            ..Self::default()
        };
        let chosen = namespaces.iter().map(|name| vec![("namespace", &**name)]);
        let chosen: Vec<_> = if namespaces.is_empty() { vec![vec![]] } else { chosen.collect() };
        for parameters in chosen {
            let room = limit - found.pods.len();
            if room == 0 {
                found.complete = false;
                break;
            }
            let list = exporter.list(List::Stuck, &parameters, room).await?;
            // An exporter of an earlier version does not say.
            found.fresh &= list.freshness.as_ref().is_none_or(Freshness::is_fresh);
            found.complete &= !list.has_more;
            let rows = list.records.iter().filter_map(|one| StuckPod::of(one, list.time?));
            found.pods.extend(rows.map(|row| StuckPod {
                next_command: addressed(&row.next_command, list.kubeconfig()),
                ..row
            }));
            found.time = list.time.or(found.time);
            found.freshness = list.freshness;
        }
        // Problems are of all namespaces.
        if found.pods.is_empty() && namespaces.is_empty() {
            // An exporter of an earlier version does not say.
            let problems = exporter.problems().await.ok().filter(|problems| problems.fresh);
            found.problems = problems.map(|problems| problems.problems.len());
        }
        Ok(found)
    }
}
