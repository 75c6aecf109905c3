//! Messages and image references.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::Anonymizer;
use crate::decode::event::image_registry;

/// Registries that everybody may use: their names say nothing about whose recording it is.
const PUBLIC_REGISTRIES: [&str; 9] = [
    "docker.io",
    "index.docker.io",
    "gcr.io",
    "ghcr.io",
    "k8s.gcr.io",
    "mcr.microsoft.com",
    "public.ecr.aws",
    "quay.io",
    "registry.k8s.io",
];

/// The words that a message keeps: those of kubelets and schedulers that say why a pod waits. All in
/// lower case; a word is compared in any case.
const WORDS: &str = "
    a able address affinity after all allocate allocated already also an and any anti are as at attach
    attached available back be been being bind binding bound but by can cannot capacity challenge class cni
    claim claims completed condition config configmap connect connection constraint constraints container
    containerd containers could count cpu crash create created creating deadline default delete deleted denied
    device devices did didn directory disk dns does domain driver due e eof ephemeral error errors exceeded
    exec exist exists exit exited expected fail failed failing failure file find for format found free from
    gang gate gated get group groups guaranteed had handshake has have head help host http https i id image
    images immediate in including incoming init initialized insufficient internal into invalid io ip ips is it
    killing lacks limit list lookup made manifest many map marked match matched max maximum memory message
    missing mount mounted mounting must name namespace network never no node nodes nominated nominator not
    of off on only open operation or other out over override owner path pending permission persistent
    persistentvolume persistentvolumeclaim persistentvolumeclaims plugin pod podgroup pods policy port ports
    preempt preempting preemption present probe process provisioner provisioning pull pulled pulling quorum
    rate ready reached read readiness reason refused register registry rejected required resolve resource
    resources restart restarting resolving rpc rule rules run running runtime sandbox satisfy scheduled
    scheduler schedulable scheduling secret selector server set setup shim size skew so spread started
    startup state status storage storageclass successfully such t taint tainted taints terminated than that
    the there these this time timed timeout tls to tolerate toleration tolerations too topology torn try
    unable unauthorized unavailable unbound unexpected unhealthy unknown unmounted unready unreachable
    unschedulable untolerated unusable up update upstream use used valid victims volume volumes wait waiting
    waitforfirstconsumer was were while will with within x509 yet your zone zones
    bytes kubelet s core/v1 code desc authorization repository tag
    node.kubernetes.io/not-ready node.kubernetes.io/unreachable node.kubernetes.io/memory-pressure
    node.kubernetes.io/disk-pressure node.kubernetes.io/pid-pressure node.kubernetes.io/unschedulable
    node.kubernetes.io/network-unavailable node-role.kubernetes.io/control-plane nvidia.com/gpu
    ephemeral-storage hugepages back-off backoff errimagepull imagepullbackoff crashloopbackoff
    containercreating podinitializing
";

impl Anonymizer {
    /// A message of which only known words and numbers are kept.
    pub(super) fn message(&self, message: &str) -> String {
        let mut out = String::with_capacity(message.len());
        let mut rest = message;
        while let Some(begin) = rest.find(|c: char| !is_separator(c)) {
            out.push_str(&rest[..begin]);
            rest = &rest[begin..];
            // A quoted image, as in the messages of pulls: it may hold what separates words.
            if out.ends_with("image \"")
                && let Some(end) = rest.find('"')
            {
                out.push_str(&self.image(&rest[..end]));
                rest = &rest[end..];
                continue;
            }
            let end = rest.find(is_separator).unwrap_or(rest.len());
            out.push_str(&self.word(&rest[..end]));
            rest = &rest[end..];
        }
        out.push_str(rest);
        out
    }

    fn word(&self, word: &str) -> String {
        let bare = word.trim_end_matches(['.', ':', '!', '?']);
        let end = &word[bare.len()..];
        match is_number(bare) || is_known(bare) {
            true => word.to_owned(),
            false => format!("{}{end}", self.name(bare)),
        }
    }

    /// An image reference with the form that it had: registry, path, and a tag or digest. A public
    /// registry stays.
    pub(super) fn image(&self, image: &str) -> String {
        let (registry, path) = image_registry::split(image);
        let (path, version) = match path.split_once('@') {
            Some((path, digest)) => (path, Some(("@sha256:", digest))),
            None => match path.split_once(':') {
                Some((path, tag)) => (path, Some((":", tag))),
                None => (path, None),
            },
        };
        let mut out = String::new();
        if let Some(registry) = registry {
            if PUBLIC_REGISTRIES.contains(&registry) {
                out.push_str(registry);
            } else {
                out.push_str(&self.name(registry));
                out.push_str(".example");
            }
            out.push('/');
        }
        out.push_str(&self.name(path));
        if let Some((separator, version)) = version {
            out.push_str(separator);
            match separator {
                ":" => out.push_str(&self.name(version)),
                _ => out.push_str(&super::hex(&self.hash(version))),
            }
        }
        out
    }
}

fn is_separator(c: char) -> bool {
    c.is_whitespace()
        || matches!(
            c,
            '"' | '\'' | '`' | ',' | ';' | '{' | '}' | '[' | ']' | '=' | '\\'
        )
        || matches!(c, '(' | ')')
}

/// Counts, durations and sizes such as `0/12`, `1.5s`, `350Mi` and `1m2.3s`, but no IP address.
fn is_number(word: &str) -> bool {
    let unit = |c: char| c.is_ascii_digit() || "./-+hmsnµuKMGTi%".contains(c);
    let dots = word.matches('.').count();
    word.contains(|c: char| c.is_ascii_digit()) && dots <= 1 && word.chars().all(unit)
}

fn is_known(word: &str) -> bool {
    static KNOWN: LazyLock<HashSet<&str>> = LazyLock::new(|| WORDS.split_whitespace().collect());
    KNOWN.contains(&*word.to_lowercase())
}
