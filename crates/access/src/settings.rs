//! The web configuration of an exporter: read from a file, read again while it runs, and used by the gate.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::credentials::NoRandomness;
use crate::gate::AccessGate;
use crate::kubernetes::KubernetesAccess;
use crate::web_config::WebConfig;
use podinit_config::reload::{ChangeDetector, ConfigInspection, ReloadStatus, Reloadable};
use podinit_config::{FileError, FileFault};
use podinit_http::AccessStats;
use podinit_kube::cluster::clock::DeliveryClock;

/// The web configuration with which an exporter starts, and what it takes to replace it.
pub struct WebSettings {
    config: WebConfig,
    stats: Arc<AccessStats>,
    file: Option<(WebFile, ChangeDetector)>,
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
        let (file, config) = match path.map(Path::to_owned) {
            Some(path) => {
                let file = WebFile { path, tokens };
                let (changes, config) = ChangeDetector::start(file.inspect(), clock.now())?;
                (Some((file, changes)), config)
            }
            None => (None, WebConfig::default()),
        };
        if config.tls.is_none() && (tokens || !config.users.is_empty()) {
            tracing::warn!(
                "clients send passwords and tokens in clear text; configure a certificate in the \
                 file of --web-config"
            );
        }
        Ok(Self { config, stats: Arc::new(AccessStats::new(clock.now())), file })
    }

    /// What is counted of access.
    pub fn stats(&self) -> Arc<AccessStats> {
        Arc::clone(&self.stats)
    }

    /// The gate that lets whom these settings let, and whose bearer tokens `tokens` accepts, if they are asked for. Also
    /// what replaces its settings, if there is a file, and the detector of changes that goes with it.
    ///
    /// # Errors
    /// Where the system has no randomness for keys.
    pub fn gate(
        self,
        tokens: Option<KubernetesAccess>,
    ) -> Result<(Arc<AccessGate>, Option<WatchedReload>), NoRandomness> {
        let gate = AccessGate::new(self.config.clone(), tokens, Arc::clone(&self.stats))?;
        let gate = Arc::new(gate);
        let reload = self.file.map(|(file, changes)| {
            let gate = Arc::clone(&gate);
            (WebReload { file, in_force: self.config, gate, stats: self.stats }, changes)
        });
        Ok((gate, reload))
    }
}

/// What replaces the web configuration in force, and the detector of changes that goes with it.
pub type WatchedReload = (WebReload, ChangeDetector);

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
pub struct WebReload {
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
    use podinit_http::AccessControl;

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

        fn gated(&self) -> Gated {
            let web = self.open(false).unwrap();
            let stats = web.stats();
            let (gate, reload) = web.gate(None).unwrap();
            let (reload, changes) = reload.unwrap();
            Gated { gate, stats, reload, changes }
        }
    }

    struct Gated {
        gate: Arc<AccessGate>,
        stats: Arc<AccessStats>,
        reload: WebReload,
        changes: ChangeDetector,
    }

    impl Gated {
        async fn poll(&mut self) {
            let now = Timestamp::from_seconds(8);
            if let Some(Ok(config)) = self.changes.poll(&self.reload, now) {
                self.reload.put_in_force(config).await;
            }
        }

        fn reloads(&self) -> (u64, u64) {
            (self.stats.reloads(true), self.stats.reloads(false))
        }
    }

    #[tokio::test]
    async fn a_broken_certificate_keeps_the_old_one_and_a_good_one_replaces_it() {
        let files = Files::new();
        let mut gated = files.gated();
        let first = gated.gate.tls().unwrap();
        let is_first = |gated: &Gated| Arc::ptr_eq(&gated.gate.tls().unwrap(), &first);
        gated.poll().await;
        assert!(is_first(&gated));
        assert_eq!(gated.reloads(), (0, 0));

        files.write("tls.crt", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
        gated.poll().await;
        gated.poll().await;
        assert!(is_first(&gated));
        assert!(!gated.stats.is_current());
        assert_eq!(gated.reloads(), (0, 1));

        files.renew();
        gated.poll().await;
        assert!(!is_first(&gated));
        assert!(gated.stats.is_current());
        assert_eq!(gated.reloads(), (1, 1));
    }

    #[tokio::test]
    async fn a_half_written_file_takes_no_protection_away() {
        let files = Files::new();
        let mut gated = files.gated();
        for half in ["", "{}", "tls_server_config:", "tls_server_config: {cert_file: tls.crt"] {
            files.write("web.yaml", half);
            gated.poll().await;
            assert!(gated.gate.tls().is_some(), "{half}");
        }
        std::fs::remove_file(files.0.path().join("web.yaml")).unwrap();
        gated.poll().await;
        assert!(gated.gate.tls().is_some());
        assert_eq!(gated.stats.reloads(false), 5);
        files.write("web.yaml", TLS);
        gated.poll().await;
        assert_eq!(gated.stats.reloads(true), 1);
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
