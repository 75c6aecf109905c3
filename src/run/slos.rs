//! The SLOs in force: from the file to the tracker and the metrics, at the start and whenever the
//! file changes.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::looks::Looks;
use crate::cluster::clock::Clock;
use crate::config_file::reload::Reloader;
use crate::config_file::yaml::FileError;
use crate::lifecycle::slo::SloRule;
use crate::metrics::{ConfigGauges, SloDoc};
use crate::server::Heartbeat;
use crate::slo::SloFile;

/// The SLOs of a file, as the parts of the program need them.
#[derive(Clone, Debug, Default)]
pub(super) struct Slos {
    pub(super) rules: Arc<[SloRule]>,
    pub(super) docs: Vec<SloDoc>,
}

impl From<&SloFile> for Slos {
    fn from(file: &SloFile) -> Self {
        Self {
            rules: file.slos.iter().map(|slo| slo.rule.clone()).collect(),
            docs: file.slos.iter().map(SloDoc::from).collect(),
        }
    }
}

impl Slos {
    /// Whether any of them has to know the owners of pods.
    pub(super) fn need_workload(&self) -> bool {
        self.rules.iter().any(|rule| !rule.owner_kinds.is_empty())
    }
}

/// The SLOs with which an exporter starts, and how it learns of others.
pub(super) struct InForce {
    pub(super) slos: Slos,
    pub(super) gauges: Arc<ConfigGauges>,
    /// Looks after the file, if there is one
    pub(super) watch: Option<SloWatch>,
    /// The SLOs that are to be in force from then on; closed when they never change
    pub(super) changes: mpsc::Receiver<Slos>,
}

impl InForce {
    /// Those of `file`, or podinit's own.
    pub(super) fn open(file: Option<&Path>, clock: &Arc<dyn Clock>) -> Result<Self, FileError> {
        let gauges = Arc::new(ConfigGauges::new(clock.now()));
        let (sender, changes) = mpsc::channel(1);
        let Some(file) = file else {
            let slos = Slos::from(&SloFile::built_in());
            return Ok(Self {
                slos,
                gauges,
                watch: None,
                changes,
            });
        };
        let (reloader, slos) = Reloader::start(SloFile::look(file), clock.now())?;
        let slos = Slos::from(&slos);
        let watch = SloWatch {
            file: file.to_owned(),
            reloader,
            gauges: Arc::clone(&gauges),
            clock: Arc::clone(clock),
            changes: sender,
        };
        Ok(Self {
            slos,
            gauges,
            watch: Some(watch),
            changes,
        })
    }

    /// Whether owners have to be read of pods. Which ones an SLO is about may change with its file.
    pub(super) fn may_need_workload(&self) -> bool {
        self.watch.is_some() || self.slos.need_workload()
    }
}

/// Looks after an SLO file for as long as the process runs.
pub(super) struct SloWatch {
    file: PathBuf,
    reloader: Reloader,
    gauges: Arc<ConfigGauges>,
    pub(super) clock: Arc<dyn Clock>,
    changes: mpsc::Sender<Slos>,
}

impl SloWatch {
    /// Looks at the file every few seconds until `shutdown`. A file that is broken is told of once,
    /// and changes nothing.
    pub(super) async fn run(mut self, shutdown: CancellationToken, heartbeat: Heartbeat) {
        let mut looks = Looks::begin();
        while looks.next(&shutdown).await {
            if let Some(slos) = self.look()
                && self.changes.send(slos).await.is_err()
            {
                break;
            }
            heartbeat.beat();
        }
        heartbeat.finish();
    }

    fn look(&mut self) -> Option<Slos> {
        let Self {
            file,
            reloader,
            gauges,
            clock,
            ..
        } = self;
        let found = reloader.poll(SloFile::look(file), clock.now())?;
        let status = reloader.status();
        gauges.set(status.successful, status.last_success);
        match found {
            Ok(slos) => {
                tracing::info!(file = %file.display(), slos = slos.slos.len(), "SLOs reloaded");
                Some(Slos::from(&slos))
            }
            Err(error) => {
                tracing::warn!("{error}; the SLOs in force remain");
                None
            }
        }
    }
}
