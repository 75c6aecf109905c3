"""What every scenario has at hand: its namespace, its pods, ways to wait for them."""

import copy
import threading

from kube import ApiError, condition
from nodes import HOLLOW
from processes import wait_for


class Scenario:
    """One scenario in a namespace of its own.

    `expected` is what its author says must be counted, worked out by hand: outcomes
    (and `in flight`) under "pods", observations under a stage's name.
    """

    registry = []

    def __init__(self, name, title, expected, play, loose=0):
        self.name, self.title, self.expected, self.play, self.loose = name, title, expected, play, loose

    def prepare(self, cluster):
        """Take a copy that belongs to a cluster, with its namespace made."""
        scenario = copy.copy(self)
        scenario.cluster, scenario.client = cluster, cluster.client
        scenario.namespace = f"e2e-{self.name}"
        scenario.path = f"/api/v1/namespaces/{scenario.namespace}/pods"
        scenario.error = None
        cluster.namespace(scenario.namespace)
        return scenario

    def start(self):
        self.thread = threading.Thread(target=self.guarded, daemon=True)
        self.thread.start()

    def guarded(self):
        try:
            self.play(self)
        except Exception as error:  # told as the scenario's failure, whatever it is
            self.error = error

    # -- pods -----------------------------------------------------------------------------

    def pod(self, name, node=HOLLOW, container=None, annotations=None, labels=None, **spec):
        """Create a pod of one container that runs until it is stopped."""
        body = {
            "metadata": {"name": name, "annotations": annotations or {}, "labels": labels or {}},
            "spec": pod_spec(node, container, **spec),
        }
        return self.client.create(self.path, body)

    def pods(self):
        return self.client.pods(self.namespace)

    def wait_condition(self, kind, count, status="True", seconds=60):
        """Wait until `count` pods have the condition."""
        wait_for(f"{count} pods of {self.namespace} with {kind}={status}", lambda: sum(
            condition(pod, kind) == status for pod in self.pods()) >= count, seconds, 0.3)

    def wait_phase(self, phase, count, seconds=60):
        wait_for(f"{count} pods of {self.namespace} in phase {phase}", lambda: sum(
            pod["status"].get("phase") == phase for pod in self.pods()) >= count, seconds, 0.3)

    def wait_gone(self, seconds=60):
        wait_for(f"{self.namespace} to be empty", lambda: not self.pods(), seconds, 0.3)

    def delete(self, name, grace=0):
        self.client.delete(f"{self.path}/{name}", grace)

    def delete_all(self, grace=0):
        for pod in self.pods():
            try:
                self.delete(pod["metadata"]["name"], grace)
            except ApiError as error:
                if error.status != 404:
                    raise

    def patch_status(self, name, conditions, **status):
        """Set conditions of a pod as a kubelet does."""
        self.client.patch(f"{self.path}/{name}/status", {"status": {"conditions": conditions, **status}})


def pod_spec(node=HOLLOW, container=None, **spec):
    """A pod spec of one container named `main`; `node` is the node selector."""
    return {
        "nodeSelector": node,
        "terminationGracePeriodSeconds": 1,
        "automountServiceAccountToken": False,
        "containers": [{"name": "main", "image": "e2e/main", **(container or {})}],
        **spec,
    }


def scenario(name, title, expected, loose=0):
    """Register a scenario: `loose` is by how many seconds a pod its sums may differ."""

    def register(play):
        Scenario.registry.append(Scenario(name, title, expected, play, loose))
        return play

    return register
