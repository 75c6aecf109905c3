//! The registry of an image reference, as container tools normalize it (the rules of the reference
//! grammar of CNCF Distribution).

/// The registry that stands for none, and that references may spell in an older way.
const DEFAULT: &str = "docker.io";
const LEGACY_DEFAULT: &str = "index.docker.io";

/// The registry of `image`, or `docker.io` if it names none. Every text has a registry, since what a
/// kubelet names in an Event it has taken for an image.
pub fn registry_of(image: &str) -> &str {
    match split(image) {
        (Some(registry), _) if registry != LEGACY_DEFAULT => registry,
        _ => DEFAULT,
    }
}

/// The registry that `image` names, and the rest of it. What stands before the first slash is a registry
/// if it has a dot, a colon or an upper-case letter, which no repository may have, or is `localhost`.
pub fn split(image: &str) -> (Option<&str>, &str) {
    match image.split_once('/') {
        Some((first, rest)) if is_registry(first) => (Some(first), rest),
        _ => (None, image),
    }
}

/// Whether `text` names `image` in quotes: as it is, or in full, as runtimes do.
pub(super) fn is_named_in(text: &str, image: &str) -> bool {
    let mut quoted = text.split('"').skip(1).step_by(2);
    quoted.any(|name| name == image || name == in_full(image))
}

/// The name of an image with its registry, `library` and its tag.
fn in_full(image: &str) -> String {
    let registry = registry_of(image);
    let (_, rest) = split(image);
    let library = if registry == DEFAULT && !rest.contains('/') { "library/" } else { "" };
    let tag = if rest.contains([':', '@']) { "" } else { ":latest" };
    format!("{registry}/{library}{rest}{tag}")
}

/// The repository of `image` without its registry, and its tag, if it has one.
pub fn repository(image: &str) -> (&str, Option<&str>) {
    let (_, rest) = split(image);
    let rest = rest.split_once('@').map_or(rest, |(name, _)| name);
    match rest.rsplit_once(':') {
        Some((repository, tag)) => (repository, Some(tag)),
        None => (rest, None),
    }
}

fn is_registry(first: &str) -> bool {
    first == "localhost"
        || first.contains(['.', ':'])
        || first.chars().any(|letter| letter.to_lowercase().ne([letter]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_names_an_image_as_the_spec_does_or_in_full() {
        let pull = |name: &str| format!("Back-off pulling image \"{name}\": not found");
        for (name, image, named) in [
            ("quay.io/a/model:v9", "quay.io/a/model:v9", true),
            ("docker.io/library/nginx:latest", "nginx", true),
            ("docker.io/library/nginx:1.27", "nginx:1.27", true),
            ("docker.io/acme/web@sha256:1", "acme/web@sha256:1", true),
            ("docker.io/library/nginx:latest", "nginx:1.27", false),
            ("quay.io/a/model:v9", "quay.io/a/model:v8", false),
        ] {
            assert_eq!(is_named_in(&pull(name), image), named, "{name} {image}");
        }
        assert!(!is_named_in("nginx", "nginx"));
    }

    #[test]
    fn repositories_are_without_registry_tag_and_digest() {
        for (image, parts) in [
            ("nginx", ("nginx", None)),
            ("nginx:1.27", ("nginx", Some("1.27"))),
            ("localhost:5000/team/app", ("team/app", None)),
            ("ghcr.io/org/app:v1@sha256:0123", ("org/app", Some("v1"))),
            ("ghcr.io/org/app@sha256:0123", ("org/app", None)),
        ] {
            assert_eq!(repository(image), parts, "{image}");
        }
    }

    #[test]
    fn registries_are_those_that_container_tools_find() {
        for (image, registry) in [
            ("nginx", "docker.io"),
            ("nginx:1.27", "docker.io"),
            ("library/nginx", "docker.io"),
            ("team/web/api", "docker.io"),
            ("docker.io/library/nginx", "docker.io"),
            ("index.docker.io/library/nginx", "docker.io"),
            ("registry-1.docker.io/library/nginx", "registry-1.docker.io"),
            ("ghcr.io/org/app@sha256:0123", "ghcr.io"),
            ("registry.k8s.io/pause:3.10", "registry.k8s.io"),
            ("localhost/app", "localhost"),
            ("localhost:5000/app", "localhost:5000"),
            ("registry:5000/app", "registry:5000"),
            ("10.0.0.1:5000/app", "10.0.0.1:5000"),
            ("[2001:db8::1]:5000/app", "[2001:db8::1]:5000"),
            ("Registry/app", "Registry"),
            ("localhost", "docker.io"),
            ("localhosts/app", "docker.io"),
            ("example.com", "docker.io"),
            ("", "docker.io"),
            ("/app", "docker.io"),
        ] {
            assert_eq!(registry_of(image), registry, "{image}");
        }
    }
}
