//! Exporters whose answers can be trusted, or cannot.

use std::sync::Arc;

use podinit_core::lifecycle::SourceId;
use podinit_core::timestamp::Timestamp;
use podinit_exporter::freshness::FreshnessSource;
use podinit_http::Health;
use podinit_kube::watch::stats::WatchStats;

/// Of an exporter that is in sync or waits for its first list.
pub fn freshness(in_sync: bool) -> Arc<FreshnessSource> {
    let stats = Arc::new(WatchStats::new(1));
    stats.set_synced(SourceId(0), in_sync);
    let clock = || Timestamp::from_seconds(1_700_000_400);
    let source = (stats, Health::new());
    Arc::new(FreshnessSource::new(source, Arc::new(clock), None, Arc::default()))
}
