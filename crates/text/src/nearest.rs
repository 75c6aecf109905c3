//! The word that was meant.

/// The known word that was most likely intended.
pub fn nearest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    // A word as long as this is no typing error, and not worth comparing.
    if word.len() > 64 {
        return None;
    }
    let word = word.to_lowercase();
    let distances = known.iter().map(|near| (distance(&word, near), *near));
    let (distance, near) = distances.min()?;
    (distance <= 1 + near.len() / 4).then_some(near)
}

/// The Levenshtein distance: how many characters to insert, delete or replace.
fn distance(one: &str, other: &str) -> usize {
    let other: Vec<char> = other.chars().collect();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (deleted, wanted) in (1..).zip(one.chars()) {
        let mut diagonal = std::mem::replace(&mut row[0], deleted);
        for (at, found) in other.iter().enumerate() {
            let replaced = diagonal + usize::from(wanted != *found);
            diagonal = row[at + 1];
            row[at + 1] = replaced.min(row[at] + 1).min(diagonal + 1);
        }
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typing_errors_are_recognized() {
        let known = ["name", "interval", "threshold", "objective", "owner_kinds"];
        assert_eq!(nearest("treshold", &known), Some("threshold"));
        assert_eq!(nearest("ownerKinds", &known), Some("owner_kinds"));
        assert_eq!(nearest("Objective", &known), Some("objective"));
        assert_eq!(nearest("latency", &known), None);
        assert_eq!(nearest("", &known), None);
    }
}
