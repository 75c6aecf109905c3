//! The web configuration in force: from the file to the gate, at the start and whenever the file,
//! or one that it names, changes.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::looks::Looks;
use crate::access::{AccessStats, Gate};
use crate::reload::{Look, Reloader};
use crate::watch::clock::Clock;
use crate::web_config::WebConfig;
use crate::yaml::FileError;

/// The web configuration with which an exporter starts, and how it learns of others.
pub(super) struct Web {
    pub(super) config: WebConfig,
    pub(super) stats: Arc<AccessStats>,
    source: Option<Source>,
    clock: Arc<dyn Clock>,
}

struct Source {
    file: PathBuf,
    reloader: Reloader,
    /// Whether bearer tokens are asked for, beside which there can be no users
    tokens: bool,
}

impl Web {
    /// The one of `file`, or one that asks for nothing.
    pub(super) fn open(
        file: Option<&Path>,
        tokens: bool,
        clock: &Arc<dyn Clock>,
    ) -> Result<Self, FileError> {
        let (config, source) = match file {
            None => (WebConfig::default(), None),
            Some(file) => {
                let (reloader, config) = Reloader::start(look(file, tokens), clock.now())?;
                let file = file.to_owned();
                let source = Source {
                    file,
                    reloader,
                    tokens,
                };
                (config, Some(source))
            }
        };
        if config.tls.is_none() && (tokens || !config.users.is_empty()) {
            tracing::warn!(
                "passwords and tokens are sent to podinit in clear text; give it a certificate in \
                 the file of --web-config"
            );
        }
        Ok(Self {
            config,
            stats: Arc::new(AccessStats::new(clock.now())),
            source,
            clock: Arc::clone(clock),
        })
    }

    /// Looks after the file, if there is one, on behalf of `gate`.
    pub(super) fn watch(self, gate: Arc<Gate>) -> Option<WebWatch> {
        Some(WebWatch {
            source: self.source?,
            in_force: self.config,
            gate,
            stats: self.stats,
            clock: self.clock,
        })
    }
}

fn look(file: &Path, tokens: bool) -> Look<WebConfig, FileError> {
    let mut look = WebConfig::look(file);
    look.result = look.result.and_then(|config| {
        if tokens && !config.users.is_empty() {
            let why = "basic_auth_users cannot stand beside --auth kubernetes; keep one of them";
            return Err(refused(file, why));
        }
        Ok(config)
    });
    look
}

fn refused(file: &Path, why: &str) -> FileError {
    FileError::of_whole(&file.display().to_string(), why)
}

/// Looks after a web configuration file for as long as the process runs.
pub(super) struct WebWatch {
    source: Source,
    in_force: WebConfig,
    gate: Arc<Gate>,
    stats: Arc<AccessStats>,
    clock: Arc<dyn Clock>,
}

impl WebWatch {
    /// Looks at the files every few seconds until `shutdown`. What is broken is told of once, and
    /// changes nothing.
    pub(super) async fn run(mut self, shutdown: CancellationToken) {
        let mut looks = Looks::begin();
        while looks.next(&shutdown).await {
            self.look();
        }
    }

    fn look(&mut self) {
        let Source {
            file,
            reloader,
            tokens,
        } = &mut self.source;
        let mut look = look(file, *tokens);
        look.result = look.result.and_then(|next| {
            let may = self.in_force.may_become(&next);
            may.map(|()| next).map_err(|why| refused(file, &why))
        });
        let Some(result) = reloader.poll(look, self.clock.now()) else {
            return;
        };
        self.stats.reloaded(reloader.status());
        match result {
            Ok(config) => {
                tracing::info!(file = %file.display(), "web configuration reloaded");
                self.gate.set(config.clone());
                self.in_force = config;
            }
            Err(error) => tracing::warn!("{error}; the web configuration in force remains"),
        }
    }
}
