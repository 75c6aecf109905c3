"""Changes of running pods in place: native resizes by the API server's subresource, OpenKruise's by status.

Every resize is asked for at the subresource `resize`. The hollow kubelet defers one that does not fit
beside another pod, and does another as far as it can without cgroups; the other states, and what
OpenKruise does, the suite writes into the status. (That a resize is infeasible no kubelet says here: an
API server of 1.37 refuses what exceeds the node.) The reading of the recording follows the
specification alone.
"""

import collections
import time

from compare import by_labels
from exporter import total
from processes import Failure, wait_for
from provocations import stamp
from recording import read_recording
from scenario import Scenario, pod_spec
from truth import find, is_true, seconds

PODS = 7
RESIZE = ("PodResizePending", "PodResizeInProgress")
KRUISE = "InPlaceUpdateReady"
READY = ("PodScheduled", "PodReadyToStartContainers", "Initialized", "ContainersReady", "Ready")
SMALL = {"requests": {"cpu": "10m", "memory": "16Mi"}, "limits": {"cpu": "10m", "memory": "16Mi"}}


class Reading:
    """What the recording shows of one namespace: resizes and OpenKruise's updates of pods that were ready."""

    def __init__(self, path, namespace):
        self.results, self.states, self.updates = collections.Counter(), collections.Counter(), []
        self.resizes = []
        self.over, self.open, self.state, self.unready = set(), {}, {}, {}
        for document in read_recording(path):
            pod = document.get("object") or {}
            if pod.get("kind") == "Pod" and pod["metadata"].get("namespace") == namespace:
                self.snapshot(pod, seconds(document["observedAt"]), document["type"] == "DELETED")
        self.states.update(state for state in self.state.values() if state)

    def snapshot(self, pod, arrived, deleted):
        uid = pod["metadata"]["uid"]
        if uid in self.over:
            self.resize(uid, pod, arrived)
            self.kruise(uid, pod)
        if is_true(pod, "Ready"):
            self.over.add(uid)
        if deleted:
            self.state.pop(uid, None)
            if self.open.pop(uid, None):
                self.results["ended"] += 1

    def resize(self, uid, pod, arrived):
        standing = [find(pod, kind) for kind in RESIZE if is_true(pod, kind)]
        if standing and uid not in self.open:
            self.open[uid] = min(seconds(entry["lastTransitionTime"]) for entry in standing)
        elif not standing and uid in self.open:
            self.results["completed"] += 1
            self.resizes.append(arrived - self.open.pop(uid))
        pending, progress = (find(pod, kind) if is_true(pod, kind) else None for kind in RESIZE)
        self.state[uid] = None
        if pending:
            self.state[uid] = pending["reason"].lower()
        elif progress:
            self.state[uid] = "error" if progress.get("reason") == "Error" else "in_progress"

    def kruise(self, uid, pod):
        entry = find(pod, KRUISE)
        if entry and entry["status"] == "False":
            self.unready[uid] = seconds(entry["lastTransitionTime"])
        elif entry and entry["status"] == "True" and uid in self.unready:
            self.updates.append(seconds(entry["lastTransitionTime"]) - self.unready.pop(uid))


def resize(s, name, cpu):
    """Ask for another request and limit of CPU, as `kubectl patch --subresource resize` does."""
    s.client.patch(f"{s.path}/{name}/resize", {"spec": {"containers": [
        {"name": "main", "resources": {"requests": {"cpu": cpu}, "limits": {"cpu": cpu}}}]}})


def bound(s, name, **more):
    """A pod on a node without a kubelet, of which the suite says that it is ready."""
    s.client.create(s.path, {"metadata": {"name": name}, "spec": {
        **pod_spec(node={}, container={"resources": SMALL}, schedulerName="e2e-none"), **more}})
    s.client.create(f"{s.path}/{name}/binding", {
        "metadata": {"name": name}, "target": {"kind": "Node", "name": s.cluster.silent_node()}})
    say(s, name, *READY)


def say(s, name, *conditions, status="True", reason=None):
    s.patch_status(name, [{"type": kind, "status": status, "lastTransitionTime": stamp(),
                           **({"reason": reason} if reason else {})} for kind in conditions],
                   phase="Running", startTime=s.started)


def play(s):
    s.started = stamp()
    node = {"kubernetes.io/hostname": "hollow-1"}
    for name, cpu in (("large", "800m"), ("beside-large", "10m"), ("larger", "10m")):
        s.pod(name, node=node, container={"resources": {kind: {"cpu": cpu, "memory": "16Mi"}
                                                        for kind in ("requests", "limits")}})
    for name in ("done", "infeasible", "gone"):
        bound(s, name)
    bound(s, "kruise", readinessGates=[{"conditionType": KRUISE}])
    say(s, "kruise", KRUISE)
    # Of the others the controller manager takes it back, since their node is silent.
    wait_for("the kubelet's pods", lambda: 3 == sum(
        is_true(pod, "Ready") for pod in s.pods() if pod["spec"].get("nodeName") == "hollow-1"), 60, 0.3)
    time.sleep(1)
    resize(s, "beside-large", "400m")
    resize(s, "larger", "20m")
    for name in ("done", "gone"):
        resize(s, name, "20m")
        say(s, name, "PodResizeInProgress")
    resize(s, "infeasible", "20m")
    say(s, "infeasible", "PodResizePending", reason="Infeasible")
    say(s, "kruise", KRUISE, "Ready", status="False")
    time.sleep(2)
    s.patch_status("done", [{"type": "PodResizeInProgress", "$patch": "delete"}])
    say(s, "kruise", KRUISE, "Ready")
    s.delete("gone")
    wait_for("the kubelet to defer a resize", lambda: any(
        is_true(pod, "PodResizePending") for pod in s.pods() if pod["metadata"]["name"] == "beside-large"), 30)


def run(suite):
    """A row for each kind of change."""
    scene = Scenario("in-place", "in-place changes", {}, play).prepare(suite.cluster)
    suite.cluster.silent_node()
    exporter = suite.exporter("in-place", "--namespace", scene.namespace, "--timestamps", "fused").ready()
    scene.guarded()
    report = suite.report
    if scene.error:
        report.fail("in-place changes", str(scene.error))
        return
    report.check("in-place: resizes by the subresource", "as the recording",
                 lambda: agree(lambda: resizes(suite, scene, exporter)))
    report.check("in-place: OpenKruise (patched status)", "as the recording",
                 lambda: agree(lambda: updates(suite, scene, exporter)))
    report.check("in-place: startups", "one of each pod", lambda: agree(lambda: startups(exporter)))
    exporter.stop()


def agree(figures):
    return wait_for("podinit to agree with the recording", figures, 20, 1)


def resizes(suite, scene, exporter):
    reading, figures = Reading(suite.recording, scene.namespace), exporter.figures()
    for name, label, expected in (("podinit_resizes_total", "result", reading.results),
                                  ("podinit_resizing_pods", "state", reading.states)):
        found = {key[0]: value for key, value in by_labels(figures, name, (label,)).items()}
        if found != dict(expected):
            raise Failure(f"{name}: expected {dict(expected)}, counted {found}")
    same_sum(figures, "podinit_resize_duration_seconds", reading.resizes, 0.5)
    if not {"infeasible", "deferred"} <= set(reading.states) or not reading.results["completed"]:
        raise Failure(f"the recording shows {dict(reading.states)}, {dict(reading.results)}")
    return ", ".join(f"{key} {count}" for key, count in sorted({**reading.results, **reading.states}.items()))


def updates(suite, scene, exporter):
    reading = Reading(suite.recording, scene.namespace)
    same_sum(exporter.figures(), "podinit_inplace_update_duration_seconds", reading.updates, 0.5)
    if len(reading.updates) != 1:
        raise Failure(f"the recording shows {len(reading.updates)} updates")
    return f"1 update of {reading.updates[0]:.0f} s"


def same_sum(figures, name, values, loose):
    count, found = total(figures, f"{name}_count"), total(figures, f"{name}_sum")
    if count != len(values) or abs(found - sum(values)) > loose:
        raise Failure(f"{name}: expected {len(values)} with a sum of {sum(values):.2f}, "
                      f"counted {count:.0f} with {found:.2f}")


def startups(exporter):
    figures = exporter.figures()
    found = by_labels(figures, "podinit_pods_finished_total", ("outcome",))
    if found != {("ready",): PODS}:
        raise Failure(f"{found}")
    return f"ready {PODS}"
