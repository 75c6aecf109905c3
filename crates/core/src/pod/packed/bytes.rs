//! Numbers and texts in a row of bytes. Only what was written here is read, so that a missing byte is a fault of
//! the program; it reads as 0.

/// Writes a number in groups of seven bits, the lowest first.
pub fn put_number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    out.push((number & 0x7f) as u8);
}

/// Writes a number that is near 0 on either side in few bytes.
pub(super) fn put_signed(out: &mut Vec<u8>, number: i64) {
    put_number(out, zigzag(number));
}

/// 0, -1, 1, -2, … as 0, 1, 2, 3, …
pub const fn zigzag(number: i64) -> u64 {
    (number << 1 ^ number >> 63).cast_unsigned()
}

/// What [`zigzag`] was made of.
pub const fn unzigzag(number: u64) -> i64 {
    (number >> 1).cast_signed() ^ -(number & 1).cast_signed()
}

/// What is left to read.
pub struct ByteReader<'a>(pub &'a [u8]);

impl<'a> ByteReader<'a> {
    /// The next byte.
    pub fn byte(&mut self) -> u8 {
        self.array::<1>()[0]
    }

    /// So many bytes.
    pub fn array<const N: usize>(&mut self) -> [u8; N] {
        let Some((array, rest)) = self.0.split_first_chunk() else {
            self.0 = &[];
            return [0; N];
        };
        self.0 = rest;
        *array
    }

    /// So many bytes, or as many as there are.
    pub fn bytes(&mut self, length: u64) -> &'a [u8] {
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        let (bytes, rest) = self.0.split_at(length.min(self.0.len()));
        self.0 = rest;
        bytes
    }

    /// What [`put_number`] has written.
    pub fn number(&mut self) -> u64 {
        let (mut number, mut shift) = (0, 0);
        loop {
            let byte = self.byte();
            number |= u64::from(byte & 0x7f) << shift;
            shift += 7;
            if byte < 0x80 || shift > 63 {
                return number;
            }
        }
    }

    pub(super) fn signed(&mut self) -> i64 {
        unzigzag(self.number())
    }
}
