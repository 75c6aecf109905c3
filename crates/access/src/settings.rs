//! The web configuration of an exporter: read from a file, read again while it runs, and used by the gate.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Handle;

use crate::credentials::NoRandomness;
use crate::gate::AccessGate;
use crate::kubernetes::KubernetesAccess;
use crate::web_config::WebConfig;
use podinit_config::reload::{ChangeDetector, ConfigInspection, ReloadStatus};
use podinit_config::{FileError, FileFault};
use podinit_exporter::process::signals::ReloadSignal;
use podinit_exporter::reload::{ReloadTask, Reloadable};
use podinit_exporter::start::Exporter;
use podinit_http::{AccessControl, AccessStats};
use podinit_kube::cluster::clock::DeliveryClock;

/// How long the reload of the web configuration may be silent. It polls every few seconds, and waits
/// for nothing but the file system.
const DEADLINE: Duration = Duration::from_secs(60);

/// The web configuration with which an exporter starts, and what it takes to replace it.
pub struct WebSettings {
    config: WebConfig,
    stats: Arc<AccessStats>,
    file: Option<WebFile>,
    changes: Option<ChangeDetector>,
    clock: Arc<dyn DeliveryClock>,
}

#[derive(Clone)]
struct WebFile {
    path: PathBuf,
    /// Whether `--auth kubernetes` asks for bearer tokens, which excludes users
    tokens: bool,
}

impl WebSettings {
    /// Those of the file at `path`. Without one, nothing is asked of clients but bearer tokens, where `tokens` says so.
    ///
    /// # Errors
    /// One line for a file that cannot be used.
    pub fn open(
        path: Option<&Path>,
        tokens: bool,
        clock: &Arc<dyn DeliveryClock>,
    ) -> Result<Self, FileError> {
        let path = path.map(Path::to_owned);
        let file = path.map(|path| WebFile { path, tokens });
        let (changes, config) = match &file {
            Some(file) => {
                let (changes, config) = ChangeDetector::start(file.inspect(), clock.now())?;
                (Some(changes), config)
            }
            None => (None, WebConfig::default()),
        };
        if config.tls.is_none() && (tokens || !config.users.is_empty()) {
            tracing::warn!(
                "clients send passwords and tokens in clear text; configure a certificate in the \
                 file of --web-config"
            );
        }
        Ok(Self {
            config,
            stats: Arc::new(AccessStats::new(clock.now())),
            file,
            changes,
            clock: Arc::clone(clock),
        })
    }

    /// What is counted of access.
    pub fn stats(&self) -> Arc<AccessStats> {
        Arc::clone(&self.stats)
    }

    /// Lets an exporter answer only whom these settings let, and whose bearer tokens `tokens` accepts, if they are
    /// asked for. While it serves, it reads the file again at intervals, and when `reload` requests it.
    ///
    /// # Errors
    /// Where the system has no randomness for keys.
    pub fn guard(
        self,
        exporter: Exporter,
        tokens: Option<KubernetesAccess>,
        reload: ReloadSignal,
    ) -> Result<Exporter, NoRandomness> {
        let gate = AccessGate::new(self.config.clone(), tokens, Arc::clone(&self.stats))?;
        let gate = Arc::new(gate);
        let exporter = exporter.guarded_by(Arc::clone(&gate) as Arc<dyn AccessControl>);
        let Some(task) = self.reload(gate) else {
            return Ok(exporter);
        };
        let heartbeat = exporter.views().health.register_task("web-config", DEADLINE);
        let name = "the reload of the web configuration";
        let run = |shutdown| task.run(shutdown, heartbeat, reload);
        Ok(exporter.running(name, &Handle::current(), run))
    }

    /// Reloads the file, if there is one, for `gate`.
    fn reload(self, gate: Arc<AccessGate>) -> Option<ReloadTask<WebReload>> {
        let reload = WebReload { file: self.file?, in_force: self.config, gate, stats: self.stats };
        Some(ReloadTask::new(reload, self.changes?, self.clock))
    }
}

impl WebFile {
    fn inspect(&self) -> ConfigInspection<WebConfig, FileError> {
        let mut inspection = WebConfig::inspect(&self.path);
        inspection.result = inspection.result.and_then(|config| {
            if self.tokens && !config.users.is_empty() {
                let why = "basic_auth_users and --auth kubernetes exclude each other; keep one";
                return Err(self.refused(why));
            }
            Ok(config)
        });
        inspection
    }

    fn refused(&self, why: &str) -> FileError {
        FileFault::of_whole(why).of_file(&self.path.display().to_string())
    }
}

/// Replaces the web configuration in force.
struct WebReload {
    file: WebFile,
    in_force: WebConfig,
    gate: Arc<AccessGate>,
    stats: Arc<AccessStats>,
}

impl Reloadable for WebReload {
    type Config = WebConfig;

    const NAME: &'static str = "the web configuration";

    fn path(&self) -> &Path {
        &self.file.path
    }

    fn inspect(&self) -> ConfigInspection<WebConfig, FileError> {
        let mut inspection = self.file.inspect();
        inspection.result = inspection.result.and_then(|next| {
            let allowed = self.in_force.may_become(&next);
            allowed.map(|()| next).map_err(|why| self.file.refused(&why))
        });
        inspection
    }

    fn report(&self, status: ReloadStatus) {
        self.stats.reloaded(status);
    }

    async fn put_in_force(&mut self, config: WebConfig) -> bool {
        self.gate.set(config.clone());
        self.in_force = config;
        true
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use rcgen::{CertificateParams, KeyPair};

    use super::*;
    use podinit_core::timestamp::Timestamp;

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

        fn open(&self, tokens: bool) -> Result<WebSettings, FileError> {
            let clock: Arc<dyn DeliveryClock> = Arc::new(|| Timestamp::from_seconds(7));
            WebSettings::open(Some(&self.0.path().join("web.yaml")), tokens, &clock)
        }

        fn reloaded(&self) -> (Arc<AccessGate>, Arc<AccessStats>, ReloadTask<WebReload>) {
            let web = self.open(false).unwrap();
            let stats = Arc::clone(&web.stats);
            let gate = AccessGate::new(web.config.clone(), None, Arc::clone(&stats)).unwrap();
            let gate = Arc::new(gate);
            let reload = web.reload(Arc::clone(&gate)).unwrap();
            (gate, stats, reload)
        }
    }

    #[tokio::test]
    async fn a_broken_certificate_keeps_the_old_one_and_a_good_one_replaces_it() {
        let files = Files::new();
        let (gate, stats, mut reload) = files.reloaded();
        let first = gate.tls().unwrap();
        let is_first = |gate: &AccessGate| Arc::ptr_eq(&gate.tls().unwrap(), &first);
        reload.poll().await;
        assert!(is_first(&gate));
        assert_eq!((stats.reloads(true), stats.reloads(false)), (0, 0));

        files.write("tls.crt", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
        reload.poll().await;
        reload.poll().await;
        assert!(is_first(&gate));
        assert!(!stats.is_current());
        assert_eq!((stats.reloads(true), stats.reloads(false)), (0, 1));

        files.renew();
        reload.poll().await;
        assert!(!is_first(&gate));
        assert!(stats.is_current());
        assert_eq!((stats.reloads(true), stats.reloads(false)), (1, 1));
    }

    #[tokio::test]
    async fn a_half_written_file_takes_no_protection_away() {
        let files = Files::new();
        let (gate, stats, mut reload) = files.reloaded();
        for half in ["", "{}", "tls_server_config:", "tls_server_config: {cert_file: tls.crt"] {
            files.write("web.yaml", half);
            reload.poll().await;
            assert!(gate.tls().is_some(), "{half}");
        }
        std::fs::remove_file(files.0.path().join("web.yaml")).unwrap();
        reload.poll().await;
        assert!(gate.tls().is_some());
        assert_eq!(stats.reloads(false), 5);
        files.write("web.yaml", TLS);
        reload.poll().await;
        assert_eq!(stats.reloads(true), 1);
    }

    #[test]
    fn users_and_tokens_exclude_each_other() {
        let files = Files::new();
        let hash = "$2b$04$WvvTPHKwdBJ3uk0Z37EMR.hLA2W6N9AEBhEgrAOljy2Ae5MtaSIUi";
        files.write("web.yaml", &format!("basic_auth_users: {{alice: {hash}}}"));
        let error = files.open(true).err().unwrap().to_string();
        assert!(
            error.ends_with("basic_auth_users and --auth kubernetes exclude each other; keep one"),
            "{error}"
        );
        assert!(files.open(false).is_ok());
    }
}
