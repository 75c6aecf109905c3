//! Values to bytes.

/// Bytes that grow by the values put to them. [`super::Decoder`] takes them back in the same
/// order by the methods of the same names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Encoder(Vec<u8>);

impl Encoder {
    /// No bytes yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many bytes there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The bytes.
    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    /// One byte.
    pub fn byte(&mut self, value: u8) {
        self.0.push(value);
    }

    /// One byte, 0 or 1.
    pub fn flag(&mut self, value: bool) {
        self.byte(u8::from(value));
    }

    /// A whole number: a byte for each seven bits, so one byte up to 127 and ten at most.
    pub fn number(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.byte((value & 0x7f) as u8 | 0x80);
            value >>= 7;
        }
        self.byte(value as u8);
    }

    /// A signed whole number, small when it is near zero on either side (zigzag).
    pub fn signed(&mut self, value: i64) {
        self.number(((value << 1) ^ (value >> 63)) as u64);
    }

    /// Four bytes, lowest first.
    pub fn fixed32(&mut self, value: u32) {
        self.raw(&value.to_le_bytes());
    }

    /// Eight bytes, lowest first: for numbers that are large as a rule.
    pub fn fixed64(&mut self, value: u64) {
        self.raw(&value.to_le_bytes());
    }

    /// The bits of a float in eight bytes, so that any value comes back as it was.
    pub fn float(&mut self, value: f64) {
        self.fixed64(value.to_bits());
    }

    /// A wide whole number or a UID: sixteen bytes, lowest first.
    pub fn wide(&mut self, value: u128) {
        self.raw(&value.to_le_bytes());
    }

    /// Sixteen bytes as they are.
    pub fn id(&mut self, id: &[u8; 16]) {
        self.raw(id);
    }

    /// Any bytes, behind their length.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.count(bytes.len());
        self.raw(bytes);
    }

    /// Text as UTF-8, behind its length in bytes.
    pub fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    /// A flag, and the value behind it if there is one.
    pub fn option<T>(&mut self, value: Option<T>, put: impl FnOnce(&mut Self, T)) {
        self.flag(value.is_some());
        if let Some(value) = value {
            put(self, value);
        }
    }

    /// How many items follow. Each must take at least a byte.
    pub fn count(&mut self, count: usize) {
        self.number(count as u64);
    }

    /// A count, and the items behind it. Each must take at least a byte.
    pub fn list<I>(&mut self, items: I, mut put: impl FnMut(&mut Self, I::Item))
    where
        I: IntoIterator<IntoIter: ExactSizeIterator>,
    {
        let items = items.into_iter();
        self.count(items.len());
        for item in items {
            put(self, item);
        }
    }

    /// Bytes as they are, without a length.
    pub fn raw(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }
}
