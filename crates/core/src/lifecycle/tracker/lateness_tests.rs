//! Deliveries that are late ([§4.10](crate::specification#s4-10)).

use super::fixtures::{at, delivery, rule};
use super::*;
use crate::lifecycle::observation::{Observation, PodObservation};
use crate::lifecycle::slo_verdict::SloVerdict;
use crate::pod::{ConditionStatus, ConditionType, StatusCondition};

const SOURCE: SourceId = SourceId(0);

/// What a tracker says.
#[derive(Default)]
struct Said {
    good: usize,
    bad: usize,
    lag: Option<i64>,
    judged: Option<Timestamp>,
}

impl Observer for Said {
    fn observe(&mut self, _: Timestamp, observation: Observation<'_>) {
        match observation {
            Observation::Pod(_, PodObservation::Slo { verdict, .. }) => match verdict {
                SloVerdict::Good => self.good += 1,
                SloVerdict::Bad(_) => self.bad += 1,
                SloVerdict::Excluded(_) => {}
            },
            Observation::Tracker(TrackerObservation::Advanced { lag, judged, .. }) => {
                (self.lag, self.judged) = (lag, Some(judged));
            }
            _ => {}
        }
    }
}

/// A tracker of one source, and what it has said.
struct World {
    tracker: Tracker,
    said: Said,
}

impl World {
    fn new() -> Self {
        let slos = [rule("whole", 15)].into();
        let tracker = Tracker::new(TrackerConfig { slos, ..TrackerConfig::default() });
        let mut world = Self { tracker, said: Said::default() };
        let list = PodEvent::Listed { pods: Vec::new().into(), began: at(0) };
        world.tracker.apply(delivery(SOURCE, 0, list), &mut world.said);
        world
    }

    fn watch(&mut self, second: i64, event: PodEvent) {
        let delivery = Delivery { observed: Some(at(second)), ..delivery(SOURCE, second, event) };
        self.tracker.apply(delivery, &mut self.said);
    }

    /// A pod that is created in this second and bound a second later, whose kubelet states the network another second
    /// later, and Ready ten seconds after its creation, if it gets ready. All of it is shown so many seconds late.
    fn start(&mut self, name: &str, second: i64, late: i64, gets_ready: bool) {
        let mut pod = PodSnapshot::bare(PodUid::from_text(name), "ns", name);
        pod.created = Some(at(second));
        self.watch(second + late, PodEvent::Applied(pod.clone()));
        hold(&mut pod, ConditionType::PodScheduled, second + 1);
        bind(&mut pod);
        self.watch(second + 1 + late, PodEvent::Applied(pod.clone()));
        hold(&mut pod, ConditionType::PodReadyToStartContainers, second + 2);
        self.watch(second + 2 + late, PodEvent::Applied(pod.clone()));
        if gets_ready {
            hold(&mut pod, ConditionType::Ready, second + 10);
            self.watch(second + 10 + late, PodEvent::Applied(pod));
        }
    }
}

fn bind(pod: &mut PodSnapshot) {
    pod.is_bound = true;
    pod.info.node = Some("node-1".into());
}

fn hold(pod: &mut PodSnapshot, kind: ConditionType, second: i64) {
    let condition =
        StatusCondition { status: ConditionStatus::True, last_transition: Some(at(second)) };
    pod.conditions.insert(kind, condition);
}

/// Pods take 10 seconds, and are shown a minute late: with a deadline after 15 seconds none is bad, and no clock of a node is
/// behind.
#[test]
fn late_deliveries_blame_neither_pods_nor_nodes() {
    let mut world = World::new();
    for number in 0..40 {
        world.start(&format!("pod-{number}"), 10 * number, 60, true);
        assert_eq!(world.tracker.clocks_off(), [], "{number}");
    }
    assert_eq!(world.said.lag, Some(59_500_000_000));
    assert_eq!(world.tracker.late_by(), world.said.lag);
    // The first two were shown before two bindings had told the lag.
    assert_eq!((world.said.bad, world.said.good), (2, 38));
    let judged = world.said.judged.map(|judged| at(460).nanos_since(judged) / 1_000_000_000);
    assert_eq!(judged, Some(119), "deadlines lie back by twice the lag");
    // A pod that does not get ready is bad then.
    world.start("bad", 400, 60, false);
    for (second, bad) in [(400 + 15 + 119, 2), (400 + 15 + 119 + 1, 3)] {
        world.tracker.advance(at(second), &mut world.said);
        assert_eq!(world.said.bad, bad, "{second}");
    }
}

/// What a checkpoint keeps says nothing of lateness: it is learned anew.
#[test]
fn lateness_does_not_outlive_a_loss_of_sync() {
    let mut world = World::new();
    for number in 0..5 {
        world.start(&format!("pod-{number}"), 10 * number, 60, true);
    }
    assert!(world.tracker.late_by().is_some());
    world.tracker.apply(delivery(SOURCE, 110, PodEvent::SyncLost), &mut world.said);
    assert_eq!((world.tracker.late_by(), world.said.lag), (None, None));
    world.tracker.apply(delivery(SOURCE, 111, PodEvent::CaughtUp), &mut world.said);
    // What states a time before that counts neither.
    for number in 5..10 {
        world.start(&format!("pod-{number}"), 10 * number, 60, true);
    }
    assert_eq!((world.tracker.late_by(), world.said.lag), (None, None));
}

/// A clock that is wrong is found once deliveries are in time.
#[test]
fn a_node_is_judged_by_deliveries_that_are_in_time() {
    let mut world = World::new();
    let mut pod_of = |number: i64, behind: i64| {
        let (name, second) = (format!("pod-{number}"), 10 * number);
        let mut pod = PodSnapshot::bare(PodUid::from_text(&name), "ns", &*name);
        pod.created = Some(at(second));
        world.watch(second, PodEvent::Applied(pod.clone()));
        bind(&mut pod);
        hold(&mut pod, ConditionType::PodScheduled, second + 1);
        hold(&mut pod, ConditionType::PodReadyToStartContainers, second + 1 - behind);
        world.watch(second + 1, PodEvent::Applied(pod));
        world.tracker.clocks_off().len()
    };
    let off: Vec<usize> = (0..5).map(|number| pod_of(number, -40)).collect();
    assert_eq!(off, [0, 0, 0, 1, 1]);
    world.tracker.advance(at(41 + 3600), &mut world.said);
    assert_eq!(world.tracker.clocks_off().len(), 0, "all but one are older than an hour");
}
