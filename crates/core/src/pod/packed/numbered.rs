//! Values that many pods share, each held once and known by a number.

use std::sync::Arc;

use hashbrown::HashMap;

/// Values of one kind.
pub(super) struct NumberedValues<T: ?Sized> {
    values: Vec<Arc<T>>,
    /// By address, which is that of one value as long as `values` holds it
    numbers: HashMap<usize, u64>,
}

impl<T: ?Sized> NumberedValues<T> {
    /// The number of a value; one that is not shared has a number of its own each time.
    pub(super) fn number(&mut self, value: &Arc<T>) -> u64 {
        let next = self.values.len() as u64;
        let address = Arc::as_ptr(value).cast::<()>().addr();
        let number = *self.numbers.entry(address).or_insert(next);
        if number == next {
            self.values.push(Arc::clone(value));
        }
        number
    }

    /// All of them, in the order of their numbers.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Arc<T>> {
        self.values.iter()
    }

    pub(super) fn get(&self, number: u64) -> Option<Arc<T>> {
        let index = usize::try_from(number).ok()?;
        self.values.get(index).map(Arc::clone)
    }
}

impl<T: ?Sized> Clone for NumberedValues<T> {
    fn clone(&self) -> Self {
        Self { values: self.values.clone(), numbers: self.numbers.clone() }
    }
}

impl<T: ?Sized> Default for NumberedValues<T> {
    fn default() -> Self {
        Self { values: Vec::new(), numbers: HashMap::new() }
    }
}
