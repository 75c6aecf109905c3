"""Whether podinit finds a change: recordings by `podinit capture`, compared by `podinit report --baseline`.

The same pods run three times. The second time nothing is different, the third time the sandboxes of one node take
longer.
"""

import json
import os
import subprocess

from nodes import HOLLOW
from processes import Failure, wait_for
from scenario import Scenario

# Two thirds of the pods run on the node that becomes slow.
PODS, SLOW_NODE, OTHER_NODE = 30, "hollow-1", "hollow-0"
# Seconds that a sandbox takes, and how many more on the slow node.
SANDBOX, MORE = 1, 6
HEADER = ["| after | first line |", "|---|---|"]


def run(suite):
    report = suite.report
    if not suite.has_events:
        report.skip("comparison", "this podinit has no --evidence")
        return
    rounds = Rounds(suite)
    before = report.check("comparison: recordings", f"{3 * PODS} Ready", rounds.record, "Ready")
    if before is None:
        return
    report.check("comparison: sandboxes of one node take longer", f"slower, network, {SLOW_NODE}", rounds.finds_the_change)
    report.check("comparison: nothing is different", "same or unclear", rounds.finds_nothing)
    rounds.write()


class Rounds:
    """The recordings of three rounds, and what is said of the last two."""

    def __init__(self, suite):
        self.suite, self.recordings, self.lines = suite, {}, []
        # One namespace: what matches is the namespace, the workload and the images.
        self.scene = Scenario("comparison", "comparison", {}, self.play).prepare(suite.cluster)

    def record(self):
        """Record each round; how many pods became Ready in all."""
        for name, more in (("before", 0), ("again", 0), ("changed", MORE)):
            self.recordings[name] = self.round(name, more)
        return PODS * len(self.recordings)

    def round(self, name, more):
        """Run the pods beside a recording, which ends by itself; its file."""
        suite = self.suite
        directory = os.path.join(suite.directory, f"comparison-{name}")
        os.mkdir(directory)
        scene, self.more = self.scene, more
        capture = suite.processes.start(f"capture-{name}", [
            suite.options.podinit, "capture", "--kubeconfig", suite.cluster.kubeconfig_path("podinit-events"),
            "--namespace", scene.namespace, "--output-dir", directory, "--until-ready", str(PODS), "--for", "10m"])
        # The first list is written before any pod is there.
        wait_for("the recording", lambda: sum(entry.stat().st_size for entry in os.scandir(directory)))
        scene.guarded()
        if scene.error:
            raise scene.error
        wait_for("the recording to end by itself", lambda: capture.poll() is not None)
        log = suite.processes.log_text(capture)
        if capture.returncode != 0 or f"{PODS} startups, {PODS} of them Ready, in " not in log:
            raise Failure(f"capture ended with {capture.returncode}: {log[-300:]}")
        scene.delete_all()
        scene.wait_gone()
        (entry,) = os.scandir(directory)
        return entry.path

    def play(self, scene):
        for index in range(PODS):
            node = SLOW_NODE if index % 3 else OTHER_NODE
            delay = SANDBOX + (self.more if node == SLOW_NODE else 0)
            scene.pod(f"pod-{index}", node={**HOLLOW, "kubernetes.io/hostname": node},
                      annotations={"e2e/sandbox-delay": f"{delay}s"})
        scene.wait_condition("Ready", PODS, seconds=180)

    def compared(self, name):
        """The comparison of a round with the first, as JSON."""
        command = [self.suite.options.podinit, "report", "-o", "json", "--baseline", self.recordings["before"],
                   self.recordings[name]]
        said = subprocess.run(command, capture_output=True, text=True, check=True)
        found = json.loads(said.stdout)
        self.lines.append(f"| {name} | {found['answer']['text']} |")
        return found

    def finds_the_change(self):
        found = self.compared("changed")
        answer, text = found["answer"], found["answer"]["text"]
        if (answer["verdict"], answer["stage"]) != ("slower", "network"):
            raise Failure(text)
        (row,) = (row for row in found["rows"] if row["interval"] == "network")
        size = row["p50"]["difference"]
        if abs(size - MORE) > 2:
            raise Failure(f"the median of network moved by {size} s, not {MORE}: {text}")
        if f", on node {SLOW_NODE} only" not in text:
            raise Failure(text)
        return text

    def finds_nothing(self):
        found = self.compared("again")
        if found["answer"]["verdict"] not in ("same", "unclear"):
            raise Failure(found["answer"]["text"])
        return found["answer"]["text"]

    def write(self):
        with open(os.path.join(self.suite.directory, "comparison.md"), "w", encoding="utf-8") as file:
            file.write("\n".join(HEADER + self.lines) + "\n")
