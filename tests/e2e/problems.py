"""The problems that a recording ends with, worked out from section 13 of the specification.

A plain, slow reading on top of `truth.py`; it shares no code with podinit. It looks at every value of every dimension,
and leaves out `stuck`, `message` and the sentences.
"""

import collections
import math
import re
from fractions import Fraction

from evidence import KubeletEvent, container_starts, registry_of, seconds
from named_truth import READINESS, SCHEDULING
from node_truth import STARTUP_TAINT_PREFIXES, STARTUP_TAINTS
from recording import read_recording
from truth import NETWORK, Truth, find

FAILING = {"scheduler_error", "cni", "sandbox", "no_ip", "image", "config", "crash", "rejected"}
WAITING = {"gang", "quota", "preempting", "binding", "resources", "taint", "topology", "volume", "claim", "affinity", "other",
           "queue"}
UNAFFECTED = {"gate", "terminating"}
PULLS = {"image", "pull"}
# Which kind of gate holds the pods of a cause.
GATES = {"gate": SCHEDULING, "readiness_gate": READINESS}
DIMENSIONS = ["image", "registry", "gate", "workload", "node", "namespace"]

IMAGE_REASONS = {"ErrImagePull", "ImagePullBackOff", "ErrImageNeverPull", "InvalidImageName", "ImageInspectError",
                 "RegistryUnavailable", "SignatureValidationFailed", "ImageVolumeMountFailed"}
CONFIG_REASONS = {"CreateContainerConfigError", "CreateContainerError", "RunContainerError", "PreCreateHookError",
                  "PreStartHookError", "PostStartHookError"}
WARNINGS = {"FailedPrepareDynamicResources": "claim", "FailedMount": "volume", "FailedAttachVolume": "volume",
            "FailedMapVolume": "volume", "VolumePermissionChangeInProgress": "volume",
            "FailedCreatePodContainer": "sandbox", "NetworkNotReady": "cni", "FailedCreatePodSandBox": None}
# What only those refute who have one of these.
CLAIMS = {"volume": lambda spec: any({"persistentVolumeClaim", "ephemeral"} & set(v) for v in spec.get("volumes") or []),
          "claim": lambda spec: bool(spec.get("resourceClaims"))}
CNI = ("setup network", "networkplugin cni", "cni network", "plugin type=", "pod network sandbox",
       "network is not ready", "cni plugin not initialized")
NOT_CNI = ("failed to reserve sandbox name", "failed to pull image")
NO_PREEMPTION = ("terminating pod on the nominated node", "workload aware preemption", "pod group preemption")
GANG = ("pod group", "podgroup", "gang", "sibling pods", "mincount", "minavailable")
# What PostFilter plugins say, and what each clause of the scheduler's message means.
CUTS = (" preemption:", " no new claims to deallocate", " still not schedulable", " deallocation of ResourceClaim",
        " deletion of ResourceClaim")
CLAUSES = (("resources", ("insufficient", "too many pods", "resource fit failed", "pod number exceeded",
                          "enough resources")), ("taint", ("taint", "unschedulable")),
           ("topology", ("topology spread",)), ("volume", ("volume", "pvc", "storage", "disk", "csi driver", "csinode")),
           ("claim", ("claim", "device")), ("affinity", ("affinity", "selector")))


# What begins the clauses: the schedulers of Kubernetes, Volcano and KAI.
FORMS = (" nodes are available: ", " nodes are unavailable: ", " resources were found: ")


def is_startup_taint(key):
    return key in STARTUP_TAINTS or key.startswith(STARTUP_TAINT_PREFIXES)


def contains(text, words):
    return any(word in text.lower() for word in words)


def scheduler_cause(message):
    """What most nodes lack, by the scheduler's message."""
    message = message[:min((message.find(cut) for cut in CUTS if cut in message), default=len(message))]
    starts = [message.find(form) + len(form) for form in FORMS if form in message]
    text = message[min(starts):] if starts else message
    clauses = re.split(r"(?:, |\. *\n)(?=\d+ )", text) if re.match(r"\d+ ", text) else [text]
    found = []
    for clause in clauses:
        number = re.match(r"(\d+) ", clause)
        clause = clause[number.end():] if number else clause
        found.append((clause_cause(clause), int(number[1]) if number else 1, clause))
    # Nodes that were not meant for the pod count only where there are no others.
    found = [one for one in found if not of_other_nodes(one[0], one[2])] or found
    sums = {}
    for cause, nodes, _ in found:
        before = sums.get(cause, 0)
        sums[cause] = max(before, nodes) if cause == "resources" else before + nodes
    return max(sums, key=sums.get)


def clause_cause(clause):
    if contains(clause, ("quota",)) or contains(clause, ("queue",)) and not contains(clause, ("scheduling queue",)):
        return "quota"
    return next((cause for cause, words in CLAUSES if contains(clause, words)), "other")


def of_other_nodes(cause, clause):
    """Whether a clause is about nodes whose taints or labels keep the pod away on purpose."""
    if cause == "affinity":
        return contains(clause, ("node affinity", "nodeaffinity", "selector"))
    key = re.search(r"\{([^:}]*)", clause)
    kept = key and (key[1].startswith("node.kubernetes.io/") or is_startup_taint(key[1]))
    return cause == "taint" and contains(clause, ("taint",)) and not kept


def scheduling_cause(obj):
    scheduled, nominated = find(obj, "PodScheduled"), obj["status"].get("nominatedNodeName")
    if scheduled is None:
        return "binding" if nominated else "queue"
    reason, message = scheduled.get("reason"), scheduled.get("message") or ""
    if nominated and scheduled["status"] == "False":
        if reason == "SchedulerError":
            return "binding"
        if reason == "Unschedulable" and " preemption:" in message and not any(w in message for w in NO_PREEMPTION):
            return "binding"
    if scheduled["status"] == "True" or reason == "SchedulingGated":
        return "queue"
    if contains(message, GANG):
        return "gang"
    if nominated:
        return "preempting"
    if reason == "SchedulerError":
        return "volume" if contains(message, ("volumebinding", "binding volumes")) else "scheduler_error"
    return scheduler_cause(message)


class Container:
    """One container of a stage, with its newest status."""

    def __init__(self, spec, status, init, pod):
        self.image, self.regular, self.status = spec["image"], not init, status or {}
        self.restartable = init and spec.get("restartPolicy") == "Always"
        state = self.status.get("state") or {}
        self.waits, self.reason = "waiting" in state or not status, (state.get("waiting") or {}).get("reason")
        self.exit = (state.get("terminated") or {}).get("exitCode")
        self.started = bool(status and container_starts([status]))
        self.pulling = (spec["name"], init) in pod.pulling - pod.has_pulled and not self.started

        self.over = self.exit == 0 or (self.restartable and self.status.get("started") is True)


def containers_of(pod, stage=None):
    """Those of a stage, or all. A reading: regular ones come first, as 10.1 names them."""
    found = []
    for init, specs, statuses in ((True, "initContainers", "initContainerStatuses"),
                                  (False, "containers", "containerStatuses")):
        by_name = {s["name"]: s for s in pod.obj["status"].get(statuses) or []}
        found += [Container(c, by_name.get(c["name"]), init, pod) for c in pod.obj["spec"].get(specs) or []]
    if stage == "init":
        return [c for c in found if not c.regular and not c.over][:1]
    return sorted((c for c in found if stage is None or c.regular or c.restartable), key=lambda c: not c.regular)


def container_cause(pod, stage):
    """(cause, image) by the rows of `init`, `containers` and `readiness`."""
    if stage == "readiness":
        return "readiness_gate", None
    rows = [
        ("image", lambda c: c.reason in IMAGE_REASONS),
        ("config", lambda c: c.reason in CONFIG_REASONS),
        ("crash", lambda c: c.reason == "CrashLoopBackOff" or c.exit not in (None, 0)),
        ("exited", lambda c: stage == "containers" and c.regular and c.exit == 0),
        ("pull", lambda c: c.pulling),
        ("create", lambda c: c.waits),
        ("run", lambda c: stage == "init"),
        ("probe", lambda c: c.status.get("ready") is not True),
    ]
    for cause, fits in rows:
        image = next((c.image for c in containers_of(pod, stage) if fits(c)), None)
        if image:
            return cause, image
    return "run" if stage == "init" else "probe", None


def network_cause(pod):
    status = pod.obj["status"]
    if status.get("startTime") and not any(find(pod.obj, kind) for kind in NETWORK):
        idle = (None, "", "ContainerCreating", "PodInitializing")
        if any(c.started or c.reason not in idle for c in containers_of(pod)):
            if pod.init and "Initialized" not in pod.reached:
                return container_cause(pod, "init")
            done = pod.readiness and "ContainersReady" in pod.reached
            return container_cause(pod, "readiness" if done else "containers")
    if not status.get("startTime"):
        return "acknowledge", None
    if pod.warning:
        reason, message = pod.warning
        if reason == "FailedCreatePodSandBox":
            return "cni" if contains(message, CNI) and not contains(message, NOT_CNI) else "sandbox", None
        return WARNINGS[reason], None
    network = find(pod.obj, NETWORK[0])
    if network and network["status"] == "False" and network.get("reason") == "PodSandboxNotReady":
        for text, cause in (("no pod sandbox", "no_sandbox"), ("no IP", "no_ip")):
            if text in (network.get("message") or ""):
                return cause, None
    return "unknown", None


def cause_of(pod, stage):
    """(cause, image of the container that gives it)."""
    if pod.obj["metadata"].get("deletionTimestamp"):
        return "terminating", None
    if stage == "gated":
        return "gate", None
    if stage in ("scheduling", "unschedulable"):
        return scheduling_cause(pod.obj), None
    return network_cause(pod) if stage == "network" else container_cause(pod, stage)


# One cause of a pod: in which stage, since when, and the image of the container that gives it last.
Had = collections.namedtuple("Had", "stage cause since image")


def workload_of(obj):
    meta = obj["metadata"]
    owner = next((o for o in meta.get("ownerReferences") or [] if o.get("controller")), None)
    if owner is None:
        return None
    kind, name = lasting(owner["kind"], owner["name"], meta.get("labels") or {})
    return f"{meta['namespace']}/{kind}/{name}"


def lasting(kind, name, labels):
    """The controller by the name that lasts (13.3)."""
    if kind == "ReplicaSet":
        for label, value in labels.items():
            label = label.rpartition("/")[2]
            if label.endswith("pod-template-hash") and value and name.endswith("-" + value):
                made = {"pod-template-hash": "Deployment", "rollouts-pod-template-hash": "Rollout"}
                return made.get(label, kind), name[:-len(value) - 1]
        return kind, name
    base, _, last = name.rpartition("-")
    if base and kind == "Job" and re.fullmatch("[0-9]{8}", last) and int(last) >= 26_000_000:
        return "CronJob", base
    if base and kind == "Workflow" and re.fullmatch("[0-9]{10}", last) and int(last) >= 26_000_000 * 60:
        return "CronWorkflow", base
    if kind in ("DaemonSet", "Deployment", "Node", "ReplicationController", "StatefulSet") or name.startswith("-"):
        return kind, name
    first, *words = name.split("-")
    kept = [word for word in words if not re.fullmatch("[bcdfghjklmnpqrstvwxz2456789]{5}", word)]
    return kind, "-".join([first, *kept])


class Account(Truth):
    """The truth, and beside it the causes of each pod and the newest 1,000 records."""

    def __init__(self):
        super().__init__("api", events=True)
        self.now = 0.0
        self.records = collections.deque(maxlen=1000)

    def feed(self, document):
        obj = document.get("object") or {}
        if obj.get("kind") != "Event":
            self.now = max(self.now, seconds(document["observedAt"]))
        super().feed(document)
        if obj.get("kind") == "Event" and document["type"] in ("ADDED", "MODIFIED"):
            pod = self.pod_of(KubeletEvent(obj, self.clock))
            if pod is not None and pod.outcome is None:
                self.warn(pod, obj)
                self.see(pod)

    def event(self, event):
        super().event(event)
        pod = self.pod_of(event)
        if pod is not None and pod.outcome is None and event.from_kubelet and event.container:
            pod.told = (event.container, event.init)

    def warn(self, pod, obj):
        reason = obj.get("reason")
        if reason in WARNINGS:
            pod.warning = (reason, obj.get("message") or "")
        elif reason == "SuccessfulAttachVolume" and pod.warning and pod.warning[0] == "FailedAttachVolume":
            pod.warning = None
        if pod.told and reason in ("Pulling", "Pulled"):
            (pod.pulling if reason == "Pulling" else pod.has_pulled).add(pod.told)
        pod.told = None

    def fold(self, pod, obj, arrived):
        if not hasattr(pod, "causes"):
            pod.causes, pod.warning, pod.told = [], None, None
            pod.pulling, pod.has_pulled, pod.lengths = set(), set(), {}
        obj.setdefault("status", {})
        pod.obj, pod.workload = obj, workload_of(obj)
        super().fold(pod, obj, arrived)
        if pod.outcome is None:
            self.see(pod)

    def judge(self, pod, name, starts, end):
        super().judge(pod, name, starts, end)
        pod.lengths.update({name: length for length in self.by_pod[(name, pod.namespace, pod.name)]})

    def finish(self, pod, outcome):
        if pod.outcome is None and outcome not in ("preexisting", "static"):
            self.records.append(pod)
        super().finish(pod, outcome)

    def stage(self, pod):
        """The stage that a pod is in, and the nearest known time at which it entered it."""
        stage, begins = self.stage_and_begins(pod)
        return stage, [time for time in begins if time is not None][-1]

    def stage_and_begins(self, pod):
        begins = [pod.created]
        if pod.gated and not pod.ungated and "Scheduled" not in pod.reached:
            return "gated", begins
        if "Ungated" in pod.reached:
            begins.append(self.time(pod, "Ungated"))
        if "Scheduled" not in pod.reached:
            return "unschedulable" if pod.unschedulable else "scheduling", begins
        begins.append(self.begin(pod, "Scheduled"))
        if "NetworkReady" not in pod.reached:
            return "network", begins
        begins.append(self.time(pod, "NetworkReady"))
        if pod.init:
            if "Initialized" not in pod.reached:
                return "init", begins
            later = [self.time(pod, "Initialized"), begins[-1]]
            begins.append(None if None in later else max(later))
        if "ContainersReady" not in pod.reached or not pod.readiness:
            return "containers", begins
        return "readiness", [*begins, self.time(pod, "ContainersReady")]

    def see(self, pod):
        """Note the cause that the pod has now."""
        stage, entered = self.stage(pod)
        cause, image = cause_of(pod, stage)
        last = pod.causes[-1] if pod.causes else None
        if last and (last.stage, last.cause) == (stage, cause):
            pod.causes[-1] = last._replace(image=image)
        else:
            pod.causes.append(Had(stage, cause, self.now if last else entered, image))
            del pod.causes[:-16]


# `since` is when the pod first had the cause in its stage; `values` are by dimension.
Affected = collections.namedtuple("Affected", "pod cause since values")


def limit(account, pod, stage):
    ready = [r for r in account.records if r.outcome == "ready" and stage in r.lengths]
    same = [r for r in ready if pod.workload and r.workload == pod.workload]
    lengths = sorted(r.lengths[stage] for r in (same if len(same) >= 5 else ready))
    if len(same) < 5 and len(ready) < 20:
        return 120
    return max(30, 3 * lengths[math.ceil(Fraction(9, 10) * len(lengths)) - 1])


def gate_limit(account, pod):
    """Of a pod that scheduling gates hold: by its workload, else by the first gate that holds it."""
    ready = [r for r in account.records if r.outcome == "ready"]
    same = [r.lengths["gated"] for r in ready if pod.workload and r.workload == pod.workload and "gated" in r.lengths]
    gate = (SCHEDULING, held_by(pod, "gate"))
    by_gate = [r.named.lengths[gate] for r in ready if gate in r.named.lengths]
    lengths = sorted(same if len(same) >= 5 else by_gate)
    if len(lengths) < 5:
        return 1800
    return max(30, 3 * lengths[math.ceil(Fraction(9, 10) * len(lengths)) - 1])


def held_by(pod, cause):
    """The first gate that holds a pod, for the causes that have one."""
    return next((gate for kind, gate in pod.named.held(pod) if kind == GATES.get(cause)), None)


def affected(account, pod):
    """What affects a pod; None where nothing does."""
    now, present, (stage, entered) = account.now, pod.causes[-1], account.stage(pod)
    first = {}
    for had in pod.causes:
        if had.stage == stage:
            first.setdefault(had.cause, had.since)
    if present.cause == "terminating":
        return None
    for index in reversed(range(len(pod.causes))):
        had = pod.causes[index]
        lately = had is present or pod.causes[index + 1].since > now - 360
        if had.stage == stage and had.cause in FAILING and lately and now - first[had.cause] >= 15:
            return made(pod, had, first[had.cause])
    waits = now - entered
    if present.cause == "gate":
        return made(pod, present, first["gate"]) if waits > gate_limit(account, pod) else None
    if present.cause in WAITING and waits >= 60:
        return made(pod, present, first[present.cause])
    if present.cause not in WAITING | FAILING and waits > limit(account, pod, stage):
        return made(pod, present, first[present.cause])
    return None


def made(pod, had, since):
    image = had.image
    values = {"image": image, "registry": registry_of(image) if image and had.cause in PULLS else None,
              "gate": held_by(pod, had.cause),
              "workload": pod.workload, "node": pod.obj["spec"].get("nodeName"), "namespace": pod.namespace}
    return Affected(pod, had.cause, since, {d: v for d, v in values.items() if v})


def own_values(pod):
    """The (dimension, value) that a pod or record has by itself, whatever its cause is."""
    images = {c["image"] for kind in ("containers", "initContainers") for c in pod.obj["spec"].get(kind) or []}
    one = {("workload", pod.workload), ("node", pod.obj["spec"].get("nodeName")), ("namespace", pod.namespace)}
    return one | {("image", i) for i in images} | {("registry", registry_of(i)) for i in images}


def pulled_values(record):
    """The images, and their registries, that were pulled."""
    images = {c["image"] for kind, init in (("containers", False), ("initContainers", True))
              for c in record.obj["spec"].get(kind) or []
              if (c["name"], init) in record.pulled and record.pulled[c["name"], init][0].result == "pulled"}
    return {("image", i) for i in images} | {("registry", registry_of(i)) for i in images}


# A healthy pod in flight, or a record; `ready` is when that was ready.
Healthy = collections.namedtuple("Healthy", "values pulled ready spec")


class Value:
    """One value of some of the affected pods of a cause."""

    def __init__(self, cause, group, dimension, value, healthy):
        self.dimension, self.value, key = dimension, value, (dimension, value)
        self.pods = [p for p in group if p.values.get(dimension) == value]
        a, share = len(self.pods), Fraction(len(self.pods), len(group))
        self.k = sum(key in one.values for one in healthy)
        background = Fraction(self.k + 1, len(healthy) + 2)
        median = sorted(p.since for p in self.pods)[a // 2]
        by_pull = cause in PULLS and dimension in ("image", "registry")
        sure = by_pull or dimension == "gate"
        needs = CLAIMS.get(cause, lambda spec: True)
        h = sum(one.ready is not None and one.ready > median and key in (one.pulled if by_pull else one.values)
                and needs(one.spec) for one in healthy)
        fit = 2 * h <= a and (len(healthy) >= 10 or dimension not in ("node", "namespace"))
        if cause in PULLS and dimension == "registry":
            fit = fit and len({p.values["image"] for p in self.pods}) >= 3
        self.explains = fit and share >= Fraction(9, 10) and (sure or share >= Fraction(3, 2) * background)
        enough = a >= 3 and share >= Fraction(1, 2 if cause in WAITING else 5)
        self.stands_out = fit and enough and (
            share >= 4 * background or (sure and share >= Fraction(1, 2)))
        order = DIMENSIONS if cause in PULLS else [*DIMENSIONS[1:], "image"]
        self.rank = (-Fraction(a, len(group) + 4 * h), self.k, order.index(dimension), value.encode())


def group_by_values(cause, group, healthy):
    """(pods, dimension, value) of each problem that the affected pods of a cause are."""
    stood_out = 0
    while group:
        values = [Value(cause, group, *key, healthy) for key in {item for p in group for item in p.values.items()}]
        first = ("image", "registry") if cause in PULLS else ("gate",)
        best = next((v for d in first for v in values if v.dimension == d and v.explains), None)
        fits = [v for v in values if v.explains or (v.stands_out and stood_out < 5)]
        best = best or min(fits, key=lambda v: v.rank, default=None)
        if best is None:
            yield group, None, None
            return
        pods = [p for p in group if p in best.pods or best.explains and best.dimension not in p.values]
        yield pods, best.dimension, best.value
        stood_out += not best.explains
        group = [p for p in group if p not in pods]


def since(times):
    """The first of the times in order, but for a tenth of them that come at least 15 minutes before the others (13.6)."""
    few = [j for j in range(1, len(times) // 10 + 1) if times[j] - times[j - 1] >= 900]
    return times[max(few, default=0)]


def problems_of(account):
    in_flight = [pod for pod in account.pods.values() if pod.outcome is None]
    found = {id(pod): affected(account, pod) for pod in in_flight}
    healthy = [Healthy(own_values(p), set(), None, p.obj["spec"]) for p in in_flight
               if found[id(p)] is None and p.causes[-1].cause not in UNAFFECTED]
    healthy += [Healthy(own_values(r), pulled_values(r), account.time(r, "Ready"), r.obj["spec"])
                for r in account.records if r.outcome == "ready"]
    by_cause = collections.defaultdict(list)
    for one in found.values():
        if one:
            by_cause[one.cause].append(one)
    problems = []
    for cause, group in by_cause.items():
        for pods, dimension, value in group_by_values(cause, group, healthy):
            pods = sorted(pods, key=lambda p: (p.since, p.pod.namespace, p.pod.name))
            oldest = pods[:3]
            count = {d: len({p.values[d] for p in pods if d in p.values}) for d in ("node", "workload", "namespace")}
            problems.append({
                "cause": cause, "dimension": dimension, "value": value, "pods": len(pods), "since": since([p.since for p in pods]),
                "nodes": count["node"], "workloads": count["workload"], "namespaces": count["namespace"],
                "oldest": [f"{p.pod.namespace}/{p.pod.name}" for p in oldest]})
    return sorted(problems, key=lambda p: (-p["pods"], p["since"], p["cause"], p["value"] or ""))


def problems_of_file(path):
    return problems_of(Account().feed_all(read_recording(path)))
