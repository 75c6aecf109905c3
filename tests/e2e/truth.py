"""What podinit has to say about a recording, worked out from the specification alone.

A plain, slow reading: it keeps every pod, shares no code with podinit and counts nothing but what
the recording shows. Figures are in `Truth.durations` (lists of seconds, by interval and namespace or
registry; also by pod in `Truth.by_pod`) and `Truth.counters` (by name and labels). What Events and
containers tell is read in `evidence.py`, gates and milestones by name in `named_truth.py`.
"""

import collections
import math

from evidence import (KubeletEvent, container_starts, first_start, has_run, init_runs, seconds, startup_sli,
                      startup_sli_exclusion)
from named_truth import Named
from recording import read_recording

STEPS = ("acknowledge", "sandbox", "start", "probe")
NODE_STEPS = ("node_launch", "node_ready", "node_join")
STAGES = ("gated", "scheduling", "unschedulable", "network", "init", "containers", "readiness")
NETWORK = ("PodReadyToStartContainers", "PodHasNetwork")
# Milestone -> the condition types that show it, the better one first.
CONDITIONS = {
    "Scheduled": ("PodScheduled",),
    "NetworkReady": NETWORK,
    "Initialized": ("Initialized",),
    "ContainersReady": ("ContainersReady",),
    "Ready": ("Ready",),
}
THIRTY_DAYS = 30 * 86400
# Volumes that a stateless pod may have.
STATELESS = {"secret", "configMap", "downwardAPI", "emptyDir", "projected"}
# Seconds by which the arrivals of two watchers may differ.
NEAR = 0.05


def version_of(pod):
    return int(pod["metadata"].get("resourceVersion") or 0)


class Pod:
    """What is known of one UID."""

    def __init__(self, name, namespace, created):
        self.name, self.namespace, self.created = name, namespace, created
        self.version = -1
        self.reached = {}  # milestone -> [API time or None, instant of arrival or None]
        self.before = set()  # milestones reached when it was adopted
        self.judged = set()
        self.gated = self.ungated = self.unschedulable = self.init = self.readiness = False
        self.types = set()  # condition types that ever stood
        self.true_since = {}  # condition type -> LTT last seen while True
        self.outcome = None
        self.unobserved = set()
        self.adopted = self.new = False
        self.containers, self.init_containers = [], []  # names of the spec
        self.capacity = "unknown"  # whether its node was new, see node_truth.py
        self.bound = self.has_run = False  # whether it has a node, and whether a container ever started or ended
        self.stateful = False
        self.evidence = None  # what an Event showed before the pod was scheduled
        self.told = self.moved = None  # when a scheduler's Event says that it was bound: before Scheduled, and after
        self.pulled, self.pull_failed = {}, set()  # by (name, whether of an init container)
        self.sli_judged = False
        self.named = None  # its gates and milestones by name
        self.init_runs = 0.0  # seconds, as the snapshot states them that reached ContainersStarted


def is_near_tie(since, arrived, start):
    """Whether some milliseconds decide between the condition and the container's start, which state the same second:
    the earlier is the arrival within that second, or its middle."""
    return None not in (since, arrived, start) and since == start and any(
        abs(arrived - start - bound) < NEAR for bound in (0.5, 1))


class Truth:
    """Feed it documents in order; then read `durations` and `counters`.

    Documents of nodes are for `node_truth.py`.

    `milestones`, {NAME: TYPE}, are those of one's own. `missed`, (UID, resourceVersion) of snapshots, and `scheduled`,
    {UID: time of PodScheduled}, make it the truth of a watcher that was cut off: see `cut_off.py`.
    """

    nodes = None

    def __init__(self, clock="api", namespaces=None, missed=frozenset(), scheduled=None, events=False,
                 milestones=None):
        self.clock, self.namespaces, self.events = clock, namespaces, events
        self.missed, self.scheduled = missed, scheduled or {}
        self.pods, self.deleted = {}, set()
        self.durations = collections.defaultdict(list)
        self.by_pod = collections.defaultdict(list)
        self.counters = collections.Counter()
        self.milestones = milestones or {}
        self.gates, self.own = collections.defaultdict(list), collections.defaultdict(list)
        # Pods of whose network another watcher may take the other evidence, since its arrivals differ by milliseconds
        self.near_ties = 0
        self.first_list_began = None
        self.now = 0

    def feed_file(self, path):
        return self.feed_all(read_recording(path))

    def feed_all(self, recorded):
        for document in recorded:
            self.feed(document)
        for pod in self.pods.values():
            if pod.outcome == "ready":
                pod.named.pass_time(self, pod, self.now)
        return self

    def feed(self, document):
        """A PodList (the first, or one after a gap) or a watch event."""
        arrived = seconds(document.get("observedAt"))
        self.now = max(self.now, arrived or 0)
        if "items" in document:
            self.feed_list(document)
        elif document["object"].get("kind") == "Event":
            if self.events and document["type"] in ("ADDED", "MODIFIED"):
                self.event(KubeletEvent(document["object"], self.clock))
        elif document["type"] in ("ADDED", "MODIFIED", "DELETED"):
            pod = document["object"]
            if self.wanted(pod):
                self.snapshot(pod, arrived, deleted=document["type"] == "DELETED")

    def feed_list(self, document):
        first = self.first_list_began is None
        if first:
            self.first_list_began = seconds(document.get("listBegan") or document["observedAt"])
        present = set()
        for pod in filter(self.wanted, document["items"]):
            present.add(pod["metadata"]["uid"])
            self.snapshot(pod, None, first_list=first)
        for uid, pod in list(self.pods.items()):
            if uid not in present:
                self.finish(pod, "vanished")
                del self.pods[uid]

    def wanted(self, pod):
        return not self.namespaces or pod["metadata"]["namespace"] in self.namespaces

    # -- one snapshot ---------------------------------------------------------------------

    def snapshot(self, obj, arrived, first_list=False, deleted=False):
        meta, uid = obj["metadata"], obj["metadata"]["uid"]
        if uid in self.deleted or (uid, version_of(obj)) in self.missed:
            return
        pod = self.pods.get(uid)
        if pod is None:
            if deleted:
                return
            pod = self.pods[uid] = Pod(meta["name"], meta["namespace"], seconds(meta.get("creationTimestamp")))
            pod.reached["Created"] = [pod.created, arrived]
            self.counters[("podinit_pods_discovered_total",)] += 1
            self.first_sight(pod, obj, first_list)
            pod.named = Named(obj, pod.adopted, self.milestones)
            pod.new = True
        if version_of(obj) >= pod.version:
            pod.version = version_of(obj)
            self.reentries(pod, obj)
            if pod.outcome is None:
                self.fold(pod, obj, arrived)
            elif pod.outcome == "ready":
                pod.named.follow(self, pod, obj, arrived, arrived or self.now)
        pod.new = False
        if deleted:
            self.finish(pod, "deleted")
            self.deleted.add(uid)
            del self.pods[uid]

    def first_sight(self, pod, obj, first_list):
        if "kubernetes.io/config.mirror" in (obj["metadata"].get("annotations") or {}):
            self.finish(pod, "static")
            return
        stranger = first_list or (
            pod.created is not None and pod.created < self.first_list_began - 30
        )
        if not stranger:
            return
        status = obj.get("status") or {}
        ready = find(obj, "Ready")
        if status.get("phase") in ("Succeeded", "Failed") or (ready and ready["status"] == "True"):
            self.finish(pod, "preexisting")
            return
        started, unready = seconds(status.get("startTime")), seconds((ready or {}).get("lastTransitionTime"))
        if ready and ready["status"] == "False" and started and unready and unready > started + 5:
            self.finish(pod, "preexisting")
            return
        pod.adopted = True
        pod.before = {m for m, kinds in CONDITIONS.items() if any(is_true(obj, k) for k in kinds)}
        pod.before |= {m for m, _ in self.stated(obj)}
        self.judge_sli(pod, "preexisting")

    def reentries(self, pod, obj):
        for entry in (obj.get("status") or {}).get("conditions") or []:
            kind, since = entry["type"], seconds(entry.get("lastTransitionTime"))
            pod.types.add(kind)
            milestone = next((m for m, kinds in CONDITIONS.items() if kind in kinds), None)
            if milestone in (None, "Scheduled") or entry["status"] != "True" or since is None:
                continue
            last = pod.true_since.get(kind)
            if last is not None and since > last and pod.outcome != "static":
                label = "PodReadyToStartContainers" if milestone == "NetworkReady" else milestone
                self.counters[("podinit_reentries_total", label)] += 1
            pod.true_since[kind] = max(since, last or since)

    def fold(self, pod, obj, arrived):
        spec, status = obj.get("spec") or {}, obj.get("status") or {}
        pod.init = pod.init or bool(spec.get("initContainers"))
        pod.containers = [c["name"] for c in spec.get("containers") or []]
        pod.init_containers = [c["name"] for c in spec.get("initContainers") or []]
        if "ContainersStarted" not in pod.reached:
            pod.init_runs = init_runs(obj)
        pod.stateful = any(not STATELESS & set(volume) for volume in spec.get("volumes") or [])
        pod.readiness = pod.readiness or bool(spec.get("readinessGates"))
        pod.bound = bool(spec.get("nodeName"))
        pod.has_run = pod.has_run or has_run(obj)
        if spec.get("schedulingGates"):
            pod.gated = True
        elif pod.gated and not pod.ungated:
            pod.ungated = True
            pod.reached["Ungated"] = [None, arrived]
        scheduled = find(obj, "PodScheduled")
        if scheduled and scheduled["status"] == "False" and scheduled.get("reason") == "Unschedulable":
            pod.unschedulable = True
        self.fold_conditions(pod, obj, arrived)
        for milestone, since in self.stated(obj):
            pod.reached.setdefault(milestone, [since, arrived])
        rejected = status.get("phase") == "Failed" and pod.bound and not pod.has_run
        later = set(pod.reached) & {"NetworkReady", "Initialized", "ContainersReady", "Ready"}
        if (later or rejected) and "Scheduled" not in pod.reached:
            pod.reached["Scheduled"] = [None, None]
        self.judge_all(pod)
        self.judge_sli(pod)
        pod.named.fold(self, pod, obj, arrived)
        if "Ready" in pod.reached:
            self.finish(pod, "ready")
        elif status.get("phase") == "Succeeded":
            self.finish(pod, "completed")
        elif status.get("phase") == "Failed":
            self.finish(pod, "rejected" if rejected else "failed")

    def fold_conditions(self, pod, obj, arrived):
        for milestone, kinds in CONDITIONS.items():
            entry = next((find(obj, kind) for kind in kinds if find(obj, kind)), None)
            if not entry or entry["status"] != "True" or milestone in pod.reached:
                continue
            since = seconds(entry.get("lastTransitionTime"))
            if milestone == "Scheduled":
                since = self.scheduled.get(obj["metadata"]["uid"], since)
            if milestone == "NetworkReady":
                self.network_by_snapshot(pod, obj, self.interpret(since, arrived))
                self.near_ties += self.clock == "fused" and is_near_tie(since, arrived, first_start(obj))
                continue
            pod.reached[milestone] = [since, arrived]
            if pod.gated and milestone == "Scheduled" and pod.reached.get("Ungated", [0, 0])[1] == arrived:
                pod.reached["Ungated"].append("with Scheduled")
            if milestone == "Scheduled" and pod.evidence is not None and "NetworkReady" not in pod.reached:
                self.network_ready(pod, pod.evidence, "event")

    @staticmethod
    def stated(obj):
        """(milestone, API time) of what the kubelet states without a condition."""
        status = obj.get("status") or {}
        if status.get("startTime"):
            yield "Acknowledged", seconds(status["startTime"])
        starts = [container_starts(status.get("containerStatuses")).get(c["name"])
                  for c in (obj.get("spec") or {}).get("containers") or []]
        if starts and None not in starts:
            yield "ContainersStarted", max(starts)

    # -- since when the network was ready --------------------------------------------------

    def network_by_snapshot(self, pod, obj, by_condition):
        start = first_start(obj)
        by_container = None if start is None else start + (0.5 if self.clock == "fused" else 0)
        if by_container is not None and (by_condition is None or by_container < by_condition):
            self.network_ready(pod, by_container, "container")
        else:
            self.network_ready(pod, by_condition, "condition")

    def network_ready(self, pod, at, source):
        """Latch the milestone, raised to Scheduled where that is at most a second later, and count what gave its time."""
        scheduled = self.begin(pod, "Scheduled") if "Scheduled" in pod.reached else None
        if at is not None and scheduled is not None and scheduled - at <= 1:
            at = max(at, scheduled)
        pod.reached["NetworkReady"] = at
        if "NetworkReady" not in pod.before:
            self.counters[("podinit_network_evidence_total", source)] += 1

    # -- Events ---------------------------------------------------------------------------

    def pod_of(self, event):
        """The pod that an Event is about: of its UID, and of the names that it states."""
        pod = self.pods.get(event.uid)
        if pod is None or event.names - {pod.name} or event.namespaces - {pod.namespace}:
            return None
        return pod

    def scheduler_said(self, pod, at):
        """Rule 4.8: the scheduler's own Event sharpens Scheduled within the second."""
        if "Scheduled" not in pod.reached:
            pod.told = at if pod.told is None else pod.told
            return
        if pod.moved is None and not self.is_told(pod) and not {"NetworkReady", "Acknowledged", "Ready"} & set(pod.reached):
            latched = self.time(pod, "Scheduled")
            if latched is not None and math.floor(latched) == math.floor(at):
                pod.moved = at

    def is_told(self, pod):
        """Whether an Event that came first gives the time of Scheduled."""
        estimated = self.interpret(*pod.reached["Scheduled"][:2])
        return None not in (pod.told, estimated) and math.floor(pod.told) == math.floor(estimated)

    def begin(self, pod, milestone):
        """When what begins with a milestone begins: the scheduler's Event may have moved that."""
        return pod.moved if milestone == "Scheduled" and pod.moved is not None else self.time(pod, milestone)

    def event(self, event):
        pod = self.pod_of(event)
        if pod is None or pod.outcome is not None:
            return
        if self.clock == "fused" and event.bound_at is not None:
            self.scheduler_said(pod, event.bound_at)
        if not event.from_kubelet:
            return
        if event.container not in (pod.init_containers if event.init else pod.containers):
            return
        if event.shows_network and event.at is not None and "NetworkReady" not in pod.reached:
            if "Scheduled" in pod.reached:
                self.network_ready(pod, event.at, "event")
            elif pod.evidence is None:
                pod.evidence = event.at
        self.pull(pod, event)
        self.judge_all(pod)
        self.judge_sli(pod)

    def pull(self, pod, event):
        container = (event.container, event.init)
        if event.pull is None:
            return
        pull = event.pull
        if pull.result == "failed":
            if container in pod.pull_failed:
                return
            pod.pull_failed.add(container)
        elif container in pod.pulled:
            return
        else:
            pod.pulled[container] = (pull, event.at)
        if pull.result == "failed":
            self.counters[("podinit_image_pull_failures_total", pull.registry)] += 1
            return
        self.counters[("podinit_images_total", pull.result, pull.registry)] += 1
        if pull.result != "pulled":
            return
        self.durations[("image_pull", pull.registry)].append(pull.length)
        if pull.waited is not None:
            self.durations[("image_pull_wait", pull.registry)].append(pull.waited)
        if pull.size is not None:
            self.counters[("podinit_image_pull_bytes_total", pull.registry)] += pull.size

    def judge_sli(self, pod, outcome=None):
        """Kubernetes' own startup SLI: once it can be judged, or when the pod ends with `outcome`."""
        needed = {(name, False) for name in pod.containers} | {(name, True) for name in pod.init_containers}
        judged = {"ContainersStarted", "NetworkReady"} <= set(pod.reached) and needed <= set(pod.pulled)
        if not self.events or pod.sli_judged or not (judged or outcome):
            return
        pod.sli_judged = True
        reason, value = startup_sli_exclusion(pod, outcome, judged), None
        if reason is None:
            value = startup_sli(pod, lambda milestone: self.time(pod, milestone))
            reason = "time" if value is None else None
        if reason:
            self.counters[("podinit_pod_start_sli_excluded_total", reason)] += 1
        else:
            self.durations[("pod_start_sli", pod.namespace)].append(value)

    # -- intervals ------------------------------------------------------------------------

    def intervals(self, pod):
        """(stage or family, from, to, condition types needed) of what applies to the pod."""
        start = "Ungated" if pod.gated else "Created"
        if pod.gated:
            yield "gated", ("Created",), "Ungated"
        yield ("unschedulable" if pod.unschedulable else "scheduling"), (start,), "Scheduled"
        yield "network", ("Scheduled",), "NetworkReady"
        if pod.init:
            yield "init", ("NetworkReady",), "Initialized"
        yield "containers", ("NetworkReady", "Initialized") if pod.init else ("NetworkReady",), "ContainersReady"
        if pod.readiness:
            yield "readiness", ("ContainersReady",), "Ready"
        yield "acknowledge", ("Scheduled",), "Acknowledged"
        yield "sandbox", ("Acknowledged",), "NetworkReady"
        yield "start", ("NetworkReady", "Initialized") if pod.init else ("NetworkReady",), "ContainersStarted"
        yield "probe", ("ContainersStarted",), "ContainersReady"
        yield "scheduled_to_ready", ("Scheduled",), "Ready"
        yield "created_to_ready", ("Created",), "Ready"

    def judge_all(self, pod):
        for name, starts, end in self.intervals(pod):
            key = "scheduling" if name == "unschedulable" else name
            if key in pod.judged or any(m not in pod.reached for m in (*starts, end)):
                continue
            pod.judged.add(key)
            if name in (*STAGES, *STEPS) and end in pod.before:
                self.not_observed(pod, name, "preexisting")
                continue
            self.judge(pod, name, starts, end)

    def judge(self, pod, name, starts, end):
        length = self.length([*(self.begin(pod, milestone) for milestone in starts), self.time(pod, end)])
        if length is None:
            if name in (*STAGES, *STEPS):
                self.not_observed(pod, name, "time")
            return
        self.durations[(name, pod.namespace)].append(length)
        self.by_pod[(name, pod.namespace, pod.name)].append(length)
        if name == "created_to_ready" and (self.events or self.nodes is not None):
            self.durations[("startup", (pod.capacity, self.images(pod)))].append(length)

    def length(self, times):
        """Seconds from the latest of the first times until the last one; None, with the anomaly, where unusable."""
        kind, length = "missing", None
        if None not in times:
            length, kind = times[-1] - max(times[:-1]), None
            if -1 <= length < 0:
                length, kind = 0.0, "rounded"
            elif length < -1 or length > THIRTY_DAYS:
                length, kind = None, "negative" if length < -1 else "too_long"
        if kind:
            self.counters[("podinit_clock_anomalies_total", kind)] += 1
        return length

    def images(self, pod):
        """Whether a pod's images were on its node."""
        needed = [(name, False) for name in pod.containers] + [(name, True) for name in pod.init_containers]
        results = [pod.pulled[container][0].result for container in needed if container in pod.pulled]
        if not self.events or ("pulled" not in results and len(results) < len(needed)):
            return "unknown"
        return "pulled" if "pulled" in results else "present"

    def time(self, pod, milestone):
        """When a milestone was reached, as the clock in use says; None where unknown."""
        if milestone == "NetworkReady":
            return pod.reached[milestone]
        api, arrived, *together = pod.reached[milestone]
        if milestone == "Ungated":
            if arrived is not None and self.clock == "api":
                arrived = float(math.floor(arrived))
            scheduled = self.time(pod, "Scheduled") if together else None
            return min((t for t in (arrived, scheduled) if t is not None), default=None)
        if milestone == "Scheduled" and self.is_told(pod):
            return pod.told
        return self.interpret(api, arrived)

    def interpret(self, api, arrived):
        """An API time that was delivered at `arrived`, as the clock in use takes it."""
        return self.estimate(api, arrived) if self.clock == "fused" else api

    @staticmethod
    def estimate(api, arrived):
        if api is None:
            return None
        if arrived is None or arrived >= api + 1:
            return api + 0.5
        return max(arrived, api)

    # -- ends -----------------------------------------------------------------------------

    def not_observed(self, pod, stage, reason):
        if stage not in pod.unobserved:
            pod.unobserved.add(stage)
            self.counters[("podinit_unobserved_total", stage, reason)] += 1

    def finish(self, pod, outcome):
        if pod.outcome is not None:
            return
        pod.outcome = outcome
        self.counters[("podinit_pods_finished_total", outcome)] += 1
        self.judge_sli(pod, outcome)
        if outcome not in ("ready", "completed"):
            return
        pod.named.finish(self, pod, outcome)
        for name, starts, end in self.intervals(pod):
            key = "scheduling" if name == "unschedulable" else name
            if name not in (*STAGES, *STEPS) or key in pod.judged:
                continue
            needed = [CONDITIONS[m] for m in (*starts, end) if m in CONDITIONS]
            absent = any(pod.types.isdisjoint(kinds) for kinds in needed)
            self.not_observed(pod, name, "condition_absent" if absent else "not_seen")

    def in_flight(self):
        return sum(1 for pod in self.pods.values() if pod.outcome is None)

    def held(self):
        """{(kind, gate): the pods in flight that it holds}."""
        return collections.Counter(
            gate for pod in self.pods.values() if pod.outcome is None for gate in pod.named.held(pod))


def find(obj, kind):
    for entry in (obj.get("status") or {}).get("conditions") or []:
        if entry["type"] == kind:
            return entry
    return None


def is_true(obj, kind):
    entry = find(obj, kind)
    return bool(entry) and entry["status"] == "True"
