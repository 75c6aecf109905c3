//! `podinit demo`: the exporter of a simulated cluster, over real HTTP; in a terminal also as moving bars.
//! It says at its start where to look.

mod frame;
mod kubeconfig;
mod live_view;
mod status_lines;

use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;

use self::kubeconfig::KubeconfigFile;
use self::live_view::{KeyInput, LiveView};
use super::exporter_parts::{ExporterParts, exporter_parts, guard};
use crate::args::DemoArgs;
use podinit_exporter::accounting_thread;
use podinit_exporter::own_thread::OwnThread;
use podinit_exporter::process::signals;
use podinit_exporter::start::Exporter;
use podinit_http::MetricsPath;
use podinit_kube::cluster::clock::DeliveryClock;
use podinit_kube::watch::WatchConfig;
use podinit_kube::watch::requests::{PodScope, PodSelectors};
use podinit_oncall::explain::quoted;
use podinit_oncall::live::{self, ExporterLinks};
use podinit_sim::{ClusterConfig, SimulatedCluster};

/// Short enough for a demonstration of some seconds to show bookmarks; API servers send one a minute.
const BOOKMARK_INTERVAL: Duration = Duration::from_secs(3);

/// Simulates a cluster and watches it until a signal or until the chosen duration has passed.
pub(super) async fn demo(args: DemoArgs) -> anyhow::Result<()> {
    let (shutdown, reload) = signals::of_service().context("cannot listen for signals")?;
    let DemoArgs { simulation, exporter } = args;
    let config = ClusterConfig {
        rate: simulation.rate,
        speed: simulation.speed,
        seed: simulation.seed,
        bookmark_interval: BOOKMARK_INTERVAL,
        // The other scenes show what they break, and nothing else.
        deploys: simulation.scene().is_none(),
        scene: simulation.scene(),
        ..ClusterConfig::default()
    };
    let simulated = SimulatedCluster::start(config).await?;
    let watch = WatchConfig {
        scopes: PodScope::of_namespaces(&[]),
        selectors: PodSelectors { shard: exporter.sharding.shard, ..PodSelectors::default() },
        decode: exporter.labels.config().decode_options(),
        ..WatchConfig::default()
    };
    let clock = simulated.clock();
    let clock: Arc<dyn DeliveryClock> = Arc::new(move || clock.now());
    let ExporterParts { given, web, records } =
        exporter_parts(&exporter, false, None, Arc::clone(&clock)).await?;
    let accounting = accounting_thread::start().context("cannot start the accounting thread")?;
    let finding =
        OwnThread::named("problems").context("cannot start the thread of the problems")?;
    let reading = OwnThread::named("readers").context("cannot start the thread of the readers")?;
    let metrics = exporter.metrics_path.clone();
    let runbook_url = exporter.runbook_url.clone();
    let exporter = Exporter::bind(exporter.config(), given, watch, Arc::clone(&clock))?
        .accounting_on(accounting.handle())
        .reloading_on(reload.clone());
    let api = simulated.url().to_string();
    let kubeconfig = KubeconfigFile::write(simulation.write_kubeconfig.as_deref(), &api)?;
    let links = ExporterLinks { kubeconfig: Some(kubeconfig.path()), runbook_url };
    let (exporter, problems) =
        live::show(exporter, records, links, (finding.handle(), reading.handle()));
    let exporter = guard(exporter, web, None, reload)?;
    let cluster =
        podinit_connect::connect_to(simulated.url(), "the simulated cluster".to_owned()).await?;
    let urls = DemoUrls::new(exporter.scheme(), exporter.address(), metrics, kubeconfig.path());
    announce(&urls.announcement(simulation.speed));
    if let Some(duration) = simulation.duration {
        let shutdown = shutdown.clone();
        tokio::spawn(async move {
            tokio::time::sleep(duration).await;
            shutdown.cancel();
        });
    }
    let closing = shutdown.child_token();
    let is_shown = !simulation.quiet && live_view::is_possible();
    let view = is_shown.then(|| {
        let keys = KeyInput::listen(shutdown.clone());
        let view = LiveView {
            exposition: Arc::clone(&exporter.views().exposition),
            problems,
            clock,
            scene: simulation.scene(),
            look: urls.look(),
            keys,
        };
        tokio::spawn(view.run(closing.clone()))
    });
    let ended = exporter.run(&cluster, shutdown).await;
    closing.cancel();
    if let Some(view) = view {
        // The terminal is restored before anything else is said.
        let _ = view.await;
    }
    simulated.shutdown().await;
    ended
}

/// Prints where to look. If standard output is closed, the demo continues.
fn announce(text: &str) {
    let mut out = io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// The URLs of a demo.
#[derive(Clone, Debug)]
struct DemoUrls {
    /// The exporter's, without a path
    exporter: String,
    /// Where metrics are
    metrics: MetricsPath,
    /// The file with which kubectl reaches the simulated API server
    kubeconfig: String,
}

impl DemoUrls {
    /// Those of an exporter that listens on `address`.
    fn new(
        scheme: &str,
        mut address: SocketAddr,
        metrics: MetricsPath,
        kubeconfig: String,
    ) -> Self {
        if address.ip().is_unspecified() {
            address.set_ip(Ipv4Addr::LOCALHOST.into());
        }
        Self { exporter: format!("{scheme}://{address}"), metrics, kubeconfig }
    }

    /// What to look at, a line each.
    fn look(&self) -> Vec<String> {
        let Self { exporter, metrics, kubeconfig } = self;
        vec![
            format!("the page       {exporter}/"),
            format!("metrics        {exporter}{metrics}"),
            format!("what is wrong  podinit problems --url {exporter}"),
            format!("for kubectl    export KUBECONFIG={}", quoted(kubeconfig)),
            "all pods       kubectl get pods -A".to_owned(),
            "alerts         podinit rules > rules.yaml".to_owned(),
        ]
    }

    /// What the demo prints at its start, whose time passes `speed` times as fast as the machine's.
    fn announcement(&self, speed: f64) -> String {
        let look = self.look().join("\n  ");
        let ages = match speed > 1.0 {
            true => format!(
                "Its time passes {speed} times as fast as yours. kubectl get shows ages of its time; kubectl describe\n\
                 and kubectl events count by your clock, and show <invalid>.\n"
            ),
            false => String::new(),
        };
        format!(
            "A simulated cluster is starting pods. Look at\n  {look}\n{ages}Stop it with Ctrl-C.\n"
        )
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn everything_to_look_at_is_said_with_an_address_that_can_be_opened() {
        let address = "[::]:8080".parse().unwrap();
        let kubeconfig = "/tmp/podinit-demo-7/kubeconfig".to_owned();
        let urls = DemoUrls::new("http", address, MetricsPath::default(), kubeconfig);
        let expected = "\
A simulated cluster is starting pods. Look at
  the page       http://127.0.0.1:8080/
  metrics        http://127.0.0.1:8080/metrics
  what is wrong  podinit problems --url http://127.0.0.1:8080
  for kubectl    export KUBECONFIG=/tmp/podinit-demo-7/kubeconfig
  all pods       kubectl get pods -A
  alerts         podinit rules > rules.yaml
Stop it with Ctrl-C.
";
        assert_eq!(urls.announcement(1.0), expected);
        assert_eq!(urls.announcement(0.5), expected);
        let fast = urls.announcement(60.0);
        assert!(fast.contains("60 times as fast") && fast.contains("<invalid>"), "{fast}");
    }
}
