"""What podinit says is broken at the end of random recordings, beside `problems.py`.

    PODINIT=target/release/podinit python3 -m unittest test_problems
    PODINIT=target/release/podinit python3 test_problems.py FIRST COUNT     # seeds FIRST to FIRST + COUNT - 1
"""

import datetime
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

import problems
from evidence import seconds

START = datetime.datetime(2026, 11, 22, 10, tzinfo=datetime.timezone.utc)
SEEDS = 60
MESSAGES = [
    "0/9 nodes are available: 5 Insufficient cpu, 4 node(s) had untolerated taint(s). preemption: 0/9 nodes.",
    "0/9 nodes are available: 9 node(s) had untolerated taint(s).",
    "0/9 nodes are available: 4 node(s) were unschedulable, 5 Too many pods.",
    "0/4 nodes are unavailable: 4 node(s) didn't match pod topology spread constraints.",
    "0/4 nodes are available: 2 node(s) had volume node affinity conflict, 2 Insufficient memory.",
    "0/4 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found",
    "0/4 nodes are available: 4 cannot allocate all claims. still not schedulable",
    "0/4 nodes are available: 4 node(s) didn't match Pod's node affinity/selector.",
    "0/4 nodes are available: 4 node(s) didn't have free ports for the requested pod ports.",
    "0/4 nodes are available: 3 node(s) had taint {a: b}, that the pod didn't tolerate, 1 Insufficient cpu.",
    "minCount (4) cannot be satisfied: 1 scheduled, 2 remaining",
]
WARNINGS = [
    ("FailedMount", "MountVolume.SetUp failed"), ("FailedAttachVolume", "AttachVolume.Attach failed"),
    ("FailedPrepareDynamicResources", "no driver"), ("NetworkNotReady", "network is not ready"),
    ("FailedCreatePodSandBox", "plugin type=\"calico\" failed (add)"),
    ("FailedCreatePodSandBox", "failed to reserve sandbox name, plugin type=x"),
    ("FailedCreatePodSandBox", "runtime is down"), ("SuccessfulAttachVolume", "AttachVolume.Attach succeeded"),
]
GATES = ["kueue.x-k8s.io/admission", "example.com/quota", "lb.example.com/web"]
FAILURES = {
    "image": [("waiting", "ErrImagePull"), ("waiting", "ImagePullBackOff")],
    "config": [("waiting", "CreateContainerConfigError"), ("waiting", "RunContainerError")],
    "crash": [("waiting", "CrashLoopBackOff"), ("ended", 1), ("running", False)],
    "pull": [("pull", None)],
    "create": [("waiting", "ContainerCreating")],
    "probe": [("running", False)],
    "exited": [("ended", 0)],
}


def stamp(offset, whole=True):
    at = START + datetime.timedelta(seconds=int(offset) if whole else offset)
    return at.isoformat(timespec="seconds" if whole else "milliseconds").replace("+00:00", "Z")


class World:
    """What the pods of one recording have in common, and what of it is broken, how and since when."""

    def __init__(self, rng):
        self.rng = rng
        self.horizon = rng.choice([100, 300, 600, 1200])
        self.whole = rng.random() < 0.5
        registries = [f"r{i}.example.com" for i in range(rng.randint(1, 3))] + [""]
        self.images = [f"{r + '/' * bool(r)}app{i}:1" for r in registries for i in range(rng.randint(1, 5))]
        self.nodes = [f"node-{i}" for i in range(rng.randint(1, 12))]
        self.namespaces = [f"ns-{i}" for i in range(rng.randint(1, 5))]
        self.workloads = []
        for i in range(rng.randint(1, 12)):
            kind, suffix = rng.choice([("ReplicaSet", "-5d4f8"), ("ReplicaSet", ""), ("StatefulSet", ""), ("Job", "")])
            images = [rng.choice(self.images) for _ in range(rng.choice([1, 1, 2]))]
            self.workloads.append((rng.choice(self.namespaces), kind, f"work{i % 9}", suffix, images))
        self.slow = {name for _, _, name, _, _ in self.workloads if rng.random() < 0.3}
        values = [*self.images, *self.nodes, *self.namespaces, *registries[:-1], *(w[2] for w in self.workloads)]
        kinds = [*FAILURES, "image", "pull", "network", "network", "scheduling", "scheduling", "queue", "init", "gate"]
        kinds = rng.choice([kinds, [rng.choice(kinds)]])
        self.broken = [(rng.choice([*values, *registries[:-1] * 3]), rng.choice(kinds),
                        rng.choice([-150, rng.uniform(0, self.horizon)]), rng.choice([1, 1, 0.9, 0.5]))
                       for _ in range(rng.choice([0, 1, 1, 2, 3, 5, 8]))]
        # Of a pod that starts well only the first and the last version are delivered.
        self.coalesced = rng.random() < 0.6
        self.noise = rng.choice([0, 0.03, 0.15])

    def trouble(self, values, at):
        """What goes wrong in a pod that has these values."""
        for value, kind, since, share in self.broken:
            if at >= since and any(v.startswith(value) for v in values) and self.rng.random() < share:
                return kind
        if self.rng.random() < self.noise:
            return self.rng.choice([*FAILURES, "network", "scheduling", "queue", "init", "gate", "terminating", "ends"])
        return None


class LongLife:
    """One pod: the versions of it, and its Events, by the time at which each is delivered."""

    def __init__(self, world, number, created, healthy):
        self.world, self.rng, self.t = world, world.rng, created
        self.documents = []
        rng = self.rng
        namespace, kind, name, suffix, images = rng.choice(world.workloads)
        meta = {"name": f"pod-{number}", "namespace": namespace, "uid": f"uid-{number}",
                "creationTimestamp": stamp(created), "labels": {"pod-template-hash": "5d4f8"}}
        if rng.random() < 0.05:
            del meta["labels"]
        if rng.random() < 0.9:
            meta["ownerReferences"] = [{"apiVersion": "apps/v1", "kind": kind, "name": name + suffix, "uid": name,
                                        "controller": True}]
        self.slow = name in world.slow
        spec = {"containers": [{"name": f"c{i}", "image": image} for i, image in enumerate(images)]}
        self.status = {"phase": "Pending", "conditions": []}
        self.pod = {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec, "status": self.status}
        self.node = rng.choice(world.nodes)
        self.trouble = None if healthy else world.trouble([namespace, name, self.node, *images], created)
        if self.trouble == "init" or rng.random() < 0.2:
            inits = spec["initContainers"] = [{"name": "i0", "image": rng.choice(world.images)}]
            if rng.random() < 0.3:
                inits.append({"name": "i1", "image": rng.choice(world.images), "restartPolicy": "Always"})
        if rng.random() < 0.1:
            spec["readinessGates"] = [{"conditionType": gate} for gate in self.gates()]
        if self.trouble == "gate" or rng.random() < 0.1:
            spec["schedulingGates"] = [{"name": gate} for gate in self.gates()]
        self.brief, self.last = healthy and world.coalesced, None
        self.live()
        if self.last:
            self.brief = False
            self.t, kind = self.last
            self.deliver(kind)

    # -- what is delivered ----------------------------------------------------------------

    def deliver(self, kind="MODIFIED"):
        if self.brief and self.documents:
            self.last = (self.t, kind)
            return
        self.documents.append((self.t, {"type": kind, "object": json.loads(json.dumps(self.pod))}))

    def tell(self, reason, message, container=None, init=False):
        involved = {"kind": "Pod", "uid": self.pod["metadata"]["uid"], "name": self.pod["metadata"]["name"],
                    "namespace": self.pod["metadata"]["namespace"]}
        if container:
            involved["fieldPath"] = f"spec.{'initContainers' if init else 'containers'}{{{container}}}"
        self.documents.append((self.t, {"type": "ADDED", "object": {
            "apiVersion": "v1", "kind": "Event", "involvedObject": involved, "reason": reason, "message": message,
            "reportingComponent": "kubelet", "firstTimestamp": stamp(self.t), "metadata": {"name": "event"}}}))

    def wait(self, least, most):
        seconds = self.rng.uniform(least, most)
        self.t += round(seconds) if self.world.whole else seconds

    def condition(self, kind, status, reason=None, message=None):
        conditions = self.status["conditions"]
        old = next((c for c in conditions if c["type"] == kind), None)
        since = old["lastTransitionTime"] if old and old["status"] == status else stamp(self.t)
        new = {"type": kind, "status": status, "lastTransitionTime": since, "reason": reason, "message": message}
        self.status["conditions"] = [c for c in conditions if c is not old] + [
            {k: v for k, v in new.items() if v is not None}]

    # -- a life ---------------------------------------------------------------------------

    def live(self):
        rng, trouble = self.rng, self.trouble
        self.deliver("ADDED")
        for stage in (self.gated, self.scheduling, self.network, self.init, self.containers, self.readiness):
            if trouble == "terminating" and rng.random() < 0.3:
                self.pod["metadata"]["deletionTimestamp"] = stamp(self.t + 30)
                self.deliver()
                if rng.random() < 0.5:
                    self.wait(1, 40)
                    return self.deliver("DELETED")
                return None
            if trouble == "ends" and rng.random() < 0.3:
                self.status["phase"] = rng.choice(["Succeeded", "Failed"])
                return self.deliver()
            if not stage():
                return None
        self.status["phase"] = "Running"
        self.condition("Ready", "True")
        self.deliver()
        if rng.random() < 0.05:
            self.wait(1, 100)
            self.deliver("DELETED")
        return None

    def goes_on(self):
        return self.rng.random() < 0.4

    def gates(self):
        """That of the recording as a rule; sometimes some, one of them twice or without a name."""
        return [GATES[0]] if self.rng.random() < 0.7 else self.rng.choices([*GATES, ""], k=self.rng.randint(1, 3))

    def troubles(self, *kinds):
        return self.trouble in kinds

    def gated(self):
        spec = self.pod["spec"]
        while spec.get("schedulingGates"):
            self.wait(1, 60 if self.slow else 15)
            if self.troubles("gate") and not self.goes_on():
                return False
            spec["schedulingGates"] = spec["schedulingGates"][1:] if self.rng.random() < 0.5 else []
            if not spec["schedulingGates"]:
                del spec["schedulingGates"]
            self.deliver()
        return True

    def scheduling(self):
        rng = self.rng
        if self.troubles("queue"):
            self.wait(20, 200)
            if not self.goes_on():
                return False
        if self.troubles("scheduling"):
            messages = rng.sample(MESSAGES, rng.randint(1, 2))
            for _ in range(rng.randint(1, 8)):
                reason = rng.choice(["Unschedulable", "Unschedulable", "Unschedulable", "SchedulerError"])
                self.condition("PodScheduled", "False", reason, rng.choice(messages))
                self.status.pop("nominatedNodeName", None)
                if rng.random() < 0.1:
                    self.status["nominatedNodeName"] = self.node
                self.deliver()
                self.wait(1, 150)
            if not self.goes_on():
                return False
        self.wait(0, 3)
        self.status.pop("nominatedNodeName", None)
        self.pod["spec"]["nodeName"] = self.node
        self.condition("PodScheduled", "True")
        self.deliver()
        return True

    def network(self):
        rng = self.rng
        old = rng.random() < 0.1
        if self.troubles("network") and rng.random() < 0.2:
            self.wait(50, 300)
            if not self.goes_on():
                return False
        self.wait(0, 2)
        self.status["startTime"] = stamp(self.t)
        if not old:
            message = rng.choice(["no pod sandbox", "pod sandbox has no IP address", None])
            self.condition("PodReadyToStartContainers", "False", message and "PodSandboxNotReady", message)
        self.deliver()
        if self.troubles("network"):
            for _ in range(rng.randint(1, 10)):
                self.tell(*rng.choice(WARNINGS))
                if not old and rng.random() < 0.2:
                    self.condition("PodReadyToStartContainers", "False", "PodSandboxNotReady",
                                   rng.choice(["no pod sandbox", "pod sandbox has no IP address"]))
                    self.deliver()
                self.wait(1, 120)
            if not self.goes_on():
                return False
        self.wait(0, 4)
        if not old or rng.random() < 0.1:
            self.condition("PodReadyToStartContainers", "True")
        if not self.pod["spec"].get("initContainers"):
            self.condition("Initialized", "True")
        self.deliver()
        return True

    def state(self, container, init, kind, what):
        """Put a container into a state."""
        key = "initContainerStatuses" if init else "containerStatuses"
        statuses = self.status.setdefault(key, [])
        old = next((s for s in statuses if s["name"] == container["name"]), {})
        state, new = None, {"name": container["name"], "ready": False, "started": False, "image": container["image"]}
        if kind in ("waiting", "pull"):
            state = {"waiting": {"reason": what or "ContainerCreating"}}
            if kind == "pull":
                self.tell("Pulling", f'Pulling image "{container["image"]}"', container["name"], init)
        elif kind == "running":
            state = {"running": {"startedAt": stamp(self.t)}}
            new["started"] = new["ready"] = bool(what)
            if "running" in old.get("state", {}):
                state = old["state"]
        else:
            began = old.get("state", {}).get("running", {}).get("startedAt", stamp(self.t))
            state = {"terminated": {"exitCode": what, "startedAt": began, "finishedAt": stamp(self.t)}}
        last = old.get("state", {}).get("terminated") or old.get("lastState", {}).get("terminated")
        if last and "terminated" not in state:
            new["lastState"] = {"terminated": last}
        new["state"] = state
        self.status[key] = [s for s in statuses if s is not old] + [new]
        if self.rng.random() < 0.5:
            self.rng.shuffle(self.status[key])

    def pull(self, container, init):
        image = container["image"]
        if self.rng.random() < 0.8:
            if self.rng.random() < 0.5:
                self.tell("Pulling", f'Pulling image "{image}"', container["name"], init)
                self.wait(0, 10)
                text = f'Successfully pulled image "{image}" in 1.2s (1.5s including waiting). Image size: 7 bytes.'
            else:
                text = f'Container image "{image}" already present on machine'
            self.tell("Pulled", text, container["name"], init)

    def fail(self, container, init, kinds):
        """Episodes of failures of one container; whether it recovers."""
        rng = self.rng
        for _ in range(rng.choice([1, 2, 4, 12, 25])):
            self.state(container, init, *rng.choice(FAILURES[rng.choice(kinds)]))
            self.deliver()
            self.wait(1, rng.choice([10, 60, 300]))
        return self.goes_on()

    def init(self):
        specs = self.pod["spec"].get("initContainers") or []
        for container in specs:
            self.state(container, True, "waiting", "PodInitializing")
        for container in specs:
            if self.troubles("init") and not self.fail(container, True, self.rng.sample(
                    ["image", "config", "crash", "pull", "create"], 2)):
                return False
            self.pull(container, True)
            sidecar = container.get("restartPolicy") == "Always"
            self.state(container, True, "running", sidecar)
            self.deliver()
            self.wait(1, 60 if self.slow else 8)
            if not sidecar:
                if self.troubles("init") and self.rng.random() < 0.5:
                    return False
                self.state(container, True, "ended", 0)
        self.condition("Initialized", "True")
        if specs:
            self.deliver()
        return True

    def containers(self):
        rng = self.rng
        containers = self.pod["spec"]["containers"]
        if rng.random() < 0.8:
            for container in containers:
                self.state(container, False, "waiting", "ContainerCreating")
            self.deliver()
        for container in containers if rng.random() < 0.8 else containers[::-1]:
            if self.troubles(*FAILURES) and rng.random() < 0.7:
                kinds = [self.trouble] + [rng.choice([*FAILURES])] * (rng.random() < 0.2)
                if not self.fail(container, False, kinds):
                    return False
            self.pull(container, False)
            self.state(container, False, "running", False)
            self.deliver()
            self.wait(0, 80 if self.slow else 12)
            self.state(container, False, "running", True)
            self.deliver()
        self.condition("ContainersReady", "True")
        return True

    def readiness(self):
        gates = [gate["conditionType"] for gate in self.pod["spec"].get("readinessGates") or [] if gate["conditionType"]]
        for gate in gates:
            self.deliver()
            self.wait(0, 60 if self.slow else 15)
            if self.rng.random() < 0.2:
                return False
            # Now and then a pod is Ready without it.
            if self.rng.random() < 0.9:
                self.condition(gate, "True")
        if gates:
            self.deliver()
        return True


class Crowd:
    """What the pods have in common of a recording of short lives, and the values that are broken."""

    def __init__(self, rng):
        self.rng, self.horizon, self.whole, self.coalesced, self.slow = rng, 400, True, True, ()
        registries = [f"r{i}.example.com/" for i in range(rng.randint(1, 8))]
        self.images = [f"{r}app{i}:1" for r in registries for i in range(rng.randint(1, 4))]
        self.nodes = [f"node-{i}" for i in range(rng.choice([2, 10, 40]))]
        self.namespaces = [f"ns-{i}" for i in range(rng.choice([1, 3, 12]))]
        self.workloads = [(rng.choice(self.namespaces), "Job", f"work{i}", "", [rng.choice(self.images)])
                          for i in range(rng.choice([2, 10, 40]))]
        kinds = ["image", "image", "pull", "config", "crash", "create", "scheduling"]
        self.kinds = rng.sample(kinds, rng.randint(1, 2))
        values = [("node", n) for n in self.nodes] + [("namespace", n) for n in self.namespaces]
        values += [("image", i) for i in self.images] + [("registry", r) for r in registries]
        self.culprits = rng.sample(values, min(len(values), rng.choice([0, 1, 2, 3, 7, 8])))
        # The first ones are behind most of the pods.
        ratio = rng.choice([0.65, 0.65, 1])
        self.weights = [ratio ** i for i in range(len(self.culprits))]
        self.others = rng.choice([0, 0.05, 0.2, 0.5])
        self.avoids = rng.choice([0, 0.8, 1])

    def trouble(self, *_):
        return self.rng.choice(self.kinds)


class ShortLife(LongLife):
    """A pod that soon is ready, or soon is in trouble and stays there, often because of what is broken."""

    def live(self):
        rng, spec, world = self.rng, self.pod["spec"], self.world
        spec.pop("readinessGates", None)
        spec.pop("schedulingGates", None)
        image = rng.choice(world.images)
        dimension, value = None, None
        if world.culprits and (self.trouble and rng.random() > world.others):
            (dimension, value), = rng.choices(world.culprits, world.weights)
        elif not self.trouble and rng.random() < world.avoids:
            self.node = rng.choice([n for n in world.nodes if ("node", n) not in world.culprits] or world.nodes)
            image = rng.choice([i for i in world.images if ("image", i) not in world.culprits] or world.images)
        if dimension == "node":
            self.node = value
        elif dimension == "namespace":
            self.pod["metadata"]["namespace"] = value
        elif dimension:
            image = rng.choice([i for i in world.images if i.startswith(value)])
        spec["containers"] = [{"name": "c0", "image": image}]
        self.t += rng.choice([0, 0, 20, 40])
        if self.trouble == "scheduling":
            self.condition("PodScheduled", "False", "Unschedulable", rng.choice(MESSAGES[:2]))
            return self.deliver("ADDED")
        spec["nodeName"] = self.node
        self.status["startTime"] = stamp(self.t)
        for kind in ("PodScheduled", "PodReadyToStartContainers", "Initialized"):
            self.condition(kind, "True")
        if self.trouble:
            what = rng.choice(FAILURES[self.trouble])
            self.state(spec["containers"][0], False, *what if what[0] != "pull" else ("waiting", None))
        self.deliver("ADDED")
        if self.trouble == "pull":
            self.tell("Pulling", "Pulling image", "c0")
        if self.trouble:
            if rng.random() < 0.1:
                self.t += rng.choice([14, 15, 16, 30])
                self.state(spec["containers"][0], False, "running", False)
                self.deliver()
            return None
        self.pull(spec["containers"][0], False)
        if rng.random() < 0.05:
            self.pod["metadata"]["deletionTimestamp"] = stamp(self.t)
            return self.deliver()
        self.t += rng.choice([1, 2, 10])
        for kind in ("ContainersReady", "Ready"):
            self.condition(kind, "True")
        return self.deliver()


def recording(seed):
    """The documents of a random recording."""
    rng = random.Random(seed)
    world, life_of = (World(rng), LongLife) if rng.random() < 0.4 else (Crowd(rng), ShortLife)
    many = rng.choice([0, 0, 20, 60, 150]) if rng.random() < 0.98 else 1200
    lives = []
    for number in range(many + rng.choice([rng.randint(1, 60), 60, 100])):
        early = rng.random() < 0.15
        created = rng.uniform(-150, 0) if early else rng.uniform(0, world.horizon)
        lives.append(life_of(world, number, round(created) if world.whole else created, number < many))
    # At the end, the time moves with a pod that is in no trouble.
    end = LongLife(world, 99999, world.horizon, True).documents[0]
    documents, items = [end], []
    for life in lives:
        late = life.t if rng.random() > 0.05 else rng.uniform(1, world.horizon)
        # Of what was before the list, or before the pod was selected, the newest version is all there is.
        begins = 0 if life.documents[0][0] < 0 else life.documents[0][0]
        if rng.random() < 0.05:
            begins = max(begins, min(late, world.horizon))
        before = [d for at, d in life.documents if at < begins and d["object"]["kind"] == "Pod"]
        if before and before[-1]["type"] != "DELETED":
            if begins == 0:
                items.append(before[-1]["object"])
            else:
                documents.append((begins, before[-1] | {"type": "ADDED"}))
        if not before or before[-1]["type"] != "DELETED":
            documents += [(at, d) for at, d in life.documents if begins <= at <= world.horizon]
    documents.sort(key=lambda d: d[0])
    lines = [{"kind": "PodList", "apiVersion": "v1", "metadata": {"resourceVersion": "1"}, "items": items,
              "listBegan": stamp(0), "observedAt": stamp(0)}]
    for version, pod in enumerate(items, 2):
        pod["metadata"]["resourceVersion"] = str(version)
    for version, (at, document) in enumerate(documents, len(items) + 2):
        document["object"]["metadata"]["resourceVersion"] = str(version)
        lines.append({**document, "observedAt": stamp(at, world.whole)})
    return lines


def said(podinit, path):
    """What podinit says, in the form of `problems.py`."""
    done = subprocess.run([podinit, "problems", "--file", path, "--output", "json", "--evidence", "events",
                           "--timestamps", "api", "--log-level", "error"], capture_output=True, text=True, check=False)
    if done.returncode not in (0, 3):
        raise AssertionError(done.stderr)
    found = json.loads(done.stdout)["problems"]
    keys = ("cause", "dimension", "value", "pods", "nodes", "workloads", "namespaces")
    return [{k: p[k] for k in keys} | {
        "since": seconds(p["since"]), "oldest": [f"{o['namespace']}/{o['name']}" for o in p["oldest"]]} for p in found]


def difference(podinit, seed):
    """One line that says in what the two differ; None where they agree."""
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory, "recording.json")
        path.write_text("".join(json.dumps(d) + "\n" for d in recording(seed)), encoding="utf-8")
        expected, found = problems.problems_of_file(path), said(podinit, path)
    if expected == found:
        return None
    return "\n".join([f"seed {seed}", *(f"  expected {p}" for p in expected if p not in found),
                      *(f"  podinit  {p}" for p in found if p not in expected),
                      *["  in another order"] * (sorted(map(str, expected)) == sorted(map(str, found)))])


class Problems(unittest.TestCase):
    @unittest.skipUnless(os.environ.get("PODINIT"), "PODINIT names no podinit")
    def test_podinit_says_of_random_recordings_what_the_specification_says(self):
        wrong = [found for seed in range(SEEDS) if (found := difference(os.environ["PODINIT"], seed))]
        self.assertEqual([], wrong)


if __name__ == "__main__":
    if len(sys.argv) == 3:
        first, count = map(int, sys.argv[1:])
        found = [text for seed in range(first, first + count) if (text := difference(os.environ["PODINIT"], seed))]
        print("\n".join([*found, f"{len(found)} of {count} differ"]))
        sys.exit(bool(found))
    unittest.main()
