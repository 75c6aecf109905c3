"""Which pods podinit cannot have a figure of, since it was told of their Events at another time."""

import unittest

from startup_sli import told_in_time


def pod(ready):
    return {"object": {"kind": "Pod", "spec": {"containers": [{}]},
                       "status": {"conditions": [{"type": "Ready", "status": ready}]}}}


PULLED = {"object": {"kind": "Event", "reason": "Pulled", "involvedObject": {"fieldPath": "spec.containers{main}"}}}


class ToldInTime(unittest.TestCase):
    def test_an_event_counts_while_its_pod_is_known_and_not_ready(self):
        starting, ready = pod("False"), pod("True")
        for documents, in_time in [([starting, PULLED, ready], True), ([starting, ready, PULLED], False),
                                   ([PULLED, starting, ready], False)]:
            self.assertEqual(told_in_time(documents, ready["object"]), in_time)


if __name__ == "__main__":
    unittest.main()
