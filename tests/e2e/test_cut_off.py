"""What watchers of pods that were cut off at different times can be told."""

import datetime
import itertools
import unittest

import cut_off
from evidence import seconds
from truth import Truth

CREATED = "2026-11-22T14:57:03Z"


def snapshot(version, node=None, **conditions):
    """A watch event of the pod; `conditions` are (status, second) each."""
    return {"type": "MODIFIED", "observedAt": "2026-11-22T14:57:59Z", "object": {
        "metadata": {"name": "pod", "namespace": "killed", "uid": "u", "resourceVersion": str(version),
                     "creationTimestamp": CREATED},
        "spec": {"containers": [{"name": "main"}], **({"nodeName": node} if node else {})},
        "status": {"conditions": [
            {"type": kind, "status": status, "lastTransitionTime": at(second)}
            for kind, (status, second) in conditions.items()]},
    }}


def at(second):
    return f"2026-11-22T14:57:{second:02}Z"


def life(initialized):
    """As a real scheduler and kubelet did it when the API server was killed before it answered the binding."""
    early = {"Initialized": ("True", initialized)} if initialized < 10 else {}
    late = {"PodScheduled": ("True", 13), "Initialized": ("True", initialized)}
    return [
        snapshot(1),
        snapshot(2, "a", PodScheduled=("True", 3)),
        snapshot(3, "a", PodScheduled=("False", 7), **early),
        snapshot(4, "a", PodScheduled=("False", 10), **early),
        snapshot(5, "a", **late, ContainersReady=("False", 13)),
        snapshot(6, "a", **late, PodReadyToStartContainers=("True", 13), ContainersReady=("True", 13),
                 Ready=("True", 13)),
    ]


TWICE = life(initialized=13)
# The kubelet ran the pod before the scheduler took the first binding back.
OVERTAKEN = life(initialized=5)


# The scheduler took the binding back after the pod was ready, and the kubelet stated it again.
READY = {"PodReadyToStartContainers": ("True", 13), "Initialized": ("True", 13), "ContainersReady": ("True", 13),
         "Ready": ("True", 13)}
TAKEN_BACK = [
    *TWICE[:3],
    snapshot(6, "a", PodScheduled=("True", 13), **READY),
    snapshot(7, "a", PodScheduled=("False", 16), **READY),
    snapshot(8, "a", PodScheduled=("True", 13), **READY),
]


def started_before():
    """As a real kubelet did it: the container started in the second before that of the network condition."""
    network = {"PodScheduled": ("True", 58), "PodReadyToStartContainers": ("True", 59), "Initialized": ("True", 58)}
    events = [
        snapshot(1),
        snapshot(2, "a", PodScheduled=("True", 58)),
        snapshot(3, "a", **network, ContainersReady=("False", 59)),
        snapshot(4, "a", **network, ContainersReady=("True", 59), Ready=("True", 59)),
    ]
    events[-1]["object"]["status"]["containerStatuses"] = [
        {"name": "main", "state": {"running": {"startedAt": at(58)}}}]
    return events


HISTORIES = (TWICE, OVERTAKEN, TAKEN_BACK, started_before())


def watched(history, **options):
    truth = Truth(**options)
    truth.feed({"items": [], "listBegan": CREATED, "observedAt": CREATED})
    for event in history:
        truth.feed(event)
    return truth


def figures(truth):
    """What is counted, but for re-entries, which may go unseen."""
    return ({key: sorted(values) for key, values in truth.durations.items()},
            {key: count for key, count in truth.counters.items() if key[0] != "podinit_reentries_total"})


def record(truth):
    """What podinit's record says of the pod that such a watcher saw."""
    names = {ours: theirs for theirs, ours in cut_off.NAMES.items()}
    pod = truth.pods["u"]
    times = {name: truth.time(pod, name) for name in pod.reached}
    return {"milestones": [
        {"milestone": names.get(name, name), **({} if time is None else {"time": stated(time)})}
        for name, time in times.items()]}


def stated(time):
    return datetime.datetime.fromtimestamp(time, datetime.timezone.utc).isoformat()


class CutOff(unittest.TestCase):
    def times(self, history, milestone="Scheduled"):
        views = cut_off.views([event["object"] for event in history])
        return {dict(milestones)[milestone] for milestones in views}

    def test_a_pod_that_was_bound_twice_has_both_times(self):
        self.assertLessEqual({seconds(at(3)), seconds(at(13))}, self.times(TWICE))

    def test_a_recorder_that_missed_the_first_binding_knows_when_it_can_have_been(self):
        self.assertEqual({seconds(at(s)) for s in (*range(3, 11), 13)}, self.times([TWICE[0], *TWICE[2:]]))

    def test_a_pod_that_was_bound_once_has_one_time(self):
        self.assertEqual({seconds(at(58))}, self.times(started_before()))

    def test_who_sees_it_run_before_it_is_scheduled_has_no_time(self):
        self.assertIn(None, self.times(OVERTAKEN))

    def test_a_binding_that_is_taken_back_of_a_ready_pod_can_be_what_is_told_first(self):
        (found,) = cut_off.snapshots(TAKEN_BACK).values()
        self.assertIn(None, {dict(milestones)["Scheduled"] for milestones in cut_off.views(found)})

    def test_a_start_that_was_not_in_the_first_snapshot_of_the_network_gives_its_time_to_who_missed_that(self):
        self.assertEqual({seconds(at(58)), seconds(at(59))}, self.times(started_before(), "NetworkReady"))

    def test_every_watcher_has_a_record_that_is_possible_and_counts_what_follows_from_it(self):
        for history in HISTORIES:
            for count in range(len(history)):
                for missed in itertools.combinations(history[:-1], count):
                    told = watched([event for event in history if event not in missed])
                    view, wrong = cut_off.seen(history, lambda *_, told=told: record(told))
                    self.assertEqual([], wrong)
                    self.assertEqual(figures(told), figures(watched(history, **view._asdict())))

    def test_a_record_that_nobody_can_have_is_found(self):
        for history in HISTORIES:
            false = record(watched(history))
            false["milestones"][-1]["time"] = at(1)
            self.assertTrue(cut_off.seen(history, lambda *_, false=false: false)[1])


if __name__ == "__main__":
    unittest.main()
