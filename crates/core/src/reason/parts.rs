//! Takes a chain of errors apart.

use std::borrow::Cow;

use super::ENOUGH_WORDS;
use super::vocabulary::{
    ASIDES, DATAGRAMS, ENDINGS, FAULTS, LAYERS, LAYERS_THAT_BEGIN, LAYERS_WITHIN, LEADS_ON,
    NOTHING, REQUESTS, SUBJECTS, SYSCALLS,
};

/// A URL that is longer is cut to its host.
const LONG_URL: usize = 60;
/// A word that is longer, alone in a part, is an encoding that no reader understands.
const LONG_WORD: usize = 48;

/// One part of a chain, without white space around it.
#[derive(Debug)]
pub(super) struct ReasonPart<'a>(&'a str);

impl<'a> ReasonPart<'a> {
    /// Whether it names only a layer that an error came through.
    pub(super) fn is_layer(&self) -> bool {
        let is = |layer: &&str| self.0.eq_ignore_ascii_case(layer);
        LAYERS.iter().any(is)
            || LAYERS_THAT_BEGIN.iter().any(|layer| begins(self.0, layer))
            || LAYERS_WITHIN.iter().any(|layer| self.0.contains(layer))
    }

    /// Whether nobody learns anything from it: an empty word, a lone URL, an encoded message.
    pub(super) fn says_nothing(&self) -> bool {
        let is_one_word = !self.0.contains(char::is_whitespace);
        let is_place = self.0.starts_with('[') && self.0.ends_with(']');
        let is_encoded = self.0.len() > LONG_WORD && !self.0.contains('/');
        let is_noise = is_url(self.0) || is_place || is_encoded;
        NOTHING.iter().any(|word| self.0.eq_ignore_ascii_case(word))
            || !self.0.contains(char::is_alphanumeric)
            || is_one_word && is_noise
    }

    /// Whether it is a layer that also says what an error is about.
    pub(super) fn is_subject(&self) -> bool {
        SUBJECTS.iter().any(|subject| begins(self.0, subject))
    }

    /// Whether it says what went wrong, and not with what.
    pub(super) fn is_fault(&self) -> bool {
        FAULTS.iter().any(|fault| begins(self.0, fault))
    }

    /// Whether it says little without the part before it: a fault, what was asked of a kernel, the value of a key.
    pub(super) fn needs_what(&self) -> bool {
        let digits = self.0.trim_start_matches(|character: char| character.is_ascii_digit());
        let is_value =
            digits.len() < self.0.len() && (digits.is_empty() || digits.starts_with(", "));
        self.is_fault() || is_value || SYSCALLS.iter().any(|call| begins(self.0, call))
    }

    /// Whether it names a request over HTTP.
    pub(super) fn is_request(&self) -> bool {
        REQUESTS.iter().any(|request| begins(self.0, request))
    }

    /// Whether it only repeats a name that `layer` has in quotes.
    pub(super) fn repeats(&self, layer: &ReasonPart<'_>) -> bool {
        let mut quoted = layer.0.split('"').skip(1).step_by(2);
        quoted.any(|name| name == self.0)
    }

    /// Whether what follows it is the rest of its sentence.
    pub(super) fn leads_on(&self) -> bool {
        LEADS_ON.iter().any(|end| ends(self.0, end))
    }

    /// Whether it asks a DNS server.
    pub(super) fn is_lookup(&self) -> bool {
        begins(self.0, "lookup ")
    }

    /// Whether it names the packets of a question to a DNS server.
    pub(super) fn is_datagram(&self) -> bool {
        DATAGRAMS.iter().any(|words| begins(self.0, words))
    }

    pub(super) fn words(&self) -> usize {
        self.0.split_whitespace().count()
    }

    /// It as a person reads it, on one line, with the hosts of its long URLs only.
    pub(super) fn shown(&self) -> Cow<'a, str> {
        if !self.0.contains("://") && !self.0.contains(['\n', '\t', '\r']) {
            return Cow::Borrowed(self.0);
        }
        let words: Vec<Cow<'_, str>> = self.0.split_whitespace().map(short_url).collect();
        Cow::Owned(words.join(" "))
    }
}

/// The parts of `line` between `: `, outside quotes and brackets, without asides and codes of gRPC.
pub(super) fn parts(line: &str) -> Vec<ReasonPart<'_>> {
    let mut parts = Vec::new();
    take_apart(line, &mut parts);
    parts
}

fn take_apart<'a>(line: &'a str, parts: &mut Vec<ReasonPart<'a>>) {
    for part in cuts(line) {
        let part = bare(part);
        match inner(part) {
            Some(inner) => take_apart(inner, parts),
            None => parts.push(ReasonPart(part)),
        }
    }
}

/// The text between each `: ` outside quotes and brackets. A list `KEY: VALUE, KEY: VALUE` is not cut, so that no part
/// begins inside it. A sentence at its end is a part of its own.
fn cuts(line: &str) -> Vec<&str> {
    let (spans, open_quote) = scan(line);
    let separators = line.match_indices(": ").map(|(place, _)| place);
    let outside = |place: &usize| {
        !spans.iter().any(|(open, close)| open < place && place < close)
            && open_quote.is_none_or(|open| *place < open)
    };
    let mut cut = Vec::new();
    // Where the present part begins, and what stands before and after the `: ` that is looked at.
    let (mut begin, mut before, mut segment) = (0, "", 0);
    let mut is_in_list = false;
    for end in separators.filter(outside).chain([line.len()]) {
        let text = &line[segment..end];
        let next = ListNext::after(before, text, end == line.len(), is_in_list);
        if segment > 0 && next == ListNext::No {
            cut.push(&line[begin..segment - ": ".len()]);
            begin = segment;
        }
        if let ListNext::Clause(after) = next {
            cut.push(&line[begin..segment + after]);
            begin = segment + after + ", ".len();
        }
        is_in_list = next == ListNext::Key;
        before = text;
        segment = (end + ": ".len()).min(line.len());
    }
    cut.push(&line[begin..]);
    cut
}

/// How a text behind a `: ` goes on a list of keys and values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ListNext {
    /// It is no value
    No,
    /// It is the last value
    Value,
    /// It is a value and the next key
    Key,
    /// It is a value, which ends here, and then something else begins
    Clause(usize),
}

impl ListNext {
    /// What `text` is behind `before`. A list has at least one value with another key behind it.
    fn after(before: &str, text: &str, is_last: bool, is_in_list: bool) -> Self {
        let is_short = text.split_whitespace().count() < ENOUGH_WORDS;
        let ends = match is_in_list && is_short {
            true => Self::Value,
            false => Self::No,
        };
        let Some((value, rest)) = text.split_once(", ").filter(|_| !is_last) else {
            return ends;
        };
        let is_value = !value.contains(char::is_whitespace) && ends_with_key(before);
        match is_key(rest) {
            true if is_value && !ReasonPart(value).is_fault() => Self::Key,
            false if is_value && is_constant(value) => Self::Clause(value.len()),
            _ => ends,
        }
    }
}

/// Whether `text` can be the key of a list.
fn is_key(text: &str) -> bool {
    let is_of_key = |character: char| character.is_ascii_alphanumeric() || "_-".contains(character);
    text.starts_with(|first: char| first.is_ascii_alphabetic()) && text.chars().all(is_of_key)
}

fn ends_with_key(text: &str) -> bool {
    text.split_whitespace().next_back().is_some_and(is_key)
}

/// Whether a word is a value, and no word of a sentence.
fn is_constant(word: &str) -> bool {
    word.is_empty()
        || matches!(word, "true" | "false" | "null")
        || word.contains(|character: char| character.is_ascii_digit() || character == '"')
}

/// The chain inside a part that is nothing but a quoted description, or a list of errors.
fn inner(part: &str) -> Option<&str> {
    let quoted = part.strip_prefix("desc = \"").and_then(|rest| rest.strip_suffix('"'));
    let listed = part.strip_prefix('[').and_then(|rest| rest.strip_suffix(']').or(Some(rest)));
    let listed = listed.filter(|list| list.contains(": "));
    quoted.or(listed)
}

/// A part without what stands around it for others than readers.
fn bare(part: &str) -> &str {
    let mut part = part.trim().trim_end_matches(':').trim_end();
    // `code = Unknown desc = …`
    if let Some((head, rest)) = part.split_once("desc = ")
        && begins(head, "code = ")
    {
        part = rest;
    }
    let aside = ASIDES.iter().filter_map(|aside| part.find(aside)).min();
    part = &part[..aside.unwrap_or(part.len())];
    for ending in ENDINGS {
        part = part.strip_suffix(ending).unwrap_or(part);
    }
    part = part.trim_end_matches('.').trim();
    match part.matches('\'').count() % 2 {
        1 => part.strip_prefix('\'').unwrap_or(part),
        _ => part,
    }
}

/// The line of a text that tells most: of the output of a program the last one that names an error, and not where in
/// the program it was.
pub(super) fn telling_line(text: &str) -> &str {
    const NAMES_ERROR: [&str; 10] = [
        "caused by",
        "panic",
        "fatal",
        "error",
        "exception",
        "failed",
        "cannot",
        "can't",
        "unable to",
        "denied",
    ];
    const OF_STACK: [&str; 6] =
        ["at ", "goroutine ", "File \"", "... ", "[signal ", "exit status "];
    let text = text.trim();
    if !text.contains('\n') {
        return text;
    }
    let told = || {
        let lines = lines(text).into_iter().map(str::trim_end);
        let is_told = |line: &&str| {
            let stripped = line.trim_start();
            !stripped.is_empty() && !OF_STACK.iter().any(|head| stripped.starts_with(head))
        };
        lines.filter(is_told)
    };
    let names_error = |line: &&str| {
        let is_indented = line.starts_with([' ', '\t']);
        let lower = line.to_ascii_lowercase();
        !is_indented && NAMES_ERROR.iter().any(|word| lower.contains(word))
    };
    let telling = told().rev().find(names_error).or_else(|| told().next_back());
    telling.unwrap_or(text).trim()
}

/// Where quotes and brackets begin and end that are closed; what is not closed encloses nothing.
pub(super) fn enclosed(line: &str) -> Vec<(usize, usize)> {
    scan(line).0
}

/// Where quotes and brackets begin and end that are closed, and where a quote begins that is not.
fn scan(line: &str) -> (Vec<(usize, usize)>, Option<usize>) {
    let mut spans = Vec::new();
    let mut open: Vec<(usize, char)> = Vec::new();
    let mut quote: Option<usize> = None;
    let mut is_escaped = false;
    for (place, character) in line.char_indices() {
        match (quote, character) {
            _ if is_escaped => {
                is_escaped = false;
                continue;
            }
            (_, '\\') => is_escaped = true,
            (Some(begin), '"') => {
                spans.push((begin, place));
                quote = None;
            }
            (None, '"') => quote = Some(place),
            (None, '(' | '[' | '{') => open.push((place, character)),
            (None, ')' | ']' | '}') => {
                let opening = match character {
                    ')' => '(',
                    ']' => '[',
                    _ => '{',
                };
                if let Some(found) = open.iter().rposition(|(_, kind)| *kind == opening) {
                    spans.push((open[found].0, place));
                    open.truncate(found);
                }
            }
            _ => {}
        }
    }
    (spans, quote)
}

/// The lines of `text`. A line break inside quotes ends none.
fn lines(text: &str) -> Vec<&str> {
    let mut lines = Vec::new();
    let (mut begin, mut is_quoted, mut before) = (0, false, ' ');
    let mut characters = text.char_indices().peekable();
    while let Some((place, character)) = characters.next() {
        let after = characters.peek().map_or(' ', |(_, after)| *after);
        match character {
            // A quote opens before a word, and closes behind one: the text may begin inside quotes.
            '"' if is_quoted => is_quoted = after.is_alphanumeric(),
            '"' => is_quoted = !before.is_alphanumeric() && after.is_alphanumeric(),
            '\n' if !is_quoted => {
                lines.push(&text[begin..place]);
                begin = place + 1;
            }
            _ => {}
        }
        before = character;
    }
    lines.push(&text[begin..]);
    lines
}

fn is_url(word: &str) -> bool {
    word.contains("://")
}

/// A long URL up to its host.
fn short_url(word: &str) -> Cow<'_, str> {
    let Some(scheme) = word.find("://").filter(|_| word.chars().count() > LONG_URL) else {
        return Cow::Borrowed(word);
    };
    let host = scheme + "://".len();
    let Some(path) = word[host..].find('/') else {
        return Cow::Borrowed(word);
    };
    let is_quoted = word.starts_with('"') && word.ends_with('"');
    let quote = if is_quoted { "\"" } else { "" };
    Cow::Owned(format!("{}/…{quote}", &word[..host + path]))
}

/// Whether `text` begins with `head`, in any case.
fn begins(text: &str, head: &str) -> bool {
    let start = text.as_bytes().get(..head.len());
    start.is_some_and(|start| start.eq_ignore_ascii_case(head.as_bytes()))
}

/// Whether `text` ends with `tail`, in any case.
fn ends(text: &str, tail: &str) -> bool {
    let text = text.as_bytes();
    let rest = text.len().checked_sub(tail.len()).map(|begin| &text[begin..]);
    rest.is_some_and(|rest| rest.eq_ignore_ascii_case(tail.as_bytes()))
}
