"""`podinit report --baseline` on two recordings: wall and CPU time, and the most memory.

    python3 benches/comparison.py target/release/podinit [STARTUPS]

Each recording holds an empty list and four watch events of each startup, as `podinit capture` writes them,
some 2 kB each. The pods of the second need 3 s more on half of the nodes.
"""

import datetime
import gzip
import json
import os
import random
import sys
import tempfile
import time

NODES, WORKLOADS, PADDING = 200, 300, "x" * 1200


def at(seconds):
    """An instant as Kubernetes states it, and one as `capture` does."""
    moment = datetime.datetime.fromtimestamp(1_772_359_200 + seconds, datetime.timezone.utc)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ"), moment.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def events(rng, number, slower):
    """The watch events of one startup, with the instants of their arrival."""
    created = number * 3600 / 50_000 * 4
    node = rng.randrange(NODES)
    scheduled = created + rng.uniform(0, 1)
    network = scheduled + rng.lognormvariate(0.7, 0.4) + (3 if slower and node % 2 else 0)
    ready = network + rng.lognormvariate(1.5, 0.6)
    workload = rng.randrange(WORKLOADS)
    pod = {
        "kind": "Pod", "apiVersion": "v1",
        "metadata": {
            "namespace": f"team-{workload % 20}", "name": f"web-{workload}-{number}",
            "uid": f"{slower:08x}-0000-4000-8000-{number:012x}", "creationTimestamp": at(created)[0],
            "labels": {"pod-template-hash": "5d"}, "annotations": {"padding": PADDING},
            "ownerReferences": [{"kind": "ReplicaSet", "name": f"web-{workload}-5d", "controller": True}]},
        "spec": {"containers": [{"name": "app", "image": f"registry.example/web-{workload}:v{int(slower)}"}]},
        "status": {"phase": "Pending", "conditions": []},
    }
    steps = [(created, []), (scheduled, ["PodScheduled"]), (network, ["PodReadyToStartContainers", "Initialized"]),
             (ready, ["ContainersReady", "Ready"])]
    for step, (when, kinds) in enumerate(steps):
        if step == 1:
            pod["spec"]["nodeName"] = f"node-{node}"
        pod["metadata"]["resourceVersion"] = str(10 * number + step + 1)
        pod["status"]["conditions"] += [
            {"type": kind, "status": "True", "lastTransitionTime": at(when)[0]} for kind in kinds]
        kind = "MODIFIED" if step else "ADDED"
        yield when, json.dumps({"observedAt": at(when)[1], "type": kind, "object": pod})


def recording(path, startups, slower):
    """Write a recording; its size without compression."""
    rng, waiting, size = random.Random(int(slower)), [], 0
    with gzip.open(path, "wt", compresslevel=3) as file:
        file.write(json.dumps({"observedAt": at(0)[1], "kind": "PodList", "apiVersion": "v1", "metadata": {}, "items": []}) + "\n")
        for number in range(startups):
            waiting += events(rng, number, slower)
            if len(waiting) > 40_000 or number == startups - 1:
                # Nothing that comes later arrived more than so much earlier.
                waiting.sort()
                keep = 0 if number == startups - 1 else 20_000
                for _, line in waiting[:len(waiting) - keep]:
                    size += file.write(line + "\n")
                waiting = waiting[len(waiting) - keep:]
    return size


def main():
    podinit, startups = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 50_000
    with tempfile.TemporaryDirectory() as directory:
        paths = [os.path.join(directory, name) for name in ("before.json.gz", "after.json.gz")]
        sizes = [recording(path, startups, bool(side)) for side, path in enumerate(paths)]
        print("recordings: " + ", ".join(f"{size / 1e6:.0f} MB" for size in sizes), flush=True)
        for form in ("text", "html"):
            began = time.monotonic()
            pid = os.posix_spawn(podinit, [podinit, "report", "-o", form, "--output-file", os.path.join(directory, form),
                                           "--baseline", *paths], os.environ)
            _, status, usage = os.wait4(pid, 0)
            wall = time.monotonic() - began
            assert status == 0, status
            print(f"{form}: {wall:.1f} s, {usage.ru_utime + usage.ru_stime:.1f} s CPU, {usage.ru_maxrss / 1024:.0f} MiB", flush=True)
        with open(os.path.join(directory, "text"), encoding="utf-8") as file:
            print(file.readline().strip())


main()
