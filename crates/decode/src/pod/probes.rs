//! `startupProbe`, `readinessProbe` and `livenessProbe` of a container.

use serde::de::MapAccess;

use super::lenient::{LenientField, LenientNumber, LenientSeed, LenientText, skip};
use podinit_core::pod::ContainerProbe;

/// Reads when a probe runs; `None` for what is no object.
pub(super) struct ProbeReader;

impl<'de> LenientField<'de> for ProbeReader {
    type Value = Option<ContainerProbe>;

    fn absent(self) -> Self::Value {
        None
    }

    fn map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut probe = ContainerProbe::default();
        while let Some(key) = map.next_key_seed(LenientSeed(LenientText))? {
            let (field, least) = match key.as_deref() {
                Some("initialDelaySeconds") => (&mut probe.initial_delay, 0),
                Some("periodSeconds") => (&mut probe.period, 1),
                Some("successThreshold") => (&mut probe.success_threshold, 1),
                Some("failureThreshold") => (&mut probe.failure_threshold, 1),
                _ => {
                    skip(&mut map)?;
                    continue;
                }
            };
            // Where 0 is not allowed it stands for the default, as for the API server.
            if let Some(value) = map.next_value_seed(LenientSeed(LenientNumber))?
                && value >= least
            {
                *field = u32::try_from(value).unwrap_or(u32::MAX);
            }
        }
        Ok(Some(probe))
    }
}
