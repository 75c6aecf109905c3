"""The processes of a run: a demo of podinit and a real Prometheus that scrapes it, on loopback."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error

from prometheus import Prometheus, Refused

# Every label is on, with so low a cap that it is reached.
DEMO = ["--speed", "10", "--rate", "4", "--labels", "namespace,workload_type,workload,node,host_network",
        "--label-cap", "workload=6", "--label-cap", "node=4", "--slo-labels", "namespace", "--evidence", "events,nodes"]

# How Prometheus may be set up: the form of histograms that it keeps, by job. The rules are written
# for the job `podinit`.
JOBS = {
    "podinit": {"scrape_native_histograms": True, "always_scrape_classic_histograms": True},
    "podinit-classic": {"scrape_native_histograms": False},
    "podinit-native": {"scrape_native_histograms": True},
}


class Failed(Exception):
    """What could not be started, and why."""


def free_port():
    """A port of loopback that was free a moment ago."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Servers:
    """Starts both; leaving the context ends both, by their pids."""

    def __init__(self, podinit, prometheus, rules, directory, demo=(), scrape_interval="1s"):
        self.podinit, self.binary, self.rules, self.directory = podinit, prometheus, rules, directory
        self.demo = list(demo) or DEMO
        self.scrape_interval = scrape_interval
        self.running = []

    def __enter__(self):
        # A signal that ends this process leaves the context too.
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
        try:
            target = f"127.0.0.1:{free_port()}"
            self.start("podinit", [self.podinit, "demo", "--listen", target, *self.demo])
            self.prometheus = self.start_prometheus(target)
            return self
        except BaseException:
            self.stop()
            raise

    def __exit__(self, *_):
        self.stop()

    def start(self, name, command):
        path = os.path.join(self.directory, f"{name}.log")
        with open(path, "wb") as log:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                       start_new_session=True)
        self.running.append((name, process, path))

    def start_prometheus(self, target):
        config = os.path.join(self.directory, "prometheus.json")
        scrapes = [{"job_name": job, "static_configs": [{"targets": [target]}],
                    "fallback_scrape_protocol": "PrometheusText0.0.4", **settings}
                   for job, settings in JOBS.items()]
        every = {"scrape_interval": self.scrape_interval, "scrape_timeout": self.scrape_interval,
                 "evaluation_interval": "1s"}
        with open(config, "w", encoding="utf-8") as file:
            json.dump({"global": every, "scrape_configs": scrapes,
                       "rule_files": [os.path.abspath(self.rules)] if self.rules else []}, file)
        port = free_port()
        self.start("prometheus", [
            self.binary, "--config.file", config, "--web.listen-address", f"127.0.0.1:{port}",
            "--storage.tsdb.path", os.path.join(self.directory, "data"),
            "--enable-feature=exemplar-storage", "--log.level=warn"])
        server = Prometheus(f"http://127.0.0.1:{port}")
        self.wait(lambda: len(server.query('up == 1')) == len(JOBS), "Prometheus to scrape the demo")
        return server

    def wait(self, check, what, seconds=60):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            self.assert_running()
            try:
                if check():
                    return
            except (Refused, urllib.error.URLError, OSError):
                pass
            time.sleep(0.2)
        raise Failed(f"waited {seconds} s for {what}; the logs are in {self.directory}")

    def assert_running(self):
        for name, process, log in self.running:
            if process.poll() is not None:
                with open(log, encoding="utf-8", errors="replace") as text:
                    raise Failed(f"{name} ended with status {process.returncode}:\n{text.read()[-2000:]}")

    def stop(self):
        for _, process, _ in reversed(self.running):
            process.terminate()
        for _, process, _ in self.running:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.running = []
