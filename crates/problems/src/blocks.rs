//! Many values in little memory: in blocks that never move, and with equal texts once.

use std::hash::{BuildHasher, Hash};
use std::ops::{Index, IndexMut};
use std::sync::Arc;

use hashbrown::{DefaultHashBuilder, HashTable};

/// How many values share a block.
const BLOCK: usize = 1 << 10;

/// Stands for no number where one is left out.
pub(super) const NONE: u32 = u32::MAX;

/// Values by number, from 0 on.
#[derive(Debug)]
pub(super) struct BlockVec<T>(Vec<Vec<T>>);

impl<T> Default for BlockVec<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> BlockVec<T> {
    /// Adds a value, and gives its number. Four thousand million pods do not fit into memory, so it fits.
    pub(super) fn push(&mut self, value: T) -> u32 {
        let number = self.len() as u32;
        match self.0.last_mut().filter(|block| block.len() < BLOCK) {
            Some(block) => block.push(value),
            None => {
                // A single block stays small.
                let mut block = match self.0.is_empty() {
                    true => Vec::new(),
                    false => Vec::with_capacity(BLOCK),
                };
                block.push(value);
                self.0.push(block);
            }
        }
        number
    }

    /// The number of values.
    pub(super) fn len(&self) -> usize {
        let last = self.0.last().map_or(0, Vec::len);
        self.0.len().saturating_sub(1) * BLOCK + last
    }

    pub(super) fn get(&self, number: u32) -> Option<&T> {
        let number = number as usize;
        self.0.get(number / BLOCK)?.get(number % BLOCK)
    }
}

/// The value of a number that [`BlockVec::push`] gave.
impl<T> Index<u32> for BlockVec<T> {
    type Output = T;

    fn index(&self, number: u32) -> &T {
        &self.0[number as usize / BLOCK][number as usize % BLOCK]
    }
}

impl<T> IndexMut<u32> for BlockVec<T> {
    fn index_mut(&mut self, number: u32) -> &mut T {
        &mut self.0[number as usize / BLOCK][number as usize % BLOCK]
    }
}

/// Texts by number, from 0 on.
#[derive(Debug, Default)]
pub(super) struct BlockTexts {
    /// The texts of each block, one after the other
    blocks: Vec<String>,
    /// Where each text ends in its block
    ends: BlockVec<u32>,
}

impl BlockTexts {
    /// Adds a text, and gives its number. It is cut where its block would have more than 4 GiB.
    pub(super) fn push(&mut self, text: &str) -> u32 {
        if self.ends.len().is_multiple_of(BLOCK) {
            if let Some(full) = self.blocks.last_mut() {
                full.shrink_to_fit();
            }
            self.blocks.push(String::new());
        }
        let mut end = 0;
        if let Some(block) = self.blocks.last_mut() {
            block.push_str(text);
            end = u32::try_from(block.len()).unwrap_or(u32::MAX);
        }
        self.ends.push(end)
    }

    pub(super) fn get(&self, number: u32) -> &str {
        let is_first = (number as usize).is_multiple_of(BLOCK);
        let before = number.checked_sub(1).filter(|_| !is_first);
        let begin = before.and_then(|before| self.ends.get(before));
        let end = self.ends.get(number).copied().unwrap_or(0) as usize;
        let block = self.blocks.get(number as usize / BLOCK);
        let text = block.and_then(|block| block.get(begin.map_or(0, |begin| *begin as usize)..end));
        text.unwrap_or_default()
    }
}

/// Different values by number, from 0 on, shared with whoever has them.
#[derive(Debug)]
pub(super) struct DistinctValues<T: ?Sized> {
    values: Vec<Arc<T>>,
    numbers: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

impl<T: ?Sized> Default for DistinctValues<T> {
    fn default() -> Self {
        Self {
            values: Vec::new(),
            numbers: HashTable::new(),
            hasher: DefaultHashBuilder::default(),
        }
    }
}

impl<T: ?Sized + Eq + Hash> DistinctValues<T> {
    /// The number of a value.
    pub(super) fn number(&mut self, value: &Arc<T>) -> u32 {
        let Self { values, numbers, hasher } = self;
        let hash = hasher.hash_one(value);
        if let Some(number) = numbers.find(hash, |number| values[*number as usize] == *value) {
            return *number;
        }
        let number = values.len() as u32;
        values.push(Arc::clone(value));
        numbers.insert_unique(hash, number, |number| hasher.hash_one(&values[*number as usize]));
        number
    }

    /// The number of a value that is there already.
    pub(super) fn find(&self, value: &T) -> Option<u32> {
        let is_it = |number: &u32| *self.values[*number as usize] == *value;
        self.numbers.find(self.hasher.hash_one(value), is_it).copied()
    }

    /// The number of an optional value; [`NONE`] without one.
    pub(super) fn number_of(&mut self, value: Option<&Arc<T>>) -> u32 {
        value.map_or(NONE, |value| self.number(value))
    }
}

impl<T: ?Sized> DistinctValues<T> {
    /// The value with a number; `None` for [`NONE`].
    pub(super) fn get(&self, number: u32) -> Option<&Arc<T>> {
        self.values.get(number as usize)
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.values.len()
    }

    /// Frees what only adding needs. No value is added afterwards.
    pub(super) fn seal(&mut self) {
        self.numbers = HashTable::new();
        self.values.shrink_to_fit();
    }
}

/// The value of a number that [`DistinctValues::number`] gave.
impl<T: ?Sized> Index<u32> for DistinctValues<T> {
    type Output = Arc<T>;

    fn index(&self, number: u32) -> &Arc<T> {
        &self.values[number as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_is_added_is_found_under_its_number() {
        let (mut blocks, mut texts) = (BlockVec::default(), BlockTexts::default());
        let text = |number: u32| "x".repeat(number as usize % 7) + &number.to_string();
        for number in 0..3 * BLOCK as u32 {
            assert_eq!(blocks.push(number), number);
            assert_eq!(texts.push(&text(number)), number);
            assert_eq!(blocks.len(), number as usize + 1);
        }
        for number in 0..3 * BLOCK as u32 {
            assert_eq!(blocks.get(number), Some(&number));
            assert_eq!(texts.get(number), text(number));
        }
        assert_eq!((blocks.get(NONE), texts.get(NONE)), (None, ""));
    }

    #[test]
    fn equal_values_have_one_number() {
        let mut distinct = DistinctValues::<str>::default();
        let texts = (0..2_000).map(|number| Arc::from((number % 700).to_string()));
        let numbers: Vec<u32> = texts.map(|text| distinct.number(&text)).collect();
        distinct.seal();
        for (given, number) in numbers.iter().enumerate() {
            assert_eq!(distinct.get(*number), Some(&Arc::from((given % 700).to_string())));
        }
        assert_eq!((distinct.values.len(), distinct.get(NONE)), (700, None));
    }
}
