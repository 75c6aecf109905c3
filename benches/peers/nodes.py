"""What `--evidence nodes` costs a real kube-apiserver whose kubelets renew the status of their nodes."""

import os
import statistics
import time
from types import SimpleNamespace

import api_server
import consumers

ROUNDS = 3
COUNTS = [1_000, 5_000]
# Seconds between two renewals of a kubelet: as often as it may look, and by default.
INTERVALS = [10, 300]
# Events of these watches together that a second should have: enough to be measured beside the writes.
EVENTS, MOST_WATCHES = 1_500, 64


def measure(processes, binaries, options):
    found = {"renewals": [], "lists": {}}
    for count in COUNTS:
        directory = os.path.join(options.directory, f"nodes-{count}")
        os.makedirs(directory)
        server = api_server.Server(processes, binaries, SimpleNamespace(seconds=options.seconds, directory=directory), count)
        found["lists"][count] = first_list(server, processes)
        found["renewals"] += [renewals(server, processes, binaries, count, every) for every in INTERVALS]
        processes.stop_all()
    return found


def first_list(server, processes):
    """Seconds of its CPU for a list as podinit asks for it."""
    ask = lambda: server.curl("protobuf", {"resourceVersion": "0"}).wait()
    return statistics.median(server.costs(ask) for _ in range(ROUNDS))


def renewals(server, processes, binaries, count, every):
    """Medians of CPU microseconds: of the server for a write, and for its event to one more watch; of podinit for it."""
    rate = round(count / every)
    watches = min(MOST_WATCHES, max(2, EVENTS // rate))
    writes, events, podinits = [], [], []
    for _ in range(ROUNDS):
        alone = server.write(server.seconds, rate)
        readers = [server.curl("protobuf", {"watch": "true"}, watch=True) for _ in range(watches)]
        time.sleep(2)
        server.settle()
        writes.append(alone)
        events.append((server.write(server.seconds, rate) - alone) / watches)
        for reader in readers:
            processes.stop(reader)
        podinits.append(podinit(server, binaries, processes, rate))
    figures = {"write": writes, "event": events, "podinit": podinits}
    return {"nodes": count, "every": every, "rate": count / every,
            **{name: statistics.median(values) for name, values in figures.items()}}


def podinit(server, binaries, processes, rate):
    """Microseconds of podinit's CPU for each renewal, with no pods in the cluster."""
    consumer = consumers.Consumer("podinit", binaries, processes, server.kubeconfig, ["--evidence", "nodes"])
    consumer.wait_until_idle()
    idle_from, idle_cpu = time.monotonic(), consumer.cpu()
    time.sleep(server.seconds)
    idle = (consumer.cpu() - idle_cpu) / (time.monotonic() - idle_from)
    written, begun, cpu = server.load.get("/written")["written"], time.monotonic(), consumer.cpu()
    server.write(server.seconds, rate)
    took = consumer.cpu() - cpu - idle * (time.monotonic() - begun)
    written = server.load.get("/written")["written"] - written
    consumer.stop()
    return took / written * 1e6
