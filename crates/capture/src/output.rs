//! Where a recording goes: files that are rotated, or standard output.
//!
//! Documents are written in blocks of about a second each, and each block at once: a gzip member, or the
//! text itself. So a process that is killed leaves a file of whole members, which `replay` reads.

use std::collections::VecDeque;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use tokio::sync::watch;

/// A block is written when it has so many bytes of text, however young it is.
const BLOCK_BYTES: usize = 4 << 20;

/// Where the documents are written.
#[derive(Clone, Debug)]
pub enum CaptureDestination {
    /// Files in this directory, which are rotated
    Directory(PathBuf),
    /// Standard output, which is not
    StandardOutput,
}

/// How the files of a recording are made.
#[derive(Clone, Debug)]
pub struct OutputConfig {
    pub destination: CaptureDestination,
    /// Compress with gzip
    pub compress: bool,
    /// A file of at least so many bytes is followed by a new one
    pub rotate_bytes: u64,
    /// How many files are kept, the newest ones
    pub keep_files: usize,
}

/// Writes documents, one to a line.
pub struct CaptureOutput {
    config: OutputConfig,
    /// The part of a file name that tells this recording from others
    prefix: String,
    /// How many files were begun
    begun: watch::Sender<u32>,
    file: Box<dyn Write + Send>,
    /// Bytes in the current file
    written: u64,
    /// The text that is not written yet
    block: Vec<u8>,
    kept: VecDeque<PathBuf>,
}

impl CaptureOutput {
    /// Begins the first file, and makes its directory. The name of the file begins with `prefix`.
    ///
    /// # Errors
    /// If the file or its directory cannot be created.
    pub fn create(config: OutputConfig, prefix: String) -> io::Result<Self> {
        if let CaptureDestination::Directory(directory) = &config.destination {
            make_directory(directory)?;
        }
        let mut output = Self {
            config,
            prefix,
            begun: watch::Sender::new(0),
            file: Box::new(io::sink()),
            written: 0,
            block: Vec::new(),
            kept: VecDeque::new(),
        };
        output.begin_file()?;
        Ok(output)
    }

    /// The current file; `None` for standard output.
    pub fn path(&self) -> Option<&Path> {
        self.kept.back().map(PathBuf::as_path)
    }

    /// How many files there are, and how many older ones were removed; none for standard output.
    pub fn files(&self) -> (usize, usize) {
        let kept = self.kept.len();
        (kept, (*self.begun.borrow() as usize).saturating_sub(kept))
    }

    /// Adds a document. It is on disk after the next [`CaptureOutput::flush`].
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(&mut self, document: &[u8]) -> io::Result<()> {
        self.block.extend_from_slice(document.trim_ascii_end());
        self.block.push(b'\n');
        if self.block.len() >= BLOCK_BYTES {
            self.flush()?;
        }
        Ok(())
    }

    /// Writes what was added since the last time.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn flush(&mut self) -> io::Result<()> {
        if self.block.is_empty() {
            return Ok(());
        }
        let mut block = std::mem::take(&mut self.block);
        if self.config.compress {
            let mut member = GzEncoder::new(Vec::new(), Compression::default());
            member.write_all(&block)?;
            block = member.finish()?;
        }
        self.file.write_all(&block)?;
        self.written += block.len() as u64;
        self.file.flush()
    }

    /// Whether the current file is large enough to be followed by another.
    pub fn is_full(&self) -> bool {
        let rotates = matches!(self.config.destination, CaptureDestination::Directory(_));
        rotates && self.written >= self.config.rotate_bytes
    }

    /// Begins the next file, and removes the oldest ones beyond the limit.
    ///
    /// # Errors
    /// If a file cannot be written, created or removed.
    pub fn rotate(&mut self) -> io::Result<()> {
        self.flush()?;
        self.begin_file()
    }

    /// Tells of each file that is begun.
    pub(super) fn new_files(&self) -> watch::Receiver<u32> {
        self.begun.subscribe()
    }

    fn begin_file(&mut self) -> io::Result<()> {
        let CaptureDestination::Directory(directory) = &self.config.destination else {
            self.file = Box::new(io::stdout());
            return Ok(());
        };
        let number = *self.begun.borrow() + 1;
        let extension = if self.config.compress { "json.gz" } else { "json" };
        let name = format!("{}-{number:04}.{extension}", self.prefix);
        let path = directory.join(name);
        self.file = Box::new(create(&path)?);
        self.written = 0;
        self.kept.push_back(path);
        self.begun.send_replace(number);
        while self.kept.len() > self.config.keep_files.max(1) {
            if let Some(oldest) = self.kept.pop_front() {
                fs::remove_file(oldest)?;
            }
        }
        Ok(())
    }
}

/// Like the files in it, a new directory is its owner's alone.
fn make_directory(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// A recording shows names, images and messages of a cluster, so that only its owner may read it.
fn create(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    let mut options = OpenOptions::new();
    options.write(true).create_new(true).mode(0o600).open(path)
}
