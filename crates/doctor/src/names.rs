//! Lists of names in a sentence: the first few of them, and that there are more.

use std::collections::BTreeSet;
use std::fmt;

/// How many names are listed.
const SHOWN: usize = 5;

/// The first names in alphabetical order, of any number of names.
#[derive(Clone, Debug, Default)]
pub(super) struct FirstNames {
    first: BTreeSet<String>,
    /// There were further names; how many is unknown, since one may have been added twice
    more: bool,
}

impl FirstNames {
    pub(super) fn add(&mut self, name: &str) {
        if self.first.contains(name) {
            return;
        }
        let last = self.first.last();
        if self.first.len() == SHOWN && last.is_some_and(|last| last.as_str() < name) {
            self.more = true;
            return;
        }
        self.first.insert(name.to_owned());
        if self.first.len() > SHOWN {
            self.more = true;
            self.first.pop_last();
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.first.is_empty()
    }

    /// The names that are listed, for the JSON report.
    pub(super) fn to_vec(&self) -> Vec<String> {
        self.first.iter().cloned().collect()
    }
}

impl<'a> FromIterator<&'a str> for FirstNames {
    fn from_iter<I: IntoIterator<Item = &'a str>>(names: I) -> Self {
        let mut all = Self::default();
        names.into_iter().for_each(|name| all.add(name));
        all
    }
}

impl fmt::Display for FirstNames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_vec().join(", "))?;
        if self.more {
            f.write_str(" and more")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_few_names_stand_for_all() {
        let few: FirstNames = ["b", "a", "b"].into_iter().collect();
        assert_eq!(few.to_string(), "a, b");
        let many: FirstNames = ["g", "f", "e", "d", "c", "b", "a"].into_iter().collect();
        assert_eq!(many.to_string(), "a, b, c, d, e and more");
        let sorted: FirstNames = ["a", "b", "c", "d", "e", "e", "f"].into_iter().collect();
        assert_eq!(sorted.to_string(), "a, b, c, d, e and more");
    }
}
