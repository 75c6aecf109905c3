//! Commands of kubectl: the names of strangers in them can do nothing in a shell, and are no flags.

/// The command that shows the time of a node, and that of this machine: the kubelet writes its clock into its lease every
/// 10 s.
pub fn time_of_node(node: &str) -> String {
    let lease = object("lease", node);
    format!(
        "kubectl -n kube-node-lease get {lease} -o jsonpath='{{.spec.renewTime}}{{\"\\n\"}}' && date -u +%FT%TZ"
    )
}

/// `command` with the kubeconfig of the cluster that it is about, where kubectl does not find that by itself.
pub(crate) fn addressed(command: &str, kubeconfig: Option<&str>) -> String {
    match (kubeconfig, command.strip_prefix("kubectl ")) {
        (Some(path), Some(rest)) => {
            let equals = if is_flag(path) { '=' } else { ' ' };
            format!("kubectl --kubeconfig{equals}{} {rest}", quoted(path))
        }
        _ => command.to_owned(),
    }
}

/// The command that describes an object.
pub(crate) fn described(namespace: &str, kind: &str, name: &str) -> String {
    let kubectl = kubectl_in(namespace);
    match is_flag(kind) {
        true => format!("{kubectl} get pods"),
        false => {
            format!("{kubectl} describe {}", object(&quoted(&kind.to_ascii_lowercase()), name))
        }
    }
}

/// kubectl, and the namespace.
pub(super) fn kubectl_in(namespace: &str) -> String {
    match is_flag(namespace) {
        true => format!("kubectl --namespace={}", quoted(namespace)),
        false => format!("kubectl -n {}", quoted(namespace)),
    }
}

/// An object as kubectl takes it: its kind and its name.
pub(super) fn object(kind: &str, name: &str) -> String {
    match is_flag(name) {
        true => quoted(&format!("{kind}/{name}")),
        false => format!("{kind} {}", quoted(name)),
    }
}

/// Whether a command would take the name for a flag, quoted or not.
pub(super) fn is_flag(name: &str) -> bool {
    name.starts_with('-')
}

/// A name as an argument of a shell. Those that Kubernetes allows need no quotes.
pub fn quoted(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._/".contains(&byte);
    if !text.is_empty() && text.bytes().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_can_do_anything_in_a_shell() {
        assert_eq!(quoted("web-7c9d.example"), "web-7c9d.example");
        assert_eq!(quoted("a b"), "'a b'");
        assert_eq!(quoted("$(reboot)'"), r"'$(reboot)'\'''");
        assert_eq!(quoted(""), "''");
    }

    #[test]
    fn a_command_names_the_kubeconfig_that_it_needs() {
        let command = "kubectl -n shop describe pod web";
        assert_eq!(addressed(command, None), command);
        assert_eq!(
            addressed(command, Some("/tmp/a b/kubeconfig")),
            "kubectl --kubeconfig '/tmp/a b/kubeconfig' -n shop describe pod web"
        );
        assert_eq!(addressed("", Some("/tmp/kubeconfig")), "");
        let command = addressed("kubectl describe pod web", Some("-k"));
        assert_eq!(command, "kubectl --kubeconfig=-k describe pod web");
    }
}
