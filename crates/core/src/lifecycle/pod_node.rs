//! What a pod knows of its node when it is scheduled, and how that classifies its startup
//! ([§14.3](crate::specification#s14-3) to [§14.6](crate::specification#s14-6)).

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::image_pulls::{Image, ImagePulls};
use super::interval::NodePoint;
use super::reached::Reached;
use crate::label_values;
use crate::node::NodeLabels;
use crate::timestamp::Timestamp;

label_values! {
    /// Whether a pod's node is younger than the pod ([§14.3](crate::specification#s14-3)).
    #[derive(Default)]
    pub enum NodeAge {
        /// The node was created in a later second than the pod
        New => "new",
        /// The node was there before
        Existing => "existing",
        /// podinit did not know the node when the pod was scheduled
        #[default]
        Unknown => "unknown",
    }
}

label_values! {
    /// Whether the images of a pod were on its node ([§14.4](crate::specification#s14-4)).
    #[derive(Default)]
    pub enum StartupImages {
        /// At least one was pulled
        Pulled => "pulled",
        /// All were there
        Present => "present",
        /// Events do not say
        #[default]
        Unknown => "unknown",
    }
}

impl StartupImages {
    /// The images of a pod with so many containers, as its Events have shown.
    pub(super) fn from_pulls(pulls: &ImagePulls, containers: usize) -> Self {
        let mut all_present = true;
        for image in pulls.images(containers) {
            match image {
                Image::Pulled { .. } => return Self::Pulled,
                Image::Present => {}
                Image::Unknown => all_present = false,
            }
        }
        match all_present {
            true => Self::Present,
            false => Self::Unknown,
        }
    }
}

/// The node of a pod as it was known when the pod's Scheduled was latched.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct PodNode {
    pub(super) age: NodeAge,
    /// When the node was created, where that is known
    pub(super) created: Option<Timestamp>,
    /// When the node was first Ready, where it was and that is known
    pub(super) ready: Option<Timestamp>,
    /// What the node stated when the startup ended; saved beside it (see [`SharedParts`](super::SharedParts))
    #[serde(skip)]
    pub(super) labels: Option<Arc<NodeLabels>>,
}

impl PodNode {
    /// When the node was at `point`. A node that was not Ready when its pod was scheduled was so at an
    /// unknown time ([§14.6](crate::specification#s14-6)).
    pub(super) fn reached(&self, point: NodePoint) -> Reached {
        Reached::At(match point {
            NodePoint::Created => self.created,
            NodePoint::Ready => self.ready,
        })
    }
}
