"""Ways to make a pod wait, one for each cause (see causes.py).

The scheduler and the kubelets speak for themselves wherever they can be brought to it; what they
cannot be brought to here is written into the status through the real API server, as `by` says.
"""

import datetime
import time

from nodes import OLD, add_kwok_node

EVERYWHERE = [{"operator": "Exists"}]
TAINTED = 12
KUBELET, OLD_KUBELET = "kubelet 1.37", f"kubelet {OLD}"
SCHEDULER, PATCHED = "scheduler", "patched status"


class Provocation:
    """One way to make a pod wait. `causes` are without and with Events; `play(s)` makes the pod, and
    where `beside` is a cause one more pod, which waits for that."""

    registry = []

    def __init__(self, name, stage, causes, by, how, play, beside):
        self.name, self.stage, self.causes, self.by, self.how = name, stage, causes, by, how
        self.play, self.beside = play, beside


def provoke(name, stage, cause, by, how, with_events=None, beside=None):
    """Register a provocation: of what `cause` the pod waits, who says so, and how it was brought about."""

    def register(play):
        Provocation.registry.append(Provocation(name, stage, (cause, with_events or cause), by, how, play, beside))
        return play

    return register


def stamp():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def init(*command, **more):
    return {"name": "init", "image": "e2e/init", "command": list(command), **more}


# -- before a node is found -------------------------------------------------------------------


@provoke("gate", "gated", "gate", "API server", "a scheduling gate")
def gate(s):
    s.pod("pod", schedulingGates=[{"name": "e2e/quota"}])


@provoke("queue", "scheduling", "queue", "API server", "a scheduler name that no scheduler answers to")
def queue(s):
    s.pod("pod", schedulerName="e2e-none")


def pod_group(s, least):
    s.client.create(f"/apis/scheduling.k8s.io/v1beta1/namespaces/{s.namespace}/podgroups", {
        "apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroup", "metadata": {"name": "group"},
        "spec": {"schedulingPolicy": {"gang": {"minCount": least}}}})
    return {"podGroupName": "group"}


# The scheduler does not look at it, so that no condition stands.
@provoke("gang-incomplete", "scheduling", "queue", SCHEDULER, "one pod of a PodGroup that needs three")
def gang_incomplete(s):
    s.pod("pod", schedulingGroup=pod_group(s, 3))


@provoke("gang", "unschedulable", "gang", SCHEDULER, "a PodGroup of two pods, one of which fits on no node",
         beside="resources")
def gang(s):
    group = pod_group(s, 2)
    s.pod("pod", schedulingGroup=group)
    s.pod("large", node={}, tolerations=EVERYWHERE, schedulingGroup=group,
          container={"resources": {"requests": {"cpu": "9000"}}})


@provoke("full-node", "unschedulable", "resources", SCHEDULER, "requests that fit on no node")
def full_node(s):
    s.pod("pod", node={}, tolerations=EVERYWHERE, container={"resources": {"requests": {"cpu": "9000"}}})


@provoke("taint", "unschedulable", "taint", SCHEDULER, f"{TAINTED} nodes with a taint, which are most of the nodes")
def taint(s):
    for index in range(TAINTED):
        add_kwok_node(s.client, f"kwok-tainted-{index}", {"e2e/zone": "tainted"},
                      [{"key": "e2e/reserved", "value": "yes", "effect": "NoSchedule"}])
    s.pod("pod", node={"e2e/zone": "tainted"})


@provoke("topology", "unschedulable", "topology", SCHEDULER, "a spread over a topology key that no node has")
def topology(s):
    s.pod("pod", node={}, tolerations=EVERYWHERE, topologySpreadConstraints=[{
        "maxSkew": 1, "topologyKey": "e2e/rack", "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "e2e"}}}])


@provoke("unbound-claim", "unschedulable", "volume", SCHEDULER, "a PersistentVolumeClaim that nobody binds")
def unbound_claim(s):
    s.client.create(f"/api/v1/namespaces/{s.namespace}/persistentvolumeclaims", {
        "metadata": {"name": "data"}, "spec": {
            "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}})
    s.pod("pod", volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}])


def known_to_the_scheduler():
    """Give the scheduler's watches time: a pod whose claim it does not know is unschedulable first."""
    time.sleep(2)


def awaited_claim(s):
    """A volume that is provisioned once a node is chosen, by a provisioner that never answers."""
    s.client.apply("/apis/storage.k8s.io/v1/storageclasses", {
        "metadata": {"name": "e2e-slow"}, "provisioner": "e2e.test/slow", "volumeBindingMode": "WaitForFirstConsumer"})
    s.client.create(f"/api/v1/namespaces/{s.namespace}/persistentvolumeclaims", {
        "metadata": {"name": "data"}, "spec": {
            "storageClassName": "e2e-slow", "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}}}})
    known_to_the_scheduler()
    return [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]


@provoke("provisioning", "scheduling", "binding", SCHEDULER, "a volume whose provisioner takes its time")
def provisioning(s):
    s.pod("pod", volumes=awaited_claim(s))


@provoke("provisioning-late", "unschedulable", "binding", SCHEDULER,
         "the same, once a node has the label that the pod asks for")
def provisioning_late(s):
    s.pod("pod", node={"e2e/late": "yes"}, volumes=awaited_claim(s))
    s.wait_condition("PodScheduled", 1, "False")
    s.client.patch("/api/v1/nodes/hollow-1", {"metadata": {"labels": {"e2e/late": "yes"}}}, "merge-patch")


@provoke("device-binding", "scheduling", "binding", SCHEDULER, "a device with a binding condition that nobody sets")
def device_binding(s):
    driver = "binding.e2e.test"
    s.client.create("/apis/resource.k8s.io/v1/resourceslices", {"metadata": {"name": "e2e-binding"}, "spec": {
        "driver": driver, "nodeName": "hollow-0",
        "pool": {"name": "hollow-0", "generation": 1, "resourceSliceCount": 1},
        "devices": [{"name": "gpu", "bindsToNode": True, "bindingConditions": [f"{driver}/attached"],
                     "bindingFailureConditions": [f"{driver}/failed"]}]}})
    s.client.create("/apis/resource.k8s.io/v1/deviceclasses", {"metadata": {"name": "e2e-binding"}, "spec": {
        "selectors": [{"cel": {"expression": f"device.driver == '{driver}'"}}]}})
    claim(s, "e2e-binding")
    known_to_the_scheduler()
    s.pod("pod", resourceClaims=[{"name": "gpu", "resourceClaimName": "gpu"}])


def claim(s, device_class):
    """A ResourceClaim `gpu` for one device."""
    s.client.create(f"/apis/resource.k8s.io/v1/namespaces/{s.namespace}/resourceclaims", {
        "metadata": {"name": "gpu"}, "spec": {"devices": {"requests": [
            {"name": "gpu", "exactly": {"deviceClassName": device_class}}]}}})


@provoke("resource-claim", "unschedulable", "claim", SCHEDULER, "a ResourceClaim for a device that no node has")
def resource_claim(s):
    s.client.create("/apis/resource.k8s.io/v1/deviceclasses", {"metadata": {"name": "e2e"}, "spec": {
        "selectors": [{"cel": {"expression": "device.driver == 'none.e2e.test'"}}]}})
    claim(s, "e2e")
    s.pod("pod", node={}, tolerations=EVERYWHERE, resourceClaims=[{"name": "gpu", "resourceClaimName": "gpu"}])


@provoke("affinity", "unschedulable", "affinity", SCHEDULER, "a node selector that no node fits")
def affinity(s):
    s.pod("pod", node={"e2e/zone": "nowhere"}, tolerations=EVERYWHERE)


def unscheduled(s, reason, message, **status):
    """A pod of which the suite says what a scheduler would."""
    s.pod("pod", schedulerName="e2e-none")
    s.patch_status("pod", [{"type": "PodScheduled", "status": "False", "reason": reason, "message": message,
                            "lastTransitionTime": stamp()}], **status)


@provoke("ports", "unschedulable", "other", PATCHED,
         "a host port that is taken on every node, as schedulers from 1.34 to 1.36 say it")
def ports(s):
    unscheduled(s, "Unschedulable", "0/3 nodes are available: 3 node(s) didn't have free ports for the requested "
                "pod ports. no new claims to deallocate, preemption: 0/3 nodes are available: 3 No preemption victims "
                "found for incoming pod.")


@provoke("quota", "unschedulable", "quota", PATCHED, "a quota of a scheduler that is used up")
def quota(s):
    unscheduled(s, "Unschedulable", "0/8 nodes are available: Pod e2e/pod is rejected in PreFilter because ElasticQuota "
                "e2e is more than Max. preemption: 0/8 nodes are available: 8 No preemption victims found for incoming "
                "pod.")


@provoke("preempting", "unschedulable", "preempting", PATCHED, "a nominated node")
def preempting(s):
    unscheduled(s, "Unschedulable", "0/1 nodes are available: 1 Insufficient cpu.", nominatedNodeName="hollow-0")


@provoke("scheduler-error", "scheduling", "scheduler_error", PATCHED, "reason SchedulerError")
def scheduler_error(s):
    unscheduled(s, "SchedulerError", 'running "NodeResourcesFit" filter plugin: e2e')


@provoke("scheduler-error-volume", "scheduling", "volume", PATCHED, "reason SchedulerError of the plugin VolumeBinding")
def scheduler_error_volume(s):
    unscheduled(s, "SchedulerError", 'running "VolumeBinding" filter plugin: e2e')


# -- before the network is ready --------------------------------------------------------------


@provoke("no-kubelet", "network", "acknowledge", "API server", "bound to a node without a kubelet")
def no_kubelet(s):
    s.pod("pod", node={}, schedulerName="e2e-none")
    s.client.create(f"{s.path}/pod/binding", {
        "metadata": {"name": "pod"}, "target": {"kind": "Node", "name": s.cluster.silent_node()}})


@provoke("cni", "network", "no_sandbox", KUBELET, "a runtime that says that the network plugin failed", "cni")
def cni(s):
    s.pod("pod", annotations={"e2e/sandbox-error": 'failed to setup network for sandbox "1": plugin type="e2e" '
                                                   "failed (add): no IP addresses left"})


@provoke("sandbox", "network", "no_sandbox", KUBELET, "a runtime that refuses the sandbox", "sandbox")
def sandbox(s):
    s.pod("pod", annotations={"e2e/sandbox-error": "failed to start shim: e2e"})


@provoke("slow-sandbox", "network", "no_sandbox", KUBELET, "a runtime that makes the sandbox for minutes")
def slow_sandbox(s):
    s.pod("pod", annotations={"e2e/sandbox-delay": "20m"})


@provoke("slow-sandbox-old", "network", "unknown", OLD_KUBELET, "the same, on a kubelet that gives no reason")
def slow_sandbox_old(s):
    s.pod("pod", node=s.cluster.old_node(OLD), annotations={"e2e/sandbox-delay": "20m"})


@provoke("missing-volume", "network", "no_sandbox", KUBELET, "a volume of a ConfigMap that is missing", "volume")
def missing_volume(s):
    s.pod("pod", volumes=[{"name": "settings", "configMap": {"name": "missing"}}],
          container={"volumeMounts": [{"name": "settings", "mountPath": "/settings"}]})


@provoke("no-ip", "network", "no_ip", PATCHED, "PodSandboxNotReady: pod sandbox has no IP address")
def no_ip(s):
    no_kubelet(s)
    s.patch_status("pod", [{"type": "PodReadyToStartContainers", "status": "False", "reason": "PodSandboxNotReady",
                            "message": "pod sandbox has no IP address", "lastTransitionTime": stamp()}],
                   startTime=stamp())


@provoke("device-claim", "network", "unknown", "an Event of the suite's", "FailedPrepareDynamicResources", "claim")
def device_claim(s):
    no_kubelet(s)
    s.patch_status("pod", [{"type": "PodReadyToStartContainers", "status": "False", "lastTransitionTime": stamp()}],
                   startTime=stamp())
    pod = s.client.get(f"{s.path}/pod")
    s.client.create(f"/api/v1/namespaces/{s.namespace}/events", {
        "metadata": {"name": f"pod.{pod['metadata']['uid']}"}, "type": "Warning",
        "reason": "FailedPrepareDynamicResources", "message": "Failed to prepare dynamic resources: e2e",
        "involvedObject": {"kind": "Pod", "namespace": s.namespace, "name": "pod", "uid": pod["metadata"]["uid"]},
        "source": {"component": "kubelet"}, "firstTimestamp": stamp(), "lastTimestamp": stamp(), "count": 1})


# -- init containers and containers -----------------------------------------------------------


@provoke("init-image", "init", "image", KUBELET, "an image of an init container that is missing")
def init_image(s):
    missing_image(s, initContainers=[init("exit", "0", "0s")])


@provoke("missing-image", "containers", "image", KUBELET, "an image that is missing")
def missing_image(s, **more):
    s.pod("pod", annotations={"e2e/pull-error": "rpc error: code = NotFound desc = failed to pull and unpack image: "
                                                "not found"}, **more)


@provoke("missing-config", "containers", "config", KUBELET, "a variable from a ConfigMap that is missing")
def missing_config(s):
    s.pod("pod", container={"envFrom": [{"configMapRef": {"name": "missing"}}]})


@provoke("init-config", "init", "config", KUBELET, "a variable of an init container from a Secret that is missing")
def init_config(s):
    s.pod("pod", initContainers=[init("exit", "0", "0s", envFrom=[{"secretRef": {"name": "missing"}}])])


@provoke("init-crash", "init", "crash", KUBELET, "an init container that fails")
def init_crash(s):
    s.pod("pod", initContainers=[init("exit", "1", "0s")])


@provoke("crash", "containers", "crash", KUBELET, "a container that fails, with a readiness probe")
def crash(s):
    s.pod("pod", container={"command": ["exit", "1", "1s"], "readinessProbe": {"exec": {"command": ["fail"]}}})


@provoke("slow-pull", "containers", "create", KUBELET, "a pull that takes minutes", "pull")
def slow_pull(s):
    s.pod("pod", annotations={"e2e/pull-delay": "20m"})


@provoke("init-pull", "init", "create", KUBELET, "a pull for an init container that takes minutes", "pull")
def init_pull(s):
    s.pod("pod", annotations={"e2e/pull-delay": "20m"}, initContainers=[init("exit", "0", "0s")])


@provoke("long-init", "init", "run", KUBELET, "an init container that runs on")
def long_init(s):
    s.pod("pod", initContainers=[init("serve")])


@provoke("failing-probe", "containers", "probe", KUBELET, "a readiness probe that fails")
def failing_probe(s):
    s.pod("pod", container={"readinessProbe": {"exec": {"command": ["fail"]}, "periodSeconds": 1}})


@provoke("readiness-gate", "readiness", "readiness_gate", KUBELET, "a readiness gate that nobody sets")
def readiness_gate(s):
    s.pod("pod", readinessGates=[{"conditionType": "e2e/load-balancer"}])


@provoke("terminating", "network", "terminating", "API server", "deleted, but for a finalizer")
def terminating(s):
    no_kubelet(s)
    s.client.patch(f"{s.path}/pod", {"metadata": {"finalizers": ["e2e/keep"]}}, "merge-patch")
    s.delete("pod")
