//! The pods that are starting up or done. There are many of the latter, so each of them takes about
//! thirty bytes.

use std::collections::HashMap;
use std::sync::Arc;

use super::ContentError;
use super::ids::{put_source_id, put_uid, take_source_id, take_uid};
use super::texts::{Texts, put_time, take_instant, take_second, take_time};
use crate::checkpoint::codec::{Decoder, Encoder};
use crate::lifecycle::reentry::LastTrue;
use crate::lifecycle::saved::{SavedInFlight, SavedPod};
use crate::lifecycle::seen::Seen;
use crate::lifecycle::slo::SloId;
use crate::lifecycle::stage::Interval;
use crate::lifecycle::startup::SavedStartup;
use crate::pod::{ConditionType, PodInfo, Workload};

/// What follows: nothing more, or a pod of this kind.
const END: u8 = 0;
const FINISHED: u8 = 1;
const IN_FLIGHT: u8 = 2;

pub(super) fn put(out: &mut Encoder, pods: impl Iterator<Item = SavedPod>) {
    for pod in pods {
        match pod {
            SavedPod::Finished(uid, seen) => {
                out.byte(FINISHED);
                put_uid(out, uid);
                put_seen(out, &seen);
            }
            SavedPod::InFlight(pod) => {
                out.byte(IN_FLIGHT);
                put_in_flight(out, &pod);
            }
        }
    }
    out.byte(END);
}

/// Takes the pods; their SLOs are among the first `slos`.
pub(super) fn take(from: &mut Decoder<'_>, slos: usize) -> Result<Vec<SavedPod>, ContentError> {
    let mut pods = Vec::new();
    let mut shared = SharedTexts::default();
    loop {
        pods.push(match from.byte()? {
            END => return Ok(pods),
            FINISHED => SavedPod::Finished(take_uid(from)?, take_seen(from)?),
            IN_FLIGHT => SavedPod::InFlight(Box::new(take_in_flight(from, slos, &mut shared)?)),
            _ => return Err(from.fail("no such kind of pod").into()),
        });
    }
}

/// The times at which conditions were last true lie near the pod's creation: they are differences
/// from it.
fn put_seen(out: &mut Encoder, seen: &Seen) {
    let seconds = seen.last_true.seconds();
    let held = (0..).zip(seconds).filter(|(_, second)| *second != 0);
    let mask = held.fold(0, |mask: u8, (kind, _)| mask | 1 << kind);
    out.byte(mask | u8::from(seen.is_static) << 7);
    out.number(seen.newest_version);
    put_source_id(out, seen.source);
    let created = i64::from(seen.created);
    out.number(seen.created.into());
    for second in seconds.into_iter().filter(|second| *second != 0) {
        out.signed(i64::from(second) - created);
    }
}

fn take_seen(from: &mut Decoder<'_>) -> Result<Seen, ContentError> {
    let flags = from.byte()?;
    let newest_version = from.number()?;
    let source = take_source_id(from)?;
    let mut seconds = LastTrue::default().seconds();
    if flags & 0x7f >= 1 << seconds.len() {
        return Err(from.fail("no such condition").into());
    }
    let created = take_second(from)?;
    for (kind, second) in seconds.iter_mut().enumerate() {
        if flags & 1 << kind == 0 {
            continue;
        }
        let value = from.signed()?.checked_add(created.into());
        *second = (value.and_then(|value| u32::try_from(value).ok()))
            .filter(|second| *second != 0)
            .ok_or_else(|| from.fail("a time that no condition has"))?;
    }
    Ok(Seen {
        newest_version,
        last_true: LastTrue::from_seconds(seconds),
        source,
        is_static: flags & 0x80 != 0,
        created,
    })
}

fn put_in_flight(out: &mut Encoder, pod: &SavedInFlight) {
    put_uid(out, pod.uid);
    put_seen(out, &pod.seen);
    put_info(out, &pod.info);
    put_startup(out, &pod.startup);
    put_time(out, Some(pod.discovered));
    out.list(&pod.slos, |out, (slo, decided)| {
        out.number(slo.0.into());
        out.flag(*decided);
    });
}

fn take_in_flight(
    from: &mut Decoder<'_>,
    slos: usize,
    shared: &mut SharedTexts,
) -> Result<SavedInFlight, ContentError> {
    Ok(SavedInFlight {
        uid: take_uid(from)?,
        seen: take_seen(from)?,
        info: shared.take_info(from)?,
        startup: take_startup(from)?,
        discovered: take_instant(from)?,
        slos: from.list(|from| {
            let slo = u16::try_from(from.number()?).ok();
            let slo = slo.filter(|slo| usize::from(*slo) < slos);
            let slo = slo.ok_or_else(|| from.fail("no such SLO"))?;
            Ok::<_, ContentError>((SloId(slo), from.flag()?))
        })?,
    })
}

fn put_startup(out: &mut Encoder, startup: &SavedStartup) {
    out.byte(startup.reached);
    out.byte(startup.stood);
    out.number(startup.decided.into());
    out.flag(startup.has_init_containers);
    out.flag(startup.has_readiness_gates);
    out.flag(startup.seen_gated);
    out.flag(startup.seen_unschedulable);
    for at in startup.times {
        put_time(out, at);
    }
}

fn take_startup(from: &mut Decoder<'_>) -> Result<SavedStartup, ContentError> {
    let mut startup = SavedStartup {
        reached: from.byte()?,
        stood: from.byte()?,
        decided: u16::try_from(from.number()?).unwrap_or(u16::MAX),
        has_init_containers: from.flag()?,
        has_readiness_gates: from.flag()?,
        seen_gated: from.flag()?,
        seen_unschedulable: from.flag()?,
        ..SavedStartup::default()
    };
    let unknown = u32::from(startup.reached) >> startup.times.len()
        | u32::from(startup.stood) >> ConditionType::ALL.len()
        | u32::from(startup.decided) >> Interval::ALL.len();
    if unknown != 0 {
        return Err(from.fail("no such milestone, condition or interval").into());
    }
    for at in &mut startup.times {
        *at = take_time(from)?;
    }
    Ok(startup)
}

fn put_info(out: &mut Encoder, info: &PodInfo) {
    out.text(&info.namespace);
    out.text(&info.name);
    out.option(info.node.as_deref(), Encoder::text);
    out.option(info.workload.as_deref(), |out, workload| {
        out.text(&workload.kind);
        out.text(&workload.name);
    });
    out.flag(info.host_network);
    out.list(&info.pod_labels, |out, value| out.text(value));
}

/// What the names of pods have in common.
#[derive(Default)]
struct SharedTexts {
    texts: Texts,
    workloads: HashMap<(Box<str>, Box<str>), Arc<Workload>>,
}

impl SharedTexts {
    fn take_info(&mut self, from: &mut Decoder<'_>) -> Result<PodInfo, ContentError> {
        Ok(PodInfo {
            namespace: self.texts.take(from)?,
            name: from.text()?.into(),
            node: from.option(|from| self.texts.take(from))?,
            workload: from.option(|from| self.take_workload(from))?,
            host_network: from.flag()?,
            pod_labels: (from.list(|from| Ok::<_, ContentError>(from.text()?.into()))?).into(),
        })
    }

    fn take_workload(&mut self, from: &mut Decoder<'_>) -> Result<Arc<Workload>, ContentError> {
        let (kind, name): (Box<str>, Box<str>) = (from.text()?.into(), from.text()?.into());
        let workload = Workload {
            kind: kind.clone(),
            name: name.clone(),
        };
        let held = self.workloads.entry((kind, name));
        Ok(Arc::clone(held.or_insert_with(|| Arc::new(workload))))
    }
}

#[cfg(test)]
#[path = "pods_tests.rs"]
mod tests;
