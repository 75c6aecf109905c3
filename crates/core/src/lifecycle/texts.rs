//! The texts of Kubernetes about a pod in flight, in a box because few pods have any.

use serde::{Deserialize, Serialize};

use super::hints::Hints;
use super::messages::Message;

/// The texts that are kept of one pod.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Texts {
    /// The message about the present cause, or about one that a warning announces
    pub message: Option<Message>,
    /// Texts of Events that give no cause; boxed, because few of these pods have any
    pub(super) hints: Option<Box<Hints>>,
}
