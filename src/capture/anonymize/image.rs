//! Image references.

use super::keyed_hash::Anonymizer;
use podinit_core::image_registry;

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

impl Anonymizer {
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
                _ => out.push_str(&super::keyed_hash::hex(&self.hash(version))),
            }
        }
        out
    }
}
