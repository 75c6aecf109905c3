"""Gates and milestones by name: what podinit says while each gate holds a pod, and of how long it did.

Kubelets run the pods. Somebody else takes away a scheduling gate, sets the condition of a readiness gate, and sets a
condition of an application: the suite does, by patches of the API server. In the midst of it podinit is stopped, and
goes on from its state. The reading of the recording follows the specification alone (named_truth.py).
"""

import os
import time

from compare import by_labels, differences
from exporter import total
from kube import condition
from processes import Failure, wait_for
from provocations import stamp
from scenario import Scenario
from truth import Truth, find, is_true, seconds

MILESTONES = {"e2e_loaded": "example.com/Loaded"}
LOADED = MILESTONES["e2e_loaded"]
QUOTA, ADMISSION = "e2e/quota", "kueue.x-k8s.io/admission"
BALANCER, MESH = "target-health.elbv2.k8s.aws/k8s-e2e-web", "e2e/mesh"
HELD = {("scheduling", QUOTA): 1, ("scheduling", ADMISSION): 1, ("readiness", BALANCER): 1}
REGISTERS = {"reason": "Elb.RegistrationInProgress", "message": "Target registration is in progress"}
ENDLESS = {"readinessProbe": {"exec": {"command": ["fail"]}, "periodSeconds": 1}}


class NamedWaits:
    """The pods, and the exporter before and after its restart."""

    def __init__(self, suite):
        self.suite = suite
        self.scene = Scenario("named-waits", "gates and milestones by name", {}, None).prepare(suite.cluster)
        self.state = os.path.join(suite.directory, "named-waits-state")
        os.makedirs(self.state)
        self.starts = 0
        self.exporter = self.start()

    def start(self):
        self.starts += 1
        own = [part for name, kind in MILESTONES.items() for part in ("--milestone", f"{name}=condition:{kind}")]
        flags = ["--namespace", self.scene.namespace, "--timestamps", "api", "--state-dir", self.state, *own]
        return self.suite.exporter(f"named-waits-{self.starts}", *flags).ready()

    def set(self, name, kind, status="True", **more):
        self.scene.patch_status(name, [{"type": kind, "status": status, "lastTransitionTime": stamp(), **more}])

    def object(self, name):
        return self.scene.client.get(f"{self.scene.path}/{name}")

    # -- what happens -------------------------------------------------------------------------

    def create(self):
        """Pods that a gate holds, and some whose application says that it has loaded."""
        s = self.scene
        s.pod("queued", schedulingGates=[{"name": QUOTA}, {"name": ADMISSION}])
        # Its mesh is there before its containers are ready: it holds nothing up.
        s.pod("balanced", readinessGates=[{"conditionType": BALANCER}, {"conditionType": MESH}])
        self.set("balanced", MESH)
        # It is never ready, so that what it says always counts.
        s.pod("loading", container=ENDLESS)
        s.pod("unloaded", readinessGates=[{"conditionType": LOADED}])
        s.pod("plain")
        s.wait_condition("Ready", 1)
        wait_for("the containers of the pods that wait", lambda: all(
            is_true(self.object(name), "ContainersReady") for name in ("balanced", "unloaded")), 60, 0.3)
        wait_for("the container of the pod that loads", lambda: started(self.object("loading")), 60, 0.3)

    def kubelet_says(self):
        """The kubelet's words for a readiness gate that holds a pod, by its condition."""

        def says(expected):
            ready = find(self.object("balanced"), "Ready")
            if (ready.get("reason"), ready.get("message")) != ("ReadinessGatesNotReady", expected):
                raise Failure(f"{ready}")
            return True

        gate = f'pod readiness gate "{BALANCER}"'
        absent, failing = (f"corresponding condition of {gate} does not exist.",
                           f'the status of {gate} is not "True", but False')
        wait_for("the kubelet's words", lambda: says(absent), 30, 0.3)
        self.set("balanced", BALANCER, "False", **REGISTERS)
        wait_for("the kubelet's words", lambda: says(failing), 30, 0.3)
        return "absent, then False"

    def release(self):
        """A second passes between what is compared: the API states whole seconds."""
        s = self.scene
        time.sleep(2)
        s.client.patch(f"{s.path}/queued", {"spec": {"schedulingGates": [{"name": ADMISSION}]}}, "merge-patch")
        self.set("loading", LOADED)
        time.sleep(2)
        s.client.patch(f"{s.path}/queued", {"spec": {"schedulingGates": []}}, "merge-patch")
        self.set("balanced", BALANCER)
        wait_for("the pods that were held", lambda: all(
            condition(self.object(name), "Ready") == "True" for name in ("queued", "balanced")), 60, 0.3)

    def restart(self):
        self.exporter.stop()
        self.exporter = self.start()

    # -- what podinit says of it ----------------------------------------------------------------

    def truth(self):
        return Truth("api", [self.scene.namespace], milestones=MILESTONES).feed_file(self.suite.recording)

    def says(self, expected):
        """Wait until these gates hold pods, here and in the recording."""
        expected = {**expected, ("readiness", LOADED): 1}

        def agrees():
            counted = by_labels(self.exporter.figures(), "podinit_gated_pods", ("kind", "gate"))
            recorded = dict(self.truth().held())
            if not counted == recorded == expected:
                raise Failure(f"expected {expected}, recorded {recorded}, counted {counted}")
            return True

        wait_for("the pods that gates hold", agrees, 20, 1)
        return ", ".join(sorted(gate for _, gate in expected))

    def durations(self, kind, gates, exact):
        """One duration of each gate, as long as the recording says: to the microsecond where the API states it."""

        def agrees():
            truth, figures = self.truth().gates, self.exporter.figures()
            for gate in gates:
                [recorded] = truth[(kind, gate)]
                same(figures, "podinit_gate_duration_seconds", [recorded], 1e-6 if exact else 1, kind=kind, gate=gate)
            return ", ".join(f"{gate} {truth[(kind, gate)][0]:.0f} s" for gate in gates)

        return wait_for("the durations of the gates", agrees, 20, 1)

    def readiness_by_hand(self):
        """The same of the objects as they stand: the times that the API states."""
        pod = self.object("balanced")
        gate, containers = (seconds(find(pod, kind)["lastTransitionTime"]) for kind in (BALANCER, "ContainersReady"))
        same(self.exporter.figures(), "podinit_gate_duration_seconds", [gate - containers], 1e-6,
             kind="readiness", gate=BALANCER)
        same(self.exporter.figures(), "podinit_gate_duration_seconds", [0], 1e-6, kind="readiness", gate=MESH)
        return f"{gate - containers:.0f} s and 0 s"

    def milestone(self):
        """Both durations of the milestone, by the times that the API states."""
        pod = self.object("loading")
        at = seconds(find(pod, LOADED)["lastTransitionTime"])
        lengths = {"created": at - seconds(pod["metadata"]["creationTimestamp"]),
                   "containers_started": at - started(pod)}
        for start, length in lengths.items():
            same(self.exporter.figures(), "podinit_milestone_duration_seconds", [length], 1e-6,
                 milestone="e2e_loaded", **{"from": start})
        return ", ".join(f"{start} {length:.0f} s" for start, length in lengths.items())

    def unobserved(self):
        """Pods that are Ready without it are followed for 10 minutes: nothing is missing yet."""
        expected = {}
        found = by_labels(self.exporter.figures(), "podinit_milestone_unobserved_total", ("milestone", "reason"))
        if found != expected:
            raise Failure(f"expected {expected}, counted {found}")
        return "followed"

    def everything(self):
        state = {}

        def agrees():
            # The end of a scheduling gate is an arrival: two watchers may see it on two sides of a second.
            state["lines"] = differences(self.exporter.figures(), self.truth(), loose=1)
            return not state["lines"]

        try:
            wait_for("podinit to agree with the recording", agrees, 20, 1)
        except Failure as failure:
            raise Failure("; ".join(state.get("lines", [])[:5]) or str(failure)) from failure
        return total(self.exporter.figures(), "podinit_pods_discovered_total")


def started(pod):
    """When its containers had all started, as its status states it."""
    return dict(Truth.stated(pod)).get("ContainersStarted")


def same(figures, name, values, loose, **labels):
    count, found = (total(figures, f"{name}_{part}", **labels) for part in ("count", "sum"))
    if count != len(values) or abs(found - sum(values)) > loose:
        raise Failure(f"{name} {labels}: expected {len(values)} with a sum of {sum(values):.2f}, "
                      f"counted {count:.0f} with {found:.2f}")


def run(suite):
    """Rows before, between and after what happens."""
    waits, report = NamedWaits(suite), suite.report
    try:
        waits.create()
    except Failure as failure:
        report.fail("named waits", str(failure))
        return
    report.check("named waits: held by gates", "one pod each", lambda: waits.says(HELD))
    report.check("named waits: the kubelet's words", "gate absent, then False", waits.kubelet_says)
    waits.restart()
    report.check("named waits: held by gates, after a restart", "one pod each", lambda: waits.says(HELD))
    waits.release()
    report.check("named waits: no longer held", "none of these", lambda: waits.says({}))
    report.check("named waits: scheduling gates removed by patches", "as the recording",
                 lambda: waits.durations("scheduling", (QUOTA, ADMISSION), exact=False))
    report.check("named waits: readiness gates set by patches", "as the recording",
                 lambda: waits.durations("readiness", (BALANCER, MESH), exact=True))
    report.check("named waits: readiness gates, by the API's times", "as the pod stands", waits.readiness_by_hand)
    report.check("named waits: a milestone of one's own, by the API's times", "as the pod stands", waits.milestone)
    report.check("named waits: pods without the milestone", "followed", waits.unobserved)
    waits.restart()
    report.check("named waits: everything, after another restart", "as the recording", waits.everything, "pods")
    waits.exporter.stop()
