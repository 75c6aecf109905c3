//! `explain --url`: from the records of a running exporter.

use crate::cluster::clock::{Clock, SystemClock};
use crate::cluster::options::ServerOptions;
use crate::inspect::api::client::{ApiClient, AskError};
use crate::inspect::explain::{Explanation, Records, Target, TargetName, Worst, explain_records};
use podinit_core::lifecycle::Record;

/// The lists of the API, by their paths.
const IN_FLIGHT: &str = "inflight";
const ENDED: &str = "startups";
/// So many pages are read of a list.
const MOST_PAGES: usize = 4;

/// Explains a startup by what an exporter knows of it.
pub(super) async fn explain(
    exporter: &ServerOptions,
    target: &Target,
) -> anyhow::Result<Explanation> {
    let exporter = ApiClient::new(exporter).await?;
    let candidates = candidates(&exporter, target).await?;
    let ready = exporter.list(ENDED, &[("outcome", "ready")], 1).await?;
    // The last question: its time is not before anything that the others have told.
    let in_flight = exporter.list(IN_FLIGHT, &[], MOST_PAGES).await?;
    let now = in_flight.time.unwrap_or_else(|| SystemClock.now());
    let kubeconfig = in_flight.kubeconfig;
    // Without what is broken, nothing is known of clocks.
    let problems = exporter.problems().await;
    let records = Records {
        candidates,
        in_flight: in_flight.records,
        ready: ready.records,
        clocks: problems.map_or_else(|_| Vec::new(), |found| found.clocks),
    };
    let explained = explain_records(target, records, now);
    let explained = explained.map(|explanation| explanation.about_cluster(kubeconfig.as_deref()));
    explained.ok_or_else(|| {
        let namespace = match &target.namespace {
            Some(_) => "check the name and --namespace",
            None => "name the namespace with --namespace, and check the name",
        };
        anyhow::anyhow!(
            "the exporter at {} knows no startup of {target}; {namespace}; it forgets old startups, and has \
             not seen those before it began",
            exporter.url()
        )
    })
}

/// The worst startups that an exporter knows of the pods that fit a target.
pub(super) async fn worst(exporter: &ServerOptions, target: &Target) -> anyhow::Result<Worst> {
    let exporter = ApiClient::new(exporter).await?;
    let namespace: Vec<_> =
        (target.namespace.as_deref().into_iter()).map(|name| ("namespace", name)).collect();
    let with = |more: (&'static str, &'static str)| [namespace.clone(), vec![more]].concat();
    let slowest = exporter.list(ENDED, &with(("sort", "created_to_ready")), 1).await?;
    let failed = exporter.list(ENDED, &with(("outcome", "failed")), 1).await?;
    let in_flight = exporter.list(IN_FLIGHT, &namespace, MOST_PAGES).await?;
    let now = in_flight.time.unwrap_or_else(|| SystemClock.now());
    let all = [in_flight.records, slowest.records, failed.records];
    let worst = Worst::of_records(all.into_iter().flatten(), now);
    Ok(worst.about_cluster(in_flight.kubeconfig.as_deref()))
}

/// The records among which the target is, if the exporter has it.
async fn candidates(exporter: &ApiClient, target: &Target) -> Result<Vec<Record>, AskError> {
    let namespace = target.namespace.as_deref();
    let owner = match (&target.name, namespace) {
        (TargetName::Pod(name), Some(namespace)) => {
            return Ok(exporter.pod(namespace, name).await?.into_iter().collect());
        }
        // The API finds a pod by both names only.
        (TargetName::Pod(_), None) | (TargetName::Any, _) => {
            let in_flight = exporter.list(IN_FLIGHT, &[], MOST_PAGES).await?;
            let ended = exporter.list(ENDED, &[], MOST_PAGES).await?;
            return Ok(in_flight.records.into_iter().chain(ended.records).collect());
        }
        (TargetName::Workload { kind, name }, _) => format!("{kind}/{name}"),
    };
    let mut parameters = vec![("workload", owner.as_str())];
    parameters.extend(namespace.map(|name| ("namespace", name)));
    let in_flight = exporter.list(IN_FLIGHT, &parameters, MOST_PAGES).await?;
    let ended = exporter.list(ENDED, &parameters, MOST_PAGES).await?;
    Ok(in_flight.records.into_iter().chain(ended.records).collect())
}
