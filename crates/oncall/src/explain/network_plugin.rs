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

/// The command that lists the pods on `node` of the plugin that `message` names. They may be in any namespace, and each
/// installer labels them in its own way. `None` where the message names no plugin.
pub(super) fn pods_on(node: &str, message: &str) -> Option<String> {
    let words = words(message)?;
    let node = quoted(node);
    Some(format!(
        "kubectl get pods -A -o wide --field-selector spec.nodeName={node} | grep -E 'NAME|{words}'"
    ))
}

/// What the names of the pods of the failing plugin contain. A plugin that calls others stands before these.
fn words(message: &str) -> Option<String> {
    let word_in = |text: &str, least: usize| {
        let mut known = PLUGINS.into_iter();
        known.find(|(plugin, _)| plugin.len() >= least && text.contains(plugin))
    };
    let Some((kind, _)) = message.rsplit_once(TYPE).and_then(|(_, rest)| rest.split_once('"'))
    else {
        // `ptp` and `aws` are parts of other words.
        let (_, word) = word_in(&message.to_ascii_lowercase(), 4)?;
        return Some(word.to_owned());
    };
    if let Some((_, word)) = word_in(kind, 0) {
        return Some(word.to_owned());
    }
    // What is no word could end the quotes of the command.
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    let is_name = !kind.is_empty() && kind.bytes().all(is_word) && !kind.contains("cni");
    Some(if is_name { format!("cni|{kind}") } else { "cni".to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plugin_that_fails_is_named_by_its_type_or_by_its_files() {
        for (message, expected) in [
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
            ("plugin type=\"example-cni\" failed (add): connection refused", Some("cni")),
            ("plugin type=\"bridge\" failed (add): no more addresses", Some("cni|bridge")),
            ("plugin type=\"'; reboot\" failed (add)", Some("cni")),
            ("cni plugin not initialized: script in /opt/laws failed", None),
            ("", None),
        ] {
            assert_eq!(words(message).as_deref(), expected, "{message}");
        }
    }

    #[test]
    fn only_pods_of_network_plugins_on_the_node_are_listed() {
        let listed = pods_on("$(x)", "plugin type=\"calico\" failed (add): error");
        let expected = "kubectl get pods -A -o wide --field-selector spec.nodeName='$(x)' | grep -E 'NAME|calico'";
        assert_eq!(listed.as_deref(), Some(expected));
        assert_eq!(pods_on("node-1", "cni plugin not initialized"), None);
    }
}
