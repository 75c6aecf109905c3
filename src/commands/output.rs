//! Standard output, and what the terminal behind it can show.

use std::io::{self, BufWriter, IsTerminal, Write};

use anyhow::Context;

use podinit_text::document::TerminalStyle;
use podinit_text::strangers_text::lines_shown;

/// Writes all of `text`. It is no error if the reader closes the pipe early (`| head`).
pub(super) fn print(text: &[u8], out: &mut impl Write) -> anyhow::Result<()> {
    print_to_reader(text, out).map(drop)
}

/// [`print`] for a format that programs read, whose texts are what others have written: a terminal gets them
/// without what would act on it.
pub(super) fn print_data(data: Vec<u8>, out: &mut impl Write) -> anyhow::Result<()> {
    match io::stdout().is_terminal() {
        true => print(lines_shown(&String::from_utf8_lossy(&data)).as_bytes(), out),
        false => print(&data, out),
    }
}

/// [`print`] for a text that is written part by part.
pub(super) fn print_with(
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    is_read(buffered(write, out)).map(drop)
}

/// [`print_data`] for a text that is written part by part.
pub(super) fn print_data_with(
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    if !io::stdout().is_terminal() {
        return print_with(write, out);
    }
    let shown = |to: &mut dyn Write| {
        let mut lines = ShownLines { to, line: Vec::new() };
        write(&mut lines)?;
        lines.end_line()
    };
    print_with(shown, out)
}

/// Writes each line without what would act on a terminal.
struct ShownLines<'a> {
    to: &'a mut dyn Write,
    /// The beginning of a line
    line: Vec<u8>,
}

impl ShownLines<'_> {
    fn end_line(&mut self) -> io::Result<()> {
        let line = lines_shown(&String::from_utf8_lossy(&self.line));
        self.line.clear();
        self.to.write_all(line.as_bytes())
    }
}

impl Write for ShownLines<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.line.extend_from_slice(part);
            if part.ends_with(b"\n") {
                self.end_line()?;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

/// [`print`] for output that goes on. Returns whether somebody still reads it.
pub(super) fn print_to_reader(text: &[u8], out: &mut impl Write) -> anyhow::Result<bool> {
    is_read(out.write_all(text).and_then(|()| out.flush()))
}

/// Writes to `to` in blocks what `write` writes.
pub(super) fn buffered(
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    to: impl Write,
) -> io::Result<()> {
    let mut blocks = BufWriter::new(to);
    write(&mut blocks)?;
    blocks.flush()
}

fn is_read(written: io::Result<()>) -> anyhow::Result<bool> {
    match written {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        written => {
            written.context("cannot write to standard output")?;
            Ok(true)
        }
    }
}

/// No line is longer, however wide the terminal: what belongs together would stand too far apart.
const MOST_COLUMNS: usize = 110;

/// Colours and more than 80 columns only on a terminal; `NO_COLOR` (<https://no-color.org>) turns colours off.
pub(super) fn style() -> TerminalStyle {
    let terminal = io::stdout().is_terminal();
    let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let columns = rustix::termios::tcgetwinsize(io::stdout()).ok();
    let columns = columns.map(|size| usize::from(size.ws_col)).filter(|columns| *columns > 0);
    TerminalStyle {
        colour: terminal && !no_color,
        width: columns.map_or(80, |columns| columns.min(MOST_COLUMNS)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_acts_in_lines_that_come_in_parts() -> io::Result<()> {
        let mut shown = Vec::new();
        let mut lines = ShownLines { to: &mut shown, line: Vec::new() };
        for part in ["a\u{1b}", "[2Jb\r\n\n", "c\u{7}d"] {
            lines.write_all(part.as_bytes())?;
        }
        lines.end_line()?;
        assert_eq!(shown, lines_shown("a\u{1b}[2Jb\r\n\nc\u{7}d").as_bytes());
        Ok(())
    }
}
