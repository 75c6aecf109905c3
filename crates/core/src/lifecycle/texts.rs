//! What Kubernetes says of a pod in flight: few pods have any of it, so that it has a box of its own.

use serde::{Deserialize, Serialize};

use super::hints::Hints;
use super::messages::Message;

/// What is kept of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Texts {
    /// What it says of the present cause, or of one that a warning announces
    pub message: Option<Message>,
    /// What Events say of it that gives no cause; boxed, because few of these pods have any
    pub(super) hints: Option<Box<Hints>>,
}
