"""The programs that are compared, and what the kernel says of a process."""

import os
import time
import urllib.request

from processes import Failure, free_port, memory

TICKS = os.sysconf("SC_CLK_TCK")
START_TIMES = ["kube_pod_created"] + [
    f"kube_pod_status_{what}_time" for what in ["scheduled", "initialized", "container_ready", "ready"]]


class Consumer:
    """A program that watches the pods of the API server of `kubeconfig`, and is scraped."""

    def __init__(self, name, binaries, processes, kubeconfig, arguments=()):
        self.name, self.processes, self.port = name, processes, free_port()
        if name.startswith("podinit"):
            command = [binaries["podinit"], "serve", "--kubeconfig", kubeconfig, "--listen", f"127.0.0.1:{self.port}",
                       "--log-level", "warn"]
            command += ["--api-encoding", "json"] if "JSON" in name else []
            command += arguments
        else:
            command = [binaries["kube-state-metrics"], "--kubeconfig", kubeconfig, "--host", "127.0.0.1",
                       "--port", self.port, "--telemetry-host", "127.0.0.1", "--telemetry-port", free_port()]
            if "start times" in name:
                command += ["--resources=pods", "--metric-allowlist=" + ",".join(START_TIMES)]
        self.process = processes.start(name.replace(" ", "-").replace(",", ""), command)

    def stop(self):
        self.processes.stop(self.process)

    def cpu(self):
        return cpu(self.process.pid)

    def memory(self, field):
        return memory(self.process.pid, field)

    def wait_until_idle(self, seconds=180):
        """Wait until it takes less than 3 % of a core for two seconds."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            before = self.cpu()
            time.sleep(2)
            if self.cpu() - before < 0.06:
                return
        raise Failure(f"{self.name} does not come to rest")

    def scrape(self):
        """CPU seconds, seconds and bytes of a scrape as Prometheus asks for it."""
        # kube-state-metrics has no protobuf; podinit prefers it.
        accept = "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5"
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}/metrics", headers={"Accept": accept})
        request.add_header("Accept-Encoding", "gzip")
        before, begun = self.cpu(), time.monotonic()
        with urllib.request.urlopen(request, timeout=120) as response:
            size = len(response.read())
        return self.cpu() - before, time.monotonic() - begun, size


def cpu(pid):
    """Seconds of CPU that a process has taken, in user and system mode."""
    with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS
