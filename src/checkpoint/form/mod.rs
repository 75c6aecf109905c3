//! The form of a section: serde's values, each of which says what it is.
//!
//! ```text
//! value, value, … │ names │ shapes │ shared values │ where the names begin, u64
//! ```
//!
//! A struct is the number of its *shape*, which lists the names of its fields, and the values of these fields. The
//! variant of an enum is the number of its name. So names cost a byte where they are used, and their text once. A field
//! that a struct leaves out costs nothing, and makes another shape. A value that many others have in common
//! ([`SHARED`](podinit_core::saved::SHARED)) is written once, and then by its number.
//!
//! | What differs | How it is read |
//! |---|---|
//! | a field that the file lacks | as its default |
//! | a field that the program does not know | skipped and counted |
//! | a field or an element with a value that the program does not know | as if it were missing, and counted |
//! | a value without its name, its length or its end | the file is corrupt |
//!
//! Where a struct cannot do without a field, it is a value that the program does not know, in turn.

mod reader;
mod tables;
mod tags;
mod writer;

pub(super) use reader::{Corrupt, Values};
pub(super) use writer::ValueWriter;

#[cfg(test)]
pub(super) mod tree;

#[cfg(test)]
mod tests;
