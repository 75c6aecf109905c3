//! Planted bugs: readings of the specification that are wrong in one clause each. The random
//! histories have to tell every one of them from the right reading; otherwise they would not
//! notice the same mistake in the implementation either.

use super::reading::Rules;

/// A wrong reading and what is wrong about it.
pub(crate) struct Mutant {
    pub(crate) name: &'static str,
    pub(crate) rules: &'static (dyn Rules + Sync),
}

/// Declares wrong readings by the clauses that each of them overrides, and the list of them. The clauses are of all rules,
/// or of a part of them.
macro_rules! mutants {
    ($part:ident as $name_of_part:ident; $($name:ident { $($clause:item)* })*) => {
        $(struct $name;
        impl $part for $name { $($clause)* }
        impl Rules for $name {
            fn $name_of_part(&self) -> &dyn $part {
                self
            }
        })*
        mutants!(of $($name)*);
    };
    (of $($name:ident)*) => {
        /// The injected bugs of this kind.
        pub(super) const MUTANTS: &[Mutant] = &[
            $(Mutant { name: stringify!($name), rules: &$name }),*
        ];
    };
    ($($name:ident { $($clause:item)* })*) => {
        $(struct $name;
        impl Rules for $name { $($clause)* })*
        mutants!(of $($name)*);
    };
}

mod accounting;
mod causes;
mod deadlines;
mod evidence;
mod measuring;
mod named;
mod nodes;
mod rollouts;

/// Every injected bug.
pub(crate) fn all() -> Vec<&'static Mutant> {
    [
        measuring::MUTANTS,
        accounting::MUTANTS,
        deadlines::MUTANTS,
        evidence::MUTANTS,
        causes::MUTANTS,
        nodes::MUTANTS,
        named::MUTANTS,
        rollouts::MUTANTS,
    ]
    .into_iter()
    .flatten()
    .collect()
}
