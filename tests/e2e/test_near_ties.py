"""Two watchers of the same pods, whose arrivals differ by milliseconds."""

import unittest

import formats
from truth import Truth, is_near_tie

START = 1772359200


def figures(condition, container):
    return {(formats.EVIDENCE, frozenset({("source", source)})): count
            for source, count in [("condition", condition), ("container", container)]}


class NearTies(unittest.TestCase):
    def test_they_are_at_the_middle_and_at_the_end_of_the_second_that_both_state(self):
        for arrived, near in [(0.2, False), (0.46, True), (0.54, True), (0.8, False), (0.96, True), (1.04, True), (1.2, False)]:
            self.assertEqual(is_near_tie(START, START + arrived, START), near, arrived)
        self.assertFalse(is_near_tie(START, START + 0.5, START - 1))
        self.assertFalse(is_near_tie(START, START + 0.5, None))
        self.assertFalse(is_near_tie(START, None, START))

    def test_only_so_many_pods_may_have_the_other_evidence(self):
        truth = Truth("fused")
        truth.counters.update({(formats.EVIDENCE, "condition"): 10, (formats.EVIDENCE, "container"): 5})
        truth.near_ties = 1
        self.assertEqual(formats.evidence_differences(figures(10, 5), truth), [])
        self.assertEqual(formats.evidence_differences(figures(9, 6), truth), [])
        for condition, container in [(8, 7), (10, 6), (9, 5)]:
            self.assertEqual(len(formats.evidence_differences(figures(condition, container), truth)), 1)


if __name__ == "__main__":
    unittest.main()
