"""Nodes of the cluster: hollow kubelets, and kwok's."""

import os
import signal

from kube import condition
from processes import wait_for

HOLLOW, KWOK = {"type": "hollow"}, {"type": "kwok"}
# The version of the kubelet that every run has beside that of the control plane.
OLD = "1.35"
HERE = os.path.dirname(os.path.abspath(__file__))


def wait_node(client, name):
    """Wait until a node is Ready and has lost the taint of a new node."""

    def ready():
        node = client.get(f"/api/v1/nodes/{name}")
        return condition(node, "Ready") == "True" and not node["spec"].get("taints")

    wait_for(f"node {name}", ready)


class HollowNode:
    """A real kubelet without a container runtime, see tools/kubernetes/hollow-node."""

    def __init__(self, cluster, name, labels=None, manifests=None, version=None):
        self.cluster, self.name = cluster, name
        command = [
            cluster.binaries[f"hollow-node-{version}" if version else "hollow-node"], "-name", name, "-v=0",
            "-kubeconfig", cluster.kubeconfig_path("admin"),
            "-sandboxes", os.path.join(cluster.directory, f"sandboxes-{name}.jsonl"),
            "-labels", ",".join("=".join(pair) for pair in (labels or HOLLOW).items()),
        ]
        if manifests:
            command += ["-manifests", manifests]
        self.process = cluster.processes.start(name, command)

    def wait(self):
        wait_node(self.cluster.client, self.name)
        return self

    def kill(self):
        """Lose the node: no farewell, nothing more is said of its pods."""
        self.cluster.processes.stop(self.process, signal.SIGKILL)


def start_kwok(cluster):
    """Start kwok for every node labelled `type: kwok`."""
    return cluster.processes.start("kwok", [
        cluster.binaries["kwok"], "--kubeconfig", cluster.kubeconfig_path("admin"),
        "--config", os.path.join(HERE, "kwok", "stages.yaml"),
        "--manage-all-nodes=false", "--manage-nodes-with-label-selector", "type=kwok",
        "--node-lease-duration-seconds=40", "--cidr", "10.0.0.1/16",
    ])


def add_kwok_node(client, name, labels=None, taints=()):
    """A node that kwok plays; `labels` beside the one that kwok goes by. With taints nobody waits for it."""
    client.create("/api/v1/nodes", {"metadata": {"name": name, "labels": {**KWOK, **(labels or {})}},
                                    "spec": {"taints": list(taints)}})
    if not taints:
        wait_node(client, name)
