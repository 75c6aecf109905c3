//! Credentials that rotate or are refused, over a real socket: what the kubeconfig names is read
//! again, and the watch goes on from where it was.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::support::PATIENCE;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::http::header::AUTHORIZATION;
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse, Response};
use podinit_connect::connect;
use podinit_connect::options::ClusterOptions;
use podinit_core::lifecycle::{Delivery, PodEvent};
use podinit_kube::watch::requests::PodScope;
use podinit_kube::watch::stats::{WatchErrorReason, WatchStats};
use podinit_kube::watch::{WatchConfig, spawn};
use podinit_sim::faults::StreamFault;
use podinit_sim::{ClusterConfig, SimulatedCluster};
use serde_json::json;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// A cluster that accepts one token, and a list-watch that has one.
struct Guarded {
    cluster: SimulatedCluster,
    accepted: Arc<Mutex<String>>,
    directory: TempDir,
    stats: Arc<WatchStats>,
    deliveries: mpsc::Receiver<Delivery>,
    cancel: CancellationToken,
    _tasks: JoinSet<()>,
}

impl Guarded {
    /// `user` makes the user of the kubeconfig, given the directory that it stands in; the token
    /// is `first`.
    async fn start(user: impl FnOnce(&Path) -> String) -> Self {
        let cluster = SimulatedCluster::start(ClusterConfig::manual()).await.unwrap();
        let accepted = Arc::new(Mutex::new("first".to_owned()));
        let guard = Arc::clone(&accepted);
        let app = cluster.router().layer(from_fn(move |request, next| {
            let token = guard.lock().unwrap().clone();
            check(token, request, next)
        }));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });

        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("token"), "first").unwrap();
        let user = user(directory.path());
        write_kubeconfig(directory.path(), port, &user);
        let options =
            ClusterOptions { kubeconfig: Some(directory.path().join("config")), context: None };
        let api = connect(&options).await.unwrap();
        let mut config = WatchConfig { scopes: vec![PodScope::Cluster], ..WatchConfig::default() };
        config.reflector.backoff_cap = Duration::from_millis(100);
        let stats = Arc::new(WatchStats::new(1));
        let (sender, deliveries) = mpsc::channel(16);
        let cancel = CancellationToken::new();
        let clock = cluster.clock();
        let clock = Arc::new(move || clock.now());
        let tasks = spawn(&api.client, &config, clock, &stats, &sender, &cancel);
        let mut guarded =
            Self { cluster, accepted, directory, stats, deliveries, cancel, _tasks: tasks };
        let listed = guarded.next().await;
        assert!(matches!(listed, PodEvent::Listed { .. }), "{listed:?}");
        guarded
    }

    async fn next(&mut self) -> PodEvent {
        let next = tokio::time::timeout(PATIENCE, self.deliveries.recv());
        next.await.expect("the watch is stuck").unwrap().event
    }

    /// The pod `name` is created and delivered.
    async fn sees(&mut self, name: &str) {
        let pod = json!({"metadata": {"name": name, "namespace": "ns", "uid": name}});
        self.cluster.put_json(pod).unwrap();
        loop {
            match self.next().await {
                PodEvent::Applied(pod) if &*pod.info.name == name => return,
                PodEvent::Applied(_)
                | PodEvent::Bookmark
                | PodEvent::SyncLost
                | PodEvent::Resumed
                | PodEvent::CaughtUp => {}
                other => panic!("the watch was not resumed: {other:?}"),
            }
        }
    }

    /// Only `token` is accepted from now on, and open watches end.
    async fn rotate(&mut self, token: &str) {
        self.sees("before").await;
        token.clone_into(&mut self.accepted.lock().unwrap());
        self.cluster.faults().stream(StreamFault::End);
        // The credentials that it has are refused.
        while self.stats.errors(WatchErrorReason::Unauthorized) == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        self.cancel.cancel();
    }
}

async fn check(token: String, request: Request, next: Next) -> Response {
    let given = request.headers().get(AUTHORIZATION);
    if given.is_some_and(|given| given.as_bytes() == format!("Bearer {token}").as_bytes()) {
        return next.run(request).await;
    }
    let status = r#"{"kind":"Status","message":"Unauthorized","code":401}"#;
    (StatusCode::UNAUTHORIZED, status).into_response()
}

fn write_kubeconfig(directory: &Path, port: u16, user: &str) {
    let text = format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: here\n\
         clusters: [{{name: c, cluster: {{server: \"http://127.0.0.1:{port}\"}}}}]\n\
         users: [{{name: u, user: {user}}}]\n\
         contexts: [{{name: here, context: {{cluster: c, user: u}}}}]\n"
    );
    fs::write(directory.join("config"), text).unwrap();
}

#[tokio::test]
async fn a_token_file_that_was_rotated_is_read_again() {
    let user = |directory: &Path| format!("{{tokenFile: \"{}/token\"}}", directory.display());
    let mut guarded = Guarded::start(user).await;
    let token = guarded.directory.path().join("token");
    fs::write(token, "second").unwrap();
    guarded.rotate("second").await;
    guarded.sees("after").await;
}

/// As editors, `echo` and many controllers write it; client-go drops the white space too.
#[tokio::test]
async fn a_token_file_may_end_with_a_newline() {
    let user = |directory: &Path| {
        fs::write(directory.join("token"), "first\n").unwrap();
        format!("{{tokenFile: \"{}/token\"}}", directory.display())
    };
    let mut guarded = Guarded::start(user).await;
    let token = guarded.directory.path().join("token");
    fs::write(token, " second\r\n\n").unwrap();
    guarded.rotate("second").await;
    guarded.sees("after").await;
}

#[tokio::test]
async fn a_credential_plugin_runs_again_when_what_it_gave_is_refused() {
    // It states no expiry, so that nothing but the refusal says that it has to run again.
    let user = |directory: &Path| {
        let script = directory.join("plugin");
        let text = format!(
            "#!/bin/sh\nprintf '%s' '{{\"apiVersion\":\"client.authentication.k8s.io/v1\",\
             \"kind\":\"ExecCredential\",\"status\":{{\"token\":\"'\"$(cat {}/token)\"'\"}}}}'\n",
            directory.display()
        );
        fs::write(&script, text).unwrap();
        fs::set_permissions(&script, fs::Permissions::from_mode(0o700)).unwrap();
        format!(
            "{{exec: {{apiVersion: client.authentication.k8s.io/v1, command: \"{}\", \
             interactiveMode: Never}}}}",
            script.display()
        )
    };
    let mut guarded = Guarded::start(user).await;
    let token = guarded.directory.path().join("token");
    fs::write(token, "second").unwrap();
    guarded.rotate("second").await;
    // A plugin does not run again at once.
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(20)).await;
    tokio::time::resume();
    guarded.sees("after").await;
}

#[tokio::test]
async fn a_kubeconfig_that_was_rewritten_is_read_again() {
    let mut guarded = Guarded::start(|_| "{token: first}".to_owned()).await;
    let config = guarded.directory.path().join("config");
    let text = fs::read_to_string(&config).unwrap();
    fs::write(&config, text.replace("token: first", "token: second")).unwrap();
    guarded.rotate("second").await;
    guarded.sees("after").await;
}

#[tokio::test]
async fn expired_credentials_are_waited_out() {
    let mut guarded = Guarded::start(|_| "{token: first}".to_owned()).await;
    guarded.rotate("second").await;
    while guarded.stats.errors(WatchErrorReason::Unauthorized) < 5 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    while guarded.stats.synced() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    // The kubeconfig is as it was; the credentials are accepted again.
    "first".clone_into(&mut guarded.accepted.lock().unwrap());
    guarded.sees("after").await;
}
