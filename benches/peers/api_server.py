"""What consumers cost a real kube-apiserver, in CPU time: events, first lists and starts."""

import os
import statistics
import time

import consumers
import controlplane
from kube import Client
from stream import Controls

ROUNDS = 3
# Writes per second, watches that are open at the same time, and events that are sent once more from the cache.
RATE, WATCHES, EVENTS = 100, 16, 3000
FORMS = {"JSON": "application/json", "protobuf": "application/vnd.kubernetes.protobuf"}
CONSUMERS = ["kube-state-metrics", "kube-state-metrics, start times only", "podinit", "podinit, JSON"]
SHARD = "shardRange(object.metadata.uid,'0x0000000000000000','0x4000000000000000')"


class Server:
    """A kube-apiserver with pods or nodes, and a program that writes their statuses."""

    def __init__(self, processes, binaries, options, nodes=0):
        controlplane.GATES = "ShardedListAndWatch=true"
        controlplane.PRIORITY_AND_FAIRNESS = True
        self.processes, self.binaries, self.seconds = processes, binaries, options.seconds
        self.plane = controlplane.ControlPlane(processes, binaries, os.path.join(options.directory, "plane"))
        self.plane.start()
        # They watch pods too.
        for manager in self.plane.managers:
            processes.stop(manager)
        self.pid = self.plane.servers[self.plane.port].pid
        self.kubeconfig = self.plane.kubeconfig_path("admin")
        self.kind = "nodes" if nodes else "pods"
        standing = ["--nodes", nodes] if nodes else ["--recording", options.recording, "--pods", options.server_pods]
        load = processes.start(f"load-{nodes or 'pods'}", [binaries["load"], "--kubeconfig", self.kubeconfig, *standing])
        self.load = Controls(load, load.log)

    def cpu(self):
        """Seconds of its CPU. Its threads do not end, so that those of all are the whole, to the nanosecond."""
        total = 0
        for thread in os.listdir(f"/proc/{self.pid}/task"):
            with open(f"/proc/{self.pid}/task/{thread}/schedstat", encoding="ascii") as file:
                total += int(file.read().split()[0])
        return total / 1e9

    def settle(self):
        """Wait until it takes less than a twentieth of a core, and return how much that is."""
        for _ in range(60):
            before = self.cpu()
            time.sleep(1)
            idle = self.cpu() - before
            if idle < 0.05:
                return idle
        return idle

    def costs(self, work):
        """Seconds of its CPU that the work takes, without what it takes anyway."""
        idle, before, begun = self.settle(), self.cpu(), time.monotonic()
        work()
        return self.cpu() - before - idle * (time.monotonic() - begun)

    def curl(self, form, query, output="/dev/null", watch=False):
        accept = FORMS[form] + (";stream=watch" if watch and form == "protobuf" else "")
        url = f"https://127.0.0.1:{self.plane.port}/api/v1/{self.kind}"
        command = ["curl", "--silent", "--get", "--cacert", self.plane.files["ca"], "--output", output,
                   "--header", f"Authorization: Bearer {controlplane.ADMIN}", "--header", f"Accept: {accept}"]
        command += [] if watch else ["--header", "Accept-Encoding: gzip"]
        for name, value in query.items():
            command += ["--data-urlencode", f"{name}={value}"]
        return self.processes.start(f"curl-{form}", [*command, url])

    def write(self, seconds, rate=RATE):
        """Microseconds of its CPU for each write in so many seconds."""
        self.load.post(f"/rate?writes={rate}")
        time.sleep(1)
        before, cpu = self.load.get("/written")["written"], self.cpu()
        time.sleep(seconds)
        written, cpu_then = self.load.get("/written")["written"], self.cpu()
        self.load.post("/rate?writes=0")
        return (cpu_then - cpu) / (written - before) * 1e6

    def events_once_more(self, form, directory, extra):
        """Microseconds for each event of a watch that begins in the past, and bytes of an event."""
        output = os.path.join(directory, "watch")
        query = {"watch": "true", "resourceVersion": self.past, "timeoutSeconds": "5", **extra}
        cost = self.costs(lambda: self.curl(form, query, output, watch=True).wait())
        return cost / self.written * 1e6, os.path.getsize(output) / self.written

    def write_the_past(self):
        client = Client(self.plane.port, self.plane.files["ca"], controlplane.ADMIN)
        self.past = client.get("/api/v1/pods?limit=1")["metadata"]["resourceVersion"]
        before = self.load.get("/written")["written"]
        self.load.post(f"/rate?writes={RATE}")
        time.sleep(EVENTS / RATE)
        self.load.post("/rate?writes=0")
        time.sleep(1)
        self.written = self.load.get("/written")["written"] - before


def measure(server, processes, binaries, options):
    found = {"pods": options.server_pods, "rate": RATE, "watches": WATCHES, "once": {}, "more": {}, "starts": {}}

    def add(part, name, value):
        found[part].setdefault(name, []).append(value)

    server.write_the_past()
    for _ in range(ROUNDS):
        for form in FORMS:
            add("once", form, server.events_once_more(form, options.directory, {}))
            add("once", f"{form}, a shard of 4", server.events_once_more(form, options.directory, {"shardSelector": SHARD}))
    for _ in range(ROUNDS):
        alone = server.write(server.seconds)
        for form in FORMS:
            watches = [server.curl(form, {"watch": "true"}, watch=True) for _ in range(WATCHES)]
            time.sleep(2)
            server.settle()
            add("more", form, (server.write(server.seconds) - alone) / WATCHES)
            for watch in watches:
                processes.stop(watch)
    for _ in range(ROUNDS):
        for name in CONSUMERS:
            started = []

            def start(name=name, started=started):
                started.append(consumers.Consumer(name, binaries, processes, server.kubeconfig))
                time.sleep(6)

            add("starts", name, server.costs(start))
            started[0].stop()
    medians = {part: {name: statistics.median(values) for name, values in found[part].items()}
               for part in ["more", "starts"]}
    once = {name: [statistics.median(column) for column in zip(*values)] for name, values in found["once"].items()}
    return {**found, **medians, "once": once}
