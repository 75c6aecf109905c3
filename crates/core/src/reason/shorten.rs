//! Makes a text fit.

use std::borrow::Cow;

use super::parts::enclosed;
use crate::pod::text;

/// Stands for what was left out.
const LEFT_OUT: &str = " … ";

/// The text, or its beginning and its end in at most so many characters. It is cut between words, and no quote or
/// bracket is left open, where the words and brackets of the text let it.
pub fn shorten(text: &str, most: usize) -> Cow<'_, str> {
    if text.chars().count() <= most {
        return Cow::Borrowed(text);
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    let room = most.saturating_sub(LEFT_OUT.chars().count());
    let mut head = fitting(words.iter().copied(), room / 3);
    let taken = length(&words[..head]);
    let mut tail = fitting(words.iter().rev().copied(), room.saturating_sub(taken));
    // Too few words of a text that is cut inside one.
    if tail == 0 {
        return cut_anywhere(text, most);
    }
    tail = tail.min(words.len() - head);
    while head > 0 && !is_closed(&words[..head]) {
        head -= 1;
    }
    let closed = (1..=tail).rev().find(|tail| is_closed(&words[words.len() - tail..]));
    tail = closed.unwrap_or(tail);
    let end = words[words.len() - tail..].join(" ");
    let kept = match head {
        0 => format!("… {end}"),
        _ => format!("{}{LEFT_OUT}{end}", words[..head].join(" ")),
    };
    Cow::Owned(without_halves(kept))
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
fn cut_anywhere(text: &str, most: usize) -> Cow<'_, str> {
    // No character has more than four bytes.
    let mut bytes = text.len().min(most * 4);
    loop {
        let cut = text::ends(text, bytes);
        if cut.chars().count() <= most {
            return Cow::Owned(cut.into_owned());
        }
        bytes -= 1;
    }
}
