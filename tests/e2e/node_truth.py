"""What podinit has to say of nodes, and of pods whose nodes had to start: section 14 of the specification.

Like `truth.py` a plain reading that shares no code with podinit.
"""

import math

from truth import Truth, find, is_true, seconds, version_of

POOLS = ("karpenter.sh/nodepool", "eks.amazonaws.com/nodegroup", "cloud.google.com/gke-nodepool",
         "kubernetes.azure.com/agentpool", "kops.k8s.io/instancegroup")
STARTUP_TAINTS = {
    "node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable", "node.kubernetes.io/network-unavailable",
    "node.cloudprovider.kubernetes.io/uninitialized", "karpenter.sh/unregistered", "node.cluster.x-k8s.io/uninitialized",
    "node.cilium.io/agent-not-ready", "ebs.csi.aws.com/agent-not-ready", "efs.csi.aws.com/agent-not-ready"}
STARTUP_TAINT_PREFIXES = ("readiness.k8s.io/", "startup-taint.cluster-autoscaler.kubernetes.io/")


class Node:
    """What is known of one UID."""

    def __init__(self, obj, arrived):
        self.name, self.stated = obj["metadata"]["name"], seconds(obj["metadata"]["creationTimestamp"])
        self.created = [self.stated, arrived]
        self.version, self.ready, self.outcome, self.pool = -1, None, None, None
        self.judged = set()


class NodeTruth(Truth):
    """The truth of `--evidence nodes`, with `events=True` of `--evidence events,nodes`."""

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.nodes, self.deleted_nodes, self.nodes_listed = {}, set(), False

    def feed(self, document):
        if document.get("kind") == "NodeList":
            self.feed_nodes(document)
        elif document.get("object", {}).get("kind") == "Node":
            if document["type"] != "BOOKMARK":
                self.node(document["object"], seconds(document["observedAt"]), document["type"] == "DELETED")
        else:
            super().feed(document)

    def feed_nodes(self, document):
        first, self.nodes_listed = not self.nodes_listed, True
        for obj in document["items"]:
            self.node(obj, None, first_list=first, began=seconds(document["listBegan"]))
        present = {obj["metadata"]["uid"] for obj in document["items"]}
        for uid in [uid for uid in self.nodes if uid not in present]:
            self.end_node(self.nodes.pop(uid), "vanished")

    # -- nodes ----------------------------------------------------------------------------

    def node(self, obj, arrived, deleted=False, first_list=False, began=None):
        uid, node = obj["metadata"]["uid"], self.nodes.get(obj["metadata"]["uid"])
        if uid in self.deleted_nodes or (node is None and deleted):
            return
        if node is None:
            node = self.nodes[uid] = Node(obj, arrived)
            self.counters[("podinit_nodes_discovered_total",)] += 1
            appeared = began if arrived is None else arrived
            if (first_list and is_true(obj, "Ready")) or node.stated < appeared - 30:
                self.end_node(node, "preexisting")
        if version_of(obj) >= node.version:
            self.fold_node(node, obj, arrived)
        if deleted:
            self.end_node(self.nodes.pop(uid), "deleted")
            self.deleted_nodes.add(uid)

    def fold_node(self, node, obj, arrived):
        node.version = version_of(obj)
        labels = obj["metadata"].get("labels") or {}
        node.pool = next((labels[label] for label in POOLS if label in labels), "_none")
        if not is_true(obj, "Ready"):
            return
        if node.ready is None:
            node.ready = [seconds(find(obj, "Ready").get("lastTransitionTime")), arrived]
            self.node_step(node, "ready", self.interpret(*node.ready))
        keys = [taint["key"] for taint in obj["spec"].get("taints") or []]
        tainted = any(key in STARTUP_TAINTS or key.startswith(STARTUP_TAINT_PREFIXES) for key in keys)
        if node.outcome is None and not tainted and not obj["spec"].get("unschedulable"):
            at, ready = arrived, self.interpret(*node.ready)
            if at is not None and self.clock == "api":
                at = float(math.floor(at))
            self.node_step(node, "schedulable", None if None in (at, ready) else max(at, ready))
            self.end_node(node, "ready")

    def node_step(self, node, step, at):
        if step in node.judged or node.outcome == "preexisting":
            return
        node.judged.add(step)
        length = self.length([self.interpret(*node.created), at])
        if length is not None:
            self.durations[("node_startup", (step, node.pool))].append(length)

    def end_node(self, node, outcome):
        if node.outcome is None:
            node.outcome = outcome
            self.counters[("podinit_nodes_finished_total", outcome)] += 1

    def starting_nodes(self):
        return sum(node.outcome is None for node in self.nodes.values())

    def node_of(self, pod):
        """The newest node of the name that a pod states; of the same second the one that was delivered last."""
        named = [node for node in self.nodes.values() if node.name == pod.node]
        return max(reversed(named), key=lambda node: node.stated, default=None)

    # -- pods -----------------------------------------------------------------------------

    def fold(self, pod, obj, arrived):
        pod.node = (obj.get("spec") or {}).get("nodeName")
        pod.controllers = {owner["kind"] for owner in obj["metadata"].get("ownerReferences") or []
                           if owner.get("controller")}
        super().fold(pod, obj, arrived)

    def judge_all(self, pod):
        if "Scheduled" in pod.reached and "node" not in pod.judged:
            pod.judged.add("node")
            node = self.node_of(pod)
            if node is not None and "Scheduled" not in pod.before:
                pod.capacity = "new" if node.stated > pod.created else "existing"
                if pod.unschedulable and pod.capacity == "new":
                    self.wait_for_node(pod, node)
        super().judge_all(pod)

    def wait_for_node(self, pod, node):
        created = self.interpret(*node.created)
        ready = None if node.ready is None else self.interpret(*node.ready)
        began = self.time(pod, "Ungated" if pod.gated else "Created")
        for step, times in (("node_launch", [began, created]), ("node_ready", [created, ready]),
                            ("node_join", [ready, self.time(pod, "Scheduled")])):
            length = self.length(times)
            if length is None:
                self.not_observed(pod, step, "time")
            else:
                self.durations[(step, pod.namespace)].append(length)

    def finish(self, pod, outcome):
        ends = pod.outcome is None and outcome == "ready"
        super().finish(pod, outcome)
        if ends and "DaemonSet" not in pod.controllers:
            node = self.node_of(pod)
            if node is not None:
                self.node_step(node, "first_pod", self.time(pod, "Ready"))
