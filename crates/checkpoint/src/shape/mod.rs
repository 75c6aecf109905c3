//! How the values of a checkpoint are written, which the checkpoint says itself.
//!
//! A value is written with postcard: without names, in the order of its type's fields. The *shapes* of the types, with the
//! names of their fields and variants, are written once beside the values. Where the shape of a file is the program's, the
//! value is read as it stands. Where another version of podinit has written the file, a *plan* says how. It is made once
//! for each type, by names:
//!
//! | What differs | How it is read |
//! |---|---|
//! | a field that the file lacks | as its default |
//! | a field that the program does not know | skipped and counted |
//! | a field or an element with a value that the program does not know | as if it were missing, and counted |
//!
//! Where a struct cannot do without a field, it is a value that the program does not know, in turn.
//!
//! A library of schemas does this with a tree of each value, or needs a number for each field and no names at all.

mod plan;
mod planned;
mod reader;
mod shapes;
mod tracer;
mod walk;

pub(super) use self::reader::SectionValues;
pub(super) use self::shapes::{Corrupt, SavedType, Shapes};

#[cfg(test)]
pub(super) mod editing_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod value;
