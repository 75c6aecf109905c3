//! Reads one page of a list from the pieces in which it arrives.

use super::protobuf::list_reader::ListReader;
use super::{DecodeError, Encoding, ListPage, PodDecoder};

/// Reads one page of a list. JSON is decoded when all of it has arrived, because the order of its keys is
/// not known; protobuf item by item.
#[derive(Debug)]
pub struct PageReader<'d>(Body<'d>);

#[derive(Debug)]
enum Body<'d> {
    Json {
        decoder: &'d mut PodDecoder,
        body: &'d mut Vec<u8>,
    },
    Protobuf(Box<ListReader<'d>>),
}

impl PodDecoder {
    /// Reads a page in `encoding`. What has arrived and cannot be decoded yet is held in `buffer`, which is
    /// cleared first.
    pub fn page<'d>(&'d mut self, encoding: Encoding, buffer: &'d mut Vec<u8>) -> PageReader<'d> {
        PageReader(match encoding {
            Encoding::Json => {
                buffer.clear();
                let (decoder, body) = (self, buffer);
                Body::Json { decoder, body }
            }
            Encoding::Protobuf => Body::Protobuf(Box::new(ListReader::new(&mut self.0, buffer))),
        })
    }
}

impl PageReader<'_> {
    /// Takes in what arrives next.
    ///
    /// # Errors
    /// Where this is no page of a list. Nothing more is to be read then.
    pub fn push(&mut self, chunk: &[u8]) -> Result<(), DecodeError> {
        match &mut self.0 {
            Body::Json { body, .. } => {
                body.extend_from_slice(chunk);
                Ok(())
            }
            Body::Protobuf(reader) => reader.push(chunk),
        }
    }

    /// The page, when everything has arrived. An item that is no pod with a UID, or cannot be read, costs
    /// only itself.
    ///
    /// # Errors
    /// As [`PodDecoder::list_page`]; [`DecodeError::Protobuf`] where the page is cut off.
    pub fn finish(self) -> Result<ListPage, DecodeError> {
        match self.0 {
            Body::Json { decoder, body } => decoder.list_page(body),
            Body::Protobuf(reader) => reader.finish(),
        }
    }
}
