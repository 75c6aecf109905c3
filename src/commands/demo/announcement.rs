//! What the demo says at its start: where to look.

use std::net::{Ipv4Addr, SocketAddr};

use crate::inspect::explain::quoted;

/// The URLs of a demo.
#[derive(Clone, Debug)]
pub(super) struct Urls {
    /// The exporter's, without a path
    pub(super) exporter: String,
    /// The file with which kubectl reaches the simulated API server
    pub(super) kubeconfig: String,
}

impl Urls {
    /// Those of an exporter that listens on `address`.
    pub(super) fn new(scheme: &str, mut address: SocketAddr, kubeconfig: String) -> Self {
        if address.ip().is_unspecified() {
            address.set_ip(Ipv4Addr::LOCALHOST.into());
        }
        Self {
            exporter: format!("{scheme}://{address}"),
            kubeconfig,
        }
    }

    /// What to look at, a line each.
    pub(super) fn look(&self) -> Vec<String> {
        let Self {
            exporter,
            kubeconfig,
        } = self;
        vec![
            format!("the page       {exporter}/"),
            format!("metrics        {exporter}/metrics"),
            format!("what is wrong  podinit problems --url {exporter}"),
            format!("for kubectl    export KUBECONFIG={}", quoted(kubeconfig)),
            "all pods       kubectl get pods -A".to_owned(),
            "alerts         podinit rules > rules.yaml".to_owned(),
        ]
    }

    /// What the demo prints at its start, whose time passes `speed` times as fast as the machine's.
    pub(super) fn announcement(&self, speed: f64) -> String {
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
        let urls = Urls::new("http", address, "/tmp/podinit-demo-7/kubeconfig".to_owned());
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
        assert!(
            fast.contains("60 times as fast") && fast.contains("<invalid>"),
            "{fast}"
        );
    }
}
