"""A real Prometheus that scrapes podinit in each format, and PromQL against the truth."""

import json
import math
import os
import time
import urllib.parse
import urllib.request

from compare import buckets, family
from processes import Failure, free_port, wait_for

# Job -> the one protocol that it may negotiate.
JOBS = {
    "protobuf": "PrometheusProto",
    "openmetrics": "OpenMetricsText1.0.0",
    "text": "PrometheusText0.0.4",
}
QUANTILES = (0.5, 0.9, 0.99)
WHOLES = ("created_to_ready", "scheduled_to_ready")


class Prometheus:
    """A server that scrapes the exporter of the whole cluster, once for each format."""

    def __init__(self, suite):
        self.port, self.started = free_port(), time.time()
        directory = os.path.join(suite.directory, "prometheus")
        os.makedirs(directory)
        config = os.path.join(directory, "prometheus.json")
        with open(config, "w", encoding="utf-8") as file:
            json.dump({"global": {"scrape_interval": "1s", "scrape_timeout": "1s"}, "scrape_configs": [
                {"job_name": job, "scrape_protocols": [protocol],
                 "scrape_native_histograms": job == "protobuf",
                 "static_configs": [{"targets": [f"127.0.0.1:{suite.whole.port}"]}]}
                for job, protocol in JOBS.items()]}, file)
        suite.processes.start("prometheus", [
            suite.cluster.binaries["prometheus"], "--config.file", config,
            "--storage.tsdb.path", os.path.join(directory, "data"),
            "--web.listen-address", f"127.0.0.1:{self.port}",
            "--enable-feature=exemplar-storage", "--log.level=warn"])
        # Counters count from the first scrape on: no pod may come before it.
        wait_for("a scrape of every job", lambda: self.number("count(up == 1)") == len(JOBS))

    def api(self, path, **query):
        url = f"http://127.0.0.1:{self.port}/api/v1/{path}?{urllib.parse.urlencode(query)}"
        with urllib.request.urlopen(url, timeout=10) as answer:
            return json.load(answer)["data"]

    def query(self, text):
        return self.api("query", query=text)["result"]

    def by_namespace(self, text):
        """{namespace: value} of an instant query."""
        return {entry["metric"].get("namespace", ""): float(entry["value"][1]) for entry in self.query(text)}

    def number(self, text):
        result = self.query(text)
        if len(result) != 1:
            raise Failure(f"{text}: {len(result)} series")
        return float(result[0]["value"][1])


def run(suite):
    """Every check, each a row of the report."""
    report, server = suite.report, suite.prometheus
    # Two more scrapes, so that what podinit says now is what Prometheus has.
    wait_for("scrapes of every job", lambda: server.number("count(up == 1)") == len(JOBS))
    time.sleep(3)
    truth = suite.truth("fused")
    report.check("Prometheus: native histograms over protobuf", "counts as the recording",
                 lambda: native_counts(server, truth), "series")
    for job in ("openmetrics", "text"):
        report.check(f"Prometheus: classic histograms over {job}", "counts as the recording",
                     lambda job=job: classic_counts(server, truth, job), "series")
    report.check("Prometheus: histogram_quantile, native", "within 10 % of the exact one",
                 lambda: native_quantiles(server, truth), "quantiles")
    report.check("Prometheus: histogram_quantile, classic", "in the bucket of the exact one",
                 lambda: classic_quantiles(server, truth), "quantiles")
    report.check("Prometheus: increase of counters", "as the recording, but for extrapolation",
                 lambda: increases(server, truth), "counters")
    report.check("Prometheus: exemplars through the API", "pods of the recording, with their durations",
                 lambda: exemplars(server, truth), "exemplars")


def expected_counts(truth, interval):
    return {ns: len(values) for (name, ns), values in truth.durations.items() if name == interval}


def intervals(truth):
    return sorted({name for name, _ in truth.durations})


def selector(interval, job, suffix=""):
    metric, labels = family(interval)
    pairs = "".join(f',{key}="{value}"' for key, value in labels.items())
    return f'{metric}{suffix}{{job="{job}"{pairs}}}'


def same_counts(interval, found, expected):
    found = {namespace: count for namespace, count in found.items() if count}
    if found != expected:
        raise Failure(f"{interval}: expected {expected}, Prometheus has {found}")
    return len(expected)


def native_counts(server, truth):
    for entry in server.query(f"{selector('created_to_ready', 'protobuf')}"):
        if "histogram" not in entry:
            raise Failure("created_to_ready over protobuf is no native histogram")
    checked = 0
    for interval in intervals(truth):
        query = f"histogram_count({selector(interval, 'protobuf')})"
        checked += same_counts(interval, server.by_namespace(query), expected_counts(truth, interval))
    return checked


def classic_counts(server, truth, job):
    return sum(same_counts(interval, server.by_namespace(selector(interval, job, "_count")),
                           expected_counts(truth, interval)) for interval in intervals(truth))


def exact_quantiles(truth):
    """(interval, quantile, exact value, the values around it) where there is enough to judge."""
    for interval in WHOLES:
        values = sorted(v for (name, _), vs in truth.durations.items() if name == interval for v in vs)
        if len(values) < 20:
            continue
        for quantile in QUANTILES:
            rank = max(math.ceil(quantile * len(values)), 1)
            # A histogram interpolates: any value within one rank and 1 % of it will do.
            slack = max(1, round(len(values) / 100))
            near = values[max(rank - 1 - slack, 0): rank + slack]
            yield interval, quantile, values[rank - 1], near


def native_quantiles(server, truth):
    checked = 0
    for interval, quantile, exact, near in exact_quantiles(truth):
        found = server.number(f"histogram_quantile({quantile}, sum({selector(interval, 'protobuf')}))")
        # Half the factor of a bucket either way, and the two watchers' arrival times.
        if not near[0] / 1.1 - 0.05 <= found <= near[-1] * 1.1 + 0.05:
            raise Failure(f"p{quantile * 100:g} of {interval}: exactly {exact:.3f}, Prometheus says {found:.3f}")
        checked += 1
    return checked


def classic_quantiles(server, truth):
    checked = 0
    for interval, quantile, exact, near in exact_quantiles(truth):
        for job in ("openmetrics", "text"):
            query = f"histogram_quantile({quantile}, sum by (le) ({selector(interval, job, '_bucket')}))"
            found = server.number(query)
            bounds = buckets(family(interval)[0])
            # podinit's arrival times are not the recorder's: either side of a bound will do.
            lower = max((b for b in bounds if b < near[0] - 0.05), default=0)
            upper = min((b for b in bounds if b >= near[-1] + 0.05), default=math.inf)
            if not lower <= found <= upper:
                raise Failure(f"p{quantile * 100:g} of {interval}: exactly {exact:.3f}, "
                              f"Prometheus says {found:.3f} from the classic buckets")
            checked += 1
    return checked


def increases(server, truth):
    """`increase` over a range that begins before the first pod."""
    sampled = time.time() - server.started
    span = math.ceil(sampled + 60)
    # Prometheus extends what it sampled by at most 1.1 scrape intervals to either side.
    extrapolated = 1 + 2.2 / sampled
    finished = {key[1]: n for key, n in truth.counters.items() if key[0] == "podinit_pods_finished_total"}
    expected = {f'podinit_pods_finished_total{{job="JOB",outcome="{k}"}}': n for k, n in finished.items()}
    expected['podinit_pods_discovered_total{job="JOB"}'] = truth.counters[("podinit_pods_discovered_total",)]
    for series, count in expected.items():
        for job in JOBS:
            found = server.number(f"increase({series.replace('JOB', job)}[{span}s])")
            if not 0.999 * count <= found <= extrapolated * count:
                raise Failure(f"increase of {series} over {job}: expected {count}, found {found:.2f}")
    return len(expected) * len(JOBS)


def exemplars(server, truth):
    checked = 0
    for interval in WHOLES:
        if not expected_counts(truth, interval):
            continue
        metric, _ = family(interval)
        found = []
        for query in (f"{metric}_bucket", metric):
            found += server.api("query_exemplars", query=query, start=server.started, end=time.time())
        jobs = {entry["seriesLabels"]["job"] for entry in found}
        if not {"openmetrics", "protobuf"} <= jobs:
            raise Failure(f"exemplars of {interval} only from {sorted(jobs)}")
        for entry in found:
            for exemplar in entry["exemplars"]:
                checked += exemplar_agrees(interval, exemplar, truth)
    return checked


def exemplar_agrees(interval, exemplar, truth):
    labels = exemplar["labels"]
    values = truth.by_pod.get((interval, labels["namespace"], labels["pod"]))
    if values is None:
        raise Failure(f"exemplar of {interval} names {labels}, a pod without such a duration")
    if sum(len(key) + len(value) for key, value in labels.items()) > 128:
        raise Failure(f"exemplar labels too long: {labels}")
    if min(abs(value - float(exemplar["value"])) for value in values) > 0.6:
        raise Failure(f"exemplar of {labels}: {exemplar['value']}, the recording says {values}")
    return 1
