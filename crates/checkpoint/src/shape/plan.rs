//! How values of a file's shapes are read as values of this podinit's types: found once for each type.
//!
//! A part of a value that means nothing to this podinit is lost with its *place*: the innermost field, element or entry
//! of a map that it is in. So a plan says of each part whether it can mean nothing, and of each field whether its
//! struct can do without it.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::shapes::{Corrupt, SavedType, Shape, Shapes};
use super::tracer::{FieldName, RequiredFieldProbe};

/// A plan has no more parts than this; one of a podinit has a few thousand.
const MOST_PARTS: usize = 1 << 18;

/// How a value of a shape is read.
#[derive(Debug)]
pub(super) struct ReadPlan<'a> {
    /// Its shape in the file
    pub(super) theirs: &'a Shape,
    pub(super) how: ReadMethod<'a>,
    /// Whether one can mean nothing to this podinit
    pub(super) may_fail: bool,
}

#[derive(Debug)]
pub(super) enum ReadMethod<'a> {
    /// As it stands: the shapes are the same
    Same,
    /// It always means nothing
    Never,
    /// A bool, a text or nothing
    Simple,
    /// A number, as one of this shape
    Number(&'a Shape),
    /// An option as an option
    Option(Rc<ReadPlan<'a>>),
    /// A value as an option that has it
    Wrapped(Rc<ReadPlan<'a>>),
    /// An option as the value in it
    Unwrapped(Rc<ReadPlan<'a>>),
    /// A variant as the text that is its name; none of one with a content
    Variant(Vec<Option<&'a str>>),
    /// A text as the variant of this name
    Text,
    /// The elements of a sequence or of an array, as those of a sequence
    Elements(Rc<ReadPlan<'a>>),
    Map(Rc<ReadPlan<'a>>, Rc<ReadPlan<'a>>),
    /// The parts of a tuple or of an array, of which none can be missing
    Tuple(Vec<Rc<ReadPlan<'a>>>),
    /// The fields of the file
    Struct(Vec<PlannedField<'a>>),
    /// The variants of the file, with their contents
    Enum(Vec<(&'a str, Rc<ReadPlan<'a>>)>),
}

#[derive(Debug)]
pub(super) struct PlannedField<'a> {
    pub(super) name: &'a str,
    pub(super) plan: Rc<ReadPlan<'a>>,
    /// Whether the struct cannot do without it
    pub(super) is_needed: bool,
}

/// Makes the plans of a type.
pub(super) struct ReadPlanner<'a> {
    theirs: &'a Shapes,
    ours: &'a Shapes,
    /// Whether what has the same shapes is read as it stands
    shortcuts: bool,
    probe: RequiredFieldProbe<'a>,
    /// By the names of both types
    known: BTreeMap<(&'a str, &'a str), Rc<ReadPlan<'a>>>,
    parts: usize,
}

impl<'a> ReadPlanner<'a> {
    /// How a `T` is read. Without `shortcuts` it has a plan for each part.
    ///
    /// # Errors
    /// If the file has no shape for it, or one that no podinit writes.
    pub(super) fn plan<T: SavedType>(
        theirs: &'a Shapes,
        ours: &'a Shapes,
        shortcuts: bool,
    ) -> Result<Rc<ReadPlan<'a>>, Corrupt> {
        let probe = RequiredFieldProbe::new::<T>(ours);
        let known = BTreeMap::new();
        let mut planner = Self { theirs, ours, shortcuts, probe, known, parts: 0 };
        planner.of_named(T::NAME, T::NAME)
    }

    fn of_named(&mut self, theirs: &'a str, ours: &'a str) -> Result<Rc<ReadPlan<'a>>, Corrupt> {
        if let Some(plan) = self.known.get(&(theirs, ours)) {
            return Ok(Rc::clone(plan));
        }
        let shape = self.theirs.named(theirs)?;
        let plan = match self.ours.named(ours)? {
            _ if self.shortcuts && theirs == ours && self.ours.has_same(ours, self.theirs) => {
                self.part(shape, ReadMethod::Same, false)?
            }
            wanted => self.plan_shape(shape, wanted, &FieldName::new(ours))?,
        };
        self.known.insert((theirs, ours), Rc::clone(&plan));
        Ok(plan)
    }

    fn part(
        &mut self,
        theirs: &'a Shape,
        how: ReadMethod<'a>,
        may_fail: bool,
    ) -> Result<Rc<ReadPlan<'a>>, Corrupt> {
        self.parts += 1;
        match self.parts {
            ..=MOST_PARTS => Ok(Rc::new(ReadPlan { theirs, how, may_fail })),
            _ => Err(Corrupt::new("it states more types than a podinit has")),
        }
    }

    fn is_same(&self, theirs: &Shape, ours: &Shape) -> bool {
        let mut names = Vec::new();
        ours.add_names(&mut names);
        theirs == ours && names.into_iter().all(|name| self.ours.has_same(name, self.theirs))
    }

    /// The plan for a shape of theirs, where one of `ours` is wanted, which is in the type `of`.
    fn plan_shape(
        &mut self,
        theirs: &'a Shape,
        ours: &'a Shape,
        of: &FieldName<'a>,
    ) -> Result<Rc<ReadPlan<'a>>, Corrupt> {
        if self.shortcuts && self.is_same(theirs, ours) {
            return self.part(theirs, ReadMethod::Same, false);
        }
        let (how, may_fail) = match (theirs, ours) {
            (Shape::Named(theirs), Shape::Named(ours)) => return self.of_named(theirs, ours),
            (Shape::Unit, Shape::Unit)
            | (Shape::Bool, Shape::Bool)
            | (Shape::Text, Shape::Text) => (ReadMethod::Simple, false),
            (one, other) if one.is_number() && other.is_number() => {
                (ReadMethod::Number(other), one != other)
            }
            (Shape::Option(theirs), Shape::Option(ours)) => {
                let inner = self.plan_shape(theirs, ours, of)?;
                let may_fail = inner.may_fail;
                (ReadMethod::Option(inner), may_fail)
            }
            (theirs, Shape::Option(ours)) => {
                let inner = self.plan_shape(theirs, ours, of)?;
                let may_fail = inner.may_fail;
                (ReadMethod::Wrapped(inner), may_fail)
            }
            (Shape::Option(theirs), ours) => {
                (ReadMethod::Unwrapped(self.plan_shape(theirs, ours, of)?), true)
            }
            (Shape::Sequence(theirs) | Shape::Array(theirs, _), Shape::Sequence(ours)) => {
                (ReadMethod::Elements(self.plan_shape(theirs, ours, of)?), false)
            }
            (Shape::Map(their_key, their_value), Shape::Map(key, value)) => (
                ReadMethod::Map(
                    self.plan_shape(their_key, key, of)?,
                    self.plan_shape(their_value, value, of)?,
                ),
                false,
            ),
            (Shape::Array(theirs, length), Shape::Array(ours, wanted)) if length == wanted => {
                let part = self.plan_shape(theirs, ours, of)?;
                let may_fail = part.may_fail;
                (ReadMethod::Tuple(vec![part; *length as usize]), may_fail)
            }
            (Shape::Tuple(theirs), Shape::Tuple(ours)) if theirs.len() == ours.len() => {
                let parts =
                    theirs.iter().zip(ours).map(|(theirs, ours)| self.plan_shape(theirs, ours, of));
                let parts = parts.collect::<Result<Vec<_>, _>>()?;
                let may_fail = parts.iter().any(|part| part.may_fail);
                (ReadMethod::Tuple(parts), may_fail)
            }
            (Shape::Struct(theirs), Shape::Struct(ours)) => self.fields(theirs, ours, of)?,
            (Shape::Enum(theirs), Shape::Enum(ours)) => self.variants(theirs, ours, of)?,
            (Shape::Named(theirs), ours) => match self.theirs.named(theirs)? {
                shape @ (Shape::Struct(_) | Shape::Enum(_)) => {
                    return self.plan_shape(shape, ours, of);
                }
                // Nothing else has a name; and one could lead to itself.
                _ => (ReadMethod::Never, true),
            },
            (theirs, Shape::Named(name)) => {
                return self.plan_shape(theirs, self.ours.named(name)?, &FieldName::new(name));
            }
            (Shape::Enum(variants), Shape::Text) => {
                let name = |(name, content): &'a (String, Shape)| match content {
                    Shape::Unit => Some(&**name),
                    _ => None,
                };
                (ReadMethod::Variant(variants.iter().map(name).collect()), true)
            }
            (Shape::Text, Shape::Enum(_)) => (ReadMethod::Text, true),
            _ => (ReadMethod::Never, true),
        };
        self.part(theirs, how, may_fail)
    }

    /// The plan for the fields of a struct, or of a variant.
    fn fields(
        &mut self,
        theirs: &'a [(String, Shape)],
        ours: &'a [(String, Shape)],
        of: &FieldName<'a>,
    ) -> Result<(ReadMethod<'a>, bool), Corrupt> {
        let mut missing: BTreeMap<&str, &Shape> =
            ours.iter().map(|(name, shape)| (&**name, shape)).collect();
        let (mut fields, mut may_fail, mut never) = (Vec::new(), false, false);
        for (name, shape) in theirs {
            let wanted = missing.remove(&**name);
            let plan = match wanted {
                Some(wanted) => self.plan_shape(shape, wanted, of)?,
                None => self.part(shape, ReadMethod::Never, true)?,
            };
            let is_needed = wanted.is_some() && plan.may_fail && self.probe.needs(&of.field(name));
            may_fail |= is_needed;
            never |= is_needed && matches!(plan.how, ReadMethod::Never);
            fields.push(PlannedField { name, plan, is_needed });
        }
        never |= missing.into_keys().any(|name| self.probe.needs(&of.field(name)));
        Ok(match never {
            true => (ReadMethod::Never, true),
            false => (ReadMethod::Struct(fields), may_fail),
        })
    }

    fn variants(
        &mut self,
        theirs: &'a [(String, Shape)],
        ours: &'a [(String, Shape)],
        of: &FieldName<'a>,
    ) -> Result<(ReadMethod<'a>, bool), Corrupt> {
        let ours: BTreeMap<&str, &Shape> =
            ours.iter().map(|(name, shape)| (&**name, shape)).collect();
        let (mut variants, mut may_fail) = (Vec::new(), false);
        for (name, shape) in theirs {
            let content = match ours.get(&**name) {
                Some(wanted) => self.plan_shape(shape, wanted, &of.variant(name))?,
                None => self.part(shape, ReadMethod::Never, true)?,
            };
            may_fail |= content.may_fail;
            variants.push((&**name, content));
        }
        Ok((ReadMethod::Enum(variants), may_fail))
    }
}
