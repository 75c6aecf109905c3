//! What a podinit that already runs here has found out: whether the clocks of nodes are off
//! ([§4.7](crate::specification#s4-7)), by when their pods were shown, and which SLOs match no pod
//! ([§6.13](crate::specification#s6-13)).

use std::net::SocketAddr;

use super::listen::reachable;
use super::report::{Check, Finding};
use podinit_connect::options::ServerOptions;
use podinit_core::lifecycle::NodeClock;
use podinit_oncall::api::client::{ApiClient, AskError};
use podinit_oncall::explain::time_of_node;
use podinit_oncall::node_clocks;
use podinit_oncall::problems::Problems;
use podinit_oncall::unmatched_slos;

/// So many nodes have a finding each.
const MOST: usize = 5;

/// What is known of the clocks of nodes.
pub(super) fn clocks(known: &Result<Problems, AskError>) -> Vec<Finding> {
    match known {
        Ok(problems) => clocks_off(&problems.clocks),
        Err(error) => {
            let why = format!("the podinit that runs here knows of nodes, but: {error}");
            vec![Finding::skipped(Check::Clock, why)]
        }
    }
}

/// A warning for each SLO that matches no pod, or names a kind that none has had.
pub(super) fn slos(known: &Result<Problems, AskError>) -> Vec<Finding> {
    let slos = known.iter().flat_map(|problems| &problems.unmatched_slos);
    let findings = slos.map(|slo| {
        let found = format!("the podinit that runs here says: {}", unmatched_slos::clause(slo));
        Finding::warning(Check::SloFile, found)
            .fix("check namespaces and owner_kinds in the SLO file")
            .detail("slo", &*slo.slo)
    });
    findings.collect()
}

/// Asks the podinit that listens on `address`.
pub(super) async fn ask(address: SocketAddr) -> Result<Problems, AskError> {
    let address = SocketAddr::new(reachable(address.ip()), address.port());
    let url = http::Uri::builder()
        .scheme("http")
        .authority(address.to_string())
        .path_and_query("/")
        .build()
        .unwrap_or_default();
    let exporter = ApiClient::new(&ServerOptions::of_url(url)).await?;
    exporter.problems().await
}

/// A warning for each of the first clocks that are off, or that none is.
fn clocks_off(clocks: &[NodeClock]) -> Vec<Finding> {
    const CHECK: Check = Check::Clock;
    if clocks.is_empty() {
        let found = "the podinit that runs here knows no node whose clock is off";
        return vec![Finding::ok(CHECK, found)];
    }
    let (named, others) = clocks.split_at(clocks.len().min(MOST));
    let mut findings: Vec<Finding> = (named.iter())
        .map(|clock| {
            let found = format!("the {}, by when its pods were shown", node_clocks::clause(clock));
            let fix = format!(
                "synchronize the clock of the node (NTP); see it with {}",
                time_of_node(&clock.node)
            );
            Finding::warning(CHECK, found)
                .fix(fix)
                .detail("node", &*clock.node)
                .detail(clock.fault.as_str(), clock.seconds)
        })
        .collect();
    if !others.is_empty() {
        let found = format!("the clocks of {} more nodes are off", others.len());
        let fix = "see \"clocks\" of podinit problems --url URL -o json";
        findings.push(Finding::warning(CHECK, found).fix(fix));
    }
    findings
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use axum::Router;
    use axum::routing::get;

    use super::*;
    use crate::report::Severity;
    use podinit_core::lifecycle::ClockFault;
    use podinit_core::timestamp::Timestamp;

    #[test]
    fn the_first_clocks_that_are_off_are_named() {
        let clock = |number: usize| NodeClock {
            node: format!("node-{number}").into(),
            fault: ClockFault::Behind,
            seconds: 95,
            since: Timestamp::from_seconds(1_767_225_600),
        };
        let clocks: Vec<_> = (0..7).map(clock).collect();
        let found = |clocks: &[NodeClock]| -> Vec<String> {
            let findings = clocks_off(clocks).into_iter();
            findings.map(|finding| finding.found).collect()
        };
        let none = "the podinit that runs here knows no node whose clock is off";
        assert_eq!(found(&[]), [none]);
        let one = "the clock of node-0 is at least 1m35s behind, by when its pods were shown";
        assert_eq!(found(&clocks[..1]), [one]);
        let all = found(&clocks);
        assert_eq!((all.len(), &*all[5]), (6, "the clocks of 2 more nodes are off"));
    }

    /// What is found of SLOs and clocks where a server answers this to who asks what is broken.
    async fn asked(answer: (http::StatusCode, &'static str)) -> Vec<Finding> {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let routes = Router::new().route("/api/v1/problems", get(move || async move { answer }));
        tokio::spawn(async move { axum::serve(listener, routes).await });
        let known = ask(address).await;
        [slos(&known), clocks(&known)].concat()
    }

    #[tokio::test]
    async fn the_podinit_that_runs_is_asked() {
        let known = r#"{"time": null, "fresh": true, "problems": [], "ended": [], "clocks": [
            {"node": "node-1", "fault": "ahead", "seconds": 7199, "since": "2026-03-01T10:00:00Z"}]}"#;
        let found = asked((http::StatusCode::OK, known)).await;
        let expected = "the clock of node-1 is at least 1h59m ahead, by when its pods were shown";
        assert_eq!((found[0].severity, &*found[0].found), (Severity::Warning, expected));
        let of_before = r#"{"time": null, "fresh": true, "problems": [], "ended": []}"#;
        let found = asked((http::StatusCode::OK, of_before)).await;
        assert_eq!(found[0].severity, Severity::Ok);
        let unmatched = r#"{"time": null, "fresh": true, "problems": [], "ended": [], "unmatched_slos": [
            {"slo": "fast", "since": "2026-03-01T10:00:00Z", "matched": false, "kinds": ["Jobs"]}]}"#;
        let found = asked((http::StatusCode::OK, unmatched)).await;
        let expected = "the podinit that runs here says: the SLO fast has matched no pod since 2026-03-01 10:00 UTC; \
                        no pod has had the kind Jobs (did you mean Job?)";
        assert_eq!((found[0].check, found[0].severity), (Check::SloFile, Severity::Warning));
        assert_eq!((found.len(), &*found[0].found), (2, expected));
        let found = asked((http::StatusCode::FORBIDDEN, "no")).await;
        assert_eq!((found.len(), found[0].severity), (1, Severity::Skipped));
    }
}
