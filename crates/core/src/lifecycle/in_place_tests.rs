use super::*;
use TrackerObservation::{ResizeEnded, Resized, Resizing, UpdatedInPlace};

const LATER: DeliveryView = DeliveryView { first: false, observed: None };

fn at(second: i64) -> Timestamp {
    Timestamp::from_seconds(second)
}

fn uid() -> PodUid {
    PodUid::from_text("u")
}

fn resize(state: ResizeState, second: i64) -> Option<InPlaceChanges> {
    Some(InPlaceChanges {
        resize: Some(Resize { state, since: Some(at(second)) }),
        update_ready: None,
    })
}

fn update(status: ConditionStatus, second: i64) -> Option<InPlaceChanges> {
    Some(InPlaceChanges {
        resize: None,
        update_ready: Some(Condition { status, last_transition: Some(at(second)) }),
    })
}

fn observed_at(second: i64) -> DeliveryView {
    DeliveryView { observed: Some(at(second)), ..LATER }
}

fn seen(
    steps: &[(Option<InPlaceChanges>, DeliveryView)],
) -> (OpenInPlace, Vec<TrackerObservation>) {
    let (mut open, mut observed) = (OpenInPlace::default(), Vec::new());
    for (changes, view) in steps {
        open.see(uid(), changes.as_ref(), *view, &mut |one| observed.push(one));
    }
    (open, observed)
}

fn moves(from: Option<ResizeState>, to: Option<ResizeState>) -> TrackerObservation {
    Resizing { from, to }
}

fn seconds(seconds: u64) -> Latency {
    Latency::from_nanos(seconds * 1_000_000_000)
}

const DEFERRED: Option<ResizeState> = Some(ResizeState::Deferred);
const IN_PROGRESS: Option<ResizeState> = Some(ResizeState::InProgress);

#[test]
fn a_resize_lasts_from_its_first_condition_to_the_event_without_one() {
    let (open, observed) = seen(&[
        (resize(ResizeState::Deferred, 10), LATER),
        (resize(ResizeState::InProgress, 20), LATER),
        (None, observed_at(25)),
        (None, observed_at(26)),
    ]);
    let expected = [
        moves(None, DEFERRED),
        moves(DEFERRED, IN_PROGRESS),
        moves(IN_PROGRESS, None),
        ResizeEnded(ResizeResult::Completed),
        Resized(seconds(15)),
    ];
    assert_eq!(observed, expected);
    assert_eq!(open.iter().count(), 0);
}

#[test]
fn a_list_shows_that_a_resize_is_over_and_not_when() {
    let (_, observed) = seen(&[(resize(ResizeState::Deferred, 10), LATER), (None, LATER)]);
    assert_eq!(observed[2..], [ResizeEnded(ResizeResult::Completed)]);
}

#[test]
fn a_resize_that_was_open_at_first_sight_counts_in_the_gauge_alone() {
    let first = DeliveryView { first: true, ..LATER };
    let steps = [(resize(ResizeState::Deferred, 10), first), (None, observed_at(25))];
    let (_, observed) = seen(&steps);
    assert_eq!(observed, [moves(None, DEFERRED), moves(DEFERRED, None)]);
    let (mut open, mut observed) = seen(&steps[..1]);
    open.end(uid(), &mut |one| observed.push(one));
    assert_eq!(observed, [moves(None, DEFERRED), moves(DEFERRED, None)]);
}

#[test]
fn a_resize_ends_with_its_pod() {
    let (mut open, mut observed) = seen(&[(resize(ResizeState::Deferred, 10), LATER)]);
    open.end(uid(), &mut |one| observed.push(one));
    open.end(uid(), &mut |one| observed.push(one));
    let ended = ResizeEnded(ResizeResult::Ended);
    assert_eq!(observed, [moves(None, DEFERRED), moves(DEFERRED, None), ended]);
}

#[test]
fn a_pod_that_is_forgotten_leaves_the_gauge() {
    let (mut open, mut observed) = seen(&[(resize(ResizeState::Deferred, 10), LATER)]);
    open.retain(|_| true, &mut |one| observed.push(one));
    assert_eq!(open.iter().count(), 1);
    open.retain(|_| false, &mut |one| observed.push(one));
    assert_eq!(observed, [moves(None, DEFERRED), moves(DEFERRED, None)]);
    assert_eq!(open.iter().count(), 0);
}

#[test]
fn an_update_lasts_from_false_to_true_by_the_api() {
    use ConditionStatus::{False, True, Unknown};
    let (open, observed) = seen(&[
        (update(True, 1), LATER),
        (update(False, 10), LATER),
        (update(Unknown, 15), LATER),
        (None, LATER),
        (update(True, 17), LATER),
        (update(True, 17), LATER),
    ]);
    assert_eq!(observed, [UpdatedInPlace(seconds(7))]);
    assert_eq!(open.iter().count(), 0);
}

#[test]
fn what_is_open_is_restored_with_its_place_in_the_gauge() {
    let (open, _) = seen(&[(resize(ResizeState::Deferred, 10), LATER)]);
    let (mut restored, mut observed) = (OpenInPlace::default(), Vec::new());
    for (uid, changes) in open.iter() {
        restored.restore(uid, changes, &mut |one| observed.push(one));
    }
    restored.see(uid(), None, observed_at(12), &mut |one| observed.push(one));
    let expected = [
        moves(None, DEFERRED),
        moves(DEFERRED, None),
        ResizeEnded(ResizeResult::Completed),
        Resized(seconds(2)),
    ];
    assert_eq!(observed, expected);
}
