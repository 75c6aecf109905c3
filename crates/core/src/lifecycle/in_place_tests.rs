use super::*;
use TrackerObservation::{ResizeEnded, Resized, Resizing};

const LATER: DeliveryView = DeliveryView { first: false, observed: None };

fn at(second: i64) -> Timestamp {
    Timestamp::from_seconds(second)
}

fn uid() -> PodUid {
    PodUid::from_text("u")
}

fn resize(state: ResizeState, second: i64) -> Option<InPlaceChanges> {
    Some(InPlaceChanges {
        resize: Some(PodResize { state, since: Some(at(second)) }),
        update_ready: None,
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
