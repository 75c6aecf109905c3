//! Exporters whose answers can be trusted, or cannot.

use std::sync::Arc;

use podinit_core::lifecycle::SourceId;
use podinit_core::timestamp::Timestamp;
use podinit_exporter::WaitsFor;
use podinit_http::ProcessHealth;
use podinit_kube::watch::stats::WatchStats;
use podinit_oncall::freshness::FreshnessSource;

/// Of an exporter that is in sync or waits for its first list.
pub fn freshness(in_sync: bool) -> Arc<FreshnessSource> {
    Arc::new(source(in_sync, WaitsFor::default()))
}

/// Of an exporter that waits for this.
pub fn waiting_for(what: &str) -> Arc<FreshnessSource> {
    let waits_for = WaitsFor::default();
    waits_for.set(Some(what.to_owned()));
    Arc::new(source(false, waits_for))
}

fn source(in_sync: bool, waits_for: WaitsFor) -> FreshnessSource {
    let stats = Arc::new(WatchStats::new(1));
    stats.set_synced(SourceId(0), in_sync);
    let clock = || Timestamp::from_seconds(1_700_000_400);
    let source = (stats, ProcessHealth::new());
    FreshnessSource::new(source, Arc::new(clock), None, Arc::default(), Arc::new(waits_for))
}
