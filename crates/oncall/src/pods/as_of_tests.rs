//! Which instant a recording is answered as of.

use super::*;

const NOW: i64 = 1_800_000_000;
const HOUR: i64 = 3_600;

fn ago(seconds: i64) -> Timestamp {
    Timestamp::from_seconds(NOW - seconds)
}

fn list(is_observed: bool, heartbeat: Option<i64>) -> Option<LoneList> {
    Some(LoneList { is_observed, heartbeat: heartbeat.map(ago) })
}

fn making(asked: Option<AsOf>, is_input: bool, modified: Option<i64>) -> RecordingTime {
    let made = RecordingMade { modified: modified.map(ago), is_input };
    RecordingTime { asked, now: ago(0), made }
}

/// How many seconds ago the instant is, and the other one.
fn seconds_ago(
    newest: i64,
    list: Option<LoneList>,
    making: RecordingTime,
) -> Result<(i64, Option<i64>), NoInstant> {
    let ago = |at: Timestamp| NOW - at.as_nanos() / 1_000_000_000;
    let (at, other) = instant(Some(Timestamp::from_seconds(NOW - newest)), list, making)?;
    Ok((ago(at), other.map(ago)))
}

#[test]
fn a_young_list_on_standard_input_is_of_now() {
    let input =
        |newest, heartbeat| seconds_ago(newest, list(false, heartbeat), making(None, true, None));
    assert_eq!(input(HOUR, None), Ok((0, Some(HOUR))));
    assert_eq!(input(299, None), Ok((0, None)), "not worth a word");
    assert_eq!(input(24 * HOUR, None), Ok((0, Some(24 * HOUR))));
    assert_eq!(input(24 * HOUR + 1, None), Ok((24 * HOUR + 1, Some(0))));
    assert_eq!(input(600, Some(600)), Ok((0, Some(600))));
    assert_eq!(input(601, Some(700)), Ok((601, Some(0))));
    assert_eq!(input(HOUR, Some(24 * HOUR)), Ok((0, Some(HOUR))), "those nodes are of another day");
    assert_eq!(input(-3, None), Ok((-3, None)));
    let observed = seconds_ago(HOUR, list(true, None), making(None, true, None));
    assert_eq!(observed, Ok((HOUR, None)));
}

#[test]
fn a_file_is_of_its_newest_time() {
    let file = |modified| seconds_ago(HOUR, list(false, None), making(None, false, modified));
    assert_eq!(file(None), Ok((HOUR, None)));
    assert_eq!(file(Some(60)), Ok((HOUR, Some(60))));
    assert_eq!(file(Some(2 * HOUR)), Ok((HOUR, None)));
}

#[test]
fn an_instant_can_be_asked_for_of_lists_alone() {
    let asked = |asked, list| seconds_ago(HOUR, list, making(Some(asked), true, None));
    let at = |seconds| AsOf::At(ago(seconds));
    assert_eq!(asked(AsOf::Now, list(true, None)), Ok((0, None)));
    assert_eq!(asked(AsOf::Newest, list(false, None)), Ok((HOUR, None)));
    assert_eq!(asked(at(60), list(false, None)), Ok((60, None)));
    assert_eq!(asked(at(HOUR), list(false, None)), Ok((HOUR, None)));
    let newest = podinit_core::rfc3339::format(ago(HOUR));
    let early = asked(at(HOUR + 1), list(false, None));
    assert_eq!(early, Err(NoInstant::TooEarly { newest }));
    assert_eq!(asked(AsOf::Newest, None), Ok((HOUR, None)));
    for asked_for in [AsOf::Now, at(0)] {
        assert_eq!(asked(asked_for, None), Err(NoInstant::Watched));
    }
}

#[test]
fn without_a_time_there_is_no_answer() {
    for newest in [None, Some(Timestamp::EPOCH)] {
        for list in [list(false, None), None] {
            let found = instant(newest, list, making(None, true, None));
            assert_eq!(found, Err(NoInstant::NoTime));
        }
        let now = instant(newest, list(false, None), making(Some(AsOf::Now), true, None));
        assert_eq!(now, Err(NoInstant::NoTime));
    }
}
