//! The saved form of an SLO.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Namespaces, Selection, SloRule};
use crate::lifecycle::interval::Interval;

/// A rule, whose fields are written in this order.
#[derive(Serialize, Deserialize)]
struct SavedRule {
    name: Arc<str>,
    interval: Interval,
    #[serde(with = "nanos")]
    threshold: Duration,
    #[serde(with = "nanos")]
    grace: Duration,
    pods: SavedPods,
    owner_kinds: Vec<Box<str>>,
}

/// Which pods count. A podinit that knows no selection refuses the last form: it would take over the pods of
/// another promise.
#[derive(Serialize, Deserialize)]
enum SavedPods {
    All,
    Include(Vec<Box<str>>),
    Exclude(Vec<Box<str>>),
    Selected(Namespaces, Selection),
}

impl Serialize for SloRule {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        SavedRule::from(self.clone()).serialize(to)
    }
}

impl<'de> Deserialize<'de> for SloRule {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        SavedRule::deserialize(from).map(Self::from)
    }
}

impl From<SloRule> for SavedRule {
    fn from(rule: SloRule) -> Self {
        let pods = match rule.namespaces {
            namespaces if rule.selection != Selection::default() => {
                SavedPods::Selected(namespaces, rule.selection)
            }
            Namespaces::All => SavedPods::All,
            Namespaces::Include(names) => SavedPods::Include(names),
            Namespaces::Exclude(names) => SavedPods::Exclude(names),
        };
        Self {
            name: rule.name,
            interval: rule.interval,
            threshold: rule.threshold,
            grace: rule.grace,
            pods,
            owner_kinds: rule.owner_kinds,
        }
    }
}

impl From<SavedRule> for SloRule {
    fn from(saved: SavedRule) -> Self {
        let (namespaces, selection) = match saved.pods {
            SavedPods::All => (Namespaces::All, Selection::default()),
            SavedPods::Include(names) => (Namespaces::Include(names), Selection::default()),
            SavedPods::Exclude(names) => (Namespaces::Exclude(names), Selection::default()),
            SavedPods::Selected(namespaces, selection) => (namespaces, selection),
        };
        Self {
            name: saved.name,
            interval: saved.interval,
            threshold: saved.threshold,
            grace: saved.grace,
            namespaces,
            owner_kinds: saved.owner_kinds,
            selection,
        }
    }
}

/// A duration as nanoseconds; at most 292 years.
mod nanos {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer, de};

    pub(super) fn serialize<S: Serializer>(value: &Duration, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_i64(i64::try_from(value.as_nanos()).unwrap_or(i64::MAX))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
        let nanos = u64::try_from(i64::deserialize(from)?).map_err(de::Error::custom)?;
        Ok(Duration::from_nanos(nanos))
    }
}
