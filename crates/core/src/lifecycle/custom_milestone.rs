//! Conditions that the user makes milestones ([§16.5](crate::specification#s16-5)).

use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::interval::Interval;
use super::judgement::UnobservedReason;
use super::slo_verdict::ExclusionReason;
use crate::label_value::LabelValue;
use crate::label_values;
use crate::pod::ConditionType;

/// The longest name of a milestone, in bytes.
const LONGEST_NAME: usize = 32;
/// The longest condition type of Kubernetes: a prefix of 253 bytes, a slash and a name of 63.
const LONGEST_TYPE: usize = 317;

/// A condition that is a milestone.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CustomMilestone {
    /// The value of the label `milestone`
    pub name: Arc<str>,
    /// The condition type
    pub condition: Arc<str>,
}

impl CustomMilestone {
    /// Reads `NAME=condition:TYPE`.
    ///
    /// # Errors
    /// What is wrong, in words.
    pub fn parse(text: &str) -> Result<Self, String> {
        let form = || format!("'{text}' is not of the form NAME=condition:TYPE");
        let (name, source) = text.split_once('=').ok_or_else(form)?;
        let condition = source.strip_prefix("condition:").ok_or_else(form)?;
        if !is_name(name) {
            return Err(format!(
                "'{name}' is no name: a small letter, then small letters, digits and '_', at most {LONGEST_NAME}"
            ));
        }
        if Interval::from_text(name).is_some() || name == "ready" {
            return Err(format!("'{name}' has a meaning of its own; choose another name"));
        }
        if condition.is_empty()
            || condition.len() > LONGEST_TYPE
            || !condition.chars().all(is_of_type)
        {
            return Err(format!("'{condition}' is no condition type"));
        }
        if ConditionType::from_text(condition).is_some() {
            return Err(format!("the condition {condition} is a milestone already"));
        }
        Ok(Self { name: name.into(), condition: condition.into() })
    }
}

fn is_name(text: &str) -> bool {
    let is_rest = |char: char| char.is_ascii_lowercase() || char.is_ascii_digit() || char == '_';
    text.len() <= LONGEST_NAME
        && text.starts_with(|char: char| char.is_ascii_lowercase())
        && text.chars().all(is_rest)
}

fn is_of_type(char: char) -> bool {
    char.is_ascii_alphanumeric() || matches!(char, '-' | '_' | '.' | '/')
}

label_values! {
    /// What a duration of a milestone of your own begins with ([§16.6](crate::specification#s16-6)).
    pub enum CustomStart {
        /// Created
        Created => "created",
        /// ContainersStarted
        ContainersStarted => "containers_started",
    }
}

label_values! {
    /// Why a milestone of your own was not observed ([§16.6](crate::specification#s16-6)).
    pub enum CustomUnobservedReason {
        /// It had been reached when the pod was adopted
        Preexisting => "preexisting",
        /// The pod's status never had the condition
        ConditionAbsent => "condition_absent",
        /// It did not come in its time
        NotSeen => "not_seen",
        /// It came, but its time was unusable
        Time => "time",
        /// The pod was ready before, and is not followed: too many became ready later
        NotFollowed => "not_followed",
    }
}

impl From<UnobservedReason> for CustomUnobservedReason {
    fn from(reason: UnobservedReason) -> Self {
        match reason {
            UnobservedReason::Preexisting => Self::Preexisting,
            UnobservedReason::ConditionAbsent => Self::ConditionAbsent,
            UnobservedReason::NotSeen => Self::NotSeen,
            UnobservedReason::Time => Self::Time,
        }
    }
}

/// A duration of one of the milestones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CustomInterval {
    /// The position of the milestone among those that are configured
    pub milestone: u8,
    pub from: CustomStart,
}

/// What an SLO limits: an interval of all pods, or a duration of a milestone of your own by its name
/// ([§16.7](crate::specification#s16-7)).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum SloInterval {
    Standard(Interval),
    Custom {
        /// The name of the milestone
        milestone: Arc<str>,
        from: CustomStart,
    },
}

impl Default for SloInterval {
    fn default() -> Self {
        Self::Standard(Interval::default())
    }
}

impl From<Interval> for SloInterval {
    fn from(interval: Interval) -> Self {
        Self::Standard(interval)
    }
}

impl SloInterval {
    /// The interval with this name: that of a standard one, or `created_to_NAME` or `containers_started_to_NAME`.
    pub fn from_text(text: &str) -> Option<Self> {
        if let Some(interval) = Interval::from_text(text) {
            return Some(Self::Standard(interval));
        }
        CustomStart::ALL.into_iter().find_map(|from| {
            let name = text.strip_prefix(from.as_str())?.strip_prefix("_to_")?;
            is_name(name).then(|| Self::Custom { milestone: name.into(), from })
        })
    }

    /// The name that an SLO file has, such as `network` or `created_to_NAME`.
    pub fn text(&self) -> std::borrow::Cow<'static, str> {
        match self {
            Self::Standard(interval) => interval.as_str().into(),
            Self::Custom { milestone, from } => format!("{}_to_{milestone}", from.as_str()).into(),
        }
    }

    /// Whether an SLO with this interval excludes pods for a reason that others do not have.
    pub fn excludes_for(&self, reason: ExclusionReason) -> bool {
        reason == ExclusionReason::NotFollowed && self.milestone().is_some()
    }

    /// The standard interval that it is, if it is one.
    pub const fn standard(&self) -> Option<Interval> {
        match self {
            Self::Standard(interval) => Some(*interval),
            Self::Custom { .. } => None,
        }
    }

    /// The name of the milestone of your own that it ends with, if it does.
    pub const fn milestone(&self) -> Option<&Arc<str>> {
        match self {
            Self::Standard(_) => None,
            Self::Custom { milestone, .. } => Some(milestone),
        }
    }
}

impl Serialize for SloInterval {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&self.text())
    }
}

impl<'de> Deserialize<'de> for SloInterval {
    /// Reads its name. An empty text is the default: whoever asks for the shape of a checkpoint has no other.
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        if text.is_empty() {
            return Ok(Self::default());
        }
        Self::from_text(&text).ok_or_else(|| serde::de::Error::custom("no such interval"))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_milestone_is_a_name_and_a_condition_type() {
        let one = CustomMilestone::parse("model_loaded=condition:example.com/ModelLoaded").unwrap();
        assert_eq!((&*one.name, &*one.condition), ("model_loaded", "example.com/ModelLoaded"));
        for (text, says) in [
            ("model", "form NAME=condition:TYPE"),
            ("model=ModelLoaded", "form NAME=condition:TYPE"),
            ("Model=condition:x", "'Model' is no name"),
            ("=condition:x", "'' is no name"),
            ("a-b=condition:x", "'a-b' is no name"),
            ("ready=condition:x", "meaning of its own"),
            ("network=condition:x", "meaning of its own"),
            ("a=condition:", "'' is no condition type"),
            ("a=condition:x y", "'x y' is no condition type"),
            ("a=condition:Ready", "Ready is a milestone already"),
        ] {
            let error = CustomMilestone::parse(text).unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
        }
        let long = format!("{}=condition:x", "a".repeat(LONGEST_NAME + 1));
        assert!(CustomMilestone::parse(&long).is_err());
    }

    #[test]
    fn an_interval_of_an_slo_is_known_by_its_name() {
        for text in
            ["created_to_ready", "network", "created_to_loaded", "containers_started_to_a_b"]
        {
            assert_eq!(SloInterval::from_text(text).unwrap().text(), text);
        }
        let loaded = SloInterval::from_text("containers_started_to_loaded").unwrap();
        assert_eq!(loaded.milestone().map(|name| &**name), Some("loaded"));
        for text in ["created_to_", "created_to_Loaded", "scheduled_to_loaded", ""] {
            assert_eq!(SloInterval::from_text(text), None, "{text}");
        }
    }
}
