//! The errors in files of settings.

use std::fmt;

use serde_saphyr::Location;

use podinit_text::strangers_text::shown;

/// An error in a file, on one line: the file, the line and the column, what is wrong, and how to fix it. It repeats
/// nothing of the contents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileError {
    file: String,
    fault: FileFault,
}

impl std::error::Error for FileError {}

impl FileError {
    /// `file` could not be read.
    pub fn unreadable(file: &str, error: &std::io::Error) -> Self {
        FileFault::of_whole(format!("cannot be read: {error}")).of_file(file)
    }

    /// The line, from 1; `None` for an error of the whole file.
    pub fn line(&self) -> Option<u64> {
        self.fault.place.map(|(line, _)| line)
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some((line, column)) = self.fault.place {
            write!(f, ":{line}:{column}")?;
        }
        write!(f, ": {}", self.fault.why)
    }
}

/// An error in a file whose name is not known yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileFault {
    /// Line and column, from 1; `None` for the whole file
    place: Option<(u64, u64)>,
    why: String,
}

impl FileFault {
    /// An error of the file as a whole.
    pub fn of_whole(why: impl Into<String>) -> Self {
        Self::new(None, why)
    }

    /// An error of what is there.
    pub fn at(place: Location, why: impl Into<String>) -> Self {
        let is_known = place != Location::UNKNOWN;
        Self::new(is_known.then(|| (place.line(), place.column())), why)
    }

    pub(crate) fn new(place: Option<(u64, u64)>, why: impl Into<String>) -> Self {
        // One line, whatever the text of a library is.
        let why: String = why.into();
        let why: Vec<&str> = why.lines().map(str::trim).collect();
        Self { place, why: shown(&why.join(" ")).into_owned() }
    }

    /// The error, of a file with this name.
    pub fn of_file(self, file: &str) -> FileError {
        FileError { file: file.to_owned(), fault: self }
    }
}
