//! The fields that only Events have.

use std::borrow::Cow;

use serde::de::MapAccess;

use crate::pod::lenient::{LenientField, LenientSeed, LenientText, LenientTime, skip};
use podinit_core::timestamp::Timestamp;

/// What is read of an Event, beside its `kind`, `metadata`, `reason` and `message`.
#[derive(Default)]
pub(crate) struct EventFields<'de> {
    /// `involvedObject`; the field by which an Event is known where its kind is not stated
    pub involved: Option<InvolvedObject<'de>>,
    /// `reportingComponent`
    pub reporter: Option<Cow<'de, str>>,
    /// `source.component`
    pub source_component: Option<Cow<'de, str>>,
    /// `firstTimestamp`
    pub first: Option<Timestamp>,
    /// `lastTimestamp`
    pub last: Option<Timestamp>,
    /// `series.lastObservedTime`
    pub(super) last_of_series: Option<Timestamp>,
    /// `eventTime`
    pub event_time: Option<Timestamp>,
    /// `type`
    pub(super) kind: Option<Cow<'de, str>>,
}

impl<'de> EventFields<'de> {
    /// Takes the value of the key `key`, or skips it. The second name is that in events.k8s.io/v1.
    pub(crate) fn take<A: MapAccess<'de>>(
        &mut self,
        key: Option<&str>,
        map: &mut A,
    ) -> Result<(), A::Error> {
        match key {
            Some("involvedObject" | "regarding") => {
                self.involved = map.next_value_seed(LenientSeed(InvolvedObjectReader))?;
            }
            Some("reportingComponent" | "reportingController") => {
                self.reporter = map.next_value_seed(LenientSeed(LenientText))?;
            }
            Some("source" | "deprecatedSource") => {
                self.source_component =
                    map.next_value_seed(LenientSeed(OneField("component", LenientText)))?;
            }
            Some("firstTimestamp" | "deprecatedFirstTimestamp") => {
                self.first = map.next_value_seed(LenientSeed(LenientTime))?;
            }
            Some("lastTimestamp" | "deprecatedLastTimestamp") => {
                self.last = map.next_value_seed(LenientSeed(LenientTime))?;
            }
            Some("series") => {
                let last =
                    map.next_value_seed(LenientSeed(OneField("lastObservedTime", LenientTime)))?;
                self.last_of_series = last;
            }
            Some("type") => self.kind = map.next_value_seed(LenientSeed(LenientText))?,
            Some("eventTime") => self.event_time = map.next_value_seed(LenientSeed(LenientTime))?,
            _ => skip(map)?,
        }
        Ok(())
    }
}

/// What is read of an `involvedObject`.
#[derive(Default)]
pub(crate) struct InvolvedObject<'de> {
    pub kind: Option<Cow<'de, str>>,
    pub namespace: Option<Cow<'de, str>>,
    pub name: Option<Cow<'de, str>>,
    pub uid: Option<Cow<'de, str>>,
    pub field_path: Option<Cow<'de, str>>,
}

/// Reads an [`InvolvedObject`]; `None` for what is no object.
struct InvolvedObjectReader;

impl<'de> LenientField<'de> for InvolvedObjectReader {
    type Value = Option<InvolvedObject<'de>>;

    fn absent(self) -> Self::Value {
        None
    }

    fn map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut involved = InvolvedObject::default();
        while let Some(key) = map.next_key_seed(LenientSeed(LenientText))? {
            match key.as_deref() {
                Some("kind") => involved.kind = map.next_value_seed(LenientSeed(LenientText))?,
                Some("namespace") => {
                    involved.namespace = map.next_value_seed(LenientSeed(LenientText))?
                }
                Some("name") => involved.name = map.next_value_seed(LenientSeed(LenientText))?,
                Some("uid") => involved.uid = map.next_value_seed(LenientSeed(LenientText))?,
                Some("fieldPath") => {
                    involved.field_path = map.next_value_seed(LenientSeed(LenientText))?
                }
                _ => skip(&mut map)?,
            }
        }
        Ok(Some(involved))
    }
}

/// The field of this name of an object of which nothing else is read.
struct OneField<F>(&'static str, F);

impl<'de, F: LenientField<'de> + Copy> LenientField<'de> for OneField<F> {
    type Value = F::Value;

    fn absent(self) -> Self::Value {
        self.1.absent()
    }

    fn map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut value = self.1.absent();
        while let Some(key) = map.next_key_seed(LenientSeed(LenientText))? {
            match key.as_deref() {
                Some(key) if key == self.0 => value = map.next_value_seed(LenientSeed(self.1))?,
                _ => skip(&mut map)?,
            }
        }
        Ok(value)
    }
}
