//! From how many registries the images of the pods come: each has series of its own where Events are a
//! source of evidence.

use std::collections::HashSet;

use podinit_core::image_registry;
use podinit_core::pod::PodInfo;

/// Registries up to a cap, and one more for all past it, as the exporter counts them.
#[derive(Debug)]
pub(super) struct Registries {
    most: usize,
    names: HashSet<String>,
}

impl Registries {
    /// None yet, of at most `cap` that are told apart.
    pub(super) fn new(cap: usize) -> Self {
        Self {
            most: cap.saturating_add(1),
            names: HashSet::new(),
        }
    }

    /// Takes the images of a pod in.
    pub(super) fn add(&mut self, pod: &PodInfo) {
        for image in pod.images.iter().flat_map(|images| images.iter()) {
            let registry = image_registry::of(image);
            if self.names.len() < self.most && !self.names.contains(registry) {
                self.names.insert(registry.to_owned());
            }
        }
    }

    pub(super) fn count(&self) -> usize {
        self.names.len()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn registries_past_the_cap_count_as_one() {
        let mut registries = Registries::new(2);
        for image in [
            "nginx",
            "docker.io/nginx:2",
            "a.example/x",
            "b.example/x",
            "c.example/x",
        ] {
            let pod = PodInfo {
                images: Some(Arc::new(vec![Arc::from(image)])),
                ..PodInfo::default()
            };
            registries.add(&pod);
        }
        assert_eq!(registries.count(), 3);
    }
}
