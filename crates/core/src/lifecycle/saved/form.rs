//! The saved form of types that other files of the core define.
//!
//! Each module is for `#[serde(with = "...")]`; each `Saved...` type here is a remote derive.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::SavedSource;
use super::evidence::Named;
use crate::lifecycle::delivery::SourceId;
use crate::lifecycle::in_place::{OpenChanges, OpenResize};
use crate::lifecycle::interval::{Interval, Stage};
use crate::lifecycle::last_seen::LastSeen;
use crate::lifecycle::milestone::Milestone;
use crate::lifecycle::reentry::LastTrue;
use crate::lifecycle::slo::{Namespaces, SloRule};
use crate::lifecycle::slo_verdict::SloId;
use crate::lifecycle::sources::{FirstList, SourceProgress};
use crate::lifecycle::stuck::StuckBefore;
use crate::lifecycle::version::Version;
use crate::pod::{ContainerProbes, PodInfo, PodUid, ResizeState, Workload};
use crate::timestamp::Timestamp;

const MILESTONES: usize = Milestone::ALL.len();
const STAGES: usize = Stage::ALL.len();

/// Declares a module for `#[serde(with = "...")]` that saves a type as another one.
macro_rules! saved_as {
    (
        $(#[$meta:meta])*
        $name:ident: $type:ty as $form:ty,
        save: $save:expr,
        restore: $restore:expr $(,)?
    ) => {
        $(#[$meta])*
        pub(super) mod $name {
            use super::*;

            pub(in super::super) fn serialize<S: Serializer>(
                value: &$type,
                serializer: S,
            ) -> Result<S::Ok, S::Error> {
                let save: fn(&$type) -> $form = $save;
                save(value).serialize(serializer)
            }

            pub(in super::super) fn deserialize<'de, D: Deserializer<'de>>(
                deserializer: D,
            ) -> Result<$type, D::Error> {
                let restore: fn($form) -> $type = $restore;
                <$form>::deserialize(deserializer).map(restore)
            }
        }
    };
}

saved_as! {
    /// A UID as its 16 bytes: as integers, its words would take up to ten bytes each.
    uid: PodUid as [u8; 16],
    save: |uid| {
        let [high, low] = uid.words().map(u128::from);
        (high << 64 | low).to_be_bytes()
    },
    restore: |bytes| {
        let value = u128::from_be_bytes(bytes);
        PodUid::from_words([(value >> 64) as u64, value as u64])
    },
}

saved_as! {
    /// Nanoseconds since the epoch.
    time: Timestamp as i64,
    save: |at| at.as_nanos(),
    restore: Timestamp::from_nanos,
}

saved_as! {
    optional_time: Option<Timestamp> as Option<i64>,
    save: |at| at.map(Timestamp::as_nanos),
    restore: |nanos| nanos.map(Timestamp::from_nanos),
}

saved_as! {
    optional_times: [Option<Timestamp>; MILESTONES] as [Option<i64>; MILESTONES],
    save: |times| times.map(|at| at.map(Timestamp::as_nanos)),
    restore: |times| times.map(|nanos| nanos.map(Timestamp::from_nanos)),
}

saved_as! {
    sources: BTreeMap<SourceId, SavedSource> as BTreeMap<u16, SavedSource>,
    save: |sources| sources.iter().map(|(id, saved)| (id.0, saved.clone())).collect(),
    restore: |sources| sources.into_iter().map(|(id, saved)| (SourceId(id), saved)).collect(),
}

saved_as! {
    first_list: Option<FirstList> as Option<SavedFirstList>,
    save: |first_list| first_list.map(SavedFirstList),
    restore: |first_list| first_list.map(|SavedFirstList(first_list)| first_list),
}

saved_as! {
    version: Option<Version> as Option<String>,
    save: |version| version.as_ref().map(ToString::to_string),
    restore: |text| text.map(|text| Version::from_text(&text)),
}

saved_as! {
    slos: Vec<(SloId, bool)> as Vec<(u16, bool)>,
    save: |slos| slos.iter().map(|(slo, decided)| (slo.0, *decided)).collect(),
    restore: |slos| slos.into_iter().map(|(slo, decided)| (SloId(slo), decided)).collect(),
}

saved_as! {
    rules: Arc<[SloRule]> as Vec<SavedRule>,
    save: |rules| rules.iter().cloned().map(SavedRule).collect(),
    restore: |rules| rules.into_iter().map(|SavedRule(rule)| rule).collect(),
}

saved_as! {
    /// By stage: the limit, the instant, and whether the limit has changed since.
    stuck: StuckBefore as [(u64, Option<i64>, bool); STAGES],
    save: |stuck| stuck.by_stage().map(|(after, before, changed)| {
        let after = u64::try_from(after.as_nanos()).unwrap_or(u64::MAX);
        (after, before.map(Timestamp::as_nanos), changed)
    }),
    restore: |stages| StuckBefore::of_stages(stages.map(|(after, before, changed)| {
        let after = Duration::from_nanos(after);
        (after, before.map(Timestamp::from_nanos), changed)
    })),
}

saved_as! {
    last_seen: LastSeen as SavedLastSeen,
    save: |last_seen| SavedLastSeen::from(*last_seen),
    restore: LastSeen::from,
}

saved_as! {
    /// The state, beginning and sight of a resize, and the beginning of an update.
    open_changes: OpenChanges as SavedOpenChanges,
    save: |open| SavedOpenChanges {
        resize: open.resize.map(|resize| (
            Named(resize.state),
            resize.since.map(Timestamp::as_nanos),
            resize.at_first_sight,
        )),
        update: open.update.map(|since| since.map(Timestamp::as_nanos)),
    },
    restore: |saved| OpenChanges {
        resize: saved.resize.map(|(Named(state), since, at_first_sight)| OpenResize {
            state,
            since: since.map(Timestamp::from_nanos),
            at_first_sight,
        }),
        update: saved.update.map(|since| since.map(Timestamp::from_nanos)),
    },
}

saved_as! {
    workload: Option<Arc<Workload>> as Option<(Box<str>, Box<str>)>,
    save: |workload| {
        let workload = workload.as_deref();
        workload.map(|workload| (workload.kind.clone(), workload.name.clone()))
    },
    restore: |workload| workload.map(|(kind, name)| Arc::new(Workload { kind, name })),
}

/// An interval by its name, so that a later podinit may add intervals.
mod interval {
    use super::*;

    pub(super) fn serialize<S: Serializer>(
        interval: &Interval,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        interval.as_str().serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Interval, D::Error> {
        let name = <&str>::deserialize(deserializer)?;
        let mut all = Interval::ALL.into_iter();
        let known = all.find(|interval| interval.as_str() == name);
        known.ok_or_else(|| de::Error::custom("no such interval"))
    }
}

/// [`LastSeen`] in few bytes: most saved pods are finished, and this is what is saved of each.
#[derive(Serialize, Deserialize)]
pub(super) struct SavedLastSeen {
    newest_version: u64,
    source: u16,
    is_static: bool,
    created: u32,
    last_true: [SavedSecond; 5],
}

/// A second at which a condition was last true. Conditions become true shortly after the pod's
/// creation, so it is an offset from that: 0 for never, else one more than the offset in zigzag order
/// (0, -1, 1, -2, ...), so that small offsets of either sign take one byte. Every number stands for
/// some second.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct SavedSecond(u32);

impl SavedSecond {
    const fn of(second: u32, created: u32) -> Self {
        if second == 0 {
            return Self(0);
        }
        let offset = second.wrapping_sub(created).cast_signed();
        let zigzag = (offset << 1 ^ offset >> (i32::BITS - 1)).cast_unsigned();
        // The one offset without a number of its own is 68 years, and loses a second.
        Self(zigzag.saturating_add(1))
    }

    const fn second(self, created: u32) -> u32 {
        let Some(zigzag) = self.0.checked_sub(1) else {
            return 0;
        };
        let offset = (zigzag >> 1).cast_signed() ^ -(zigzag & 1).cast_signed();
        created.wrapping_add_signed(offset)
    }
}

impl From<LastSeen> for SavedLastSeen {
    fn from(last_seen: LastSeen) -> Self {
        let seconds = last_seen.last_true.seconds();
        Self {
            newest_version: last_seen.newest_version,
            source: last_seen.source.0,
            is_static: last_seen.is_static,
            created: last_seen.created,
            last_true: seconds.map(|second| SavedSecond::of(second, last_seen.created)),
        }
    }
}

impl From<SavedLastSeen> for LastSeen {
    fn from(saved: SavedLastSeen) -> Self {
        let seconds = saved.last_true.map(|second| second.second(saved.created));
        Self {
            newest_version: saved.newest_version,
            last_true: LastTrue::from_seconds(seconds),
            source: SourceId(saved.source),
            is_static: saved.is_static,
            created: saved.created,
        }
    }
}

#[derive(Serialize, Deserialize)]
pub(super) struct SavedOpenChanges {
    resize: Option<(Named<ResizeState>, Option<i64>, bool)>,
    update: Option<Option<i64>>,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "SourceProgress")]
pub(super) struct SavedSourceProgress {
    #[serde(with = "version")]
    version: Option<Version>,
    #[serde(with = "optional_time")]
    complete_at: Option<Timestamp>,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
pub(super) struct SavedFirstList(#[serde(with = "FirstListForm")] FirstList);

#[derive(Serialize, Deserialize)]
#[serde(remote = "FirstList")]
enum FirstListForm {
    BeganAt(#[serde(with = "time")] Timestamp),
    NeverHad,
}

#[derive(Serialize, Deserialize)]
pub(super) struct SavedRule(#[serde(with = "SloRuleForm")] SloRule);

#[derive(Serialize, Deserialize)]
#[serde(remote = "SloRule")]
struct SloRuleForm {
    name: Arc<str>,
    #[serde(with = "interval")]
    interval: Interval,
    #[serde(with = "nanos")]
    threshold: Duration,
    #[serde(with = "nanos")]
    grace: Duration,
    #[serde(with = "NamespacesForm")]
    namespaces: Namespaces,
    owner_kinds: Vec<Box<str>>,
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "Namespaces")]
enum NamespacesForm {
    All,
    Include(Vec<Box<str>>),
    Exclude(Vec<Box<str>>),
}

#[derive(Serialize, Deserialize)]
#[serde(remote = "PodInfo")]
pub(super) struct SavedPodInfo {
    namespace: Arc<str>,
    name: Box<str>,
    node: Option<Arc<str>>,
    #[serde(with = "workload")]
    workload: Option<Arc<Workload>>,
    host_network: bool,
    pod_labels: Arc<[Box<str>]>,
    /// Of recordings only, which are not saved
    #[serde(skip)]
    probes: Option<Arc<Vec<ContainerProbes>>>,
    /// Saved beside the pods
    #[serde(skip)]
    images: Option<Arc<Vec<Arc<str>>>>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_near_the_creation_takes_one_byte_and_is_restored() {
        let created = 1_000;
        for (second, saved) in [(0, 0), (1_000, 1), (999, 2), (1_001, 3), (1_062, 125)] {
            assert_eq!(SavedSecond::of(second, created).0, saved, "{second}");
        }
        for created in [0, 1, 1_000, u32::MAX] {
            for second in [0, 1, 999, 1_000, 1 << 31, u32::MAX] {
                let saved = SavedSecond::of(second, created);
                let lost = u32::from(second.wrapping_sub(created) == 1 << 31 && second != 0);
                let restored = saved.second(created);
                assert_eq!(
                    restored,
                    second.wrapping_sub(lost),
                    "{second} from {created}"
                );
            }
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
