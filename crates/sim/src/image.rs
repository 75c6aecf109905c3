//! Container images, the registries that hold them, and how pulls of them fail.

/// An image as a pod's spec names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContainerImage {
    /// `image`
    pub name: &'static str,
    /// Its size on the registry
    pub bytes: u64,
}

/// The registry of this organization's own images.
pub(crate) const OWN_REGISTRY: &str = "registry.example.com";
/// The registry of images that name none.
pub(crate) const DEFAULT_REGISTRY: &str = "docker.io";

const fn image(name: &'static str, megabytes: u64) -> ContainerImage {
    ContainerImage { name, bytes: megabytes * 1_048_576 + name.len() as u64 * 4_099 }
}

/// The main image of pods that need no other.
pub(crate) const APP: ContainerImage = image("registry.example.com/team/app:1.42.0", 88);
/// Of a release whose tag the registry does not know.
pub(crate) const WRONG_TAG: ContainerImage = image("registry.example.com/shop/checkout:2.7.2", 96);
/// The releases of applications that are deployed again and again.
pub(crate) const CART: [ContainerImage; 3] = [
    image("registry.example.com/shop/cart:1.8.0", 77),
    image("registry.example.com/shop/cart:1.8.1", 77),
    image("registry.example.com/shop/cart:1.9.0", 79),
];
pub(crate) const LEDGER: [ContainerImage; 3] = [
    image("registry.example.com/payments/ledger:2.4.0", 102),
    image("registry.example.com/payments/ledger:2.4.1", 102),
    image("registry.example.com/payments/ledger:2.4.2", 103),
];
pub(crate) const PLAYER: [ContainerImage; 3] = [
    image("registry.example.com/media/player:3.3.0", 130),
    image("registry.example.com/media/player:3.4.0", 131),
    image("registry.example.com/media/player:3.4.1", 131),
];
pub(crate) const RANKER: [ContainerImage; 3] = [
    image("ghcr.io/example/ranker:v0.12.0", 188),
    image("ghcr.io/example/ranker:v0.12.1", 188),
    image("ghcr.io/example/ranker:v0.13.0", 190),
];
/// A release of the ledger whose tag the registry does not know.
pub(crate) const WRONG_LEDGER: ContainerImage =
    image("registry.example.com/payments/ledger:2.5.0", 103);
/// Of init containers.
pub(crate) const MIGRATE: ContainerImage = image("registry.example.com/team/migrate:3.1", 31);
/// Of init containers, from another registry.
pub(crate) const GIT_SYNC: ContainerImage = image("ghcr.io/example/git-sync:v4.4.0", 24);
/// Of sidecars.
pub(crate) const PROXY: ContainerImage = image("quay.io/example/mesh-proxy:1.30.2", 63);
/// Of containers beside the main one.
pub(crate) const METRICS_PROXY: ContainerImage =
    image("registry.example.com/team/metrics-proxy:0.9.1", 12);
/// Of jobs.
pub(crate) const BATCH: ContainerImage = image("python:3.14-slim", 44);
/// Of agents on nodes.
pub(crate) const AGENT: ContainerImage = image("quay.io/example/node-agent:2.11.4", 120);
/// Of the control plane.
pub(crate) const CONTROL_PLANE: ContainerImage =
    image("registry.k8s.io/kube-apiserver:v1.37.1", 30);
/// Of people who look for faults.
pub(crate) const DEBUGGER: ContainerImage = image("busybox:1.37", 2);

/// The image of the application `app`.
pub(crate) fn of_app(app: &str) -> ContainerImage {
    match app {
        "checkout" => image("registry.example.com/shop/checkout:2.7.1", 96),
        "catalog" => image("registry.example.com/shop/catalog:2.7.1", 141),
        "gateway" => image("ghcr.io/example/gateway:v1.19.0", 58),
        "indexer" => image("registry.example.com/search/indexer:0.33.2", 412),
        "thumbnails" => image("registry.example.com/media/thumbnails:5.0.0", 287),
        "web" => image("registry.example.com/shop/web:4.12.0", 73),
        "transcoder" => image("registry.example.com/media/transcoder:7.1.2", 334),
        "inference" => image("registry.example.com/ml/inference:1.8.0", 390),
        "sessions" => image("redis:8.2", 49),
        "postgres" => image("postgres:18.1", 158),
        "kafka" => image("quay.io/example/kafka:4.1.0", 371),
        "redis" => image("redis:8.2", 49),
        _ => APP,
    }
}

impl ContainerImage {
    /// The registry that holds it.
    pub fn registry(&self) -> &'static str {
        match self.name.split_once('/') {
            Some((domain, _)) if domain.contains(['.', ':']) => domain,
            _ => DEFAULT_REGISTRY,
        }
    }

    /// Its name as container runtimes write it.
    fn in_full(&self) -> String {
        match self.name.split_once('/') {
            None => format!("{DEFAULT_REGISTRY}/library/{}", self.name),
            Some(_) if self.registry() == DEFAULT_REGISTRY => {
                format!("{DEFAULT_REGISTRY}/{}", self.name)
            }
            Some(_) => self.name.to_owned(),
        }
    }

    /// Where its registry says which layers it has.
    fn manifest(&self) -> String {
        let host = match self.registry() {
            DEFAULT_REGISTRY => "registry-1.docker.io",
            registry => registry,
        };
        let name = self.in_full();
        let (_, path) = name.split_once('/').unwrap_or_default();
        let (repository, tag) = path.split_once(':').unwrap_or((path, "latest"));
        format!("https://{host}/v2/{repository}/manifests/{tag}")
    }
}

/// Why a pull fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PullFault {
    /// The registry knows no such image
    NotFound,
    /// The registry does not answer
    Unreachable,
    /// The registry answers that it cannot serve anybody
    Unavailable,
}

impl PullFault {
    /// The container runtime's error, as the kubelet passes it on.
    pub fn message(self, image: &ContainerImage) -> String {
        let name = image.name;
        let registry = image.registry();
        match self {
            Self::NotFound => format!(
                "rpc error: code = NotFound desc = failed to pull and unpack image \"{name}\": \
                 failed to resolve reference \"{name}\": {name}: not found"
            ),
            Self::Unreachable => format!(
                "rpc error: code = Unknown desc = failed to pull and unpack image \"{name}\": \
                 failed to resolve reference \"{name}\": failed to do request: Head \
                 \"https://{registry}/v2/\": dial tcp 192.0.2.7:443: connect: connection refused"
            ),
            Self::Unavailable => {
                let [name, manifest] = [image.in_full(), image.manifest()];
                format!(
                    "rpc error: code = Unknown desc = failed to pull and unpack image \"{name}\": \
                     failed to resolve reference \"{name}\": unexpected status from HEAD request to \
                     {manifest}: 503 Service Unavailable"
                )
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_have_their_registries() {
        for (image, registry) in [
            (APP, OWN_REGISTRY),
            (BATCH, "docker.io"),
            (GIT_SYNC, "ghcr.io"),
            (of_app("redis"), "docker.io"),
            (of_app("mailer"), OWN_REGISTRY),
        ] {
            assert_eq!(image.registry(), registry, "{}", image.name);
        }
    }

    #[test]
    fn a_registry_that_serves_nobody_is_named_as_runtimes_name_it() {
        let said = PullFault::Unavailable.message(&BATCH);
        assert!(said.contains("image \"docker.io/library/python:3.14-slim\": "), "{said}");
        let path = "https://registry-1.docker.io/v2/library/python/manifests/3.14-slim: 503 ";
        assert!(said.contains(path), "{said}");
        let own = PullFault::Unavailable.message(&APP);
        let path = "https://registry.example.com/v2/team/app/manifests/1.42.0: 503 ";
        assert!(own.contains(path), "{own}");
    }
}
