"""The end-to-end suite: `main.py --binaries DIR --podinit FILE --directory DIR [--only NAME...]`."""

import argparse
import os
import signal
import subprocess
import sys
import threading
import time
import traceback

import access
import api_encodings
import causes
import comparison
import deploy
import doctor
import faults
import formats
import in_place
import kubectl
import late_nodes
import late_watch
import named_waits
import promcheck
import rollouts
import scenarios  # noqa: F401  registers the scenarios
import tenants
import traces
from cluster import Cluster
from compare import differences, summary
from exporter import Exporter
from kubelets import Kubelets
from nodes import OLD
from processes import Failure, Processes, wait_for
from report import Report
from scenario import Scenario
from startup_sli import StartupSli
from traces import Collector
from truth import Truth

TOOLS = ("etcd", "kube-apiserver", "kube-scheduler", "kube-controller-manager", "hollow-node", f"hollow-node-{OLD}",
         "kwok", "prometheus", "promtool", "collector")
# These run alone, after the others: they are large, or take a node away.
LATER = ("deployment",)


class Suite:
    """One run: a cluster, a recording, an exporter for each scenario and one for all."""

    def __init__(self, options):
        self.options = options
        self.directory = options.directory
        self.report = Report(self.directory)
        self.processes = Processes(os.path.join(self.directory, "logs"))
        # Kubelets of more versions may lie beside these.
        names = {*TOOLS, *(name for name in os.listdir(options.binaries) if name.startswith("hollow-node-"))}
        binaries = {name: os.path.join(options.binaries, name) for name in names}
        if options.assets:
            for name in ("etcd", "kube-apiserver"):
                binaries[name] = os.path.join(options.assets, name)
        self.cluster = Cluster(self.processes, binaries, self.directory)
        self.recording = os.path.join(self.directory, "recording.jsonl")
        usage = subprocess.run([options.podinit, "serve", "--help"], capture_output=True, text=True, check=True).stdout
        self.has_events = "--evidence" in usage

    def exporter(self, name, *arguments, kubeconfig=None):
        kubeconfig = kubeconfig or self.cluster.kubeconfig_path("podinit")
        return Exporter(self.processes, self.options.podinit, name, kubeconfig, *arguments)

    def truth(self, clock="api", *namespaces):
        return Truth(clock, namespaces).feed_file(self.recording)

    def record(self):
        here = os.path.dirname(os.path.abspath(__file__))
        self.recorder = self.processes.start("recorder", [
            sys.executable, os.path.join(here, "recorder.py"),
            self.cluster.kubeconfig_path("admin"), self.recording])
        wait_for("the recording", lambda: os.path.exists(self.recording) and os.path.getsize(self.recording))

    def run(self):
        began = time.monotonic()
        self.cluster.start()
        self.cluster.exporter_kubeconfig()
        self.cluster.events_kubeconfig()
        self.report.note(f"control plane and nodes ready after {time.monotonic() - began:.1f} s")
        self.report.check("least privilege", "RBAC as shipped", self.cluster.least_privilege, "reviews")
        chosen = [s for s in Scenario.registry if not self.options.only or s.name in self.options.only]
        chosen = [s.prepare(self.cluster) for s in chosen]
        self.record()
        self.collector = Collector(self.processes, self.cluster.binaries["collector"], self.directory)
        self.whole = self.exporter(
            "whole", "--timestamps", "fused", "--otlp-endpoint", self.collector.url, "--otlp-sample-ratio", "1").ready()
        for scenario in chosen:
            scenario.exporter = self.exporter(
                scenario.name, "--namespace", scenario.namespace, "--timestamps", "api")
        for scenario in chosen:
            scenario.exporter.ready()
        self.prometheus = promcheck.Prometheus(self)
        kubelets = Kubelets(self) if self.wanted("kubelets") else None
        if kubelets:
            kubelets.scene.start()
        self.play([s for s in chosen if s.name not in LATER])
        if kubelets:
            kubelets.check()
        # By itself: beside other scenes the kubelets' Events come after the pods are Ready, and prove nothing.
        if self.wanted("startup-sli"):
            alone = StartupSli(self)
            alone.scene.start()
            alone.check()
        self.play([s for s in chosen if s.name in LATER])
        if chosen:
            formats.run(self)
            api_encodings.run(self)
            promcheck.run(self)
            traces.run(self)
            doctor.run(self)
            kubectl.run(self)
        # Before others add nodes that never start.
        if self.wanted("late-nodes"):
            late_nodes.run(self)
        if self.wanted("causes"):
            causes.run(self)
        if self.wanted("comparison"):
            comparison.run(self)
        if self.wanted("in-place"):
            in_place.run(self)
        if self.wanted("named-waits"):
            named_waits.run(self)
        if self.wanted("rollouts"):
            rollouts.run(self)
        if self.wanted("tenants") and self.has_events:
            tenants.run(self)
        if self.wanted("late-watch"):
            late_watch.run(self)
        if self.wanted("faults"):
            faults.run(self)
        # It stops the API server, which nobody else must need meanwhile.
        if self.wanted("access"):
            access.run(self)
        self.whole.stop()
        if self.wanted("deploy"):
            deploy.run(self)

    def wanted(self, name):
        return not self.options.only or name in self.options.only

    def play(self, chosen):
        for scenario in chosen:
            scenario.start()
        for scenario in chosen:
            scenario.thread.join()
            self.judge(scenario)

    def judge(self, scenario):
        """Compare podinit, the truth of the recording and what the scenario's author expected."""
        if scenario.error:
            self.report.add(scenario, None, [str(scenario.error)])
            return
        state = {}

        def agrees():
            state["figures"] = scenario.exporter.figures()
            state["truth"] = self.truth("api", scenario.namespace)
            state["lines"] = differences(state["figures"], state["truth"], scenario.loose)
            state["lines"] += unexpected(scenario, state["truth"])
            return not state["lines"]

        try:
            wait_for(scenario.title, agrees, 20, 1)
            scenario.exporter.stop()
        except Failure as failure:
            state.setdefault("lines", []).append(str(failure))
        self.report.add(scenario, state, state["lines"])


def unexpected(scenario, truth):
    """What the recording shows that is not what the scenario was written to do."""
    lines = []
    counted = dict(part.rsplit(" ", 1) for part in summary(truth).split(", ") if part)
    expected = {outcome: str(count) for outcome, count in scenario.expected["pods"].items() if count}
    if counted != expected:
        lines.append(f"the scenario should give {expected}, the recording shows {counted}")
    for stage, count in scenario.expected.items():
        if stage == "pods":
            continue
        if stage == "reentries":
            if not any(key[0] == "podinit_reentries_total" for key in truth.counters):
                lines.append("the recording shows no re-entry")
            continue
        found = len(truth.durations.get((stage, scenario.namespace), []))
        if found != count:
            lines.append(f"{stage}: the scenario should give {count}, the recording shows {found}")
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binaries", required=True)
    parser.add_argument("--assets", default=os.environ.get("KUBEBUILDER_ASSETS"))
    parser.add_argument("--podinit", required=True)
    parser.add_argument("--crds", required=True, help="directory of the Prometheus operator's CRDs")
    parser.add_argument("--directory", required=True)
    parser.add_argument("--only", action="append", help="scenarios to run (also: kubelets, startup-sli, late-nodes, late-watch, causes, comparison, in-place, named-waits, rollouts, tenants, faults, access, deploy)")
    suite = Suite(parser.parse_args())
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        suite.run()
    except Exception as error:
        traceback.print_exc()
        suite.report.fail("the suite", str(error))
    finally:
        suite.processes.stop_all()
    sys.exit(suite.report.close())


if __name__ == "__main__":
    threading.excepthook = lambda arguments: traceback.print_exception(arguments.exc_value)
    main()
