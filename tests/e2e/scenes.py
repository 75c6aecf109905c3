#!/usr/bin/env python3
"""Which alerts a real Prometheus with the shipped rules fires in each scene of the demo, and when.

    tests/e2e/scenes.py --podinit FILE --prometheus FILE [--scene NAME]... [--rate 1] [--before 5m] [--watch 36]

Every scene runs at once in real time, each with a demo and a Prometheus of its own that scrapes and
evaluates every 15 s; Events are evidence. Not a part of tests/e2e/run, since alerts take as long as they
take: pods without a node get stuck after half an hour. The last thing printed is a Markdown table; the exit
status is 1 where an alert fired before the scene began, one fired that the scene does not explain, or one
did not fire that it should.
"""

import argparse
import json
import os
import re
import shutil
import sys
import tempfile
import time
import urllib.request

from processes import Processes, free_port, wait_for

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RULES = os.path.join(ROOT, "deploy", "prometheus-rules.yaml")
SLO = os.path.join(ROOT, "deploy", "slo-default.yaml")
# Scene -> the cause of its alerts, and whether one of them pages.
SCENES = {
    "registry-down": ("image", True),
    "cni-outage": ("cni", True),
    "bad-node": ("sandbox", True),
    "no-capacity": ("resources", False),
    "crashloop": ("crash", True),
    "gang": ("gang", False),
}
# Alerts without a cause that a scene explains.
OF_SCENE = {"registry-down": {"PodinitRegistryFailing"}}
PAGE = "critical"
EVERY = 15


class Scene:
    """One demo, one Prometheus, and the alerts that fired: {(name, severity, cause, stage, slo): instant}."""

    def __init__(self, name, options, processes, directory):
        self.name, self.fired = name, {}
        target, self.port = free_port(), free_port()
        processes.start(f"{name}-demo", [
            options.podinit, "demo", "--scene", name, "--scene-after", options.before, "--slo", SLO,
            "--evidence", "events", "--rate", options.rate, "--listen", f"127.0.0.1:{target}"])
        config = os.path.join(directory, f"{name}.json")
        with open(config, "w", encoding="utf-8") as file:
            json.dump({
                "global": {"scrape_interval": f"{EVERY}s", "evaluation_interval": f"{EVERY}s"},
                "rule_files": [RULES],
                "scrape_configs": [{"job_name": "podinit", "scrape_protocols": ["PrometheusProto"],
                                    "scrape_native_histograms": True, "always_scrape_classic_histograms": True,
                                    "static_configs": [{"targets": [f"127.0.0.1:{target}"]}]}]}, file)
        self.prometheus = processes.start(f"{name}-prometheus", [
            options.prometheus, "--config.file", config, "--log.level=warn",
            "--storage.tsdb.path", os.path.join(directory, f"{name}-data"),
            "--web.listen-address", f"127.0.0.1:{self.port}"])
        wait_for(f"Prometheus of {name}", lambda: self.get("query?query=vector(1)"))
        self.began = time.monotonic()

    def get(self, path):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/api/v1/{path}", timeout=10) as answer:
            return json.load(answer)["data"]

    def look(self):
        """Note the alerts that fire now and did not before."""
        for alert in self.get("alerts")["alerts"]:
            labels = alert["labels"]
            key = tuple(labels.get(name, "") for name in ("alertname", "severity", "cause", "stage", "slo"))
            if alert["state"] == "firing" and key not in self.fired:
                self.fired[key] = time.monotonic() - self.began
                print(f"{self.name}: {' '.join(key)} after {self.fired[key]:.0f} s", flush=True)

    def faults(self, before):
        """What is not as it should be."""
        wanted, pages = SCENES[self.name]
        explained = OF_SCENE.get(self.name, set())
        for (name, severity, cause, _, _), at in self.fired.items():
            if at < before:
                yield f"{self.name}: {name} fired {before - at:.0f} s before the scene"
            elif cause != wanted and name not in explained:
                yield f"{self.name}: {name} ({severity}) names the cause {cause or '-'}"
        severities = [severity for _, severity, cause, *_ in self.fired if cause == wanted]
        if not severities or pages != (PAGE in severities):
            yield f"{self.name}: {'no page' if pages else 'a page, or no ticket'} for {wanted}"


def minutes(seconds):
    return f"{int(seconds) // 60} min {int(seconds) % 60:02} s"


def table(scenes, before):
    yield "| scene | alert | severity | cause | stage | SLO | after |"
    yield "|---|---|---|---|---|---|---:|"
    for scene in scenes:
        for labels, at in sorted(scene.fired.items(), key=lambda one: one[1]):
            yield f"| `{scene.name}` | " + " | ".join(part or "-" for part in labels) + f" | {minutes(at - before)} |"


def seconds(text):
    found = re.fullmatch(r"(\d+)([sm])", text)
    if not found:
        raise argparse.ArgumentTypeError(f"{text} is no time such as 90s or 5m")
    return int(found[1]) * {"s": 1, "m": 60}[found[2]]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--podinit", required=True)
    parser.add_argument("--prometheus", required=True)
    parser.add_argument("--scene", action="append", choices=SCENES, help="default: all of them")
    # At the demo's own five a second, more pods wait on one node than its kubelet can send Events about.
    parser.add_argument("--rate", default="1", help="pods per second")
    parser.add_argument("--before", default="5m", help="how long all is well first")
    parser.add_argument("--watch", type=float, default=36, help="minutes to watch after that")
    options = parser.parse_args()
    before, directory = seconds(options.before), tempfile.mkdtemp(prefix="podinit-scenes.")
    processes = Processes(os.path.join(directory, "logs"))
    try:
        scenes = [Scene(name, options, processes, directory) for name in options.scene or SCENES]
        end = time.monotonic() + before + 60 * options.watch
        while time.monotonic() < end:
            time.sleep(5)
            for scene in scenes:
                scene.look()
        print("\n".join(table(scenes, before)))
        faults = [fault for scene in scenes for fault in scene.faults(before)]
        print("\n".join(faults))
    finally:
        processes.stop_all()
        shutil.rmtree(directory, ignore_errors=True)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
