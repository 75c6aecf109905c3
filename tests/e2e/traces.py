"""Startups as traces: podinit, a real Prometheus and a real OpenTelemetry Collector."""

import json
import os
import time
import urllib.request

from exporter import TEXT, figures, total
from processes import Failure, free_port, wait_for

FAMILY = "podinit_created_to_ready_duration_seconds_bucket"
# The most traces that podinit lets wait. tests/suite/memory/pods.rs counts their memory; that of the demo's cluster varies.
MOST_QUEUED = 2048
# More startups than that while the collector is away.
RATE, SPEED, AWAY = 100, 10, 30


class Collector:
    """The collector, with its OTLP receiver on loopback and a file for what it receives."""

    def __init__(self, processes, binary, directory, name="collector"):
        self.processes, self.binary, self.name = processes, binary, name
        self.port, self.file = free_port(), os.path.join(directory, f"{name}.jsonl")
        self.config = os.path.join(directory, f"{name}.yaml")
        with open(self.config, "w", encoding="utf-8") as file:
            json.dump({
                "receivers": {"otlp": {"protocols": {"http": {"endpoint": f"127.0.0.1:{self.port}"}}}},
                "exporters": {"file": {"path": self.file, "append": True}},
                "service": {"pipelines": {"traces": {"receivers": ["otlp"], "exporters": ["file"]}}}}, file)
        self.start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def start(self):
        self.process = self.processes.start(self.name, [self.binary, "--config", f"file:{self.config}"])
        wait_for("the collector", self.answers, 20)

    def answers(self):
        request = urllib.request.Request(
            f"{self.url}/v1/traces", data=b"", headers={"Content-Type": "application/x-protobuf"})
        with urllib.request.urlopen(request, timeout=5) as answer:
            return answer.status == 200

    def stop(self):
        self.processes.stop(self.process)

    def spans(self):
        """{(trace id, span id): span} of everything received, its attributes as a dictionary."""
        found = {}
        with open(self.file, encoding="utf-8") as file:
            for line in file:
                if not line.endswith("\n"):
                    break
                for resource in json.loads(line)["resourceSpans"]:
                    for scope in resource["scopeSpans"]:
                        for span in scope["spans"]:
                            span["attributes"] = {a["key"]: next(iter(a["value"].values()))
                                                  for a in span.get("attributes", [])}
                            found[span["traceId"], span["spanId"]] = span
        return found


def seconds(span):
    return (int(span["endTimeUnixNano"]) - int(span["startTimeUnixNano"])) / 1e9


def run(suite):
    """Every check, each a row of the report."""
    report = suite.report
    report.check("traces: a collector gets every startup", "as many as podinit has seen end",
                 lambda: complete(suite), "traces")
    report.check("traces: from Prometheus' exemplars to the collector", "the span of the pod, as long as the exemplar",
                 lambda: followed(suite), "exemplars")
    report.check("traces: collector away under load", "nothing that is counted changes, drops counted",
                 lambda: away(suite))


def complete(suite):
    """What `whole` has sent is all that ended while it watched, and the collector has it."""
    whole = suite.whole

    def agrees():
        found = whole.figures()
        seen = total(found, "podinit_pods_finished_total")
        seen -= sum(total(found, "podinit_pods_finished_total", outcome=o) for o in ("preexisting", "static"))
        sent = total(found, "podinit_traces_sent_total")
        spans = suite.collector.spans()
        roots = [span for span in spans.values() if not span.get("parentSpanId")]
        if not seen == sent == len(roots):
            raise Failure(f"{seen} startups, {sent} sent, {len(roots)} received")
        return roots

    roots = wait_for("every trace", agrees, 20, 0.5)
    for root in roots:
        if root["attributes"]["k8s.pod.uid"].replace("-", "") != root["traceId"]:
            raise Failure(f"the trace id is not the UID: {root}")
    return len(roots)


def followed(suite):
    """Each exemplar with a trace that Prometheus has names a span of its pod that took as long."""
    server, spans, checked = suite.prometheus, suite.collector.spans(), 0
    for entry in server.api("query_exemplars", query=FAMILY, start=server.started, end=time.time()):
        for exemplar in entry["exemplars"]:
            labels = exemplar["labels"]
            if "trace_id" not in labels:
                continue
            span = spans.get((labels["trace_id"], labels.get("span_id")))
            if span is None:
                raise Failure(f"the collector has no span of {labels}")
            if span["attributes"]["k8s.pod.name"] != labels["pod"]:
                raise Failure(f"{labels} leads to {span['attributes']}")
            if abs(seconds(span) - float(exemplar["value"])) > 0.001:
                raise Failure(f"{labels}: {exemplar['value']} s, but the span took {seconds(span)} s")
            checked += 1
    if not checked:
        raise Failure("no exemplar has a trace")
    return checked


def away(suite):
    """The collector goes away under load and comes back; a demo without one is the measure."""
    options, processes = suite.options, suite.processes
    collector = Collector(processes, suite.cluster.binaries["collector"], suite.directory, "collector-away")
    demos = [Demo(processes, options.podinit, name, *more) for name, more in (
        ("with-collector", ("--otlp-endpoint", collector.url, "--otlp-sample-ratio", "1")),
        ("without-collector", ()))]
    wait_for("a trace", lambda: demos[0].total("podinit_traces_sent_total") > 0, 30)
    collector.stop()
    began = [demo.total("podinit_pods_finished_total") for demo in demos]
    time.sleep(AWAY)
    ended = demos[1].total("podinit_pods_finished_total") - began[1]
    dropped = wait_for("dropped traces", lambda: demos[0].total("podinit_traces_dropped_total"), 60)
    for demo in demos:
        found = demo.figures()
        finished, flying = (total(found, name) for name in ("podinit_pods_finished_total", "podinit_inflight_pods"))
        if total(found, "podinit_pods_discovered_total") != finished + flying:
            raise Failure(f"{demo.name}: {finished} ended and {flying} in flight are not all")
    # The same seed: both see as many pods, as fast as a busy machine lets each of them.
    wait_for(f"{ended} startups with a collector that is away, as many as without one",
             lambda: demos[0].total("podinit_pods_finished_total") - began[0] >= ended, 120)
    queued = demos[0].total("podinit_traces_queued")
    if queued > MOST_QUEUED:
        raise Failure(f"{queued:.0f} traces wait, more than {MOST_QUEUED}")
    before = demos[0].total("podinit_traces_sent_total")
    collector.start()
    wait_for("traces again", lambda: demos[0].total("podinit_traces_sent_total") > before, 60)
    for demo in demos:
        demo.stop()
    collector.stop()
    return f"{dropped:.0f} dropped after {AWAY} s; {queued:.0f} wait"


class Demo:
    """`podinit demo` under load."""

    def __init__(self, processes, binary, name, *arguments):
        self.processes, self.name, self.port = processes, name, free_port()
        self.process = processes.start(f"demo-{name}", [
            binary, "demo", "--listen", f"127.0.0.1:{self.port}", "--rate", str(RATE), "--speed", str(SPEED),
            *arguments])
        wait_for(f"the demo {name}", lambda: self.figures(), 30)

    def figures(self):
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}/metrics", headers={"Accept": TEXT})
        with urllib.request.urlopen(request, timeout=10) as answer:
            return figures(answer.read().decode())

    def total(self, name):
        return total(self.figures(), name)

    def stop(self):
        status = self.processes.stop(self.process, seconds=30)
        if status != 0:
            raise Failure(f"the demo {self.name} ended with {status} on SIGTERM")
