//! JSON tokens in a window: passed over, not understood. Cutting a document needs only strings and
//! brackets to be told apart; whether what lies between is JSON is for the decoder to say.

use std::io::Read;

use super::error::{Fault, Located};
use super::window::Window;

/// Why a walk stops before the end of a document.
pub(super) enum Stop {
    /// A fault at the next byte
    Fault(Fault),
    /// A fault somewhere else
    Located(Located),
    /// The input ends
    End,
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

/// A fault of the language.
pub(super) fn syntax(why: &str) -> Fault {
    Fault::Syntax {
        format: "JSON",
        why: why.to_owned(),
    }
}

impl<R: Read> Window<R> {
    /// Passes blanks; the byte behind them, which is not passed.
    pub(super) fn skip_blank(&mut self) -> Result<Option<u8>, Fault> {
        loop {
            match self.peek()? {
                Some(b' ' | b'\t' | b'\n' | b'\r') => self.pass(1),
                byte => return Ok(byte),
            }
        }
    }

    /// The byte with which the next token begins; it is not passed.
    pub(super) fn token(&mut self) -> Result<u8, Stop> {
        self.skip_blank()?.ok_or(Stop::End)
    }

    /// Refuses a token that does not begin with `byte`.
    pub(super) fn expect(&mut self, byte: u8, what: &str) -> Result<(), Stop> {
        match self.token()? == byte {
            true => Ok(()),
            false => Err(syntax(&format!("expected {what}")).into()),
        }
    }

    /// Passes a key and tells whether it is `items`.
    pub(super) fn pass_key(&mut self) -> Result<bool, Stop> {
        const ITEMS: &[u8] = b"\"items\"";
        let before = self.piece().len();
        self.pass_string()?;
        Ok(&self.piece()[before..] == ITEMS)
    }

    /// Passes a value of any kind.
    pub(super) fn pass_value(&mut self) -> Result<(), Stop> {
        match self.token()? {
            b'{' | b'[' => self.pass_nested(),
            b'"' => self.pass_string(),
            b',' | b':' | b'}' | b']' => Err(syntax("expected a value").into()),
            _ => self.pass_bare(),
        }
    }

    /// Passes an object or array with everything in it.
    fn pass_nested(&mut self) -> Result<(), Stop> {
        let mut depth = 0_usize;
        loop {
            self.pass_until(|byte| matches!(byte, b'"' | b'{' | b'[' | b'}' | b']'))?;
            match self.ahead().first() {
                Some(b'"') => {
                    self.pass_string()?;
                    continue;
                }
                Some(b'{' | b'[') => depth += 1,
                _ => depth -= 1,
            }
            self.pass(1);
            if depth == 0 {
                return Ok(());
            }
        }
    }

    /// Passes a string with its quotes.
    fn pass_string(&mut self) -> Result<(), Stop> {
        self.pass(1);
        loop {
            self.pass_until(|byte| matches!(byte, b'"' | b'\\'))?;
            let escape = self.ahead().first() == Some(&b'\\');
            self.pass(1);
            if !escape {
                return Ok(());
            }
            self.peek()?.ok_or(Stop::End)?;
            self.pass(1);
        }
    }

    /// Passes a number, or a word such as `true`.
    fn pass_bare(&mut self) -> Result<(), Stop> {
        self.pass_until(|byte| matches!(byte, b',' | b'}' | b']' | b' ' | b'\t' | b'\n' | b'\r'))
    }

    /// Passes everything up to a byte for which `stop` holds.
    fn pass_until(&mut self, stop: impl Fn(u8) -> bool) -> Result<(), Stop> {
        loop {
            let ahead = self.ahead();
            match ahead.iter().position(|byte| stop(*byte)) {
                Some(found) => {
                    self.pass(found);
                    return Ok(());
                }
                None => {
                    let all = ahead.len();
                    self.pass(all);
                }
            }
            if !self.fill()? {
                return Err(Stop::End);
            }
        }
    }
}
