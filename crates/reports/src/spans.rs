//! Sets of spans of time, and those in which the images of a pod were pulled.

use podinit_core::lifecycle::{Record, RecordedImage, RecordedPull};
use podinit_core::pod::MOST_FOLLOWED;
use podinit_core::timestamp::Timestamp;

/// From one instant to a later one.
pub(crate) type TimeSpan = (Timestamp, Timestamp);

/// How many nanoseconds lie in at least one of the spans, and within `whole`.
pub(crate) fn union(spans: impl IntoIterator<Item = TimeSpan>, whole: TimeSpan) -> u64 {
    let inside = |(from, to): TimeSpan| (from.max(whole.0), to.min(whole.1));
    let mut spans: Vec<TimeSpan> =
        spans.into_iter().map(inside).filter(|(from, to)| from < to).collect();
    spans.sort_unstable();
    let (mut covered, mut until) = (0, whole.0);
    for (from, to) in spans {
        covered += length((from.max(until), to));
        until = until.max(to);
    }
    covered
}

/// How long a span is in nanoseconds; 0 where it ends before it begins.
pub(crate) fn length((from, to): TimeSpan) -> u64 {
    to.nanos_since(from).max(0).unsigned_abs()
}

/// The pulls of a pod, each with its span; `None` where it is not known of each image whether and when it was pulled.
pub(crate) fn known_pulls(
    record: &Record,
) -> Option<impl Iterator<Item = (&RecordedPull, TimeSpan)> + Clone> {
    let is_known = |image| match image {
        RecordedImage::Present => true,
        RecordedImage::Pulled { ended, .. } => ended.is_some(),
        RecordedImage::Unknown => false,
    };
    let known = record.pulls.iter().filter(|pull| is_known(pull.image)).count();
    // Of more containers the others are not followed.
    let containers = record.containers.len();
    let is_all = containers > 0 && containers < MOST_FOLLOWED && known >= containers;
    is_all.then(|| record.pulls.iter().filter_map(|pull| Some((pull, pull.span()?))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_overlaps_counts_once_and_what_is_outside_not_at_all() {
        let at = |second: i64| Timestamp::from_seconds(1_000 + second);
        let spans = [(8, 12), (1, 3), (2, 4), (-5, 1), (2, 3), (9, 7)];
        let spans = spans.map(|(from, to)| (at(from), at(to)));
        assert_eq!(union(spans, (at(0), at(10))), 6_000_000_000);
        assert_eq!(union([], (at(0), at(10))), 0);
    }
}
