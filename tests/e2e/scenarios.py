"""The lives that pods lead on the nodes of the suite. Hollow kubelets run all but the large ones."""

import datetime
import time
from collections import Counter

from compare import by_labels
from kube import condition
from nodes import KWOK, add_kwok_node
from processes import Failure, wait_for
from scenario import pod_spec, scenario


def init(name, command, **more):
    return {"name": name, "image": "e2e/init", "command": command, **more}


def probe(*command):
    return {"exec": {"command": list(command)}, "periodSeconds": 1, "failureThreshold": 60}


def stamp():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


@scenario("plain", "plain pods", {"pods": {"ready": 20}, "network": 20, "containers": 20, "init": 0})
def plain(s):
    for index in range(20):
        slow = {"e2e/sandbox-delay": "2s"} if index % 5 == 0 else {"e2e/pull-delay": f"{index % 4}s"}
        s.pod(f"plain-{index}", annotations=slow)
    s.wait_condition("Ready", 20)


@scenario("init", "init containers", {"pods": {"ready": 12}, "init": 12, "containers": 12})
def init_containers(s):
    for index in range(8):
        s.pod(f"init-{index}", initContainers=[
            init("first", ["exit", "0", f"{index % 3}s"]), init("second", ["exit", "0", "500ms"])])
    for index in range(4):
        s.pod(f"init-kwok-{index}", node=KWOK, initContainers=[init("first", ["exit", "0", "1s"])])
    s.wait_condition("Ready", 12)


@scenario("sidecar", "sidecars", {"pods": {"ready": 6}, "init": 6, "containers": 6})
def sidecars(s):
    for index in range(6):
        s.pod(f"sidecar-{index}", initContainers=[
            init("proxy", ["serve"], restartPolicy="Always", startupProbe=probe("after", "1s")),
            init("migrate", ["exit", "0", "1s"])])
    s.wait_condition("Ready", 6)


@scenario("host-network", "host network", {"pods": {"ready": 5}, "network": 5, "containers": 5})
def host_network(s):
    for index in range(5):
        s.pod(f"host-{index}", hostNetwork=True)
    s.wait_condition("Ready", 5)


@scenario("jobs", "jobs that end in under a second",
          {"pods": {"completed": 10, "failed": 3}, "containers": 0})
def jobs(s):
    # Whether the network is ever reported is the kubelet's luck: now and then it is not.
    for index in range(13):
        container = {"command": ["exit", "0" if index < 10 else "3", "0s"]}
        template = {"spec": pod_spec(container=container, restartPolicy="Never")}
        s.client.create(f"/apis/batch/v1/namespaces/{s.namespace}/jobs", {
            "metadata": {"name": f"job-{index}"}, "spec": {"backoffLimit": 0, "template": template}})
    s.wait_phase("Succeeded", 10)
    s.wait_phase("Failed", 3)


# Bound by whoever made them, so that the kubelet is the first that looks whether they fit.
@scenario("rejected", "pods that the kubelet rejects", {"pods": {"rejected": 6}, "network": 0, "containers": 0})
def rejected(s):
    for index in range(4):
        s.pod(f"large-{index}", nodeName="hollow-1", container={"resources": {"requests": {"cpu": "9000"}}})
    for index in range(2):
        s.pod(f"elsewhere-{index}", nodeName="hollow-1", node={"e2e/zone": "nowhere"})
    s.wait_phase("Failed", 6)
    reasons = Counter(pod["status"].get("reason") for pod in s.pods())
    if reasons != {"OutOfcpu": 4, "NodeAffinity": 2}:
        raise Failure(f"rejected for {dict(reasons)}")
    wait_for("a problem of six rejected pods", lambda: by_labels(
        s.exporter.figures(), "podinit_problem_pods", ("cause",)) == {("rejected",): 6}, 60, 1)


# The end of the gates has no API time: two watchers may see it on two sides of a second.
@scenario("gates", "scheduling gates", {"pods": {"ready": 5}, "gated": 5, "scheduling": 5, "unschedulable": 0}, loose=1)
def gates(s):
    for index in range(5):
        s.pod(f"gated-{index}", schedulingGates=[{"name": "e2e/quota"}, {"name": "e2e/queue"}])
    time.sleep(2)
    for rest in ([{"name": "e2e/queue"}], []):
        for index in range(5):
            s.client.patch(f"{s.path}/gated-{index}", {"spec": {"schedulingGates": rest}}, "merge-patch")
        time.sleep(1.2)
    s.wait_condition("Ready", 5)


@scenario("unschedulable", "unschedulable until a node appears",
          {"pods": {"ready": 5}, "unschedulable": 5, "scheduling": 0, "network": 5})
def unschedulable(s):
    for index in range(5):
        s.pod(f"waiting-{index}", node={"e2e/zone": "late"})
    s.wait_condition("PodScheduled", 5, "False")
    time.sleep(3)
    add_kwok_node(s.client, "kwok-late", {"e2e/zone": "late"})
    s.wait_condition("Ready", 5)


@scenario("readiness-gates", "readiness gates",
          {"pods": {"ready": 5}, "readiness": 5, "containers": 5})
def readiness_gates(s):
    gate = "e2e/load-balancer"
    for index in range(5):
        s.pod(f"ready-gated-{index}", readinessGates=[{"conditionType": gate}])
    s.wait_condition("ContainersReady", 5)
    time.sleep(2)
    for index in range(5):
        s.patch_status(f"ready-gated-{index}", [{"type": gate, "status": "True", "lastTransitionTime": stamp()}])
    s.wait_condition("Ready", 5)


@scenario("readiness", "failing readiness",
          {"pods": {"ready": 3, "in flight": 4}, "network": 7, "containers": 3})
def failing_readiness(s):
    for index in range(4):
        s.pod(f"never-{index}", container={"readinessProbe": probe("fail")})
    for index in range(3):
        s.pod(f"late-{index}", container={"readinessProbe": probe("after", "3s")})
    s.wait_condition("Ready", 3)
    s.wait_condition("PodReadyToStartContainers", 7)


@scenario("deletion", "deletion in every stage",
          {"pods": {"deleted": 10, "ready": 2}, "network": 6, "init": 4, "containers": 2})
def deletion(s):
    lives = {
        "gated": {"schedulingGates": [{"name": "e2e/quota"}]},
        "unschedulable": {"node": {"e2e/zone": "nowhere"}},
        "network": {"annotations": {"e2e/sandbox-delay": "5m"}},
        "init": {"initContainers": [init("long", ["serve-until-killed"])]},
        "containers": {"container": {"readinessProbe": probe("fail")}},
        "ready": {},
    }
    # With init containers done, so that the stage `containers` has begun and `init` is over.
    done = [init("short", ["exit", "0", "0s"])]
    for stage, life in lives.items():
        for index in range(2):
            more = {"initContainers": done} if stage in ("containers", "ready") else {}
            s.pod(f"{stage}-{index}", **life, **more)
    reached = {"gated": ("PodScheduled", "False"), "unschedulable": ("PodScheduled", "False"),
               "network": ("PodScheduled", "True"), "init": ("PodReadyToStartContainers", "True"),
               "containers": ("Initialized", "True"), "ready": ("Ready", "True")}

    def all_there():
        return all(condition(pod, reached[kind][0]) == reached[kind][1]
                   for pod in s.pods() for kind in [pod["metadata"]["name"].rsplit("-", 1)[0]])

    wait_for("every pod in its stage", all_there, 60, 0.3)
    s.delete_all(grace=0)
    s.wait_gone()


@scenario("statefulset", "StatefulSet pods recreated under their names",
          {"pods": {"ready": 6}, "network": 6, "containers": 6})
def statefulset(s):
    path = f"/apis/apps/v1/namespaces/{s.namespace}/statefulsets"
    s.client.create(path, {"metadata": {"name": "db"}, "spec": {
        "serviceName": "db", "replicas": 3, "podManagementPolicy": "Parallel",
        "selector": {"matchLabels": {"app": "db"}},
        "template": {"metadata": {"labels": {"app": "db"}}, "spec": pod_spec()}}})
    s.wait_condition("Ready", 3)
    before = {pod["metadata"]["uid"] for pod in s.pods()}
    s.delete_all(grace=0)
    wait_for("three new pods under the old names", lambda: sum(
        pod["metadata"]["uid"] not in before and condition(pod, "Ready") == "True" for pod in s.pods()) == 3)


@scenario("deployment", "a Deployment of 1,000 pods and a rolling restart (kwok)",
          {"pods": {"ready": 2000}, "network": 2000, "containers": 2000})
def deployment(s):
    path = f"/apis/apps/v1/namespaces/{s.namespace}/deployments"
    s.client.create(path, {"metadata": {"name": "web"}, "spec": {
        "replicas": 1000, "selector": {"matchLabels": {"app": "web"}},
        # Old pods leave only once new ones are ready, so that every pod becomes ready.
        "strategy": {"rollingUpdate": {"maxSurge": "50%", "maxUnavailable": 0}},
        "template": {"metadata": {"labels": {"app": "web"}}, "spec": pod_spec(KWOK)}}})

    def rolled_out(generation):
        status = s.client.get(f"{path}/web")["status"]
        return (status.get("observedGeneration", 0) >= generation and status.get("replicas") == 1000
                and status.get("updatedReplicas") == 1000 and status.get("readyReplicas") == 1000)

    wait_for("1,000 ready pods", lambda: rolled_out(1), 240, 0.5)
    s.client.patch(f"{path}/web", {"spec": {"template": {"metadata": {"annotations": {
        "kubectl.kubernetes.io/restartedAt": stamp()}}}}})
    wait_for("the rolling restart", lambda: rolled_out(2), 300, 0.5)


@scenario("old-condition", "the old condition name PodHasNetwork (patched status)",
          {"pods": {"ready": 5}, "network": 5, "init": 5, "containers": 5})
def old_condition(s):
    names = [f"old-{index}" for index in range(5)]
    for name in names:
        # Bound by the suite to a node that no kubelet serves: the suite plays a kubelet of 1.26.
        s.pod(name, node={}, schedulerName="e2e", initContainers=[init("first", ["exit", "0", "1s"])])
        s.client.create(f"{s.path}/{name}/binding", {
            "metadata": {"name": name}, "target": {"kind": "Node", "name": "old"}})
    unready = [{"type": kind, "status": "False", "lastTransitionTime": None} for kind in (
        "PodHasNetwork", "Initialized", "ContainersReady", "Ready")]
    steps = [["PodHasNetwork"], ["Initialized"], ["ContainersReady", "Ready"]]
    for name in names:
        s.patch_status(name, [{**c, "lastTransitionTime": stamp()} for c in unready], startTime=stamp())
    for step in steps:
        time.sleep(1.3)
        for name in names:
            s.patch_status(name, [
                {"type": kind, "status": "True", "lastTransitionTime": stamp()} for kind in step], phase="Running")


@scenario("static", "a static pod", {"pods": {"static": 1}, "network": 0, "containers": 0})
def static(s):
    s.cluster.write_static_pod("mirrored", s.namespace)
    s.wait_condition("Ready", 1)


@scenario("node-loss", "node loss, and its return after a reboot",
          {"pods": {"ready": 5}, "network": 5, "containers": 5, "reentries": True})
def node_loss(s):
    node = s.cluster.add_hollow_node("hollow-lost", {"e2e/lost": "yes"})
    for index in range(5):
        s.pod(f"lost-{index}", node={"e2e/lost": "yes"})
    s.wait_condition("Ready", 5)
    node.kill()
    s.wait_condition("Ready", 5, "False")
    # The runtime has forgotten its sandboxes, as after a reboot.
    s.cluster.add_hollow_node("hollow-lost", {"e2e/lost": "yes"})
    s.wait_condition("Ready", 5)
