//! Walks over the bytes of values without reading them: to skip what is not known, and to find out whether a part means
//! something before it is read.

use super::plan::{ReadMethod, ReadPlan};
use super::shapes::{Corrupt, MOST_DEPTH, Shape, Shapes, take};

/// The bytes of values that are read by a plan.
#[derive(Debug)]
pub(super) struct PlanWalk<'de> {
    pub(super) rest: &'de [u8],
    theirs: &'de Shapes,
    /// How many values without a byte, such as a unit, there may still be: no version has many
    empty_left: usize,
    /// How many parts were lost
    pub(super) skipped: u64,
    /// The number of the next place
    pub(super) next_place: usize,
    /// The places whose values no type takes, in ascending order, although their shapes are right
    pub(super) lost: Vec<usize>,
    /// The innermost place in which reading has failed
    pub(super) failed: Option<usize>,
}

impl<'de> PlanWalk<'de> {
    pub(super) fn new(bytes: &'de [u8], theirs: &'de Shapes) -> Self {
        let empty_left = bytes.len().saturating_mul(16).saturating_add(10_000);
        let (skipped, next_place, lost, failed) = (0, 0, Vec::new(), None);
        Self { rest: bytes, theirs, empty_left, skipped, next_place, lost, failed }
    }

    /// Goes over a value of this shape.
    pub(super) fn skip(&mut self, shape: &Shape) -> Result<(), Corrupt> {
        self.skip_in(shape, 0)
    }

    fn skip_in(&mut self, shape: &Shape, depth: u8) -> Result<(), Corrupt> {
        if depth > MOST_DEPTH {
            return Err(Corrupt::new("values are too deep in each other"));
        }
        let depth = depth + 1;
        match shape {
            Shape::Bool => _ = self.take::<bool>()?,
            Shape::Text => _ = self.take::<&str>()?,
            Shape::Option(inner) => {
                if self.take::<bool>()? {
                    self.skip_in(inner, depth)?;
                }
            }
            Shape::Sequence(inner) => {
                for _ in 0..self.take::<u64>()? {
                    self.skip_in(inner, depth)?;
                }
            }
            Shape::Map(key, value) => {
                for _ in 0..self.take::<u64>()? {
                    self.skip_in(key, depth)?;
                    self.skip_in(value, depth)?;
                }
            }
            Shape::Array(inner, length) if *length > 0 => {
                for _ in 0..*length {
                    self.skip_in(inner, depth)?;
                }
            }
            Shape::Tuple(all) if !all.is_empty() => {
                for one in all {
                    self.skip_in(one, depth)?;
                }
            }
            Shape::Struct(all) if !all.is_empty() => {
                for (_, one) in all {
                    self.skip_in(one, depth)?;
                }
            }
            Shape::Unit | Shape::Array(..) | Shape::Tuple(_) | Shape::Struct(_) => {
                let left = self.empty_left.checked_sub(1);
                self.empty_left = left.ok_or_else(|| Corrupt::new("too many values"))?;
            }
            Shape::Enum(variants) => {
                let (_, content) = self.take_variant(variants)?;
                self.skip_in(content, depth)?;
            }
            Shape::Named(name) => self.skip_in(self.theirs.named(name)?, depth)?,
            number => _ = self.take_number(number)?,
        }
        Ok(())
    }

    pub(super) fn take<T: serde::Deserialize<'de>>(&mut self) -> Result<T, Corrupt> {
        take(&mut self.rest)
    }

    /// The beginning of an enum: which of these variants it is.
    pub(super) fn take_variant<'v, T>(&mut self, variants: &'v [T]) -> Result<&'v T, Corrupt> {
        let index: u32 = self.take()?;
        variants.get(index as usize).ok_or_else(|| Corrupt::new("no such variant"))
    }

    /// A number of this shape.
    pub(super) fn take_number(&mut self, shape: &Shape) -> Result<AnyNumber, Corrupt> {
        Ok(match shape {
            Shape::U8 => AnyNumber::Unsigned(self.take::<u8>()?.into()),
            Shape::U16 => AnyNumber::Unsigned(self.take::<u16>()?.into()),
            Shape::U32 => AnyNumber::Unsigned(self.take::<u32>()?.into()),
            Shape::U64 => AnyNumber::Unsigned(self.take::<u64>()?.into()),
            Shape::U128 => AnyNumber::Unsigned(self.take()?),
            Shape::I64 => AnyNumber::Signed(self.take()?),
            _ => return Err(Corrupt::new("no number")),
        })
    }

    /// Enters the next place, in which values of these plans follow. False if they mean nothing: they are skipped then,
    /// and counted.
    pub(super) fn enter(&mut self, plans: &[&ReadPlan<'_>]) -> Result<bool, Corrupt> {
        let is_lost = self.lost.binary_search(&self.next_place).is_ok();
        self.next_place += 1;
        if !is_lost && plans.iter().all(|plan| !plan.may_fail) {
            return Ok(true);
        }
        let begin = self.rest;
        let mut means = !is_lost;
        for plan in plans {
            means &= self.check(plan)?;
        }
        match means {
            true => self.rest = begin,
            false => self.skipped += 1,
        }
        Ok(means)
    }

    /// Goes over a value. False if it means nothing to this podinit.
    pub(super) fn check(&mut self, plan: &ReadPlan<'_>) -> Result<bool, Corrupt> {
        if !plan.may_fail {
            self.skip(plan.theirs)?;
            return Ok(true);
        }
        let mut means = true;
        match &plan.how {
            ReadMethod::Number(ours) => means = self.take_number(plan.theirs)?.fits(ours),
            ReadMethod::Wrapped(inner) => means = self.check(inner)?,
            ReadMethod::Option(inner) => means = !self.take::<bool>()? || self.check(inner)?,
            ReadMethod::Unwrapped(inner) => means = self.take::<bool>()? && self.check(inner)?,
            ReadMethod::Tuple(parts) => {
                for part in parts {
                    means &= self.check(part)?;
                }
            }
            ReadMethod::Struct(fields) => {
                for field in fields {
                    match field.is_needed {
                        true => means &= self.check(&field.plan)?,
                        false => self.skip(field.plan.theirs)?,
                    }
                }
            }
            ReadMethod::Enum(variants) => {
                let (_, content) = self.take_variant(variants)?;
                means = self.check(content)?;
            }
            how => {
                self.skip(plan.theirs)?;
                means = !matches!(how, ReadMethod::Never);
            }
        }
        Ok(means)
    }
}

/// A number of any width.
pub(super) enum AnyNumber {
    Unsigned(u128),
    Signed(i64),
}

impl AnyNumber {
    /// Whether it is one of this shape.
    fn fits(&self, shape: &Shape) -> bool {
        let (most, is_signed) = match shape {
            Shape::U8 => (u8::MAX.into(), false),
            Shape::U16 => (u16::MAX.into(), false),
            Shape::U32 => (u32::MAX.into(), false),
            Shape::U64 => (u64::MAX.into(), false),
            Shape::I64 => (i64::MAX.unsigned_abs().into(), true),
            _ => (u128::MAX, false),
        };
        match self {
            Self::Unsigned(number) => *number <= most,
            Self::Signed(number) => is_signed || u128::try_from(*number).is_ok_and(|it| it <= most),
        }
    }
}
