//! The gates of an ordinary snapshot, and the conditions with names of their own, as bytes.

use super::bytes::{ByteReader, put_number};
use super::numbered::NumberedValues;
use super::snapshot::{code, put_time, status, time};
use crate::pod::{GateNames, NamedConditions, StatusCondition};

/// Appends the gates and conditions.
pub(super) fn pack(
    named: &NamedConditions,
    shared: &mut NumberedValues<GateNames>,
    base: i64,
    out: &mut Vec<u8>,
) {
    let NamedConditions { gates, readiness, milestones } = named;
    put_number(out, gates.as_ref().map_or(0, |gates| 1 + shared.number(gates)));
    for conditions in [readiness, milestones] {
        put_number(out, conditions.len() as u64);
        for condition in conditions {
            out.push(code(condition.map(|condition| condition.status)));
            if let Some(condition) = condition {
                put_time(out, base, condition.last_transition);
            }
        }
    }
}

/// Reads what [`pack`] has written.
pub(super) fn unpack(
    shared: &NumberedValues<GateNames>,
    reader: &mut ByteReader<'_>,
    base: i64,
) -> NamedConditions {
    let gates = reader.number().checked_sub(1).and_then(|number| shared.get(number));
    let mut conditions = || {
        let all = (0..reader.number()).map(|_| {
            let status = status(reader.byte())?;
            Some(StatusCondition { status, last_transition: time(reader, base) })
        });
        all.collect()
    };
    NamedConditions { gates, readiness: conditions(), milestones: conditions() }
}
