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
