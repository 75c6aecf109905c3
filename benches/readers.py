#!/usr/bin/env python3
"""Whether readers of the page and of the API slow down the accounting and the scrapes.

    benches/readers.py target/dist/podinit [--pods 10000] [--readers 50]

Starts `podinit serve` twice before a small API server of its own, which keeps so many pods in flight: all the time some
become ready and others come. One of the two is measured. Phases alternate in the same run: without readers, with readers
of the measured one, and with the same readers of the other one, which take as much of the machine and nothing of the
measured process. Each phase prints the events that were accounted for, how late they were, the CPU time of the measured
one, and how long its scrapes took; the last lines have the ratios. Linux only, no dependencies.
"""

import argparse
import contextlib
import http.client
import http.server
import json
import multiprocessing
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import tempfile
import time

PHASE = 15
# Whom the readers ask in each phase. No kind of phase always comes later.
ORDER = ["nobody", "measured", "other", "other", "measured", "nobody", "measured", "nobody", "other"]
SCRAPE_EVERY = 0.5


def pod(number, version, ready):
    """A pod that is scheduled, and ready or not; about 2 kB."""
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    kinds = ["PodReadyToStartContainers", "Initialized", "ContainersReady", "Ready"]
    conditions = [{"type": "PodScheduled", "status": "True", "lastTransitionTime": now}]
    status = "True" if ready else "False"
    conditions += [{"type": kind, "status": status, "lastTransitionTime": now} for kind in kinds]
    fields = {f"f:field-{place}": {} for place in range(40)}
    return {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": {
            "name": f"web-{number}",
            "namespace": f"team-{number % 50}",
            "uid": f"00000000-0000-4000-8000-{number:012x}",
            "resourceVersion": str(version),
            "creationTimestamp": now,
            "ownerReferences": [{"kind": "StatefulSet", "name": f"web-{number % 500}", "controller": True}],
            "managedFields": [{"fieldsV1": fields}],
        },
        "spec": {
            "nodeName": f"node-{number % 200}",
            "containers": [{"name": "web", "image": f"registry.example/web:{number % 100}"}],
        },
        "status": {"phase": "Pending", "startTime": now, "conditions": conditions},
    }


class Cluster(http.server.BaseHTTPRequestHandler):
    """An API server with an empty list and a watch without end."""

    protocol_version = "HTTP/1.1"
    pods, rate = 0, 0

    def do_GET(self):
        if "sendInitialEvents=true" in self.path:
            self.answer(422, {"kind": "Status", "code": 422, "reason": "Invalid", "message": "sendInitialEvents"})
        elif "watch=" in self.path:
            # At the end podinit is killed.
            with contextlib.suppress(ConnectionError):
                self.watch()
        else:
            self.answer(200, {"kind": "PodList", "apiVersion": "v1", "metadata": {"resourceVersion": "1"}, "items": []})

    def answer(self, status, document):
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def watch(self):
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        version = 1
        for number in range(self.pods):
            version += 1
            self.event("ADDED", pod(number, version, False))
        due = time.monotonic()
        for number in range(10**9):
            version += 2
            self.event("MODIFIED", pod(number, version - 1, True))
            self.event("ADDED", pod(number + self.pods, version, False))
            due += 2 / self.rate
            time.sleep(max(0.0, due - time.monotonic()))

    def event(self, kind, of):
        line = json.dumps({"type": kind, "object": of}).encode() + b"\n"
        self.wfile.write(b"%x\r\n%s\r\n" % (len(line), line))

    def log_message(self, *arguments):
        pass


def cluster(pods, rate, out):
    Cluster.pods, Cluster.rate = pods, rate
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Cluster)
    out.send(server.server_address[1])
    server.serve_forever()


def get(address, path, connection=None):
    host, port = address.rsplit(":", 1)
    connection = connection or http.client.HTTPConnection(host, int(port), timeout=30)
    connection.request("GET", path)
    response = connection.getresponse()
    return response.status, response.read().decode(), connection


def series(text, name):
    lines = [line for line in text.splitlines() if re.match(name + r"[ {]", line)]
    return sum(float(line.rsplit(" ", 1)[1]) for line in lines)


def started(command, pattern, log):
    """Starts a process, and returns it with what its log says first that fits."""
    process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
    for _ in range(600):
        found = re.search(pattern, pathlib.Path(log.name).read_text())
        if found:
            return process, found[1]
        time.sleep(0.1)
    raise SystemExit(f"{command} does not start: {pathlib.Path(log.name).read_text()}")


def scraper(address, stop, out):
    """Scrapes in a process of its own, so that the readers' work is not measured."""
    took = []
    connection = None
    while not stop.is_set():
        begun = time.monotonic()
        _, _, connection = get(address, "/metrics", connection)
        took.append(time.monotonic() - begun)
        time.sleep(max(0.0, SCRAPE_EVERY - took[-1]))
    out.send(took)


def reader(address, paths, every, stop, out):
    """Asks for one path after the other at a steady pace. Real readers have processors of their own: these get what
    the exporter and the scraper leave."""
    os.nice(19)
    took, refused, connection, place = [], 0, None, 0
    due = time.monotonic()
    while not stop.is_set():
        due += every
        begun = time.monotonic()
        status, _, connection = get(address, paths[place % len(paths)], connection)
        took.append(time.monotonic() - begun)
        refused += status == 503
        place += 1
        time.sleep(max(0.0, due - time.monotonic()))
    out.send((took, refused))


def start(target, *arguments):
    here, there = multiprocessing.Pipe()
    process = multiprocessing.Process(target=target, args=(*arguments, there), daemon=True)
    process.start()
    return process, here


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def counts(address, pid):
    _, text, _ = get(address, "/metrics")
    name = "podinit_watch_delivery_seconds"
    return {
        "at": time.monotonic(),
        "cpu": cpu_seconds(pid),
        "events": series(text, "podinit_watch_events_total"),
        "late": series(text, name + "_sum"),
        "delivered": series(text, name + "_count"),
        "in_flight": series(text, "podinit_inflight_pods"),
    }


def phase(address, pid, readers, asked):
    """One phase: `readers` requests a second to `asked`, and scrapes of `address`."""
    stop = multiprocessing.Event()
    _, pods, _ = get(asked, "/api/v1/inflight?limit=100")
    names = re.findall(r'"namespace":"([^"]+)","name":"([^"]+)"', pods) or [("none", "none")]
    namespace, name = names[-1]
    paths = [
        "/",
        "/api/v1/stuck",
        f"/api/v1/pods/{namespace}/{name}",
        "/api/v1/inflight?limit=500",
        f"/pods/{namespace}/{name}",
        f"/api/v1/inflight?namespace={namespace}&cause=create",
        "/api/v1/startups?sort=slowest",
        "/api/v1/startups?limit=500",
    ]
    workers = min(readers, 10)
    rotated = [paths[number % len(paths):] + paths[: number % len(paths)] for number in range(workers)]
    before = counts(address, pid)
    scraping = start(scraper, address, stop)
    reading = [start(reader, asked, own, workers / readers, stop) for own in rotated]
    time.sleep(PHASE)
    after = counts(address, pid)
    stop.set()
    scrapes = scraping[1].recv()
    read = [pipe.recv() for _, pipe in reading]
    passed = after["at"] - before["at"]
    took = sorted(one for own, _ in read for one in own)
    return {
        "in flight": after["in_flight"],
        "events/s": (after["events"] - before["events"]) / passed,
        "late ms": 1e3 * (after["late"] - before["late"]) / max(1, after["delivered"] - before["delivered"]),
        "CPU %": 100 * (after["cpu"] - before["cpu"]) / passed,
        "scrape p50 ms": 1e3 * statistics.median(scrapes),
        "scrape p90 ms": 1e3 * sorted(scrapes)[len(scrapes) * 9 // 10],
        "reads/s": len(took) / passed,
        "read p50 ms": 1e3 * took[len(took) // 2] if took else 0.0,
        "read p99 ms": 1e3 * took[len(took) * 99 // 100] if took else 0.0,
        "refused": float(sum(refused for _, refused in read)),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("podinit")
    parser.add_argument("--pods", type=int, default=10_000)
    parser.add_argument("--readers", type=int, default=50, help="requests a second")
    parser.add_argument("--rate", type=float, default=500, help="watch events a second")
    options = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp())
    _, pipe = start(cluster, options.pods, options.rate)
    api = f"http://127.0.0.1:{pipe.recv()}"
    kubeconfig = folder / "kubeconfig"
    kubeconfig.write_text(
        f'{{"current-context": "c", "contexts": [{{"name": "c", "context": {{"cluster": "c", "user": "u"}}}}],'
        f'"clusters": [{{"name": "c", "cluster": {{"server": "{api}"}}}}], "users": [{{"name": "u", "user": {{}}}}]}}'
    )
    servers = []
    try:
        for name in ["measured", "other"]:
            exporter = [options.podinit, "serve", "--listen", "127.0.0.1:0", "--kubeconfig", str(kubeconfig)]
            exporter += ["--state-dir", str(folder / name)]
            log = open(folder / f"{name}.log", "w")
            servers.append(started(exporter, r"address=(127\.0\.0\.1:\d+)", log))
        (serve, address), (_, other) = servers
        while (found := min(counts(at, serve.pid)["in_flight"] for at in [address, other])) < 0.99 * options.pods:
            print(f"{found:.0f} pods in flight", flush=True)
            time.sleep(5)
        measured = {"nobody": [], "measured": [], "other": []}
        for asked in ORDER:
            readers = 0 if asked == "nobody" else options.readers
            last = phase(address, serve.pid, readers, other if asked == "other" else address)
            measured[asked].append(last)
            print(f"readers ask {asked}: " + ", ".join(f"{key} {value:.1f}" for key, value in last.items()), flush=True)
        nobody, here, elsewhere = (
            {key: statistics.median(one[key] for one in phases) for key in phases[0]} for phases in measured.values()
        )
        for title, base in [("without readers", nobody), ("with readers of the other one", elsewhere)]:
            ratios = ", ".join(f"{key} {here[key] / base[key]:.2f}" for key in base if base[key] > 0)
            print(f"with readers / {title}: {ratios}")
    finally:
        for server, _ in servers:
            server.kill()
            server.wait()
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
