//! `explain --url`: from the records of a running exporter.

use crate::cluster::clock::{Clock, SystemClock};
use crate::cluster::options::ServerOptions;
use crate::inspect::api::client::{ApiClient, AskError, List};
use crate::inspect::explain::{Explanation, Records, Target, TargetName, Worst, explain_records};
use podinit_core::lifecycle::Record;

/// So many records are read of a list.
const MOST: usize = 2_000;
/// So many are read of startups to compare with.
const A_PAGE: usize = 500;

/// Explains a startup by what an exporter knows of it.
pub(super) async fn explain(
    exporter: &ServerOptions,
    target: &Target,
) -> anyhow::Result<Explanation> {
    let exporter = ApiClient::new(exporter).await?;
    let candidates = candidates(&exporter, target).await?;
    let ready = exporter.list(List::Ended, &[("outcome", "ready")], A_PAGE).await?;
    // The last question: its time is not before anything that the others have told.
    let in_flight = exporter.list(List::InFlight, &[], MOST).await?;
    let now = in_flight.time.unwrap_or_else(|| SystemClock.now());
    let kubeconfig = in_flight.kubeconfig().map(str::to_owned);
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
    let slowest = exporter.list(List::Ended, &with(("sort", "created_to_ready")), A_PAGE).await?;
    let failed = exporter.list(List::Ended, &with(("outcome", "failed")), A_PAGE).await?;
    let in_flight = exporter.list(List::InFlight, &namespace, MOST).await?;
    let now = in_flight.time.unwrap_or_else(|| SystemClock.now());
    let kubeconfig = in_flight.kubeconfig().map(str::to_owned);
    let all = [in_flight.records, slowest.records, failed.records];
    let worst = Worst::of_records(all.into_iter().flatten(), now);
    Ok(worst.about_cluster(kubeconfig.as_deref()))
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
            let in_flight = exporter.list(List::InFlight, &[], MOST).await?;
            let ended = exporter.list(List::Ended, &[], MOST).await?;
            return Ok(in_flight.records.into_iter().chain(ended.records).collect());
        }
        (TargetName::Workload { kind, name }, _) => format!("{kind}/{name}"),
    };
    let mut parameters = vec![("workload", owner.as_str())];
    parameters.extend(namespace.map(|name| ("namespace", name)));
    let in_flight = exporter.list(List::InFlight, &parameters, MOST).await?;
    let ended = exporter.list(List::Ended, &parameters, MOST).await?;
    Ok(in_flight.records.into_iter().chain(ended.records).collect())
}
