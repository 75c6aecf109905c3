"""Pods that were bound twice, as watchers that were cut off at different times see them."""

import itertools
import unittest

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


def watched(history, **options):
    truth = Truth(**options)
    truth.feed({"items": [], "listBegan": CREATED, "observedAt": CREATED})
    for event in history:
        truth.feed(event)
    return truth


def figures(truth):
    return {key: sorted(values) for key, values in truth.durations.items()}, truth.counters


class BoundTwice(unittest.TestCase):
    def times(self, history):
        return watched(history).bindings["pod", "u"]

    def test_both_times_are_noted(self):
        self.assertLessEqual({seconds(at(3)), seconds(at(13))}, self.times(TWICE))

    def test_a_recorder_that_missed_the_first_binding_knows_when_it_can_have_been(self):
        self.assertEqual({seconds(at(s)) for s in (*range(3, 11), 13)}, self.times([TWICE[0], *TWICE[2:]]))

    def test_a_pod_that_was_bound_once_has_one_time(self):
        self.assertEqual({seconds(at(3))}, self.times(TWICE[:2]))

    def test_who_sees_it_run_before_it_is_scheduled_has_no_time(self):
        self.assertIn(None, self.times(OVERTAKEN))

    def test_every_watcher_is_told_of_a_time_that_is_noted_and_counts_what_follows_from_it(self):
        for history in (TWICE, OVERTAKEN):
            whole = watched(history)
            for count in range(len(history)):
                for missed in itertools.combinations(history[:-1], count):
                    seen = watched([event for event in history if event not in missed])
                    told = seen.pods["u"].reached["Scheduled"][0]
                    self.assertIn(told, whole.bindings["pod", "u"])
                    self.assertEqual(figures(seen), figures(watched(history, scheduled={"u": told})))


if __name__ == "__main__":
    unittest.main()
