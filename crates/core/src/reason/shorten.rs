//! Makes a text fit.

use std::borrow::Cow;

use super::ids;
use super::parts::enclosed;
use super::vocabulary::FAULT_WORDS;
use crate::pod::text;

/// Stands for what was left out.
const LEFT_OUT: &str = " … ";

/// So many words behind the word of a fault stay at least, where they fit.
const WORDS_AFTER_FAULT: usize = 5;

/// The text, or what is left of it in at most so many characters. Ids are shortened first, then the middle goes, but for
/// the words beside a fault. It is cut between words, and no quote or bracket is left open, where the words and brackets
/// of the text let it.
pub fn shorten(text: &str, most: usize) -> Cow<'_, str> {
    if text.chars().count() <= most {
        return Cow::Borrowed(text);
    }
    // Each leaves out more of what nobody reads.
    let mut text = ids::shorten_ids(text);
    for shorten in [ids::shorten_paths, ids::leave_out] {
        if text.chars().count() <= most {
            break;
        }
        text = shorten(&text);
    }
    match text.chars().count() <= most {
        true => Cow::Owned(text),
        false => Cow::Owned(cut(&text, most)),
    }
}

/// The text without its middle.
fn cut(text: &str, most: usize) -> String {
    // Line breaks that a program has written out.
    let text = text.replace("\\r\\n", " ");
    let words: Vec<&str> = text.split_whitespace().collect();
    let room = most.saturating_sub(LEFT_OUT.chars().count());
    let mut head = fitting(words.iter().copied(), room / 3);
    let taken = length(&words[..head]);
    let mut tail = fitting(words.iter().rev().copied(), room.saturating_sub(taken));
    // Too few words of a text that is cut inside one.
    if tail == 0 {
        return cut_anywhere(&text, most);
    }
    tail = tail.min(words.len() - head);
    while head > 0 && !is_closed(&words[..head]) {
        head -= 1;
    }
    let closed = (1..=tail).rev().find(|tail| is_closed(&words[words.len() - tail..]));
    tail = closed.unwrap_or(tail);
    if let Some(around) = around_fault(&words, head, words.len() - tail, most) {
        return around;
    }
    let end = words[words.len() - tail..].join(" ");
    without_halves(match head {
        0 => format!("… {end}"),
        _ => format!("{}{LEFT_OUT}{end}", words[..head].join(" ")),
    })
}

/// The first `head` words and those around the first fault behind them; `None` if no fault stands before the word at `tail`.
fn around_fault(words: &[&str], head: usize, tail: usize, most: usize) -> Option<String> {
    let is_fault = |word: &&str| {
        let bare = word.trim_matches(|character: char| !character.is_alphanumeric());
        FAULT_WORDS.iter().any(|fault| bare.eq_ignore_ascii_case(fault))
    };
    if words[..head].iter().any(is_fault) {
        return None;
    }
    let fault = head + words[head..tail].iter().position(is_fault)?;
    let begin = words[..head].join(" ");
    let room = most.checked_sub(begin.chars().count() + 2 * LEFT_OUT.chars().count())?;
    let last = (fault + 1 + WORDS_AFTER_FAULT).min(words.len());
    let behind = fitting(words[fault..last].iter().copied(), room);
    let taken = length(&words[fault..fault + behind]);
    let before = words[head..fault].iter().rev().copied();
    let first = fault - fitting(before, room.saturating_sub(taken + 1));
    let around = words[first..fault + behind].join(" ");
    let left_out = if first > head { "… " } else { "" };
    let around = format!("{begin} {left_out}{around} …");
    (behind > 0).then(|| without_halves(around.trim().to_owned()))
}

/// The text without quotes and brackets that lack their other half.
fn without_halves(text: String) -> String {
    let spans = enclosed(&text);
    let is_half = |place: usize, character: char| {
        let is_bracket = matches!(character, '"' | '(' | ')' | '[' | ']' | '{' | '}');
        is_bracket && !spans.iter().any(|(open, close)| *open == place || *close == place)
    };
    let kept = text.char_indices().filter(|(place, character)| !is_half(*place, *character));
    kept.map(|(_, character)| character).collect()
}

/// How many of these words fit, with a space between them.
fn fitting<'a>(words: impl Iterator<Item = &'a str>, room: usize) -> usize {
    let mut used = 0;
    let fits = |word: &&str| {
        used += word.chars().count() + usize::from(used > 0);
        used <= room
    };
    words.take_while(fits).count()
}

fn length(words: &[&str]) -> usize {
    let characters: usize = words.iter().map(|word| word.chars().count()).sum();
    characters + words.len().saturating_sub(1)
}

/// Whether all quotes and brackets are closed that are opened, and the other way round.
fn is_closed(words: &[&str]) -> bool {
    let count =
        |kind: char| words.iter().flat_map(|word| word.chars()).filter(|one| *one == kind).count();
    let pairs = [('(', ')'), ('[', ']'), ('{', '}')];
    pairs.iter().all(|(open, close)| count(*open) == count(*close)) && count('"') % 2 == 0
}

/// A text of one long word is cut inside it.
fn cut_anywhere(text: &str, most: usize) -> String {
    // No character has more than four bytes.
    let mut bytes = text.len().min(most * 4);
    loop {
        let cut = text::ends(text, bytes);
        if cut.chars().count() <= most {
            return cut.into_owned();
        }
        bytes -= 1;
    }
}
