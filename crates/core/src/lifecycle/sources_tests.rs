use super::*;

const ONE: SourceId = SourceId(1);
const TWO: SourceId = SourceId(2);

const SECOND: u64 = NANOS_PER_SECOND as u64;

fn at(second: i64) -> Timestamp {
    Timestamp::from_seconds(second)
}

#[test]
fn every_source_has_a_first_list_of_its_own() {
    let mut sources = DeliveredSources::default();
    assert_eq!(sources.list(ONE, at(10)), SnapshotOrigin::FirstList);
    assert_eq!(sources.list(TWO, at(20)), SnapshotOrigin::FirstList);
    assert_eq!(sources.list(ONE, at(30)), SnapshotOrigin::Later { first_list_began: Some(at(10)) });
    sources.begin_without_list(SourceId(3), None);
    assert_eq!(sources.list(SourceId(3), at(40)), SnapshotOrigin::Later { first_list_began: None });
}

#[test]
fn no_deadline_of_a_source_passes_while_it_is_out_of_sync_or_catching_up() {
    let mut sources = DeliveredSources::default();
    sources.account(ONE, None, at(0));
    sources.account(TWO, None, at(0));
    sources.lose_sync(ONE, at(1));
    sources.lose_sync(TWO, at(1));
    assert!(!sources.may_pass_some_deadlines(at(1)));
    sources.list(TWO, at(1));
    let may = |sources: &DeliveredSources, second| {
        let of = |source| sources.may_pass_deadlines(source, at(second));
        (sources.may_pass_some_deadlines(at(second)), of(ONE), of(TWO))
    };
    assert_eq!(may(&sources, 2), (true, false, true));
    sources.resume(ONE, at(10));
    // One that is resumed once more is still catching up since then.
    sources.resume(ONE, at(12));
    assert_eq!(may(&sources, 15), (true, false, true));
    assert_eq!(sources.judged_until(at(15)), at(1));
    assert_eq!(may(&sources, 16), (true, true, true));
    sources.unblock(at(16));
    assert_eq!(sources.judged_until(at(16)), at(16));
}

#[test]
fn a_gap_lasts_from_when_the_source_was_last_complete_to_the_list_that_closes_it() {
    let mut sources = DeliveredSources::default();
    assert_eq!(sources.gap_before(ONE, at(10)), None);
    sources.list(ONE, at(10));
    sources.account(ONE, Some(Version::Number(5)), at(10));
    assert_eq!(sources.gap_before(ONE, at(12)), Some(2 * SECOND));
    sources.account(ONE, Some(Version::Number(6)), at(20));
    sources.lose_sync(ONE, at(20));
    // What comes in while it is not in sync may be old.
    sources.account(ONE, Some(Version::Number(7)), at(60));
    assert_eq!(sources.gap_before(ONE, at(65)), Some(45 * SECOND));
    sources.resume(ONE, at(70));
    sources.account(ONE, None, at(70));
    assert_eq!(sources.gap_before(ONE, at(71)), Some(SECOND));
    assert_eq!(sources.gap_before(ONE, at(69)), None);
    assert_eq!(sources.progress[&ONE].version, Some(Version::Number(7)));
    assert_eq!(sources.gap_before(TWO, at(71)), None);
}

#[test]
fn no_deadline_passes_for_a_while_after_time_in_which_nothing_was_accounted_for() {
    let mut sources = DeliveredSources::default();
    assert!(sources.may_pass_some_deadlines(at(1)));
    sources.catch_up(at(600));
    assert!(!sources.may_pass_some_deadlines(at(605)));
    assert!(sources.may_pass_some_deadlines(at(606)));
}

#[test]
fn nothing_was_complete_after_the_time_that_a_clock_was_set_to() {
    let mut sources = DeliveredSources::default();
    sources.list(ONE, at(100));
    sources.account(ONE, None, at(100));
    sources.set_time(at(40));
    assert!(!sources.may_pass_some_deadlines(at(45)) && sources.may_pass_some_deadlines(at(46)));
    assert_eq!(sources.gap_before(ONE, at(50)), Some(10 * SECOND));
    // Set forward, the clock changes nothing about earlier deliveries.
    sources.set_time(at(200));
    assert!(!sources.may_pass_some_deadlines(at(205)) && sources.may_pass_some_deadlines(at(206)));
    assert_eq!(sources.gap_before(ONE, at(210)), Some(170 * SECOND));
}
