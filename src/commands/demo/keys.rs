//! The key that ends a demo in a terminal.

use std::io::{self, BufRead, IsTerminal};

use rustix::process::getpgrp;
use rustix::termios::{
    LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcgetpgrp, tcsetattr,
};
use tokio_util::sync::CancellationToken;

/// Keys are read as they are pressed; dropping it lets the terminal be as it was.
pub(super) struct Keys(Termios);

impl Keys {
    /// From now on the key `q` cancels `ends`. `None` where standard input is no terminal, or one that belongs
    /// to another job: reading it would stop the process.
    pub(super) fn listen(ends: CancellationToken) -> Option<Self> {
        let input = io::stdin();
        if !input.is_terminal() || tcgetpgrp(&input).ok()? != getpgrp() {
            return None;
        }
        let before = tcgetattr(&input).ok()?;
        let mut modes = before.clone();
        modes
            .local_modes
            .remove(LocalModes::ICANON | LocalModes::ECHO);
        modes.special_codes[SpecialCodeIndex::VMIN] = 1;
        modes.special_codes[SpecialCodeIndex::VTIME] = 0;
        tcsetattr(&input, OptionalActions::Now, &modes).ok()?;
        // A read cannot be interrupted, so the thread lives as long as the process.
        std::thread::spawn(move || {
            if is_pressed(io::stdin().lock()) {
                ends.cancel();
            }
        });
        Some(Self(before))
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        // A terminal that is gone needs nothing.
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.0);
    }
}

/// Waits for the key; `false` where the input ends before.
fn is_pressed(input: impl BufRead) -> bool {
    let mut keys = input.bytes().map_while(Result::ok);
    keys.any(|key| matches!(key, b'q' | b'Q'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn q_ends_it_and_no_other_key() {
        assert!(is_pressed(&b"abcq"[..]) && is_pressed(&b"Q"[..]));
        assert!(!is_pressed(&b"hello, world\x1b[A"[..]));
    }
}
