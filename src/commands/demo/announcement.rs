//! What the demo says at its start: where to look.

use std::net::{Ipv4Addr, SocketAddr};

/// The URLs of a demo.
#[derive(Clone, Debug)]
pub(super) struct Urls {
    /// The exporter's, without a path
    pub(super) exporter: String,
    /// The simulated API server's
    pub(super) api: String,
}

impl Urls {
    /// Those of an exporter that listens on `address`.
    pub(super) fn new(scheme: &str, mut address: SocketAddr, api: &http::Uri) -> Self {
        if address.ip().is_unspecified() {
            address.set_ip(Ipv4Addr::LOCALHOST.into());
        }
        Self {
            exporter: format!("{scheme}://{address}"),
            api: api.to_string().trim_end_matches('/').to_owned(),
        }
    }

    /// What to look at, a line each.
    pub(super) fn look(&self) -> Vec<String> {
        let Self { exporter, api } = self;
        vec![
            format!("{exporter}/         the exporter's page"),
            format!("{exporter}/metrics  what Prometheus scrapes"),
            format!("podinit stuck --url {exporter}  the pods that are stuck, and why"),
            format!("kubectl -s {api} get pods -A  the pods as Kubernetes states them"),
            format!("{api}/api/v1/pods  the same as JSON"),
            "podinit rules > rules.yaml  rules and alerts for Prometheus; dashboards/ has those of Grafana"
                .to_owned(),
        ]
    }

    /// What the demo prints at its start.
    pub(super) fn announcement(&self) -> String {
        let look = self.look().join("\n  ");
        format!("A simulated cluster is starting pods. Look at\n  {look}\nStop it with Ctrl-C.\n")
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn everything_to_look_at_is_said_with_an_address_that_can_be_opened() {
        let urls = Urls::new(
            "http",
            "[::]:8080".parse().unwrap(),
            &"http://127.0.0.1:6443/".parse().unwrap(),
        );
        let expected = "\
A simulated cluster is starting pods. Look at
  http://127.0.0.1:8080/         the exporter's page
  http://127.0.0.1:8080/metrics  what Prometheus scrapes
  podinit stuck --url http://127.0.0.1:8080  the pods that are stuck, and why
  kubectl -s http://127.0.0.1:6443 get pods -A  the pods as Kubernetes states them
  http://127.0.0.1:6443/api/v1/pods  the same as JSON
  podinit rules > rules.yaml  rules and alerts for Prometheus; dashboards/ has those of Grafana
Stop it with Ctrl-C.
";
        assert_eq!(urls.announcement(), expected);
    }
}
