//! The bytes of a recording: counted as they are read, and decompressed where they are gzipped.

use std::io::{self, BufReader, Chain, Cursor, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::bufread::MultiGzDecoder;

/// RFC 1952: what every gzip member begins with.
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];
const READ_SIZE: usize = 128 << 10;

/// How much of a recording was read, for a progress bar. Clones show the same.
#[derive(Clone, Debug)]
pub struct Progress {
    read: Arc<AtomicU64>,
    size: Option<u64>,
}

impl Progress {
    pub(super) fn new(size: Option<u64>) -> Self {
        Self {
            read: Arc::default(),
            size,
        }
    }

    /// The bytes read so far, as they lie in the file (compressed where it is).
    pub fn bytes_read(&self) -> u64 {
        // The count stands for itself: no other memory is read on the strength of it.
        self.read.load(Ordering::Relaxed)
    }

    /// The size of the file in bytes; `None` where it is no regular file.
    pub fn size(&self) -> Option<u64> {
        self.size
    }
}

type Source = Box<dyn Read + Send>;

/// Counts what passes.
pub(super) struct Counted {
    source: Source,
    progress: Progress,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.source.read(buffer)?;
        self.progress
            .read
            .fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

type Peeked = Chain<Cursor<Vec<u8>>, Counted>;

/// The text of a recording. Whether it is gzipped shows at the first read.
pub(super) enum Input {
    Unknown(Option<Counted>),
    Plain(Peeked),
    Gzip(Box<MultiGzDecoder<BufReader<Peeked>>>),
}

impl Input {
    pub(super) fn new(source: Source, progress: Progress) -> Self {
        Self::Unknown(Some(Counted { source, progress }))
    }

    /// Reads the first two bytes, which tell.
    fn begin(mut counted: Counted) -> io::Result<Self> {
        let mut head = Vec::with_capacity(GZIP_MAGIC.len());
        counted
            .by_ref()
            .take(GZIP_MAGIC.len() as u64)
            .read_to_end(&mut head)?;
        let gzip = head == GZIP_MAGIC;
        let peeked = Cursor::new(head).chain(counted);
        Ok(if gzip {
            let buffered = BufReader::with_capacity(READ_SIZE, peeked);
            Self::Gzip(Box::new(MultiGzDecoder::new(buffered)))
        } else {
            Self::Plain(peeked)
        })
    }
}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Self::Unknown(counted) = self {
            let Some(counted) = counted.take() else {
                return Ok(0); // an earlier read failed
            };
            *self = Self::begin(counted)?;
        }
        match self {
            Self::Unknown(_) => Ok(0),
            Self::Plain(input) => input.read(buffer),
            Self::Gzip(input) => input.read(buffer).map_err(|error| match error.kind() {
                io::ErrorKind::Interrupted => error,
                io::ErrorKind::UnexpectedEof => {
                    io::Error::new(error.kind(), "the gzip data is cut off; record it again")
                }
                kind => io::Error::new(kind, format!("the gzip data is damaged: {error}")),
            }),
        }
    }
}
