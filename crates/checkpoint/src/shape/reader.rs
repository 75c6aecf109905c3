//! Reads the values of a section, one after the other.

use std::marker::PhantomData;
use std::rc::Rc;

use serde::Deserialize;

use super::plan::{ReadMethod, ReadPlan, ReadPlanner};
use super::shapes::{Corrupt, SavedType, Shapes};
use super::walk::PlanWalk;

/// A value is tried to be read so often, each time without one more part of it.
const MOST_ATTEMPTS: usize = 100;

/// The values of a section.
#[derive(Debug)]
pub(crate) struct SectionValues<'a> {
    walk: PlanWalk<'a>,
    /// The shapes of the file
    theirs: &'a Shapes,
    /// Those of this podinit
    ours: &'a Shapes,
    /// By type, and by whether it may have shortcuts
    plans: Vec<((&'static str, bool), Rc<ReadPlan<'a>>)>,
}

impl<'a> SectionValues<'a> {
    /// The values in the bytes of a section.
    pub(crate) fn new(bytes: &'a [u8], theirs: &'a Shapes, ours: &'a Shapes) -> Self {
        Self { walk: PlanWalk::new(bytes, theirs), theirs, ours, plans: Vec::new() }
    }

    /// How many parts of the values that were read this podinit did not know.
    pub(crate) const fn skipped(&self) -> u64 {
        self.walk.skipped
    }

    /// How many bytes have not been read.
    pub(crate) const fn left(&self) -> usize {
        self.walk.rest.len()
    }

    /// Whether all values have been read.
    pub(crate) const fn is_at_end(&self) -> bool {
        self.left() == 0
    }

    /// A value of a type that never changes.
    ///
    /// # Errors
    /// If the bytes are no such value.
    pub(crate) fn plain<T: Deserialize<'a>>(&mut self) -> Result<T, Corrupt> {
        self.walk.take()
    }

    /// The plan of a type. A section has a few types, and many values of them.
    fn plan<T: SavedType>(&mut self, shortcuts: bool) -> Result<Rc<ReadPlan<'a>>, Corrupt> {
        let wanted = (T::NAME, shortcuts);
        if let Some((_, plan)) = self.plans.iter().find(|(known, _)| *known == wanted) {
            return Ok(Rc::clone(plan));
        }
        let plan = ReadPlanner::plan::<T>(self.theirs, self.ours, shortcuts)?;
        self.plans.push((wanted, Rc::clone(&plan)));
        Ok(plan)
    }

    /// The next value: `None` for one that means nothing to this podinit, which is skipped and counted.
    ///
    /// # Errors
    /// If the bytes are no value, or one that no podinit writes.
    pub(crate) fn next<T: SavedType>(&mut self) -> Result<Option<T>, Corrupt> {
        let plan = self.plan::<T>(true)?;
        if !self.walk.enter(&[&plan])? {
            return Ok(None);
        }
        let (begin, skipped) = (self.walk.rest, self.walk.skipped);
        let mut read = self.walk.read(&plan, PhantomData::<T>).ok();
        if read.is_none() {
            (self.walk.rest, self.walk.skipped) = (begin, skipped);
            read = self.without_what_fails()?;
        }
        let why = read.as_ref().map(SavedType::check);
        match why {
            Some(Ok(())) => return Ok(read),
            Some(Err(what)) if matches!(plan.how, ReadMethod::Same) => {
                return Err(Corrupt::new(what));
            }
            // What another version has written may lack what would make it right.
            Some(Err(_)) | None => self.walk.skipped += 1,
        }
        Ok(None)
    }

    /// Reads a value that has the right shapes, and in it what its type does not take, such as a text that is no name.
    /// The places with such are lost.
    fn without_what_fails<T: SavedType>(&mut self) -> Result<Option<T>, Corrupt> {
        let plan = self.plan::<T>(false)?;
        let (begin, skipped) = (self.walk.rest, self.walk.skipped);
        self.walk.skip(plan.theirs)?;
        let end = self.walk.rest;
        let mut read = None;
        for _ in 0..MOST_ATTEMPTS {
            (self.walk.rest, self.walk.skipped) = (begin, skipped);
            (self.walk.next_place, self.walk.failed) = (0, None);
            read = self.walk.read(&plan, PhantomData).ok();
            match self.walk.failed {
                // The places that were lost inside of it are lost with it.
                Some(place) if read.is_none() => {
                    self.walk.lost.retain(|inside| *inside < place);
                    self.walk.lost.push(place);
                }
                _ => break,
            }
        }
        self.walk.lost.clear();
        self.walk.rest = end;
        Ok(read)
    }
}
