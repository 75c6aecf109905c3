//! The web configuration in force: from the file to the gate, at the start and whenever the file,
//! or one that it names, changes.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::looks::Looks;
use crate::access::{AccessStats, Gate};
use crate::cluster::clock::Clock;
use crate::config_file::reload::{Look, Reloader};
use crate::config_file::yaml::FileError;
use crate::server::Heartbeat;
use crate::web_config::WebConfig;

/// The web configuration with which an exporter starts, and how it learns of others.
pub(super) struct Web {
    pub(super) config: WebConfig,
    pub(super) stats: Arc<AccessStats>,
    source: Option<Source>,
    pub(super) clock: Arc<dyn Clock>,
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
    pub(super) async fn run(mut self, shutdown: CancellationToken, heartbeat: Heartbeat) {
        let mut looks = Looks::begin();
        while looks.next(&shutdown).await {
            self.look();
            heartbeat.beat();
        }
        heartbeat.finish();
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use rcgen::{CertificateParams, KeyPair};

    use super::*;
    use crate::server::Access;
    use crate::timestamp::Timestamp;

    const TLS: &str = "tls_server_config: {cert_file: tls.crt, key_file: tls.key}";

    struct Files(tempfile::TempDir);

    impl Files {
        fn new() -> Self {
            let files = Self(tempfile::tempdir().unwrap());
            files.renew();
            files.write("web.yaml", TLS);
            files
        }

        fn write(&self, name: &str, text: &str) {
            std::fs::write(self.0.path().join(name), text).unwrap();
        }

        fn renew(&self) {
            let key = KeyPair::generate().unwrap();
            let params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
            self.write("tls.crt", &params.self_signed(&key).unwrap().pem());
            self.write("tls.key", &key.serialize_pem());
        }

        fn open(&self, tokens: bool) -> Result<Web, FileError> {
            let clock: Arc<dyn Clock> = Arc::new(|| Timestamp::from_seconds(7));
            Web::open(Some(&self.0.path().join("web.yaml")), tokens, &clock)
        }

        fn watched(&self) -> (Arc<Gate>, Arc<AccessStats>, WebWatch) {
            let web = self.open(false).unwrap();
            let stats = Arc::clone(&web.stats);
            let gate = Gate::new(web.config.clone(), None, Arc::clone(&stats)).unwrap();
            let gate = Arc::new(gate);
            let watch = web.watch(Arc::clone(&gate)).unwrap();
            (gate, stats, watch)
        }
    }

    #[test]
    fn a_broken_certificate_keeps_the_old_one_and_a_good_one_replaces_it() {
        let files = Files::new();
        let (gate, stats, mut watch) = files.watched();
        let first = gate.tls().unwrap();
        let is_first = |gate: &Gate| Arc::ptr_eq(&gate.tls().unwrap(), &first);
        watch.look();
        assert!(is_first(&gate));
        assert_eq!((stats.reloads(true), stats.reloads(false)), (0, 0));

        files.write(
            "tls.crt",
            "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
        );
        watch.look();
        watch.look();
        assert!(is_first(&gate));
        assert!(!stats.status().successful);
        assert_eq!((stats.reloads(true), stats.reloads(false)), (0, 1));

        files.renew();
        watch.look();
        assert!(!is_first(&gate));
        assert!(stats.status().successful);
        assert_eq!((stats.reloads(true), stats.reloads(false)), (1, 1));
    }

    #[test]
    fn a_half_written_file_takes_no_protection_away() {
        let files = Files::new();
        let (gate, stats, mut watch) = files.watched();
        for half in [
            "",
            "{}",
            "tls_server_config:",
            "tls_server_config: {cert_file: tls.crt",
        ] {
            files.write("web.yaml", half);
            watch.look();
            assert!(gate.tls().is_some(), "{half}");
        }
        std::fs::remove_file(files.0.path().join("web.yaml")).unwrap();
        watch.look();
        assert!(gate.tls().is_some());
        assert_eq!(stats.reloads(false), 5);
        files.write("web.yaml", TLS);
        watch.look();
        assert_eq!(stats.reloads(true), 1);
    }

    #[test]
    fn users_and_tokens_exclude_each_other() {
        let files = Files::new();
        let hash = "$2b$04$WvvTPHKwdBJ3uk0Z37EMR.hLA2W6N9AEBhEgrAOljy2Ae5MtaSIUi";
        files.write("web.yaml", &format!("basic_auth_users: {{alice: {hash}}}"));
        let error = files.open(true).err().unwrap().to_string();
        assert!(
            error.ends_with("cannot stand beside --auth kubernetes; keep one of them"),
            "{error}"
        );
        assert!(files.open(false).is_ok());
    }
}
