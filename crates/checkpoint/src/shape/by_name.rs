//! Reads a value by names, as far as it means something to this podinit.

use ciborium::Value;
use serde::{Deserialize, Deserializer};
use serde_path_to_error::{Path, Segment, Track};

/// A value is tried to be read so often, each time without one more part of it.
const MOST_ATTEMPTS: u64 = 10_000;

/// What was read, and how many parts of it were skipped. `None` of a value that means nothing at all.
pub(super) fn read<T: for<'de> Deserialize<'de>>(mut value: Value) -> (Option<T>, u64) {
    let mut skipped = 0;
    while skipped < MOST_ATTEMPTS {
        match value.deserialized() {
            Ok(Attempt::Read(read, unknown)) => return (Some(read), skipped + unknown),
            Ok(Attempt::Fails(path)) if remove(&mut value, &path) => skipped += 1,
            _ => break,
        }
    }
    (None, 1)
}

/// An attempt to read a value.
enum Attempt<T> {
    /// It can be read, without so many fields
    Read(T, u64),
    /// It cannot, because of what this leads to
    Fails(Path),
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Attempt<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let mut unknown = 0;
        let mut count = |_: serde_ignored::Path<'_>| unknown += 1;
        let mut track = Track::new();
        let from = serde_path_to_error::Deserializer::new(from, &mut track);
        match T::deserialize(serde_ignored::Deserializer::new(from, &mut count)) {
            Ok(read) => Ok(Self::Read(read, unknown)),
            Err(_) => Ok(Self::Fails(track.path())),
        }
    }
}

/// Removes the innermost field or element on `path`. False if `path` has neither.
fn remove(value: &mut Value, path: &Path) -> bool {
    let steps: Vec<&Segment> = path.iter().collect();
    (0..steps.len()).rev().any(|last| remove_at(value, &steps[..=last]))
}

fn remove_at(value: &mut Value, steps: &[&Segment]) -> bool {
    let Some((step, rest)) = steps.split_first() else {
        return false;
    };
    match (value, step) {
        (Value::Array(all), Segment::Seq { index }) if *index < all.len() => {
            if rest.is_empty() {
                all.remove(*index);
                return true;
            }
            remove_at(&mut all[*index], rest)
        }
        (Value::Map(all), Segment::Map { key } | Segment::Enum { variant: key }) => {
            let is_it = |(name, _): &(Value, Value)| match name {
                Value::Text(name) => name == key,
                Value::Integer(number) => i128::from(*number).to_string() == *key,
                _ => false,
            };
            let Some(at) = all.iter().position(is_it) else {
                return false;
            };
            let is_variant = matches!(step, Segment::Enum { .. });
            if rest.is_empty() && !is_variant {
                all.remove(at);
                return true;
            }
            remove_at(&mut all[at].1, rest)
        }
        _ => false,
    }
}
