//! The object that is missing, or that lacks a key, by a message of the kubelet.

use super::kubectl::{kubectl_in, object};

/// An object that a pod needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MissingObject<'a> {
    kind: &'static str,
    name: &'a str,
    /// The object exists, and lacks a key
    lacks_key: bool,
}

/// The kinds in the words of kubelets, and as kubectl takes them.
const KINDS: [(&str, &str); 3] =
    [("secret \"", "secret"), ("configmap \"", "configmap"), ("persistentvolumeclaim \"", "pvc")];

impl<'a> MissingObject<'a> {
    /// The object that `message` names, such as `secret "database" not found` or `couldn't find key password in Secret
    /// payments/database`. `None` if it names none.
    pub(super) fn named(message: &'a str) -> Option<Self> {
        let missing = KINDS.iter().find_map(|(words, kind)| {
            let (_, rest) = message.split_once(words)?;
            let (name, rest) = rest.split_once('"')?;
            let found = rest.starts_with(" not found") && !name.is_empty();
            found.then_some(Self { kind, name, lacks_key: false })
        });
        missing.or_else(|| Self::without_key(message))
    }

    fn without_key(message: &'a str) -> Option<Self> {
        let (_, rest) = message.split_once("couldn't find key ")?;
        let kinds = [(" in Secret ", "secret"), (" in ConfigMap ", "configmap")];
        kinds.into_iter().find_map(|(words, kind)| {
            let (_, path) = rest.split_once(words)?;
            let path = path.split([' ', ',', ';', '\n', '"']).next()?;
            let (_, name) = path.split_once('/')?;
            (!name.is_empty()).then_some(Self { kind, name, lacks_key: true })
        })
    }

    /// The command that shows whether the object exists, or which keys it has.
    pub(super) fn command(self, namespace: &str) -> String {
        let verb = if self.lacks_key { "describe" } else { "get" };
        format!("{} {verb} {}", kubectl_in(namespace), object(self.kind, self.name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_named_as_kubelets_say_it() {
        let command = |message| MissingObject::named(message).map(|found| found.command("shop"));
        let volume = "MountVolume.SetUp failed for volume \"tls\" : secret \"web-tls\" not found";
        for (message, expected) in [
            ("secret \"database\" not found", "kubectl -n shop get secret database"),
            ("configmap \"web\" not found", "kubectl -n shop get configmap web"),
            (volume, "kubectl -n shop get secret web-tls"),
            ("persistentvolumeclaim \"data\" not found", "kubectl -n shop get pvc data"),
            (
                "couldn't find key password in Secret shop/database",
                "kubectl -n shop describe secret database",
            ),
            ("couldn't find key a in ConfigMap shop/web", "kubectl -n shop describe configmap web"),
            ("secret \"-A\" not found", "kubectl -n shop get secret/-A"),
            ("secret \"$(x)\" not found", "kubectl -n shop get secret '$(x)'"),
        ] {
            assert_eq!(command(message).as_deref(), Some(expected), "{message}");
        }
        let others =
            ["", "secret \"", "secret \"a\" is invalid", "couldn't find key a in Secret b"];
        for message in others {
            assert_eq!(command(message), None, "{message}");
        }
    }
}
