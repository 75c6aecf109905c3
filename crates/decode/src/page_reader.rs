//! Reads one page of a list from the pieces in which it arrives.

use super::json_list_reader::JsonListReader;
use super::protobuf::list_reader::ListReader;
use super::{DecodeError, ListPage, ObjectEncoding, PodDecoder};
use podinit_core::pod::PodSnapshot;

/// Reads a list, or one page of it, item by item.
#[derive(Debug)]
pub struct PageReader<'d>(PageBody<'d>);

#[derive(Debug)]
enum PageBody<'d> {
    Json(Box<JsonListReader<'d>>),
    Protobuf(Box<ListReader<'d>>),
}

impl PodDecoder {
    /// Reads a page in `encoding`. What has arrived and cannot be decoded yet is held in `buffer`, which is
    /// cleared first.
    pub fn page<'d>(
        &'d mut self,
        encoding: ObjectEncoding,
        buffer: &'d mut Vec<u8>,
    ) -> PageReader<'d> {
        PageReader(match encoding {
            ObjectEncoding::Json => PageBody::Json(Box::new(JsonListReader::new(self, buffer))),
            ObjectEncoding::Protobuf => {
                PageBody::Protobuf(Box::new(ListReader::new(&mut self.0, buffer)))
            }
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
            PageBody::Json(reader) => reader.push(chunk),
            PageBody::Protobuf(reader) => reader.push(chunk),
        }
    }

    /// Takes out the pods that are decoded so far. What was taken out is not in the page.
    pub fn take_pods(&mut self) -> impl Iterator<Item = PodSnapshot> {
        match &mut self.0 {
            PageBody::Json(reader) => reader.pods().drain(..),
            PageBody::Protobuf(reader) => reader.pods().drain(..),
        }
    }

    /// How many bytes are held that are not decoded yet: those of one item, and in JSON of what stands around
    /// the items.
    pub fn held(&self) -> usize {
        match &self.0 {
            PageBody::Json(reader) => reader.held(),
            PageBody::Protobuf(reader) => reader.held(),
        }
    }

    /// The page, when everything has arrived. An item that is no pod with a UID, or cannot be read, costs
    /// only itself.
    ///
    /// # Errors
    /// As [`PodDecoder::list_page`]; [`DecodeError::Protobuf`] where the page is cut off.
    pub fn finish(self) -> Result<ListPage, DecodeError> {
        match self.0 {
            PageBody::Json(reader) => reader.finish(),
            PageBody::Protobuf(reader) => reader.finish(),
        }
    }
}
