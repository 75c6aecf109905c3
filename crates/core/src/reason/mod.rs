//! The reason in what Kubernetes and the programs of containers say: the part of a text that an engineer would quote
//! ([§13.6](crate::specification#s13-6)).
//!
//! Errors of Go are chains, `outer: inner: inner`. Parts that only name layers are left out, and so are endings that
//! say nothing. Of what is left the last part is the reason, with as much before it as is needed to say of what.
//! `parts` takes a text apart, `vocabulary` has the words of the layers, and `shorten` makes a long text fit. What a
//! scheduler says is no chain: `scheduler` has its clauses.

mod ids;
mod parts;
pub(crate) mod scheduler;
mod shorten;
mod telling;
mod vocabulary;

use std::borrow::Cow;

use parts::{ReasonPart, parts};
pub use shorten::shorten;
pub(super) use telling::Telling;
pub use telling::{crash, telling};

/// A reason is never longer than this, in characters.
pub const MOST_CHARACTERS: usize = 160;

/// A reason of fewer words than these takes what stands before it along.
const ENOUGH_WORDS: usize = 6;

/// The reason in `text`: at most [`MOST_CHARACTERS`], on one line, and empty only where `text` is blank.
pub fn extract(text: &str) -> String {
    shorten(&chosen(text, ENOUGH_WORDS), MOST_CHARACTERS).into_owned()
}

/// The text as it is where it has at most so many bytes; otherwise what is left of it without the words of layers,
/// shortened where that is too long as well.
pub fn keep(text: &str, most_bytes: usize) -> Cow<'_, str> {
    if text.len() <= most_bytes {
        return Cow::Borrowed(text);
    }
    let reduced = match scheduler::own(text) {
        Some(own) => own.to_owned(),
        // As many parts as there are, or fewer where they do not fit.
        None => Some(chosen(text, usize::MAX))
            .filter(|all| all.len() <= most_bytes)
            .unwrap_or_else(|| chosen(text, ENOUGH_WORDS)),
    };
    // A character may have more than one byte.
    let mut most = most_bytes;
    loop {
        let kept = shorten(&reduced, most);
        if kept.len() <= most_bytes {
            return Cow::Owned(kept.into_owned());
        }
        most -= 1;
    }
}

/// The last telling parts of `text`, as many as have this many words together.
fn chosen(text: &str, enough_words: usize) -> String {
    let line = parts::telling_line(text);
    let parts = parts(line);
    let (layers, mut telling): (Vec<&ReasonPart<'_>>, Vec<&ReasonPart<'_>>) =
        parts.iter().partition(|part| part.is_layer());
    let repeats = |part: &ReasonPart<'_>| layers.iter().any(|layer| part.repeats(layer));
    telling.retain(|part| !part.says_nothing() && !repeats(part));
    if telling.is_empty() {
        telling.extend(parts.iter().rfind(|part| !part.says_nothing()));
    }
    let mut reason: Vec<Cow<'_, str>> = Vec::new();
    let mut words = 0;
    let mut last: Option<&ReasonPart<'_>> = None;
    for (place, part) in telling.iter().enumerate().rev() {
        let before = place.checked_sub(1).map(|place| telling[place]);
        let is_of_lookup = before.is_some_and(|before| before.is_lookup()) && part.is_datagram();
        let is_known = part.is_request() && !last.is_none_or(ReasonPart::is_fault);
        if is_of_lookup || is_known || reason.contains(&part.shown()) {
            continue;
        }
        words += part.words();
        reason.push(part.shown());
        last = Some(part);
        let is_enough = words >= enough_words && !part.needs_what() && !part.is_request();
        if is_enough && !before.is_some_and(|before| before.leads_on()) {
            break;
        }
    }
    if let Some(first) = parts.iter().find(|part| part.is_subject())
        && !telling.iter().any(|part| std::ptr::eq(*part, first))
    {
        reason.push(first.shown());
    }
    reason.reverse();
    match reason.is_empty() {
        true => line.split_whitespace().collect::<Vec<_>>().join(" "),
        false => reason.join(": "),
    }
}

#[cfg(test)]
mod tests;
