#!/usr/bin/env python3
"""Released kubectls against the simulated cluster of `podinit demo`: what it, its page and `explain` print works.

    tests/e2e/kubectl.py --podinit FILE KUBECTL...

The suite runs it with every kubectl among its binaries (`kubectl-1.32`, `kubectl-1.37`).
"""

import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request

from processes import Failure, Processes, free_port, wait_for

# Scene -> the word in the status of its pods, and what the request for their logs says. Back-offs and pulls take turns.
SCENES = {
    "crashloop": ("CrashLoopBackOff", "fatal: the setting PAYMENT_URL is missing"),
    "registry-down": ("ImagePullBackOff", "is waiting to start"),
}
# So many pods are described in each scene.
DESCRIBED = 8
# Scene -> causes of its problems, and what the answer to the next command of each says.
ANSWERS = {
    "registry-down": {"image": "connection refused"},
    "cni-outage": {"cni": "cni-plugin"},
    "bad-node": {"sandbox": "node-a0"},
    "no-capacity": {"resources": "Allocated resources:"},
    "crashloop": {"crash": "fatal: the setting PAYMENT_URL is missing"},
    "gang": {"gang": "Pending"},
    "two-problems": {"sandbox": "node-a0", "image": "connection refused"},
    "bad-image": {"image": "not found"},
    "zone-outage": {"cni": "node-b0"},
    "secret-missing": {"config": 'secrets "database" not found'},
    "slow-nodes": {"node_startup": "node.cilium.io/agent-not-ready"},
    "device-plugin-gone": {"rejected": "Allocated resources:"},
    "gate-forgotten": {"gate": "spare"},
    "wrong-clocks": {"clock": "Z"},
    "bad-rollout": {"image": "not found"},
}


def run(suite):
    directory = suite.options.binaries
    for name in sorted(name for name in os.listdir(directory) if name.startswith("kubectl-")):
        for scene in SCENES:
            suite.report.check(f"demo, {name}, {scene}", "every command works",
                               lambda name=name, scene=scene: check(
                                   suite.processes, suite.options.podinit, os.path.join(directory, name), scene),
                               "commands")


    newest = os.path.join(directory, "kubectl-1.37")
    for scene in ANSWERS:
        suite.report.check(f"demo, {scene}", "the next command answers",
                           lambda scene=scene: answered(suite.processes, suite.options.podinit, newest, scene), "commands")


class Kubectl:
    """A kubectl that finds the demo's cluster."""

    def __init__(self, binary, kubeconfig):
        self.binary, self.kubeconfig, self.ran = binary, kubeconfig, 0

    def __call__(self, *arguments, fails=False):
        """What it prints; it must end well, unless it `fails`."""
        environment = {"KUBECONFIG": self.kubeconfig, "HOME": "/nonexistent", "PATH": os.environ["PATH"]}
        ran = subprocess.run([self.binary, *arguments], capture_output=True, text=True, timeout=60, check=False,
                             env=environment)
        self.ran += 1
        if (ran.returncode != 0) != fails or "panic" in ran.stderr:
            raise Failure(f"kubectl {' '.join(arguments)}: status {ran.returncode}: {ran.stderr[-500:]}")
        return ran.stdout + ran.stderr


def check(processes, podinit, binary, scene):
    """How many commands worked."""
    directory = tempfile.mkdtemp(prefix="podinit-demo-")
    kubeconfig, port = os.path.join(directory, "kubeconfig"), free_port()
    demo = processes.start(f"demo-kubectl-{scene}", [
        podinit, "demo", "--listen", f"127.0.0.1:{port}", "--scene", scene, "--scene-after", "1s", "--speed", "4",
        "--evidence", "events", "--write-kubeconfig", kubeconfig])
    try:
        wait_for("the kubeconfig", lambda: os.path.exists(kubeconfig), 30)
        kubectl = Kubectl(binary, kubeconfig)
        word, said = SCENES[scene]
        # Those that the scene holds up stay; the first ones show other oddities and go.
        failing = wait_for(f"pods with {word}", lambda: of_scene(kubectl, word), 120)
        described(kubectl)
        namespace, name = failing[-1][:2]
        describes(kubectl, namespace, name)
        for needed, arguments in [
                ("node-a0", ["get", "nodes"]), ("shop", ["get", "ns"]), ("Scheduled", ["get", "events", "-A"]),
                ("Ready", ["describe", "node", "node-a0"]),
                (name, ["-n", namespace, "events", "--for", f"pod/{name}"]),
                (name, ["-n", namespace, "get", "pod", name, "-o", "yaml"])]:
            expect(kubectl(*arguments), needed, arguments)
        if scene == "crashloop":
            for previous in ([], ["--previous"]):
                arguments = ["-n", namespace, "logs", name, "--tail=50", *previous]
                # It may just run again, and have nothing to complain about yet.
                wait_for(f"kubectl {' '.join(arguments)} to say {said!r}", lambda given=arguments: said in kubectl(*given))
        else:
            arguments = ["-n", namespace, "logs", name]
            expect(kubectl(*arguments, fails=True), said, arguments)
        printed(kubectl, binary, port)
    finally:
        status = processes.stop(demo, seconds=30)
    if status != 0 or os.path.exists(kubeconfig):
        raise Failure(f"the demo ended with {status}, and its kubeconfig is {os.path.exists(kubeconfig)}ly there")
    os.rmdir(directory)
    return kubectl.ran


def rows(kubectl):
    table = kubectl("get", "pods", "-A", "--no-headers").splitlines()
    return [row.split() for row in table if "NAMESPACE" not in row]


def of_scene(kubectl, word):
    found = [row for row in rows(kubectl) if row[3] == word]
    return found if len(found) >= 20 else None


def described(kubectl):
    """Describe one pod of each status. Pods go while this runs."""
    by_status = {row[3]: row for row in rows(kubectl)}
    for namespace, name, *_ in list(by_status.values())[:DESCRIBED]:
        try:
            describes(kubectl, namespace, name)
        except Failure as failure:
            if "not found" not in str(failure):
                raise


def describes(kubectl, namespace, name):
    text = kubectl("-n", namespace, "describe", "pod", name)
    for needed in (f"Name: {' ' * 9}", "Containers:", "Conditions:", "Events:"):
        expect(text, needed.strip(), ["describe", name])


def problems_of(port):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/problems", timeout=10) as answer:
        return json.load(answer)["problems"]


def in_shell(binary, command):
    """Runs a command that the exporter names: it reaches the demo without any environment."""
    if "--kubeconfig" not in command:
        raise Failure(f"{command} does not say which cluster")
    with tempfile.TemporaryDirectory() as directory:
        os.symlink(os.path.abspath(binary), os.path.join(directory, "kubectl"))
        # kubectl caches below its home.
        environment = {"PATH": f"{directory}:{os.environ['PATH']}", "HOME": directory}
        return subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=60, check=False,
                              env=environment)


def printed(kubectl, binary, port):
    for problem in wait_for("a problem", lambda: problems_of(port), 120):
        command = problem["next_command"]
        ran = in_shell(binary, command)
        kubectl.ran += 1
        if ran.returncode != 0 and "not found" not in ran.stderr:
            raise Failure(f"{command}: status {ran.returncode}: {ran.stderr[-500:]}")


def answered(processes, podinit, binary, scene):
    """How many next commands of a scene answered."""
    port, directory = free_port(), tempfile.mkdtemp(prefix="podinit-demo-")
    # What a queue takes by itself must be known before it is held up.
    demo = processes.start(f"demo-answers-{scene}", [
        podinit, "demo", "--listen", f"127.0.0.1:{port}", "--scene", scene, "--scene-after", "2m", "--speed", "10",
        "--write-kubeconfig", os.path.join(directory, "kubeconfig")])
    try:
        for cause, needed in ANSWERS[scene].items():
            seen = {}

            def answers(cause=cause, needed=needed, seen=seen):
                try:
                    commands = [one["next_command"] for one in problems_of(port) if one["cause"] == cause]
                except OSError:
                    return False
                for command in commands:
                    ran = in_shell(binary, command)
                    seen[command] = ran.stdout + ran.stderr
                return any(needed in text for text in seen.values())

            try:
                wait_for(f"{scene}: an answer about {cause}", answers, 240)
            except Failure as failure:
                said = {command: text[-300:] for command, text in seen.items()}
                raise Failure(f"{failure}: {said}") from failure
    finally:
        processes.stop(demo, seconds=30)
    return len(ANSWERS[scene])


def expect(text, needed, arguments):
    if needed not in text:
        raise Failure(f"kubectl {' '.join(arguments)} does not say {needed!r}: {text[-500:]}")


def main():
    if len(sys.argv) < 4 or sys.argv[1] != "--podinit":
        sys.exit(__doc__)
    processes = Processes(tempfile.mkdtemp(prefix="podinit-kubectl-"))
    try:
        for binary in sys.argv[3:]:
            for scene in SCENES:
                began = time.monotonic()
                ran = check(processes, sys.argv[2], binary, scene)
                print(f"{binary}, {scene}: {ran} commands in {time.monotonic() - began:.0f} s", flush=True)
    finally:
        processes.stop_all()


if __name__ == "__main__":
    main()
