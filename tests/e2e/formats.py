"""Each format of /metrics, read by a parser that is not podinit's."""

import gzip
import http.client
import subprocess

from prometheus_client.openmetrics.parser import text_string_to_metric_families

from compare import by_labels, differences
from exporter import figures
from processes import Failure, wait_for

EVIDENCE = "podinit_network_evidence_total"
OPENMETRICS = "application/openmetrics-text;version=1.0.0"
PROTOBUF = ("application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited")


def run(suite):
    report, exporter = suite.report, suite.whole
    report.check("all pods, fused clock", "counts as the recording", lambda: whole(suite), "pods")
    report.check("text 0.0.4, promtool check metrics", "no complaint", lambda: text(suite), "samples")
    report.check("OpenMetrics 1.0, PyPI prometheus-client", "parses, same samples",
                 lambda: openmetrics(exporter), "exemplars")
    report.check("protobuf", "delimited, as asked for", lambda: protobuf(exporter), "bytes")
    report.check("HTTP", "gzip, HEAD, 404, 405", lambda: http_rules(exporter), "requests")


def whole(suite):
    """The exporter of every namespace; its arrival times are not the recorder's to the millisecond."""
    state = {}

    def agrees():
        state["truth"] = suite.truth("fused")
        found = suite.whole.figures()
        lines = differences(found, state["truth"], 0.05, {"podinit_clock_anomalies_total", EVIDENCE})
        lines += evidence_differences(found, state["truth"])
        if lines:
            raise Failure("; ".join(lines[:5]))
        return True

    wait_for("podinit to agree with the recording", agrees, 20, 1)
    return state["truth"].counters[("podinit_pods_discovered_total",)]


def evidence_differences(figures, truth):
    """What differs by more than the near ties between the two kinds of evidence."""
    found = by_labels(figures, EVIDENCE, ["source"])
    expected = {tuple(labels): count for (name, *labels), count in truth.counters.items() if name == EVIDENCE}
    moved = abs(found.get(("condition",), 0) - expected.get(("condition",), 0))
    if sum(found.values()) == sum(expected.values()) and moved <= truth.near_ties:
        return []
    return [f"{EVIDENCE}: expected {expected}, {truth.near_ties} of them near ties, counted {found}"]


def text(suite):
    status, headers, body = suite.whole.get()
    expect(status == 200, f"HTTP {status}")
    kind = headers["Content-Type"]
    expect(kind.startswith("text/plain") and "version=0.0.4" in kind, f"Content-Type {kind}")
    expect("accept" in (headers["Vary"] or "").lower(), f"Vary {headers['Vary']}")
    lint = subprocess.run([suite.cluster.binaries["promtool"], "check", "metrics"], input=body,
                          capture_output=True, check=False)
    expect(lint.returncode == 0, (lint.stdout + lint.stderr).decode()[:500])
    return len(figures(body.decode()))


def openmetrics(exporter):
    status, headers, body = exporter.get(accept=OPENMETRICS)
    expect(status == 200 and headers["Content-Type"].startswith("application/openmetrics-text"),
           f"HTTP {status}, {headers['Content-Type']}")
    families = list(text_string_to_metric_families(body.decode()))
    found = [s for family in families for s in family.samples]
    names = {(s.name, frozenset(s.labels.items() - {("le", s.labels.get("le"))})) for s in found
             if s.name.startswith("podinit_")}
    classic = {(name, frozenset((k, v) for k, v in labels if k != "le"))
               for name, labels in exporter.figures()}
    # The info metric is spelt differently, and only OpenMetrics has _created.
    missing = {key for key in classic - names if "build_info" not in key[0]}
    expect(not missing, f"only in classic text: {sorted(missing, key=str)[:3]}")
    return sum(1 for sample in found if sample.exemplar)


def protobuf(exporter):
    status, headers, body = exporter.get(accept=PROTOBUF)
    kind = headers["Content-Type"]
    expect(status == 200 and kind.startswith("application/vnd.google.protobuf"), f"HTTP {status}, {kind}")
    expect("encoding=delimited" in kind.replace(" ", ""), f"Content-Type {kind}")
    position, messages = 0, 0
    while position < len(body):  # each message behind its length as a varint
        length = shift = 0
        while True:
            byte = body[position]
            position += 1
            length |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                break
        position += length
        messages += 1
    expect(position == len(body) and messages > 10, f"{messages} messages, {position} of {len(body)} bytes")
    return len(body)


def http_rules(exporter):
    for method, path, headers, wanted in (
        ("HEAD", "/metrics", {}, 200),
        ("POST", "/metrics", {}, 405),
        ("GET", "/nothing-here", {}, 404),
        ("GET", "/", {}, 200),
        ("GET", "/livez", {}, 200),
        ("GET", "/readyz", {}, 200),
        ("GET", "/metrics", {"Accept-Encoding": "gzip"}, 200),
    ):
        connection = http.client.HTTPConnection("127.0.0.1", exporter.port, timeout=10)
        connection.request(method, path, headers=headers)
        answer = connection.getresponse()
        body = answer.read()
        expect(answer.status == wanted, f"{method} {path}: HTTP {answer.status}, wanted {wanted}")
        expect(method != "HEAD" or not body, "HEAD has a body")
        if headers:
            expect(answer.headers["Content-Encoding"] == "gzip", "no gzip")
            expect(b"podinit_build_info" in gzip.decompress(body), "gzip body without metrics")
        connection.close()
    return 7


def expect(holds, otherwise):
    if not holds:
        raise Failure(otherwise)
