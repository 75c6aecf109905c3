"""When kubelets of several versions say that the network is ready, against when it was.

The same pods on a kubelet of each version, with sandboxes and pulls that take their time. The
runtime in memory writes down when it had made each sandbox; beside that stand what the condition
says and what podinit makes of the recording, without and with Events. The table goes to kubelets.md.
"""

import collections
import glob
import json
import os
import statistics
import subprocess

from compare import differences
from exporter import figures, total
from nodes import HOLLOW
from orders import bounds, documents_by_pod, outside
from processes import Failure, wait_for
from scenario import Scenario
from truth import Truth, find, seconds

# Seconds; of each version one pod for each.
PULLS = (0, 0.3, 1, 2, 3, 4, 5, 6, 8, 10, 12, 14, 16, 18)
# The first minor version whose kubelet sets the condition once the sandbox is ready.
PROMPT = 36
# A kubelet sends its status with its next sync; Events are stamped where the thing happens.
PROMPT_ERROR, EVENT_ERROR = 3.0, 1.0
# Pods whose figures have to be the same in every order of the watches, so that the comparison says something. A busy
# machine brings Events and statuses closer together, and leaves fewer of them.
FIRM = 7
SOURCES = ("condition", "without", "with")
HEADER = [
    "| kubelet | pods | condition says: p50 | max | podinit without Events: p50 | max | with Events: p50 | max |",
    "|---|---:|---:|---:|---:|---:|---:|---:|"]


class Kubelets:
    """The kubelets of a run, the same pods on each, and two exporters of their namespace."""

    def __init__(self, suite):
        self.suite, self.cluster = suite, suite.cluster
        self.scene = Scenario("kubelets", "kubelets", {}, self.play).prepare(suite.cluster)
        prefix = suite.cluster.binaries["hollow-node"] + "-"
        self.older = sorted(path[len(prefix):] for path in glob.glob(f"{prefix}*"))
        flags = ["--namespace", self.scene.namespace, "--timestamps", "api"]
        self.exporters = [suite.exporter("kubelets", *flags).ready()]
        if suite.has_events:
            self.exporters.append(suite.exporter(
                "kubelets-events", *flags, "--evidence", "events",
                kubeconfig=suite.cluster.kubeconfig_path("podinit-events")).ready())

    def play(self, scene):
        for version in [None, *self.older]:
            node = self.cluster.old_node(version) if version else HOLLOW
            for index, pull in enumerate(PULLS):
                scene.pod(f"{'now' if version is None else 'v' + version.replace('.', '-')}-{index}", node=node,
                          container={"readinessProbe": {"exec": {"command": ["after", "2s"]}, "periodSeconds": 1}},
                          annotations={"e2e/sandbox-delay": f"{800 + 100 * (index % 5)}ms",
                                       "e2e/pull-delay": f"{pull}s"})
        scene.wait_condition("Ready", len(PULLS) * (1 + len(self.older)), seconds=120)

    def check(self):
        """Wait for the pods, then compare; each check is a row."""
        self.scene.thread.join()
        report = self.suite.report
        if self.scene.error:
            report.fail("kubelets of several versions", str(self.scene.error))
            return
        title = "kubelets of several versions"
        report.check(f"{title}, without Events", "as the recording", self.plain_agrees, "startups")
        if self.suite.has_events:
            report.check(f"{title}, with Events", "as one order of the two watches", self.informed_agrees, "firm pods")
            report.check(f"{title}, replayed", "as the recording, both clocks, with and without Events",
                         self.replays_agree, "figures")
            report.check(f"{title}: when the network was ready", "as the runtime says", self.table, "pods")
        else:
            report.skip(f"{title}, with Events", "this podinit has no --evidence")
        for exporter in self.exporters:
            exporter.stop()

    def plain_agrees(self):
        state = {}

        def agrees():
            state["truth"] = self.suite.truth("api", self.scene.namespace)
            state["lines"] = differences(self.exporters[0].figures(), state["truth"])
            return not state["lines"]

        insist("podinit to agree with the recording", agrees, state)
        return state["truth"].counters[("podinit_pods_finished_total", "ready")]

    def informed_agrees(self):
        state = {}

        def agrees():
            allowed, state["firm"] = bounds(self.suite.recording, self.scene.namespace)
            state["lines"] = outside(self.exporters[1].figures(), allowed)
            return not state["lines"]

        insist("podinit to agree with an order of the recording", agrees, state)
        if state["firm"] < FIRM:
            raise Failure(f"only {state['firm']} pods are told of alike in every order")
        return state["firm"]

    # -- replays --------------------------------------------------------------------------

    def recorded(self):
        """(the first list, {uid: documents in their order}) of the namespace."""
        first, by_pod = documents_by_pod(self.suite.recording, self.scene.namespace)
        return first, {uid: [d for _, _, d in documents] for uid, documents in by_pod.items()}

    def replays_agree(self):
        first, by_pod = self.recorded()
        documents = sorted((d for of_pod in by_pod.values() for d in of_pod), key=lambda d: d["observedAt"])
        compared = 0
        for clock in ("api", "fused"):
            for evidence in ("none", "events"):
                truth = Truth(clock, events=evidence == "events").feed_all([first, *documents])
                found = replay(self.suite, [first, *documents], clock, evidence)
                lines = differences(found, truth)
                if lines:
                    raise Failure(f"{clock}, evidence {evidence}: {'; '.join(lines[:5])}")
                compared += len(found)
        return compared

    # -- the table ------------------------------------------------------------------------

    def table(self):
        """Write how far each source is from the runtime's instant, by version; fail where one is too far."""
        first, by_pod = self.recorded()
        versions = {node["metadata"]["name"]: node["status"]["nodeInfo"]["kubeletVersion"]
                    for node in self.cluster.client.get("/api/v1/nodes")["items"]}
        errors = collections.defaultdict(lambda: collections.defaultdict(list))
        for uid, ready in sandboxes(self.suite.directory).items():
            if uid not in by_pod:
                continue
            pod = next(d["object"] for d in reversed(by_pod[uid]) if d["object"]["kind"] == "Pod")
            said = self.instants([first, *by_pod[uid]])
            for source in SOURCES:
                errors[versions[pod["spec"]["nodeName"]]][source].append(said[source] - ready)
        lines = list(HEADER)
        for version, found in sorted(errors.items()):
            cells = [f"{figure:.2f} s" for source in SOURCES for figure in spread(found[source])]
            lines.append(f"| {version} | {len(found['with'])} | " + " | ".join(cells) + " |")
        with open(os.path.join(self.suite.directory, "kubelets.md"), "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
        print("\n".join(lines), flush=True)
        judge(errors, 1 + len(self.older))
        return sum(len(found["with"]) for found in errors.values())

    def instants(self, documents):
        """When the network was ready of one pod, as its condition, and as podinit without and with Events says."""
        said = {"condition": next(
            seconds(entry["lastTransitionTime"]) for d in documents[1:] if d["object"]["kind"] == "Pod"
            for entry in [find(d["object"], "PodReadyToStartContainers")] if entry and entry["status"] == "True")}
        for source, evidence in (("without", "none"), ("with", "events")):
            found = replay(self.suite, documents, "fused", evidence)
            truth = Truth("fused", events=evidence == "events").feed_all(documents)
            scheduled = truth.begin(next(iter(truth.pods.values())), "Scheduled")
            said[source] = scheduled + total(found, "podinit_stage_duration_seconds_sum", stage="network")
        return said


def replay(suite, documents, clock, evidence):
    """What `podinit replay` says of documents."""
    path = os.path.join(suite.directory, "replay.jsonl")
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(document) + "\n" for document in documents)
    ran = subprocess.run([suite.options.podinit, "replay", "--timestamps", clock, "--evidence", evidence, path],
                         capture_output=True, check=False, text=True, timeout=60)
    if ran.returncode != 0:
        raise Failure(f"podinit replay: {ran.stderr[-300:]}")
    return figures(ran.stdout)


def sandboxes(directory):
    """{uid: the instant at which the runtime had made the pod's first sandbox}."""
    found = {}
    for path in glob.glob(os.path.join(directory, "sandboxes-*.jsonl")):
        with open(path, encoding="utf-8") as file:
            for line in file:
                said = json.loads(line)
                found.setdefault(said["UID"], go_time(said["Ready"]))
    return found


def go_time(text):
    """Seconds of a Go time in UTC, which has up to nine digits of a second."""
    whole, _, fraction = text.rstrip("Z").partition(".")
    return seconds(whole + "Z") + float("0." + (fraction or "0"))


def spread(errors):
    """The median and the greatest error, without signs."""
    sizes = [abs(error) for error in errors]
    return statistics.median(sizes), max(sizes)


def judge(errors, versions):
    """Late kubelets are late by the pull, prompt ones are not, and with Events podinit is near on every one."""
    if len(errors) != versions:
        raise Failure(f"pods of {sorted(errors)}, {versions} versions expected")
    for version, found in errors.items():
        prompt = int(version.split(".")[1]) >= PROMPT
        greatest = {source: max(map(abs, found[source])) for source in SOURCES}
        if greatest["with"] > EVENT_ERROR:
            raise Failure(f"{version}: with Events off by up to {greatest['with']:.2f} s")
        if prompt and greatest["without"] > PROMPT_ERROR:
            raise Failure(f"{version}: without Events off by up to {greatest['without']:.2f} s")
        if not prompt and greatest["condition"] < max(PULLS) - 2:
            raise Failure(f"{version}: the condition is late by no more than {greatest['condition']:.2f} s")


def insist(what, agrees, state):
    """Wait until `agrees`; fail with the lines that it left in `state`."""
    try:
        wait_for(what, agrees, 30, 1)
    except Failure as failure:
        raise Failure("; ".join(state.get("lines", [])[:5]) or str(failure)) from failure
