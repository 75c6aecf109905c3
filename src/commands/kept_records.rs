//! The records that running exporters have kept, for `report --url`.

use crate::cluster::options::ServerOptions;
use crate::inspect::api::client::ApiClient;
use crate::reports::report::KeptRecords;

/// The lists of the API, by their paths.
const IN_FLIGHT: &str = "inflight";
const ENDED: &str = "startups";
/// So many pages are read of a list: all that are kept of startups that have ended, and 2,000 pods in flight.
const MOST_PAGES: usize = 4;

/// What these exporters have kept, the shards of one cluster or of several.
///
/// # Errors
/// If one of them gives no answer that can be used.
pub(super) async fn kept_records(servers: &[ServerOptions]) -> anyhow::Result<KeptRecords> {
    let mut kept = KeptRecords::default();
    for server in servers {
        let exporter = ApiClient::new(server).await?;
        // First: a pod that becomes ready meanwhile is among those that have ended, too, and counts as one of them.
        let in_flight = exporter.list(IN_FLIGHT, &[], MOST_PAGES).await?;
        let newest = exporter.list(ENDED, &[], MOST_PAGES).await?;
        kept.time = kept.time.max(in_flight.time).max(newest.time);
        kept.ended.extend(newest.records);
        kept.in_flight.extend(in_flight.records);
        for sort in ["created_to_ready", "scheduled_to_ready"] {
            let slow = exporter.list(ENDED, &[("sort", sort)], MOST_PAGES).await?;
            kept.slow.extend(slow.records);
        }
    }
    kept.make_unique();
    Ok(kept)
}
