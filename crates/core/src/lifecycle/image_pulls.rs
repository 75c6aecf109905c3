//! How the images of a pod in flight came to its node, as Events have shown
//! ([§9.3](crate::specification#s9-3)).

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::cause::MOST_FOLLOWED;
use crate::timestamp::Timestamp;

/// The images of a pod's containers, in the order of its spec; empty until an Event names one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ImagePulls(pub(super) Box<[ImagePull]>);

/// The image of a container.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "SavedPull", into = "SavedPull")]
pub(super) struct ImagePull {
    /// Its registry, once a pull of it was counted
    pub(super) registry: Option<Arc<str>>,
    /// When it was pulled
    end: Option<Timestamp>,
    /// A bit for each of the facts, and above them the nanoseconds of the pull with its wait: in one
    /// word, because a pod in flight has little room
    facts_and_nanos: u64,
}

const FAILED: u64 = 1 << 0;
const PRESENT: u64 = 1 << 1;
const PULLED: u64 = 1 << 2;
const FACT_BITS: u32 = 8;

/// How the image of a container came to its node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Image {
    /// Not known yet
    #[default]
    Unknown,
    /// It was there already
    Present,
    /// It was pulled
    Pulled {
        /// The time of the Event
        end: Option<Timestamp>,
        /// The pull itself, and the wait in the kubelet's queue; at most two years
        with_wait: Duration,
    },
}

/// The saved form of an [`ImagePull`].
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct SavedPull {
    registry: Option<Arc<str>>,
    failed: bool,
    image: Image,
}

impl From<ImagePull> for SavedPull {
    fn from(pull: ImagePull) -> Self {
        let (failed, image) = (pull.has_failed(), pull.image());
        Self { registry: pull.registry, failed, image }
    }
}

impl From<SavedPull> for ImagePull {
    fn from(SavedPull { registry, failed, image }: SavedPull) -> Self {
        let mut pull = Self { registry, ..Self::default() };
        if failed {
            pull.set_failed();
        }
        pull.set_image(image);
        pull
    }
}

impl ImagePull {
    /// Whether a failed pull was counted.
    pub(super) const fn has_failed(&self) -> bool {
        self.facts_and_nanos & FAILED != 0
    }

    pub(super) const fn set_failed(&mut self) {
        self.facts_and_nanos |= FAILED;
    }

    pub(super) const fn image(&self) -> Image {
        if self.facts_and_nanos & PULLED != 0 {
            Image::Pulled {
                end: self.end,
                with_wait: Duration::from_nanos(self.facts_and_nanos >> FACT_BITS),
            }
        } else if self.facts_and_nanos & PRESENT != 0 {
            Image::Present
        } else {
            Image::Unknown
        }
    }

    /// Notes how the image came to the node. Done once.
    pub(super) fn set_image(&mut self, image: Image) {
        match image {
            Image::Unknown => {}
            Image::Present => self.facts_and_nanos |= PRESENT,
            Image::Pulled { end, with_wait } => {
                const MOST: u64 = u64::MAX >> FACT_BITS;
                let nanos = u64::try_from(with_wait.as_nanos()).unwrap_or(MOST);
                self.end = end;
                self.facts_and_nanos |= PULLED | nanos.min(MOST) << FACT_BITS;
            }
        }
    }
}

impl ImagePulls {
    /// The image of the container at a position of the spec, which has so many.
    pub(super) fn get_mut(&mut self, position: usize, containers: usize) -> Option<&mut ImagePull> {
        if self.0.is_empty() {
            self.0 = vec![ImagePull::default(); containers.min(MOST_FOLLOWED)].into();
        }
        self.0.get_mut(position)
    }

    /// The registries of the images whose pulls were counted.
    pub(super) fn registries(&self) -> Vec<Arc<str>> {
        let all = self.0.iter();
        all.filter_map(|pull| pull.registry.clone()).collect()
    }

    /// How the images of a pod of so many containers came to the node.
    pub(super) fn images(&self, containers: usize) -> impl Iterator<Item = Image> {
        let known = |position| self.0.get(position).map(ImagePull::image);
        (0..containers).map(move |position| known(position).unwrap_or(Image::Unknown))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pod_of_very_many_containers_is_followed_in_part() {
        for (containers, followed) in [(1, 1), (64, 64), (65, 64), (5000, 64)] {
            let mut pulls = ImagePulls::default();
            assert!(pulls.get_mut(0, containers).is_some());
            assert!(pulls.get_mut(containers - 1, containers).is_some() == (containers <= 64));
            assert_eq!(pulls.0.len(), followed);
        }
        assert_eq!(size_of::<ImagePull>(), 32);
    }

    #[test]
    fn an_image_is_remembered_beside_a_failure() {
        let end = Some(Timestamp::from_seconds(7));
        for seconds in [0, 1, 60_000_000] {
            let with_wait = Duration::from_secs(seconds);
            let mut pull = ImagePull::default();
            pull.set_failed();
            let image = Image::Pulled { end, with_wait };
            pull.set_image(image);
            assert_eq!((pull.image(), pull.has_failed()), (image, true));
        }
        let mut pull = ImagePull::default();
        let with_wait = Duration::MAX;
        pull.set_image(Image::Pulled { end, with_wait });
        assert!(!pull.has_failed() && matches!(pull.image(), Image::Pulled { .. }));
    }
}
