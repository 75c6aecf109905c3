"""A real watch that comes late: podinit says so, and blames neither pods nor nodes.

Between podinit and the API server stands a proxy that holds back what watches bring. Lists, and the `Date` of each
answer, come in time.
"""

import http.client
import http.server
import json
import os
import queue
import threading
import time

from exporter import total
from kube import condition
from processes import Failure, wait_for
from scenario import Scenario

LATE = 20
SLO = {"slos": [{"name": "whole", "interval": "created_to_ready", "threshold": "10s", "objective": 99, "window": "30d"}]}
FORWARDED = ("Authorization", "Accept", "User-Agent")


def run(suite):
    suite.report.check("late watch", "no pod and no node is blamed", lambda: LateWatch(suite).check(), "pods")


class SlowWatches:
    """Plain HTTP in front of the API server. What a watch brings is passed on `delay` seconds later."""

    def __init__(self, port, context):
        self.delay = 0
        slow = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                server = http.client.HTTPSConnection("127.0.0.1", port, timeout=120, context=context)
                server.request("GET", self.path, headers={
                    name: self.headers[name] for name in FORWARDED if name in self.headers})
                answer = server.getresponse()
                is_watch = "watch=true" in self.path or "watch=1" in self.path
                self.send_response_only(answer.status)
                for name in ("Content-Type", "Date", "Retry-After"):
                    if name in answer.headers:
                        self.send_header(name, answer.headers[name])
                if is_watch and answer.status == 200:
                    self.send_header("Transfer-Encoding", "chunked")
                    self.end_headers()
                    for data in slow.held_back(answer):
                        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
                        self.wfile.flush()
                    self.wfile.write(b"0\r\n\r\n")
                else:
                    body = answer.read()
                    self.send_header("Content-Length", str(len(body)))
                    self.end_headers()
                    self.wfile.write(body)
                server.close()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def held_back(self, answer):
        """What the answer brings, each part when it is due."""
        arrived = queue.Queue()

        def read():
            try:
                while data := answer.read1(65536):
                    arrived.put((time.monotonic(), data))
            except (OSError, http.client.HTTPException):
                pass
            arrived.put((time.monotonic(), b""))

        threading.Thread(target=read, daemon=True).start()
        while True:
            at, data = arrived.get()
            time.sleep(max(0, at + self.delay - time.monotonic()))
            if not data:
                return
            yield data

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class LateWatch:
    def __init__(self, suite):
        cluster = suite.cluster
        self.pods = Scenario("late-watch", "late watch", {}, None).prepare(cluster)
        self.proxy = SlowWatches(cluster.port, cluster.client.context)
        slo = os.path.join(suite.directory, "late-watch-slo.yaml")
        with open(slo, "w", encoding="utf-8") as file:
            json.dump(SLO, file)  # JSON is YAML
        path = cluster.kubeconfig("late-watch", cluster.client.token)
        with open(path, encoding="utf-8") as file:
            config = json.load(file)
        config["clusters"][0]["cluster"] = {"server": f"http://127.0.0.1:{self.proxy.port}"}
        with open(path, "w", encoding="utf-8") as file:
            json.dump(config, file)
        self.exporter = suite.exporter(
            "late-watch", "--namespace", self.pods.namespace, "--slo", slo, kubeconfig=path).ready()
        self.created = 0

    def check(self):
        try:
            return self.late_and_in_time()
        finally:
            self.exporter.stop()
            self.proxy.close()
            self.pods.delete_all()

    def create(self, count, **spec):
        """Create pods, one a second."""
        for _ in range(count):
            self.pods.pod(f"pod-{self.created}", **spec)
            self.created += 1
            time.sleep(1)

    def figure(self, name, **labels):
        return total(self.exporter.figures(), name, **labels)

    def lag(self):
        return self.figure("podinit_watch_lag_seconds")

    def bad(self):
        return self.figure("podinit_slo_events_total", slo="whole", result="bad")

    def is_in_time_with_one_more(self):
        self.create(1)
        return self.lag() < 2.5

    def all_ready(self, seconds):
        wait_for("podinit to see every pod ready", lambda: self.figure(
            "podinit_pods_finished_total", outcome="ready") == self.created, seconds, 0.5)

    def late_and_in_time(self):
        self.create(4)
        self.all_ready(30)
        if self.lag() > 2.5 or self.bad():
            raise Failure(f"in time, the lag is {self.lag()} s, and {self.bad()} pods are bad")
        self.proxy.delay = LATE
        # The first are shown before their bindings tell the lag.
        self.create(6)
        wait_for("the lag", lambda: self.lag() > LATE - 5, 90, 0.5)
        self.all_ready(120)
        before = self.bad()
        self.create(20)
        self.all_ready(120)
        if self.bad() != before:
            raise Failure(f"{self.bad() - before} pods are bad that were ready in time")
        found = json.loads(self.exporter.get("/api/v1/problems")[2])
        said = found.get("late_deliveries", {}).get("says", "")
        if not said.startswith("deliveries are ") or "clock" in said:
            raise Failure(f"the API says of late deliveries: {said!r}")
        if found["clocks"]:
            raise Failure(f"clocks are blamed: {found['clocks']}")
        page = self.exporter.get("/", accept="text/html")[2].decode()
        if "deliveries are " not in page:
            raise Failure("the page does not say that deliveries are late")
        self.proxy.delay = 0
        # The lag is the median of the last 16 bindings of a minute, so a few pods that come in time do not change it.
        wait_for("the lag to be gone", self.is_in_time_with_one_more, 90, 0)
        self.all_ready(60)
        # A pod that is late is bad again.
        self.pods.pod("nowhere", node={"type": "nowhere"})
        wait_for("a pod without a node to be bad", lambda: self.bad() == before + 1, 60, 0.5)
        ready = sum(condition(pod, "Ready") == "True" for pod in self.pods.pods())
        if ready != self.created:
            raise Failure(f"{ready} of {self.created} pods are ready")
        return self.created
