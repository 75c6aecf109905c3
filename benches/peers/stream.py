"""Each consumer alone before the recorded stream: start, memory, scrape and events."""

import json
import os
import re
import subprocess
import time
import urllib.request

import consumers
from processes import wait_for

RATES = [100, 500, 2000, 5000]
NAMES = ["kube-state-metrics", "kube-state-metrics, start times only", "podinit", "podinit, JSON"]


class Controls:
    """The controls of a server of tools/peers."""

    def __init__(self, process, log):
        def address():
            with open(log, encoding="utf-8") as file:
                found = re.search(r"^127\.0\.0\.1:\d+$", file.read(), re.MULTILINE)
            if not found and process.poll() is not None:
                raise SystemExit(f"{process.name} has ended, see {log}")
            return found and found[0]

        self.address = wait_for(f"the address of {process.name}", address, 300)

    def post(self, path):
        urllib.request.urlopen(urllib.request.Request(f"http://{self.address}{path}", method="POST"), timeout=10).close()

    def get(self, path):
        with urllib.request.urlopen(f"http://{self.address}{path}", timeout=10) as response:
            return json.load(response)


def measure(processes, binaries, options):
    """By consumer: what it takes."""
    return {name: one(name, processes, binaries, options) for name in NAMES}


def one(name, processes, binaries, options):
    kubeconfig = os.path.join(options.directory, "stream.kubeconfig")
    server = processes.start(f"stream for {name}".replace(" ", "-"), [
        binaries["stream"], "--recording", options.recording, "--kubeconfig", kubeconfig, "--pods", options.pods])
    controls = Controls(server, server.log)
    consumer = consumers.Consumer(name, binaries, processes, kubeconfig)
    wait_for(f"{name} to watch", lambda: controls.get("/sent")["watches"] == 1, 300)
    consumer.wait_until_idle()
    found = {"start_cpu": consumer.cpu(), "peak": consumer.memory("VmHWM"), "memory": consumer.memory("VmRSS"),
             "list_bytes": controls.get("/sent")["list_bytes"], "rates": {}}
    scrapes = [consumer.scrape() for _ in range(5)][2:]
    found["scrape_cpu"], found["scrape_seconds"], found["scrape_bytes"] = (
        sum(values) / len(values) for values in zip(*scrapes))
    for rate in RATES:
        found["rates"][rate] = at_rate(rate, consumer, controls, options.seconds)
    found["memory_after"] = consumer.memory("VmRSS")
    consumer.stop()
    processes.stop(server)
    print(f"{name}: {json.dumps(found)}", flush=True)
    return found


def at_rate(rate, consumer, controls, seconds):
    controls.post(f"/rate?events={rate}")
    time.sleep(2)
    sent, cpu, begun = controls.get("/sent"), consumer.cpu(), time.monotonic()
    time.sleep(seconds)
    then, cpu_then, ended = controls.get("/sent"), consumer.cpu(), time.monotonic()
    controls.post("/rate?events=0")
    consumer.wait_until_idle()
    events = then["events"] - sent["events"]
    return {"micros": (cpu_then - cpu) / events * 1e6, "rate": events / (ended - begun),
            "bytes": (then["event_bytes"] - sent["event_bytes"]) / events,
            "wire_bytes": (then["bytes"] - sent["bytes"]) / events}


def record(podinit, path, seconds=60):
    """Record the watch of podinit's simulated cluster."""
    demo = subprocess.Popen([podinit, "demo", "--rate", "3", "--speed", "3", "--listen", "127.0.0.1:0"],
                            stdout=subprocess.PIPE, text=True)
    try:
        line = next(line for line in demo.stdout if "KUBECONFIG=" in line)
        with open(line.split("KUBECONFIG=")[1].strip(), encoding="utf-8") as file:
            kubeconfig = json.load(file)
        url = kubeconfig["clusters"][0]["cluster"]["server"] + "api/v1/pods"
        # The simulated cluster ends watches, and forgets versions, as real ones do.
        if not any(record_watch(url, path, seconds) for _ in range(5)):
            raise SystemExit(f"no watch of the simulated cluster lasts {seconds} s")
    finally:
        demo.terminate()
        demo.wait()


def record_watch(url, path, seconds):
    """Record a watch, and return whether it lasted so long."""
    deadline = time.monotonic() + seconds
    with urllib.request.urlopen(f"{url}?watch=true&resourceVersion=0", timeout=30) as watch, open(path, "wb") as file:
        while time.monotonic() < deadline:
            line = watch.readline()
            if not line or json.loads(line)["type"] == "ERROR":
                return False
            file.write(line)
    return True
