//! Reads a list in JSON while it arrives: each item is decoded when it is complete, and what stands around
//! the items when everything has arrived, because the order of the keys is not known.

use memchr::memchr2;

use super::pod::envelope::ListItems;
use super::{DecodeError, ListPage, PodDecoder};
use podinit_core::pod::PodSnapshot;

/// How deep the items of a list are: in its object and in its array.
const ITEMS: u32 = 2;

/// Reads one page of a list of pods. Holds what has arrived of one item, and the list without its items,
/// beside the decoded ones.
#[derive(Debug)]
pub(crate) struct JsonListReader<'d> {
    decoder: &'d mut PodDecoder,
    /// What has arrived of an item that is not complete
    pending: &'d mut Vec<u8>,
    /// The list, with an empty array in the place of its items
    shell: Vec<u8>,
    /// How many objects and arrays are open
    depth: u32,
    text: JsonTextState,
    /// Between the brackets of `items`
    in_items: bool,
    /// There was an array of items
    has_items: bool,
    items: ListItems,
    position: usize,
}

/// Where the next byte is, as far as texts are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum JsonTextState {
    Outside,
    Inside,
    /// After a backslash
    Escaped,
}

impl<'d> JsonListReader<'d> {
    pub(crate) fn new(decoder: &'d mut PodDecoder, pending: &'d mut Vec<u8>) -> Self {
        pending.clear();
        Self {
            decoder,
            pending,
            shell: Vec::new(),
            depth: 0,
            text: JsonTextState::Outside,
            in_items: false,
            has_items: false,
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
        self.pending.len() + self.shell.len()
    }

    /// Takes in what arrives next.
    pub(crate) fn push(&mut self, chunk: &[u8]) -> Result<(), DecodeError> {
        let mut kept = 0;
        let mut at = 0;
        while let Some(found) = self.next_token(chunk, at) {
            at = found + 1;
            let in_items = self.in_items;
            match chunk[found] {
                b'[' if !in_items && self.depth == 1 => {
                    self.shell.extend_from_slice(&chunk[kept..found]);
                    kept = found;
                    if ends_with_items_key(&self.shell) {
                        self.in_items = true;
                        self.has_items = true;
                        self.items = ListItems::default();
                        self.position = 0;
                        self.shell.push(b'[');
                        kept = at;
                    }
                    self.depth += 1;
                }
                b'{' | b'[' => self.depth = self.depth.saturating_add(1),
                b']' if in_items && self.depth == ITEMS => {
                    self.item(&chunk[kept..found], true)?;
                    kept = found;
                    self.in_items = false;
                    self.depth -= 1;
                }
                b'}' | b']' => self.depth = self.depth.saturating_sub(1),
                b',' if in_items && self.depth == ITEMS => {
                    self.item(&chunk[kept..found], false)?;
                    kept = at;
                }
                _ => {}
            }
        }
        let rest = &chunk[kept..];
        match self.in_items {
            true => self.pending.extend_from_slice(rest),
            false => self.shell.extend_from_slice(rest),
        }
        Ok(())
    }

    /// The page, when everything has arrived.
    pub(crate) fn finish(self) -> Result<ListPage, DecodeError> {
        let page = self.decoder.list_page(&self.shell)?;
        if !self.has_items {
            return Ok(page);
        }
        let items = self.items;
        Ok(ListPage {
            pods: items.pods,
            of_other_shards: items.of_other_shards,
            undecodable: items.undecodable,
            ..page
        })
    }

    /// Where the next bracket, brace or comma is, from `at` on, that is not in a text.
    fn next_token(&mut self, chunk: &[u8], mut at: usize) -> Option<usize> {
        while at < chunk.len() {
            match self.text {
                JsonTextState::Outside => {
                    let token = |byte: &u8| matches!(byte, b'"' | b'{' | b'}' | b'[' | b']' | b',');
                    let found = at + chunk[at..].iter().position(token)?;
                    if chunk[found] != b'"' {
                        return Some(found);
                    }
                    self.text = JsonTextState::Inside;
                    at = found + 1;
                }
                JsonTextState::Inside => {
                    let found = at + memchr2(b'"', b'\\', &chunk[at..])?;
                    self.text = match chunk[found] {
                        b'"' => JsonTextState::Outside,
                        _ => JsonTextState::Escaped,
                    };
                    at = found + 1;
                }
                JsonTextState::Escaped => {
                    self.text = JsonTextState::Inside;
                    at += 1;
                }
            }
        }
        None
    }

    /// Decodes the item of which `rest` is what has arrived last. Before the closing bracket there may be
    /// none.
    fn item(&mut self, rest: &[u8], closing: bool) -> Result<(), DecodeError> {
        let mut pending = std::mem::take(self.pending);
        let item = if pending.is_empty() {
            rest
        } else {
            pending.extend_from_slice(rest);
            &pending
        };
        let none = item.trim_ascii().is_empty();
        let result = if none && closing && self.position == 0 {
            Ok(())
        } else {
            let position = self.position;
            self.position += 1;
            let item = self.decoder.list_item(item);
            item.map(|item| self.items.push(position, item))
        };
        pending.clear();
        *self.pending = pending;
        result
    }
}

/// Whether what comes next is the value of the key `items` of the list.
fn ends_with_items_key(shell: &[u8]) -> bool {
    let before_value = shell.trim_ascii_end().strip_suffix(b":");
    let before_key = before_value.and_then(|key| key.trim_ascii_end().strip_suffix(b"\"items\""));
    // After a backslash, the quotation mark is part of another key.
    before_key.is_some_and(|before| !before.ends_with(b"\\"))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::{DecodeOptions, ObjectEncoding};

    const LISTS: [&str; 12] = [
        r#"{"kind":"PodList","metadata":{"resourceVersion":"5","continue":"c"},"items":[]}"#,
        r#"{"kind":"PodList","metadata":{"resourceVersion":"5"},"items":null}"#,
        r#"{"kind":"PodList","metadata":{"resourceVersion":"5"}}"#,
        r#"{"items":[{"metadata":{"uid":"a"}},{"metadata":{"uid":"b"}}],"metadata":{"resourceVersion":"7","remainingItemCount":9},"kind":"List"}"#,
        r#" { "kind" : "PodList" , "items" : [ {"metadata":{"uid":"a","name":"x],\"}{"}} , 17 , null , [1,{"items":[2]}] , "t,x" ] , "metadata" : { } } "#,
        r#"{"kind":"PodList","x\"items":[{"metadata":{"uid":"a"}}],"y":{"items":[1]},"items":[{"metadata":{"uid":"b"}}]}"#,
        r#"{"kind":"PodList","items":[{"metadata":{"uid":"a"},"status":{"phase":1e999}},{"metadata":{"uid":"b"}},{"status":{"phase":"\ud800"}}]}"#,
        r#"{"kind":"NodeList","items":[{"metadata":{"uid":"a"}}]}"#,
        r#"{"kind":"Status","code":200}"#,
        r#"{"kind":"PodList","items":[{"metadata":{"uid":"a"}},]}"#,
        r#"{"kind":"PodList","items":[{"metadata":{"uid":"a"}}"#,
        r#"{"kind":"PodList","items":[{"metadata":{"uid":"a"}]}"#,
    ];

    fn in_pieces(body: &[u8], length: usize) -> Result<ListPage, DecodeError> {
        let mut decoder = PodDecoder::new(DecodeOptions::default());
        let mut buffer = Vec::new();
        let mut reader = decoder.page(ObjectEncoding::Json, &mut buffer);
        for piece in body.chunks(length) {
            reader.push(piece)?;
        }
        reader.finish()
    }

    #[test]
    fn a_list_in_pieces_is_the_list_as_a_whole() {
        for list in LISTS {
            let mut decoder = PodDecoder::new(DecodeOptions::default());
            let whole = decoder.list_page(list.as_bytes());
            for length in [1, 2, 3, 7, 64, 1000] {
                match (&whole, in_pieces(list.as_bytes(), length)) {
                    (Ok(whole), page) => assert_eq!(page.as_ref(), Ok(whole), "{list} by {length}"),
                    // Another place in the text is named.
                    (Err(DecodeError::Json { .. }), Err(DecodeError::Json { .. })) => {}
                    (Err(whole), page) => assert_eq!(page.as_ref(), Err(whole), "{list}"),
                }
            }
        }
        let damaged = b"{\"kind\":\"PodList\",\"items\":[{\"metadata\":{\"uid\":\"\xff\"}}]}";
        assert_eq!(in_pieces(damaged, 5).unwrap().pods.len(), 1);
    }

    #[test]
    fn no_more_is_held_than_an_item_and_what_stands_around_the_items() {
        let mut decoder = PodDecoder::new(DecodeOptions::default());
        let mut buffer = Vec::new();
        let mut reader = JsonListReader::new(&mut decoder, &mut buffer);
        let head = r#"{"kind":"PodList","metadata":{"resourceVersion":"5"},"items":["#;
        reader.push(head.as_bytes()).unwrap();
        for number in 0..1000 {
            let item = format!(r#"{{"metadata":{{"uid":"{number:04}"}}}},"#);
            reader.push(item.as_bytes()).unwrap();
            assert_eq!(reader.held(), head.len());
        }
        reader.push(br#"{"metadata":{"uid":"last"}}]}"#).unwrap();
        assert_eq!(reader.finish().unwrap().pods.len(), 1001);
    }
}
