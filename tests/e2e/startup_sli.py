"""podinit's startup SLI beside the kubelet's own, pod by pod.

Pods of several kinds run on a kubelet of each version. Kubelets from 1.36 on log what they counted of
each pod; podinit's figure is that of a replay of the pod's own documents. Both are a whole less pulls
less init containers, so each difference has three parts. The table goes to startup-sli.md.
"""

import collections
import glob
import os
import re
import statistics
import time

from evidence import go_duration, startup_sli_parts
from exporter import total
from kubelets import replay
from nodes import HOLLOW
from orders import documents_by_pod
from processes import Failure, wait_for
from provocations import init
from scenario import Scenario
from truth import Truth

SLI, EXCLUDED = "podinit_pod_start_sli_duration_seconds", "podinit_pod_start_sli_excluded_total"
SAID = re.compile(r'"Observed pod startup duration" pod="([^/"]+)/([^"]+)"(.*)')
FIELD = re.compile(r'(\w+)="?([^" ]+)')
# Between which seconds the kubelet's part less podinit's lies where both mean the same. A kubelet ends when a watch
# shows a status that it knows to have been taken; should the watch be quicker, only with the next status, here Ready.
# Statuses state the runs of init containers in whole seconds.
BOUNDS = {"whole": (-1.0, 10.0), "pulls": (-2.0, 2.0), "init": (-2.0, 2.0)}
EXACT = 1e-6
# The share of pods whose Events may come too late.
LATE = 0.25
# How long pods are held by a scheduling gate.
HELD = 2.0
PARTS = tuple(BOUNDS)
# Ready comes later, so that the Events of the startup come before its end.
MAIN = {"name": "main", "image": "e2e/main",
        "readinessProbe": {"exec": {"command": ["after", "3s"]}, "periodSeconds": 1, "failureThreshold": 60}}
HEADER = [
    "| kubelet | pods | n | kubelet | podinit | kubelet - podinit: p50 | largest | of it whole | pulls | init |",
    "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|"]


def runs(*lengths):
    """Init containers that run for so many seconds."""
    return {"initContainers": [
        {**init("exit", "0", f"{length}s"), "name": f"init-{index}"} for index, length in enumerate(lengths)]}


def sidecar(*lengths):
    """A sidecar, and init containers after it."""
    first = {**init("serve"), "name": "sidecar", "restartPolicy": "Always"}
    return {"initContainers": [first, *runs(*lengths)["initContainers"]]}


def pulls(seconds):
    """Each pull takes so many seconds."""
    return {"annotations": {"e2e/pull-delay": f"{seconds}s"}}


SECOND = {"containers": [MAIN, {"name": "second", "image": "e2e/second"}]}
HOST_PATH = {"volumes": [{"name": "data", "hostPath": {"path": "/tmp"}}]}
GATE = {"schedulingGates": [{"name": "e2e/hold"}]}
# (what the pods are, the parts that both count alike, why podinit has no figure, whether the kubelet has one, the pods)
KINDS = [
    ("one container", PARTS, None, True, [{}] * 5),
    ("a pull", PARTS, None, True, [pulls(0.7), pulls(2.5), pulls(4)]),
    ("two containers, two pulls", PARTS, None, True, [{**SECOND, **pulls(1.5)}] * 2),
    ("one init container", PARTS, None, True, [runs(length) for length in (0.3, 1.2, 2, 2.8, 3.5, 5.1)]),
    ("one init container, two pulls", PARTS, None, True, [{**runs(1.5), **pulls(1)}, {**runs(2.5), **pulls(2)}]),
    # The kubelet notes the start of the next init container before the end of the last one, and loses both.
    ("several init containers", ("whole", "pulls"), None, True, [runs(1.2, 2), runs(2.5, 1.5), runs(1, 1, 1)]),
    ("a sidecar", PARTS, None, True, [sidecar()] * 2),
    ("a sidecar, one init container", PARTS, None, True, [sidecar(1.5), sidecar(2.5)]),
    ("held by a scheduling gate", PARTS, "gated", True, [GATE] * 2),
    ("stateful", PARTS, "stateful", False, [HOST_PATH] * 2),
]


class Line:
    """What a kubelet logged of a pod, in seconds."""

    def __init__(self, text):
        fields = dict(FIELD.findall(text))
        self.sli = float(fields["podStartSLOduration"])
        # Kubelets before 1.36 have other fields.
        self.is_split = "totalInitContainerRuntime" in fields
        self.stateful = fields.get("isStatefulPod") == "true"
        if self.is_split:
            self.parts = [go_duration(fields[name]) for name in (
                "podStartE2EDuration", "totalImagesPullingTime", "totalInitContainerRuntime")]


class StartupSli:
    """The pods of a run, the same on each of its kubelets."""

    def __init__(self, suite):
        self.suite, self.cluster = suite, suite.cluster
        self.scene = Scenario("startup-sli", "startup SLI", {}, self.play).prepare(suite.cluster)
        prefix = suite.cluster.binaries["hollow-node"] + "-"
        self.older = sorted(path[len(prefix):] for path in glob.glob(f"{prefix}*"))
        self.kinds = {}  # by name of the pod

    def play(self, scene):
        for version in [None, *self.older]:
            node = self.cluster.old_node(version) if version else HOLLOW
            for number, kind in enumerate(KINDS):
                for index, spec in enumerate(kind[-1]):
                    name = f"{'now' if version is None else 'v' + version.replace('.', '-')}-{number}-{index}"
                    self.kinds[name] = kind
                    scene.pod(name, node=node, **{"containers": [MAIN], **spec})
        time.sleep(HELD)
        for name, kind in self.kinds.items():
            if GATE in kind[-1]:
                scene.client.patch(f"{scene.path}/{name}", {"spec": {"schedulingGates": []}}, "merge-patch")
        scene.wait_condition("Ready", len(self.kinds), seconds=180)

    def check(self):
        """Wait for the pods, then compare."""
        self.scene.thread.join()
        title, report = "startup SLI, pod by pod", self.suite.report
        if self.scene.error:
            report.fail(title, str(self.scene.error))
        elif not self.suite.has_events:
            report.skip(title, "this podinit has no --evidence")
        else:
            report.check(title, "as the kubelets', but for what is stated", self.compare, "pods")

    def logged(self):
        """{name of a pod: what its kubelet logged of it}."""
        found = {}
        for path in glob.glob(os.path.join(self.suite.directory, "logs", "hollow-*.log")):
            with open(path, encoding="utf-8", errors="replace") as log:
                for said in map(SAID.search, log):
                    if said and said[1] == self.scene.namespace:
                        found[said[2]] = Line(said[3])
        return found

    def compare(self):
        """Write the table; fail where a part that both count alike is not alike."""
        said = {}

        def all_said():
            said.update(self.logged())
            return said.keys() == self.kinds.keys()

        wait_for("the kubelets' figures", all_said, 30, 1)
        first, by_pod = documents_by_pod(self.suite.recording, self.scene.namespace)
        versions = {node["metadata"]["name"]: node["status"]["nodeInfo"]["kubeletVersion"]
                    for node in self.cluster.client.get("/api/v1/nodes")["items"]}
        rows, wrong, late = collections.defaultdict(list), [], 0
        for recorded in by_pod.values():
            documents = [document for _, _, document in recorded]
            pod = next(d["object"] for d in reversed(documents) if d["object"]["kind"] == "Pod")
            name = pod["metadata"]["name"]
            kind, line = self.kinds[name], said[name]
            reason = kind[2]
            if reason is None and not told_in_time(documents, pod):
                reason, late = "no_evidence", late + 1
            mine, parts = self.figure([first, *documents])
            key = versions[pod["spec"]["nodeName"]], KINDS.index(kind)
            rows[key].append((line, mine, parts))
            wrong += [f"{name}, {kind[0]}: {text}" for text in faults(kind, reason, line, mine, parts)]
        self.write(rows)
        if late > LATE * len(self.kinds):
            wrong.append(f"the Events of {late} pods came before the pods or after they were ready")
        if wrong:
            raise Failure("; ".join(wrong[:5]))
        return sum(map(len, rows.values()))

    def figure(self, documents):
        """(podinit's figure or the reason that it has none, its parts by the truth)."""
        found, truth = replay(self.suite, documents, "fused", "events"), Truth("fused", events=True).feed_all(documents)
        (pod,) = truth.pods.values()
        reasons = [dict(labels)["reason"] for (metric, labels), value in found.items() if metric == EXCLUDED and value]
        parts = startup_sli_parts(pod, lambda milestone: truth.time(pod, milestone))
        if reasons:
            return reasons[0], parts
        if total(found, f"{SLI}_count") != 1:
            return "undecided", parts
        mine = total(found, f"{SLI}_sum")
        if abs(mine - max(parts[0] - parts[1] - parts[2], 0)) > EXACT:
            raise Failure(f"{pod.name}: podinit says {mine}, the truth {parts}")
        return mine, parts

    def write(self, rows):
        lines = list(HEADER)
        for (version, number), found in sorted(rows.items()):
            kubelet = statistics.mean(line.sli for line, _, _ in found)
            cells = [version, KINDS[number][0], str(len(found)), f"{kubelet:.2f} s"]
            reasons = [mine for _, mine, _ in found if isinstance(mine, str)]
            found = [one for one in found if not isinstance(one[1], str)]
            if not found:
                cells += reasons[:1] + ["-"] * 5
            else:
                apart = [line.sli - mine for line, mine, _ in found]
                cells += [f"{statistics.mean(mine for _, mine, _ in found):.2f} s",
                          f"{statistics.median(apart):+.2f} s", f"{max(apart, key=abs):+.2f} s"]
                cells += [f"{statistics.mean(line.parts[i] - parts[i] for line, _, parts in found):+.2f} s"
                          if found[0][0].is_split else "-" for i in range(3)]
            lines.append("| " + " | ".join(cells) + " |")
        with open(os.path.join(self.suite.directory, "startup-sli.md"), "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
        print("\n".join(lines), flush=True)


def told_in_time(documents, pod):
    """Whether a Pulled Event of each container came while the pod was known and not ready. On a busy machine some come
    later, or before the pod does, and podinit has no figure of their pods."""
    containers = sum(len(pod["spec"].get(kind, ())) for kind in ("initContainers", "containers"))
    known, pulled = False, set()
    for document in documents:
        obj = document["object"]
        if obj["kind"] == "Event":
            if known and obj["reason"] == "Pulled":
                pulled.add(obj["involvedObject"].get("fieldPath"))
            continue
        known = True
        if any(one["type"] == "Ready" and one["status"] == "True" for one in obj["status"].get("conditions", ())):
            break
    return len(pulled) >= containers


def faults(kind, reason, line, mine, parts):
    """What is not as the pod's kind has it."""
    _, alike, _, counts, _ = kind
    if reason is not None:
        if mine != reason:
            yield f"podinit says {mine}, not {reason}"
    elif isinstance(mine, str):
        yield f"podinit has no figure: {mine}"
    if not line.is_split:
        return
    if line.stateful == counts:
        yield "the kubelet's log says otherwise of whether it counts"
    if reason is None:
        for name, theirs, own in zip(PARTS, line.parts, parts):
            least, most = BOUNDS[name]
            if name in alike and not least <= theirs - own <= most:
                yield f"{name}: the kubelet says {theirs:.3f} s, podinit {own:.3f} s"
