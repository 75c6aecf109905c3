//! What the values of a section refer to by number.

use std::sync::Arc;

use hashbrown::HashMap;

use super::tags::push_varint;

/// The names, shapes and shared values of a section that is being written.
#[derive(Debug, Default)]
pub(super) struct Tables {
    names: HashMap<&'static str, u32>,
    name_list: Vec<&'static str>,
    /// By struct: the step before its first field
    roots: HashMap<&'static str, usize>,
    steps: Vec<Step>,
    /// The last step of each shape
    shapes: Vec<usize>,
    shared: HashMap<Arc<[u8]>, u32>,
    shared_list: Vec<Arc<[u8]>>,
}

/// A struct up to one of its fields.
#[derive(Debug, Default)]
struct Step {
    before: usize,
    name: u32,
    /// By field, what comes next: a few at most
    next: Vec<(&'static str, usize)>,
    /// The shape of the structs that end here
    shape: Option<u32>,
}

impl Tables {
    /// The number of a name.
    pub(super) fn name(&mut self, name: &'static str) -> u32 {
        if let Some(number) = self.names.get(name) {
            return *number;
        }
        let number = self.name_list.len() as u32;
        self.name_list.push(name);
        self.names.insert(name, number);
        number
    }

    /// The step before the first field of a struct.
    pub(super) fn root(&mut self, of: &'static str) -> usize {
        if let Some(root) = self.roots.get(of) {
            return *root;
        }
        let root = self.steps.len();
        self.steps.push(Step { before: root, ..Step::default() });
        self.roots.insert(of, root);
        root
    }

    /// The step after this one, by the field that comes next.
    pub(super) fn step(&mut self, at: usize, field: &'static str) -> usize {
        let known = &self.steps[at].next;
        // Nearly always the same text at the same place.
        let is_same = |(name, _): &&(&'static str, usize)| std::ptr::eq(*name, field);
        let is_equal = |(name, _): &&(&'static str, usize)| *name == field;
        if let Some((_, next)) = known.iter().find(is_same).or_else(|| known.iter().find(is_equal))
        {
            return *next;
        }
        let name = self.name(field);
        let next = self.steps.len();
        self.steps.push(Step { before: at, name, ..Step::default() });
        self.steps[at].next.push((field, next));
        next
    }

    /// The number of the shape that ends with this step.
    pub(super) fn shape(&mut self, at: usize) -> u32 {
        let number = self.shapes.len() as u32;
        let shape = self.steps[at].shape.get_or_insert(number);
        if *shape == number {
            self.shapes.push(at);
        }
        *shape
    }

    /// The number of a shared value.
    pub(super) fn shared(&mut self, value: &[u8]) -> u32 {
        if let Some(number) = self.shared.get(value) {
            return *number;
        }
        let number = self.shared_list.len() as u32;
        let value: Arc<[u8]> = value.into();
        self.shared_list.push(Arc::clone(&value));
        self.shared.insert(value, number);
        number
    }

    /// Appends all of them.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        let mut list = |items: &mut dyn ExactSizeIterator<Item = &[u8]>| {
            push_varint(out, items.len() as u64);
            for item in items {
                push_varint(out, item.len() as u64);
                out.extend(item);
            }
        };
        list(&mut self.name_list.iter().map(|name| name.as_bytes()));
        list(&mut self.shared_list.iter().map(|value| &**value));
        push_varint(out, self.shapes.len() as u64);
        for shape in &self.shapes {
            let fields = self.fields(*shape);
            push_varint(out, fields.len() as u64);
            fields.iter().rev().for_each(|name| push_varint(out, u64::from(*name)));
        }
    }

    /// The fields up to a step, the last first.
    fn fields(&self, mut at: usize) -> Vec<u32> {
        let mut fields = Vec::new();
        while self.steps[at].before != at {
            fields.push(self.steps[at].name);
            at = self.steps[at].before;
        }
        fields
    }
}
