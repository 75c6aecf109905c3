//! `podinit demo`: the exporter of a simulated cluster, over real HTTP.

use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;

use super::exporter::{Exporter, ServeOnly};
use crate::args::DemoArgs;
use crate::cluster::client;
use crate::process::shutdown;
use crate::sim::{Cluster, ClusterConfig};
use crate::watch::WatchConfig;
use crate::watch::requests::{Scope, Selectors};

/// Short enough for a demonstration of some seconds to show bookmarks; API servers send one a minute.
const BOOKMARK_INTERVAL: Duration = Duration::from_secs(3);

/// Simulates a cluster and watches it until a signal or until the chosen duration has passed.
pub(super) async fn demo(args: DemoArgs) -> anyhow::Result<()> {
    let shutdown = shutdown::on_signal().context("cannot listen for signals")?;
    let DemoArgs {
        simulation,
        exporter,
    } = args;
    let config = ClusterConfig {
        rate: simulation.rate,
        speed: simulation.speed,
        seed: simulation.seed,
        bookmark_interval: BOOKMARK_INTERVAL,
        scene: simulation.scene(),
        ..ClusterConfig::default()
    };
    let simulated = Cluster::start(config).await?;
    let watch = WatchConfig {
        scopes: Scope::of_namespaces(&[]),
        selectors: Selectors {
            shard: exporter.sharding.shard,
            ..Selectors::default()
        },
        decode: exporter.labels.config().decode_options(),
        ..WatchConfig::default()
    };
    let clock = simulated.clock();
    let clock = Arc::new(move || clock.now());
    let exporter = Exporter::bind(&exporter, ServeOnly::default(), watch, clock)?;
    let cluster = client::connect_to(simulated.url(), "the simulated cluster".to_owned()).await?;
    announce(exporter.scheme(), exporter.address(), &simulated);
    if let Some(duration) = simulation.duration {
        let shutdown = shutdown.clone();
        tokio::spawn(async move {
            tokio::time::sleep(duration).await;
            shutdown.cancel();
        });
    }
    let ended = exporter.run(&cluster, None, shutdown).await;
    simulated.shutdown().await;
    ended
}

/// Prints the URLs. If standard output is closed, the demo continues.
fn announce(scheme: &str, mut exporter: SocketAddr, simulated: &Cluster) {
    if exporter.ip().is_unspecified() {
        exporter.set_ip(Ipv4Addr::LOCALHOST.into());
    }
    let api = simulated.url().to_string();
    let api = api.trim_end_matches('/');
    let text = format!(
        "A simulated cluster is starting pods. Look at\n  \
         {scheme}://{exporter}/         the exporter's page\n  \
         {scheme}://{exporter}/metrics  what Prometheus scrapes\n  \
         {api}/api/v1/pods  the pods as Kubernetes states them\n  \
         kubectl -s {api} get pods -A  the same as a table\n\
         Stop it with Ctrl-C.\n"
    );
    let mut out = io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}
