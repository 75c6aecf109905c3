use super::*;

const SOURCE: SourceId = SourceId(0);
const SECOND: i64 = NANOS_PER_SECOND;

fn at(second: i64) -> Timestamp {
    Timestamp::from_seconds(1_767_225_600 + second)
}

/// Lags of one source that is in sync.
fn lags() -> SourceLags {
    let mut lags = SourceLags::default();
    lags.in_sync(SOURCE, at(-10_000));
    lags
}

/// Something arrives in second `arrived` that states so many seconds before.
fn add(lags: &mut SourceLags, stamp: ServerStamp, arrived: i64, late: i64) -> bool {
    lags.add(SOURCE, stamp, (at(arrived), late * SECOND), at(arrived))
}

fn bind(lags: &mut SourceLags, arrived: i64, late: i64) -> bool {
    add(lags, ServerStamp::Binding, arrived, late)
}

/// The lag in tenths of a second.
fn tenths(lags: &SourceLags) -> Option<i64> {
    lags.greatest().map(|nanos| nanos / (SECOND / 10))
}

#[test]
fn four_bindings_of_a_minute_tell_the_lag_or_two_of_five() {
    let mut lags = lags();
    bind(&mut lags, 100, 3);
    assert_eq!(tenths(&lags), None);
    bind(&mut lags, 101, 9);
    assert_eq!(tenths(&lags), Some(25), "the lesser of the middle two, less what is truncated");
    bind(&mut lags, 102, 9);
    assert_eq!(tenths(&lags), Some(85));
    for second in 103..110 {
        bind(&mut lags, second, 1);
    }
    assert_eq!(tenths(&lags), Some(5), "seven of ten");
    // A minute later, the last four tell, and after five minutes none does.
    for (second, known) in [(169, Some(5)), (408, Some(5)), (409, None)] {
        lags.advance(at(second));
        assert_eq!(tenths(&lags), known, "{second}");
    }
}

#[test]
fn only_the_last_sixteen_count() {
    let mut lags = lags();
    for second in 0..8 {
        bind(&mut lags, 100 + second, 40);
    }
    for second in 8..17 {
        bind(&mut lags, 100 + second, 1);
    }
    assert_eq!(tenths(&lags), Some(5));
}

#[test]
fn creations_tell_while_bindings_are_too_few() {
    let mut lags = lags();
    for second in 100..103 {
        add(&mut lags, ServerStamp::Creation, second, 20);
        assert_eq!(tenths(&lags), None);
    }
    assert!(add(&mut lags, ServerStamp::Creation, 103, 20));
    assert_eq!(tenths(&lags), Some(195));
    lags.advance(at(160));
    assert_eq!(tenths(&lags), Some(195));
    lags.advance(at(161));
    assert_eq!((tenths(&lags), lags.is_late(SOURCE)), (None, false));
    bind(&mut lags, 161, 1);
    bind(&mut lags, 161, 1);
    assert_eq!(tenths(&lags), Some(5));
}

#[test]
fn a_source_is_late_until_the_last_four_are_in_time() {
    let mut lags = lags();
    for second in 100..110 {
        assert!(!bind(&mut lags, second, 5));
    }
    for second in 110..120 {
        let found = bind(&mut lags, second, 40);
        assert_eq!(found, second == 118, "{second}: nine of sixteen are above");
    }
    assert!(lags.is_late(SOURCE));
    assert_eq!(lags.late_by(), Some(39 * SECOND + SECOND / 2));
    for second in 120..123 {
        bind(&mut lags, second, 1);
        assert_eq!(lags.is_late(SOURCE), second < 121, "{second}: two of the last four are below");
    }
    // The last sixteen still are above 5 s, and the last four below 2.5 s: it is not late again.
    assert!(tenths(&lags) > Some(50) && !bind(&mut lags, 123, 1));
}

#[test]
fn a_source_is_found_late_once_those_in_time_are_a_minute_old() {
    let mut lags = lags();
    for (first, late) in [(100, 1), (150, 40)] {
        for second in first..first + 7 {
            assert!(!bind(&mut lags, second, late), "{second}: half of fourteen are in time");
        }
    }
    assert!(!lags.advance(at(160)) && !lags.is_late(SOURCE));
    assert!(lags.advance(at(161)) && lags.is_late(SOURCE));
    assert!(!lags.advance(at(162)), "it is no news");
}

#[test]
fn deadlines_of_a_source_that_is_late_pass_later_by_twice_the_greatest_difference() {
    let mut lags = lags();
    for (second, late) in [(200, 20), (201, 30), (202, 20), (203, 20)] {
        bind(&mut lags, second, late);
    }
    let passed = |source| lags.passed_until(source, at(210)).nanos_since(at(0)) / SECOND;
    assert_eq!(passed(SOURCE), 151);
    assert_eq!(passed(SourceId(1)), 210, "another is in time");
    assert_eq!(lags.longest_hold(), 59 * SECOND);
    bind(&mut lags, 262, 5000);
    assert_eq!(lags.longest_hold(), 600 * SECOND);
    for second in 263..266 {
        bind(&mut lags, second, 1);
    }
    assert_eq!(lags.passed_until(SOURCE, at(266)), at(266));
}

#[test]
fn nothing_counts_that_is_older_than_the_sync() {
    let mut lags = lags();
    for second in 100..104 {
        bind(&mut lags, second, 40);
    }
    assert!(lags.is_late(SOURCE));
    lags.out_of_sync(SOURCE);
    assert_eq!((tenths(&lags), lags.is_late(SOURCE)), (None, false));
    lags.in_sync(SOURCE, at(150));
    for second in 151..160 {
        bind(&mut lags, second, 40);
    }
    assert_eq!(tenths(&lags), None);
    for second in 190..194 {
        bind(&mut lags, second, 40);
    }
    assert_eq!(tenths(&lags), Some(395));
}
