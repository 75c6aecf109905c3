//! The saved form of how the images of a pod came to its node.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::form;
use crate::lifecycle::image_pulls::{Image, ImagePull, ImagePulls};
use crate::timestamp::Timestamp;

/// The image of a container.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedImagePull {
    /// Its registry, once a pull of it was counted
    pub registry: Option<Arc<str>>,
    /// A failed pull was counted
    pub failed: bool,
    /// How it came to the node
    pub image: SavedImage,
}

/// How the image of a container came to its node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SavedImage {
    Unknown,
    Present,
    Pulled {
        #[serde(with = "form::optional_time")]
        end: Option<Timestamp>,
        with_wait: Duration,
    },
}

impl ImagePulls {
    pub(super) fn restored(saved: Vec<SavedImagePull>) -> Self {
        let pulls = saved.into_iter().map(|saved| {
            let mut pull = ImagePull::default();
            if saved.failed {
                pull.set_failed();
            }
            pull.set_image(match saved.image {
                SavedImage::Unknown => Image::Unknown,
                SavedImage::Present => Image::Present,
                SavedImage::Pulled { end, with_wait } => Image::Pulled { end, with_wait },
            });
            pull.registry = saved.registry;
            pull
        });
        Self(pulls.collect())
    }

    pub(super) fn saved(&self) -> Vec<SavedImagePull> {
        let saved = self.0.iter().map(|pull| SavedImagePull {
            registry: pull.registry.clone(),
            failed: pull.has_failed(),
            image: match pull.image() {
                Image::Unknown => SavedImage::Unknown,
                Image::Present => SavedImage::Present,
                Image::Pulled { end, with_wait } => SavedImage::Pulled { end, with_wait },
            },
        });
        saved.collect()
    }
}
