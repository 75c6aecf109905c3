//! The message of a scheduler, taken apart into what it says of how many nodes ([§10.1](crate::specification#s10-1)).

/// What follows the first of these is what PostFilter plugins say, and no reason why a node does not fit.
const ENDS: [&str; 5] = [
    PREEMPTION,
    " no new claims to deallocate",
    " still not schedulable",
    " deallocation of ResourceClaim",
    " deletion of ResourceClaim",
];

/// Begins what the plugin says that preempts pods.
pub(crate) const PREEMPTION: &str = " preemption:";

/// What the clauses come after; the second is of Volcano, the third of KAI.
const BEFORE_CLAUSES: [&str; 3] =
    [" nodes are available: ", " nodes are unavailable: ", " resources were found: "];

/// The message without what PostFilter plugins say; `None` for a message without clauses.
pub(crate) fn own(message: &str) -> Option<&str> {
    let own = before_postfilter(message);
    counted(own).map(|_| own)
}

fn before_postfilter(message: &str) -> &str {
    let ends = ENDS.iter().filter_map(|end| message.find(end));
    &message[..ends.min().unwrap_or(message.len())]
}

/// The clauses, in one text.
fn counted(message: &str) -> Option<&str> {
    let begins =
        BEFORE_CLAUSES.iter().filter_map(|before| Some((message.find(before)?, before.len())));
    let begin = begins.min().map(|(place, length)| place + length);
    begin.map(|begin| &message[begin..])
}

/// The message with other clauses in the place of its own.
pub(crate) fn with_clauses(message: &str, clauses: &str) -> Option<String> {
    let own = before_postfilter(message);
    let begin = own.len() - counted(own)?.len();
    Some([&message[..begin], clauses, &message[own.len()..]].concat())
}

/// The clauses of `message`, each with its number of nodes. What does not begin with a number is said of all
/// nodes, and is one clause; so is a message of another form.
pub(crate) fn clauses(message: &str) -> impl Iterator<Item = (u64, &str)> {
    let message = before_postfilter(message);
    let counted = counted(message);
    let mut rest = Some(counted.unwrap_or(message));
    std::iter::from_fn(move || {
        let clause = rest.take()?;
        let number = counted.and_then(|_| leading_number(clause));
        let Some((nodes, clause)) = number else {
            return Some((0, clause));
        };
        let Some((end, next)) = next_clause(clause) else {
            return Some((nodes, clause));
        };
        rest = Some(&clause[next..]);
        Some((nodes, &clause[..end]))
    })
}

/// Where a clause ends and the next one begins, with a number: after a comma, or after a full stop and a line break.
fn next_clause(clause: &str) -> Option<(usize, usize)> {
    let after_comma = clause.match_indices(", ").map(|(end, _)| (end, end + 2));
    let after_line = clause.match_indices('\n').filter_map(|(line, _)| {
        let end = clause[..line].trim_end_matches(' ').strip_suffix('.')?.len();
        Some((end, line + 1))
    });
    let is_counted = |(_, next): &(usize, usize)| leading_number(&clause[*next..]).is_some();
    let by_comma = after_comma.filter(is_counted).min();
    let by_line = after_line.filter(is_counted).min();
    by_comma.into_iter().chain(by_line).min()
}

/// The number with which `text` begins, digits and a space, and what follows it.
fn leading_number(text: &str) -> Option<(u64, &str)> {
    let (number, rest) = text.split_once(' ')?;
    let decimal = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    let number = decimal.then(|| number.parse().unwrap_or(u64::MAX))?;
    Some((number, rest))
}
