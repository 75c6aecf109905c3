"""Nodes as evidence: pods that wait for nodes that come late, and how those nodes start.

Two nodes come seconds after the pods that fit on no other: one of kwok, with a startup taint and first without
anything that says it is ready, and a real kubelet. A third one is deleted before it is ready. A recorder of their own
and exporters begin before; `node_truth.py` works out from the recording what must be counted.
"""

import json
import os
import subprocess
import sys
import time

from compare import differences
from doctor import Said
from exporter import figures, total
from kube import ApiError, condition
from node_truth import NodeTruth
from nodes import KWOK, HollowNode
from processes import Failure, wait_for
from recording import read_recording
from scenario import Scenario, pod_spec
from scenarios import stamp

TAINT = "node.cilium.io/agent-not-ready"
TAINTED, KUBELET = {"e2e/late": "tainted"}, {"e2e/late": "kubelet"}
NAMES = ("late-tainted", "late-kubelet", "late-never")
POOL = "burst"
GATE = "e2e/load-balancer"
# Nodes belong to the whole cluster, so that exporters cannot be of a namespace.
LABELS = {"e2e": "late-nodes"}
FLAGS = ("--label-selector", "e2e=late-nodes", "--evidence", "nodes")
# So long nothing happens, so that all watchers are told of two things in one order, and seconds differ.
APART = 1.3
# What the recording has to show, worked out by hand.
STARTUPS = {"new": 5, "existing": 3, "unknown": 1}
STEPS = {"node_launch": 5, "node_ready": 5, "node_join": 5}
NODES = {"ready": 2, "deleted": 1}


def run(suite):
    report, title = suite.report, "late nodes"
    late = LateNodes(suite)
    report.check(f"{title}: doctor without the right to nodes, and with it", "a warning; none", late.doctor)
    late.scene.guarded()
    if late.scene.error:
        report.fail(title, str(late.scene.error))
    else:
        report.check(title, "as the recording, both clocks", late.agree, "nodes")
        report.check(f"{title}, replayed", "as the recording, both clocks, with and without Events", late.replays_agree,
                     "figures")
        report.check(f"{title}: podinit may not list nodes", "says so, and counts startups", late.goes_on, "startups")
        report.check(f"{title}: explain", "waited for a node", late.explained)
    late.end()


class LateNodes:
    """The scene, its recording, and the exporters that watch it."""

    def __init__(self, suite):
        self.suite, self.cluster, self.client = suite, suite.cluster, suite.cluster.client
        self.scene = Scenario("late-nodes", "late nodes", {}, self.play).prepare(suite.cluster)
        self.path = os.path.join(suite.directory, "late-nodes.jsonl")
        self.denied = suite.cluster.kubeconfig_path("podinit")
        self.granted = suite.cluster.account("podinit-nodes", "pods", "nodes")
        self.exporters, self.started = {}, []

    # -- what happens ---------------------------------------------------------------------

    def play(self, scene):
        scene.pod("adopted", labels=LABELS, readinessGates=[{"conditionType": GATE}])
        scene.wait_condition("ContainersReady", 1)
        self.watch(scene)
        for index in range(3):
            scene.pod(f"tainted-{index}", node=TAINTED, labels=LABELS)
        for index in range(2):
            scene.pod(f"kubelet-{index}", node=KUBELET, labels=LABELS)
            scene.pod(f"at-once-{index}", labels=LABELS)
        scene.wait_condition("PodScheduled", 5, "False")
        time.sleep(APART)
        self.nodes_come(scene)
        scene.patch_status("adopted", [{"type": GATE, "status": "True", "lastTransitionTime": stamp()}])
        scene.wait_condition("Ready", sum(STARTUPS.values()))

    def nodes_come(self, scene):
        tainted, kubelet, never = NAMES
        for name, labels in ((tainted, TAINTED), (never, {})):
            self.client.create("/api/v1/nodes", {
                "metadata": {"name": name, "labels": {**labels, "karpenter.sh/nodepool": POOL}},
                "spec": {"taints": [{"key": TAINT, "effect": "NoSchedule"}]}})
        size = {"cpu": "4", "memory": "4Gi", "pods": "100"}
        self.client.patch(f"/api/v1/nodes/{tainted}/status", {"status": {"capacity": size, "allocatable": size}})
        self.started.append(HollowNode(self.cluster, kubelet, {"type": kubelet}).wait().process)
        time.sleep(APART)
        # Bound before the node is ready; no first pod, since a DaemonSet controls it.
        scene.client.create(f"/apis/apps/v1/namespaces/{scene.namespace}/daemonsets", {
            "metadata": {"name": "agent"}, "spec": {"selector": {"matchLabels": {"app": "agent"}}, "template": {
                "metadata": {"labels": {"app": "agent", **LABELS}},
                "spec": pod_spec(TAINTED, tolerations=[{"operator": "Exists"}])}}})
        wait_for("the agent to be bound", lambda: sum(
            condition(pod, "PodScheduled") == "True" for pod in self.client.pods(scene.namespace, "app=agent")) >= 1)
        self.client.delete(f"/api/v1/nodes/{never}")
        # From now on kwok plays it: it is ready, and runs its pods.
        self.client.patch(f"/api/v1/nodes/{tainted}", {"metadata": {"labels": KWOK}})
        wait_for(f"{tainted} to be ready", lambda: condition(
            self.client.get(f"/api/v1/nodes/{tainted}"), "Ready") == "True")
        wait_for("the agent to be ready", lambda: sum(
            condition(pod, "Ready") == "True" for pod in self.client.pods(scene.namespace, "app=agent")) >= 1)
        time.sleep(APART)
        self.client.patch(f"/api/v1/nodes/{tainted}", {"spec": {"taints": None}}, "merge-patch")
        self.client.patch(f"/api/v1/nodes/{kubelet}", {"metadata": {"labels": KUBELET}})

    def watch(self, scene):
        """Start the recorder and the exporters, when no node starts."""
        here = os.path.dirname(os.path.abspath(__file__))
        self.started.append(self.suite.processes.start("recorder-late-nodes", [
            sys.executable, os.path.join(here, "recorder.py"), self.cluster.kubeconfig_path("admin"), self.path,
            scene.namespace]))
        wait_for("the recording", lambda: os.path.exists(self.path) and any(
            document.get("kind") == "PodList" for document in read_recording(self.path)))
        for name, clock, kubeconfig in (("api", "api", self.granted), ("fused", "fused", self.granted),
                                        ("denied", "api", self.denied)):
            self.exporters[name] = self.suite.exporter(
                f"late-nodes-{name}", "--timestamps", clock, *FLAGS, kubeconfig=kubeconfig)
        for exporter in self.exporters.values():
            exporter.ready()
        for name, up in (("api", 1), ("fused", 1), ("denied", 0)):
            wait_for(f"{name} to have asked for nodes", lambda e=self.exporters[name], up=up: (
                "nodes" in e.log() and total(e.figures(), "podinit_evidence_up", source="nodes") == up))

    def end(self):
        """Leave the cluster as it was."""
        for exporter in self.exporters.values():
            exporter.stop()
        for process in self.started:
            self.suite.processes.stop(process)
        for path in ([f"/apis/apps/v1/namespaces/{self.scene.namespace}/daemonsets/agent"]
                     + [f"/api/v1/nodes/{name}" for name in NAMES]):
            try:
                self.client.delete(path)
            except ApiError as error:
                if error.status != 404:
                    raise
        self.scene.delete_all()

    # -- what podinit says ----------------------------------------------------------------

    def doctor(self):
        """The account that is shipped lacks the rights to nodes; the other one has them."""
        missing = Said(self.suite, self.denied, *FLAGS)
        missing.status_is(3)
        found = missing.expect("permissions", ["warning"], "may not list and watch nodes, which --evidence nodes needs")
        if "--resource=nodes" not in found["fix"]:
            raise Failure(f"{found}")
        wait_for("the grant", lambda: not Said(self.suite, self.granted, *FLAGS).warns_of("nodes"), 20, 0.5)
        return "told of the one that is shipped"

    def truth(self, clock, events=False):
        return NodeTruth(clock, [self.scene.namespace], events=events).feed_file(self.path)

    def agree(self):
        """The exporters of both clocks count what the recording shows, and that is what was to happen."""
        # An arrival on the other side of a second moves a fused time by half of one.
        for clock, loose in (("api", 0), ("fused", 0.5)):
            state = {}

            def agrees(clock=clock, loose=loose, state=state):
                truth, found = self.truth(clock), self.exporters[clock].figures()
                # Arrivals that differ by milliseconds can be rounded otherwise, and give another kind of evidence.
                ignored = {"podinit_clock_anomalies_total", "podinit_network_evidence_total"} if loose else ()
                state["lines"] = differences(found, truth, loose, ignored, arrivals=1)
                starting = total(found, "podinit_starting_nodes")
                if starting != truth.starting_nodes():
                    state["lines"].append(f"starting nodes: expected {truth.starting_nodes()}, counted {starting:.0f}")
                state["lines"] += self.unexpected(truth)
                if state["lines"]:
                    raise Failure("; ".join(state["lines"][:5]))
                return True

            wait_for(f"podinit to agree with the recording, {clock} clock", agrees, 20, 1)
        return sum(NODES.values())

    def unexpected(self, truth):
        """What the recording shows that is not what was to happen."""
        found = {(kind, key): 0 for kind, wanted in (("startups", STARTUPS), ("nodes", NODES)) for key in wanted}
        for (interval, group), values in truth.durations.items():
            if interval == "startup":
                found[("startups", group[0])] += len(values)
            elif interval in STEPS:
                found[("steps", interval)] = len(values)
            elif interval == "node_startup":
                found[("node", group)] = len(values)
        for outcome in NODES:
            found[("nodes", outcome)] = truth.counters[("podinit_nodes_finished_total", outcome)]
        expected = {("startups", capacity): count for capacity, count in STARTUPS.items()}
        expected |= {("steps", step): count for step, count in STEPS.items()}
        expected |= {("nodes", outcome): count for outcome, count in NODES.items()}
        expected |= {("node", (step, pool)): 1 for step in ("ready", "schedulable", "first_pod")
                     for pool in (POOL, "_none")}
        return [f"{key}: the scene should give {expected.get(key, 0)}, the recording shows {found.get(key, 0)}"
                for key in expected.keys() | found.keys() if expected.get(key, 0) != found.get(key, 0)]

    def replays_agree(self):
        """`podinit replay` of the recording, in the recorder's order: to the microsecond."""
        compared = 0
        for clock in ("api", "fused"):
            for evidence in ("nodes", "events,nodes"):
                said = self.podinit("replay", "--timestamps", clock, "--evidence", evidence, self.path)
                lines = differences(figures(said), self.truth(clock, "events" in evidence))
                if lines:
                    raise Failure(f"{clock}, evidence {evidence}: {'; '.join(lines[:5])}")
                compared += len(figures(said))
        return compared

    def goes_on(self):
        """Without the right to list nodes every startup is counted, its capacity unknown, and the log says so once."""
        exporter, startups = self.exporters["denied"], sum(STARTUPS.values())

        def counted():
            found = exporter.figures()
            unknown = total(found, "podinit_cold_start_duration_seconds_count", node_age="unknown")
            return unknown == startups and total(found, "podinit_nodes_discovered_total") == 0

        wait_for(f"{startups} startups of unknown capacity", counted, 20, 0.5)
        warned = [line for line in exporter.log().splitlines() if "cannot read nodes" in line and '"WARN"' in line]
        if len(warned) != 1:
            raise Failure(f"{len(warned)} warnings: {warned[:3]}")
        return startups

    def explained(self):
        """Of one pod for each node, from the exporter and from the recording: that it waited, and for which node."""
        running = ["--url", f"http://127.0.0.1:{self.exporters['api'].port}"]
        recorded = ["--file", self.path, "--evidence", "nodes"]
        for pod, node in (("tainted-0", NAMES[0]), ("kubelet-0", NAMES[1])):
            for source in (running, recorded):
                said = self.podinit("explain", pod, "--namespace", self.scene.namespace, *source)
                parts = ("a node that had to start", "until it existed", "until it was ready",
                         "until the pod was bound", node)
                if missing := [part for part in parts if part not in said]:
                    raise Failure(f"{' '.join(source)}: no {missing} in {json.dumps(said)}")
        return said.splitlines()[1].removesuffix(".")

    def podinit(self, *arguments):
        ran = subprocess.run([self.suite.options.podinit, *arguments], capture_output=True, check=False, text=True,
                             timeout=60)
        if ran.returncode != 0:
            raise Failure(f"podinit {arguments[0]} ended with {ran.returncode}: {ran.stderr[-300:]}")
        return ran.stdout
