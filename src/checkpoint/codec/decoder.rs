//! Bytes to values, of bytes that are not to be trusted.

/// Why bytes are not the values that were expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} (at byte {at})")]
pub struct DecodeError {
    /// Where, in bytes from the beginning of what the decoder was given
    pub at: usize,
    /// What is wrong there
    pub what: &'static str,
}

/// Takes values from bytes in the order in which [`super::Encoder`] put them. It never panics,
/// whatever the bytes, and never allocates by a length that they state: what it builds has been
/// read from bytes that are there.
///
/// After an error the place of the decoder is unspecified.
#[derive(Clone, Debug)]
pub struct Decoder<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Decoder<'a> {
    /// At the beginning of `bytes`.
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// How many bytes are left.
    pub const fn remaining(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// An error at the present place, for a caller that finds a value without meaning.
    pub const fn fail(&self, what: &'static str) -> DecodeError {
        DecodeError { at: self.at, what }
    }

    /// That nothing is left.
    pub fn finish(&self) -> Result<(), DecodeError> {
        match self.remaining() {
            0 => Ok(()),
            _ => Err(self.fail("bytes are left over")),
        }
    }

    /// The next `length` bytes as they are.
    pub fn raw(&mut self, length: usize) -> Result<&'a [u8], DecodeError> {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let Some((taken, _)) = rest.split_at_checked(length) else {
            return Err(self.fail("the bytes end within a value"));
        };
        self.at += length;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        let mut array = [0; N];
        array.copy_from_slice(self.raw(N)?);
        Ok(array)
    }

    /// One byte.
    pub fn byte(&mut self) -> Result<u8, DecodeError> {
        self.array().map(|[byte]| byte)
    }

    /// One byte, 0 or 1.
    pub fn flag(&mut self) -> Result<bool, DecodeError> {
        let at = self.at;
        match self.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(DecodeError {
                at,
                what: "a flag is neither 0 nor 1",
            }),
        }
    }

    /// A whole number of one to ten bytes.
    pub fn number(&mut self) -> Result<u64, DecodeError> {
        let at = self.at;
        let fault = |what| DecodeError { at, what };
        let mut value = 0;
        for shift in (0..u64::BITS).step_by(7) {
            let byte = self.byte()?;
            let bits = u64::from(byte & 0x7f);
            if bits > u64::MAX >> shift {
                return Err(fault("a number has more than 64 bits"));
            }
            value |= bits << shift;
            if byte & 0x80 == 0 {
                return match byte {
                    0 if shift > 0 => Err(fault("a number has idle bytes")),
                    _ => Ok(value),
                };
            }
        }
        Err(fault("a number has more than 64 bits"))
    }

    /// A signed whole number.
    pub fn signed(&mut self) -> Result<i64, DecodeError> {
        let zigzag = self.number()?;
        Ok((zigzag >> 1) as i64 ^ -((zigzag & 1) as i64))
    }

    /// A number of four bytes.
    pub fn fixed32(&mut self) -> Result<u32, DecodeError> {
        self.array().map(u32::from_le_bytes)
    }

    /// A number of eight bytes.
    pub fn fixed64(&mut self) -> Result<u64, DecodeError> {
        self.array().map(u64::from_le_bytes)
    }

    /// A float by its bits.
    pub fn float(&mut self) -> Result<f64, DecodeError> {
        self.fixed64().map(f64::from_bits)
    }

    /// A number of sixteen bytes.
    pub fn wide(&mut self) -> Result<u128, DecodeError> {
        self.array().map(u128::from_le_bytes)
    }

    /// Sixteen bytes as they are.
    pub fn id(&mut self) -> Result<[u8; 16], DecodeError> {
        self.array()
    }

    /// Any bytes, behind their length.
    pub fn bytes(&mut self) -> Result<&'a [u8], DecodeError> {
        let length = self.count()?;
        self.raw(length)
    }

    /// Text, behind its length.
    pub fn text(&mut self) -> Result<&'a str, DecodeError> {
        let bytes = self.bytes()?;
        let at = self.at - bytes.len();
        std::str::from_utf8(bytes).map_err(|error| DecodeError {
            at: at + error.valid_up_to(),
            what: "text is not UTF-8",
        })
    }

    /// A value, if the flag before it says that there is one.
    pub fn option<T, E: From<DecodeError>>(
        &mut self,
        take: impl FnOnce(&mut Self) -> Result<T, E>,
    ) -> Result<Option<T>, E> {
        match self.flag()? {
            true => take(self).map(Some),
            false => Ok(None),
        }
    }

    /// How many items follow; no more than there are bytes left, since each takes at least one.
    /// That still is no number to allocate by: an item in memory is larger than a byte.
    pub fn count(&mut self) -> Result<usize, DecodeError> {
        let at = self.at;
        let count = self.number()?;
        match usize::try_from(count) {
            Ok(count) if count <= self.remaining() => Ok(count),
            _ => Err(DecodeError {
                at,
                what: "a length goes beyond the bytes",
            }),
        }
    }

    /// The items behind their count. The list grows with what has been read.
    pub fn list<T, E: From<DecodeError>>(
        &mut self,
        mut take: impl FnMut(&mut Self) -> Result<T, E>,
    ) -> Result<Vec<T>, E> {
        let mut items = Vec::new();
        for _ in 0..self.count()? {
            items.push(take(self)?);
        }
        Ok(items)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn fault<T: std::fmt::Debug>(result: Result<T, DecodeError>) -> String {
        result.unwrap_err().to_string()
    }

    #[test]
    fn a_number_has_one_form_only() {
        assert_eq!(Decoder::new(&[0]).number(), Ok(0));
        assert_eq!(Decoder::new(&[0x80, 0x01]).number(), Ok(128));
        assert_eq!(
            fault(Decoder::new(&[0x80, 0x00]).number()),
            "a number has idle bytes (at byte 0)"
        );
    }

    #[test]
    fn a_number_of_more_than_64_bits_is_refused() {
        let mut largest = [0xff; 10];
        largest[9] = 1;
        assert_eq!(Decoder::new(&largest).number(), Ok(u64::MAX));
        largest[9] = 2;
        let wanted = "a number has more than 64 bits (at byte 0)";
        assert_eq!(fault(Decoder::new(&largest).number()), wanted);
        assert_eq!(fault(Decoder::new(&[0xff; 11]).number()), wanted);
    }

    #[test]
    fn bytes_that_end_early_are_told_with_their_place() {
        let mut decoder = Decoder::new(&[7, 1, 2]);
        assert_eq!(decoder.byte(), Ok(7));
        assert_eq!(
            fault(decoder.fixed64()),
            "the bytes end within a value (at byte 1)"
        );
        assert_eq!(
            fault(Decoder::new(&[0x80]).number()),
            "the bytes end within a value (at byte 1)"
        );
    }

    #[test]
    fn a_length_beyond_the_bytes_is_refused_before_it_is_used() {
        let mut bytes = vec![0xff; 9];
        bytes.push(1);
        let wanted = "a length goes beyond the bytes (at byte 0)";
        assert_eq!(fault(Decoder::new(&bytes).bytes()), wanted);
        assert_eq!(fault(Decoder::new(&[2, b'a']).text()), wanted);
        // Items of no bytes would make any count look fine.
        let nothing = |_: &mut Decoder<'_>| Ok::<_, DecodeError>(());
        assert_eq!(fault(Decoder::new(&bytes).list(nothing)), wanted);
    }

    #[test]
    fn text_must_be_utf8() {
        assert_eq!(
            fault(Decoder::new(&[3, b'a', 0xff, b'b']).text()),
            "text is not UTF-8 (at byte 2)"
        );
    }

    #[test]
    fn a_flag_is_zero_or_one() {
        assert_eq!(
            fault(Decoder::new(&[2]).flag()),
            "a flag is neither 0 nor 1 (at byte 0)"
        );
    }

    #[test]
    fn what_is_left_over_is_an_error() {
        let mut decoder = Decoder::new(&[1, 9]);
        decoder.byte().unwrap();
        assert_eq!(fault(decoder.finish()), "bytes are left over (at byte 1)");
    }
}
