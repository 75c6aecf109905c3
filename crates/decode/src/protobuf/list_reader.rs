//! Reads a list while it arrives: its metadata comes before its items, and each item is decoded when it is
//! complete.

use prost::encoding::{WireType, decode_key, decode_varint};

use super::super::list_page::ListPage;
use super::super::pod::envelope::{ListItem, ListItems};
use super::wire::Malformed;
use super::{MAGIC, kind, metadata_of, object_of, schema};
use crate::DecodeError;
use crate::pod::DecodeContext;
use crate::pod::object::{ObjectFault, shorten};
use podinit_core::pod::PodSnapshot;

/// Reads one page of a list of pods. Holds what has arrived of one item, beside the decoded ones.
#[derive(Debug)]
pub(crate) struct ListReader<'d> {
    context: &'d mut DecodeContext,
    /// What has arrived of a field that is not complete
    pending: &'d mut Vec<u8>,
    place: ListPlace,
    kind: Option<String>,
    has_list: bool,
    page: ListPage,
    items: ListItems,
    position: usize,
}

/// Where in the answer the next byte is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ListPlace {
    Start,
    /// Among the fields of the `Unknown`
    Answer,
    /// Among the fields of the list, of which so many bytes are left
    List {
        left: usize,
    },
}

/// The beginning of a field.
struct FieldHead {
    number: u32,
    has_length: bool,
    /// Its own length
    head: usize,
    /// The length of the value after it
    value: usize,
}

impl<'d> ListReader<'d> {
    pub(crate) fn new(context: &'d mut DecodeContext, pending: &'d mut Vec<u8>) -> Self {
        pending.clear();
        Self {
            context,
            pending,
            place: ListPlace::Start,
            kind: None,
            has_list: false,
            page: ListPage::default(),
            items: ListItems::default(),
            position: 0,
        }
    }

    /// The pods that are decoded so far.
    pub(crate) const fn pods(&mut self) -> &mut Vec<PodSnapshot> {
        &mut self.items.pods
    }

    /// How many bytes are held that are not decoded yet.
    pub(crate) const fn held(&self) -> usize {
        self.pending.len()
    }

    /// Takes in what arrives next.
    pub(crate) fn push(&mut self, chunk: &[u8]) -> Result<(), DecodeError> {
        if self.pending.is_empty() {
            let used = self.read(chunk)?;
            self.pending.extend_from_slice(&chunk[used..]);
            return Ok(());
        }
        self.pending.extend_from_slice(chunk);
        let mut pending = std::mem::take(self.pending);
        let used = self.read(&pending);
        pending.drain(..*used.as_ref().unwrap_or(&0));
        *self.pending = pending;
        used.map(drop)
    }

    /// The page, when everything has arrived.
    pub(crate) fn finish(self) -> Result<ListPage, DecodeError> {
        let at_end = matches!(self.place, ListPlace::Answer | ListPlace::List { left: 0 });
        if !at_end || !self.pending.is_empty() {
            return Err(Malformed::new("the list is cut off").into());
        }
        if !self.has_list {
            return Err(ObjectFault::NoItems.into());
        }
        Ok(ListPage {
            pods: self.items.pods,
            of_other_shards: self.items.of_other_shards,
            undecodable: self.items.undecodable,
            ..self.page
        })
    }

    /// Reads the fields that are complete in `bytes`; returns how many bytes that were.
    fn read(&mut self, bytes: &[u8]) -> Result<usize, DecodeError> {
        let mut used = 0;
        while let Some(step) = self.step(&bytes[used..])? {
            used += step;
        }
        Ok(used)
    }

    /// Reads one field, or the head of the list; `None` where it is not complete.
    fn step(&mut self, bytes: &[u8]) -> Result<Option<usize>, DecodeError> {
        match self.place {
            ListPlace::Start => {
                let Some(start) = bytes.get(..MAGIC.len()) else {
                    return Ok(None);
                };
                if start != MAGIC {
                    return Err(Malformed::new("a list does not begin with \"k8s\\0\"").into());
                }
                self.place = ListPlace::Answer;
                Ok(Some(MAGIC.len()))
            }
            ListPlace::List { left: 0 } => {
                self.place = ListPlace::Answer;
                Ok(Some(0))
            }
            ListPlace::Answer => {
                let Some(head) = head(bytes)? else {
                    return Ok(None);
                };
                if head.number == 2 && head.has_length {
                    self.begin_list(head.value)?;
                    return Ok(Some(head.head));
                }
                let Some(value) = head.value_in(bytes) else {
                    return Ok(None);
                };
                if head.number == 1 && head.has_length {
                    self.kind = kind(value)?.map(|kind| shorten(&kind));
                }
                Ok(Some(head.head + value.len()))
            }
            ListPlace::List { left } => {
                let Some(head) = head(bytes)? else {
                    return Ok(None);
                };
                let after = left.checked_sub(head.head.saturating_add(head.value));
                let too_long = || Malformed::new("an item is longer than its list");
                let after = after.ok_or_else(too_long)?;
                let Some(value) = head.value_in(bytes) else {
                    return Ok(None);
                };
                if head.has_length {
                    self.field(head.number, value)?;
                }
                self.place = ListPlace::List { left: after };
                Ok(Some(head.head + value.len()))
            }
        }
    }

    fn begin_list(&mut self, length: usize) -> Result<(), DecodeError> {
        match self.kind.as_deref() {
            Some("PodList" | "List") => {}
            kind => return Err(ObjectFault::NotAList(kind.unwrap_or_default().to_owned()).into()),
        }
        self.has_list = true;
        self.place = ListPlace::List { left: length };
        Ok(())
    }

    fn field(&mut self, number: u32, value: &[u8]) -> Result<(), DecodeError> {
        match number {
            1 => {
                let metadata = metadata_of(value, schema::LIST_META, self.context)?;
                self.page = ListPage {
                    resource_version: metadata.resource_version.map(String::from),
                    continue_token: metadata.continue_token.map(String::from),
                    remaining: metadata.remaining,
                    sharded: metadata.has_shard_info,
                    ..ListPage::default()
                };
            }
            2 => {
                let item = object_of(value, schema::POD, self.context)
                    .map_err(|_| ObjectFault::Unreadable)
                    .and_then(|object| ListItem::from_object(Some(object), self.context));
                self.items.push(self.position, item);
                self.position += 1;
            }
            _ => {}
        }
        Ok(())
    }
}

impl FieldHead {
    fn value_in<'a>(&self, bytes: &'a [u8]) -> Option<&'a [u8]> {
        bytes.get(self.head..)?.get(..self.value)
    }
}

/// The head of the field with which `bytes` begin; `None` where it is not complete.
fn head(bytes: &[u8]) -> Result<Option<FieldHead>, Malformed> {
    let mut rest = bytes;
    if !begins_with_varint(rest) {
        return Ok(None);
    }
    let (number, wire_type) = decode_key(&mut rest)?;
    let mut has_length = false;
    let value = match wire_type {
        WireType::SixtyFourBit => 8,
        WireType::ThirtyTwoBit => 4,
        WireType::Varint | WireType::LengthDelimited if !begins_with_varint(rest) => {
            return Ok(None);
        }
        WireType::Varint => {
            decode_varint(&mut rest)?;
            0
        }
        WireType::LengthDelimited => {
            has_length = true;
            let too_long = |_| Malformed::new("a field is longer than what it is in");
            usize::try_from(decode_varint(&mut rest)?).map_err(too_long)?
        }
        WireType::StartGroup | WireType::EndGroup => {
            return Err(Malformed::new("a list has no groups"));
        }
    };
    Ok(Some(FieldHead { number, has_length, head: bytes.len() - rest.len(), value }))
}

/// Whether the bytes of a variable-length number are all there, or it is too long to be one.
fn begins_with_varint(bytes: &[u8]) -> bool {
    const LONGEST: usize = 10;
    bytes.len() >= LONGEST || bytes.iter().any(|byte| *byte < 0x80)
}
