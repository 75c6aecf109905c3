//! Errors in files.

use std::fmt;

use crate::text::strangers_text::shown;

/// An error in a file, on one line: the file, the line, the key, and how to fix it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileError {
    file: String,
    fault: Fault,
}

impl std::error::Error for FileError {}

impl FileError {
    /// `file` could not be read.
    pub(crate) fn unreadable(file: &str, error: &std::io::Error) -> Self {
        Self::new(file, Fault::new(0, "", format!("cannot be read: {error}")))
    }

    /// An error of `file` as a whole.
    pub(crate) fn of_whole(file: &str, why: &str) -> Self {
        Self::new(file, Fault::new(0, "", why))
    }

    /// An error in `file`.
    pub(crate) fn new(file: &str, fault: Fault) -> Self {
        Self {
            file: file.to_owned(),
            fault,
        }
    }

    /// The line, from 1; `None` for an error of the whole file.
    pub fn line(&self) -> Option<u64> {
        (self.fault.line > 0).then_some(self.fault.line)
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Fault { line, key, why } = &self.fault;
        f.write_str(&self.file)?;
        if *line > 0 {
            write!(f, ":{line}")?;
        }
        if key.is_empty() {
            write!(f, ": {why}")
        } else {
            write!(f, ": {key}: {why}")
        }
    }
}

/// An error in a file whose name is not known yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// From 1; 0 for an error of the whole file
    pub(crate) line: u64,
    /// Such as `slos[2].objective`; may be empty
    pub(crate) key: String,
    pub(crate) why: String,
}

impl Fault {
    pub(crate) fn new(line: u64, key: impl Into<String>, why: impl Into<String>) -> Self {
        // One line, whatever the parser's message or the value is.
        let why: String = why.into();
        let why: Vec<&str> = why.lines().map(str::trim).collect();
        Self {
            line,
            key: shown(&key.into()).into_owned(),
            why: shown(&why.join(" ")).into_owned(),
        }
    }
}
