//! The bytes of a recording: counted as they are read, and decompressed if they are gzipped.

use std::io::{self, BufReader, Chain, Cursor, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::bufread::MultiGzDecoder;

/// The first bytes of every gzip member (RFC 1952).
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];
const READ_SIZE: usize = 128 << 10;

/// How much of a recording was read, for a progress bar. Clones share the count.
#[derive(Clone, Debug)]
pub struct ReadProgress {
    read: Arc<AtomicU64>,
    size: Option<u64>,
}

impl ReadProgress {
    pub(super) fn new(size: Option<u64>) -> Self {
        Self { read: Arc::default(), size }
    }

    /// The bytes of the file read so far, before decompression.
    pub fn bytes_read(&self) -> u64 {
        // Relaxed: no other memory is published with this count.
        self.read.load(Ordering::Relaxed)
    }

    /// The size of the file in bytes; `None` if it is not a regular file.
    pub fn size(&self) -> Option<u64> {
        self.size
    }
}

type RawInput = Box<dyn Read + Send>;

/// Counts the bytes read.
pub(super) struct CountingReader {
    input: RawInput,
    progress: ReadProgress,
}

impl Read for CountingReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(buffer)?;
        self.progress.read.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

type PeekedInput = Chain<Cursor<Vec<u8>>, CountingReader>;

/// The decompressed text of a recording. The first read detects gzip.
pub(super) enum RecordingInput {
    Undetected(Option<CountingReader>),
    Plain(PeekedInput),
    Gzip(Box<MultiGzDecoder<BufReader<PeekedInput>>>),
}

impl RecordingInput {
    pub(super) fn new(input: RawInput, progress: ReadProgress) -> Self {
        Self::Undetected(Some(CountingReader { input, progress }))
    }

    /// Reads the first two bytes to detect gzip.
    fn begin(mut counted: CountingReader) -> io::Result<Self> {
        let mut head = Vec::with_capacity(GZIP_MAGIC.len());
        counted.by_ref().take(GZIP_MAGIC.len() as u64).read_to_end(&mut head)?;
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

impl Read for RecordingInput {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Self::Undetected(counted) = self {
            let Some(counted) = counted.take() else {
                return Ok(0); // an earlier read failed
            };
            *self = Self::begin(counted)?;
        }
        match self {
            Self::Undetected(_) => Ok(0),
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
