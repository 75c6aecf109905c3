//! The SLOs in force: read from a file, and used by the tracker and the metrics.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::sync::mpsc;

use super::reload::ReloadTask;
use crate::ConfigGauges;
use podinit_config::FileError;
use podinit_config::reload::{ChangeDetector, ConfigInspection, ReloadStatus, Reloadable};
use podinit_core::lifecycle::{SloRule, StuckAfter};
use podinit_expo::metrics::SloDoc;
use podinit_kube::cluster::clock::DeliveryClock;
use podinit_slo::file::AvailableEvidence;
use podinit_slo::{Slo, SloFile};

/// The SLOs of a file, as the tracker and the metrics need them.
#[derive(Clone, Debug, Default)]
pub struct ExporterSlos {
    pub rules: Arc<[SloRule]>,
    pub docs: Vec<SloDoc>,
    /// When a pod in flight counts as stuck
    pub stuck_after: StuckAfter,
}

impl From<&SloFile> for ExporterSlos {
    fn from(file: &SloFile) -> Self {
        let doc = |slo: &Slo| SloDoc::new(&slo.rule, slo.objective_ratio(), slo.window_seconds());
        Self {
            rules: file.slos.iter().map(|slo| slo.rule.clone()).collect(),
            docs: file.slos.iter().map(doc).collect(),
            stuck_after: file.stuck_limits(),
        }
    }
}

impl ExporterSlos {
    /// Whether any of them selects pods by their owner.
    pub fn need_workload(&self) -> bool {
        self.rules.iter().any(|rule| !rule.owner_kinds.is_empty())
    }
}

/// The SLOs with which an exporter starts, and the task that replaces them.
pub(crate) struct SloSettings {
    pub(crate) slos: ExporterSlos,
    pub(crate) gauges: Arc<ConfigGauges>,
    /// Reloads the file, if there is one
    pub(crate) reload: Option<ReloadTask<SloReload>>,
    /// Receives the SLOs to put in force; closed where they never change
    pub(crate) changes: mpsc::Receiver<ExporterSlos>,
}

impl SloSettings {
    /// Those of `file`, which may need no more than is available, or podinit's own.
    pub(crate) fn open(
        file: Option<&Path>,
        available: AvailableEvidence,
        clock: &Arc<dyn DeliveryClock>,
    ) -> Result<Self, FileError> {
        let gauges = Arc::new(ConfigGauges::new(clock.now()));
        let (sender, changes) = mpsc::channel(1);
        let Some(file) = file else {
            return Ok(Self {
                slos: ExporterSlos::from(&SloFile::built_in()),
                gauges,
                reload: None,
                changes,
            });
        };
        let (detector, slos) =
            ChangeDetector::start(SloFile::inspect(file, &available), clock.now())?;
        let reload = SloReload {
            file: file.to_owned(),
            available,
            gauges: Arc::clone(&gauges),
            changes: sender,
        };
        Ok(Self {
            slos: ExporterSlos::from(&slos),
            gauges,
            reload: Some(ReloadTask::new(reload, detector, Arc::clone(clock))),
            changes,
        })
    }
}

/// Replaces the SLOs in force.
pub(crate) struct SloReload {
    file: PathBuf,
    available: AvailableEvidence,
    gauges: Arc<ConfigGauges>,
    changes: mpsc::Sender<ExporterSlos>,
}

impl Reloadable for SloReload {
    type Config = SloFile;

    const NAME: &'static str = "the SLO file";

    fn path(&self) -> &Path {
        &self.file
    }

    fn inspect(&self) -> ConfigInspection<SloFile, FileError> {
        SloFile::inspect(&self.file, &self.available)
    }

    fn report(&self, status: ReloadStatus) {
        self.gauges.set(status.successful, status.last_success);
    }

    async fn put_in_force(&mut self, file: SloFile) -> bool {
        self.changes.send(ExporterSlos::from(&file)).await.is_ok()
    }
}
