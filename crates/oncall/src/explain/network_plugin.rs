//! The pods of the network plugin on a node, by what a runtime says of it.

use super::kubectl::quoted;

/// A word in the type or the socket of a plugin, and a word in the names of its pods.
const PLUGINS: [(&str, &str); 18] = [
    ("cilium", "cilium"),
    ("aws", "aws-node"),
    ("egress-cni", "aws-node"),
    ("calico", "calico"),
    ("flannel", "flannel"),
    ("canal", "canal"),
    ("weave", "weave"),
    ("azure", "azure-c"),
    ("antrea", "antrea"),
    ("kube-ovn", "kube-ovn"),
    ("ovn", "ovnkube"),
    ("kube-router", "kube-router"),
    ("kindnet", "kindnet"),
    ("ptp", "kindnet"),
    ("terway", "terway"),
    ("istio-cni", "istio-cni"),
    ("linkerd-cni", "linkerd-cni"),
    ("multus", "multus"),
];
/// Before the type of a plugin, in the words of containerd, CRI-O and Multus.
const TYPE: &str = "plugin type=\"";

/// The command that lists the pods on `node` of the plugin that `message` names, or of all that are known where it names
/// none of these. They may be in any namespace, and each installer labels them in its own way.
pub(super) fn pods_on(node: &str, message: &str) -> String {
    let words = match named(message) {
        Some(word) => word.to_owned(),
        None => {
            let mut words = vec!["cni"];
            words.extend(
                PLUGINS.map(|(_, word)| word).into_iter().filter(|word| !word.contains("cni")),
            );
            words.dedup();
            words.join("|")
        }
    };
    let node = quoted(node);
    format!(
        "kubectl get pods -A -o wide --field-selector spec.nodeName={node} | grep -E 'NAME|{words}'"
    )
}

/// The word in the names of the pods of the plugin that fails. A plugin that calls others stands before these.
fn named(message: &str) -> Option<&'static str> {
    let word_in = |text: &str| {
        let (_, word) = PLUGINS.into_iter().find(|(plugin, _)| text.contains(plugin))?;
        Some(word)
    };
    match message.rsplit_once(TYPE).and_then(|(_, rest)| rest.split_once('"')) {
        Some((kind, _)) => word_in(kind),
        None => {
            // `ptp` and `aws` are parts of other words.
            let text = message.to_ascii_lowercase();
            let (_, word) = PLUGINS
                .into_iter()
                .find(|(plugin, _)| plugin.len() > 3 && text.contains(plugin))?;
            Some(word)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plugin_that_fails_is_named_by_its_type_or_by_its_files() {
        for (message, word) in [
            (
                "plugin type=\"cilium-cni\" failed (add): unable to connect to Cilium daemon",
                Some("cilium"),
            ),
            (
                "plugin type=\"aws-cni\" name=\"aws-cni\" failed (add): add cmd: failed",
                Some("aws-node"),
            ),
            (
                "plugin type=\"multus-shim\" name=\"multus-cni-network\" failed (add): CmdAdd: error adding pod to CNI \
                 network \"multus\": plugin type=\"ovn-k8s-cni-overlay\" failed (add): timed out",
                Some("ovnkube"),
            ),
            ("plugin type=\"multus\" failed (add): cannot read kubeconfig", Some("multus")),
            (
                "networkPlugin cni failed: stat /var/lib/calico/nodename: no such file",
                Some("calico"),
            ),
            ("open /run/flannel/subnet.env: no such file or directory", Some("flannel")),
            ("plugin type=\"example-cni\" failed (add): connection refused", None),
            ("cni plugin not initialized: script in /opt/laws failed", None),
            ("", None),
        ] {
            assert_eq!(named(message), word, "{message}");
        }
    }

    #[test]
    fn only_pods_of_network_plugins_on_the_node_are_listed() {
        assert_eq!(
            pods_on("node-1", "plugin type=\"calico\" failed (add): error"),
            "kubectl get pods -A -o wide --field-selector spec.nodeName=node-1 | grep -E 'NAME|calico'"
        );
        let any = pods_on("$(x)", "cni plugin not initialized");
        assert!(
            any.starts_with("kubectl get pods -A -o wide --field-selector spec.nodeName='$(x)' | ")
        );
        assert!(any.ends_with(
            "'NAME|cni|cilium|aws-node|calico|flannel|canal|weave|azure-c|antrea|kube-ovn|ovnkube|kube-router|kindnet|\
             terway|multus'"
        ));
    }
}
