"""podinit's figures against the truth of the recording."""

from exporter import total
from processes import Failure
from truth import NODE_STEPS, STAGES, STEPS

STARTUP_BUCKETS = (0.5, 1, 2, 3, 4, 5, 6, 8, 10, 20, 30, 45, 60, 120, 180, 240, 300, 360, 480, 600, 900,
                   1200, 1800, 2700, 3600)
PULL_BUCKETS = (1, 5, 10, 20, 30, 60, 120, 180, 240, 300, 360, 480, 600, 900, 1200, 1800, 2700, 3600)
COUNTERS = {
    "podinit_pods_discovered_total": (),
    "podinit_pods_finished_total": ("outcome",),
    "podinit_unobserved_total": ("interval", "reason"),
    "podinit_reentries_total": ("milestone",),
    "podinit_clock_anomalies_total": ("kind",),
    "podinit_network_evidence_total": ("source",),
    "podinit_images_total": ("source", "registry"),
    "podinit_image_pull_failures_total": ("registry",),
    "podinit_image_pull_bytes_total": ("registry",),
    "podinit_pod_start_sli_excluded_total": ("reason",),
    "podinit_nodes_discovered_total": (),
    "podinit_nodes_finished_total": ("outcome",),
    "podinit_milestone_unobserved_total": ("milestone", "reason"),
}
# Intervals with labels other than a namespace.
LABELLED = {
    "startup": ("podinit_cold_start_duration_seconds", ("node_age", "images")),
    "node_startup": ("podinit_node_startup_duration_seconds", ("step", "nodepool")),
}
# A step that ends with an arrival: two watchers may see it on two sides of a second.
ARRIVAL = ("step", "schedulable")
# What podinit_image_pull_wait_seconds is called among the intervals.
PULL_WAIT = "image_pull_wait"
HISTOGRAMS = ("podinit_stage_", "podinit_step_", "podinit_scheduled_", "podinit_created_",
              "podinit_image_pull_", "podinit_cold_start_", "podinit_node_startup_",
              "podinit_pod_start_sli_", "podinit_gate_", "podinit_milestone_")
# Seconds by which a duration here can be off: a float of today's Unix time has a resolution of 0.24 µs.
EXACT = 1e-6


def buckets(metric):
    """The bounds of the classic buckets of a histogram."""
    return PULL_BUCKETS if metric.startswith("podinit_image_pull_") else STARTUP_BUCKETS


def family(interval):
    """(metric, labels) of a stage, a step or another duration."""
    if interval in STAGES:
        return "podinit_stage_duration_seconds", {"stage": interval}
    if interval in (*STEPS, *NODE_STEPS):
        return "podinit_step_duration_seconds", {"step": interval}
    return "podinit_image_pull_wait_seconds" if interval == PULL_WAIT else f"podinit_{interval}_duration_seconds", {}


def series(interval, group):
    """(metric, labels) of what `Truth.durations` holds under a key."""
    if interval in LABELLED:
        metric, names = LABELLED[interval]
        return metric, dict(zip(names, group))
    metric, labels = family(interval)
    return metric, {**labels, "registry" if interval.startswith("image_pull") else "namespace": group}


def histograms(truth):
    """(metric, labels, values) of every histogram that the truth knows."""
    for (interval, group), values in truth.durations.items():
        yield *series(interval, group), values
    for (kind, gate), values in truth.gates.items():
        yield "podinit_gate_duration_seconds", {"kind": kind, "gate": gate}, values
    for (milestone, start, namespace), values in truth.own.items():
        labels = {"milestone": milestone, "from": start, "namespace": namespace}
        yield "podinit_milestone_duration_seconds", labels, values


def histogram_differences(figures, truth, loose, arrivals):
    """Lines for each histogram that differs; sums may, by `loose` seconds an observation and one more."""
    expected = {(metric, frozenset(labels.items())): values for metric, labels, values in histograms(truth)}
    lines = []
    seen = {(n[: -len("_count")], labels) for n, labels in figures if n.endswith("_seconds_count")
            and n.startswith(HISTOGRAMS)}
    for metric, labels in sorted(seen | set(expected), key=str):
        values = expected.get((metric, labels), [])
        name = f"{metric}{{{', '.join('='.join(pair) for pair in sorted(labels))}}}"
        count = figures.get((f"{metric}_count", labels), 0)
        if count != len(values):
            lines.append(f"{name} count: expected {len(values)}, counted {count:.0f}")
            continue
        found = figures.get((f"{metric}_sum", labels), 0)
        slack = max(loose, arrivals) if ARRIVAL in labels else loose
        if abs(found - sum(values)) > (slack * len(values) + 1 if slack else EXACT * (1 + len(values))):
            lines.append(f"{name} sum: expected {sum(values):.7f}, counted {found:.7f}")
        if slack:
            continue
        for bound in buckets(metric) if values else ():
            below = sum(1 for value in values if value <= bound + EXACT)
            have = total(figures, f"{metric}_bucket", **dict(labels), le=bucket_label(figures, bound))
            if have != below:
                lines.append(f"{name} le={bound}: expected {below}, counted {have:.0f}")
    return lines


def bucket_label(figures, bound):
    """The spelling of a bound (`1` or `1.0`) that the exposition uses."""
    for name, labels in figures:
        if name.endswith("_bucket"):
            label = dict(labels)["le"]
            if label != "+Inf" and float(label) == bound:
                return label
    raise Failure(f"no bucket {bound}")


def counter_differences(figures, truth, ignored):
    expected = {}
    for (name, *values), count in truth.counters.items():
        expected[(name, frozenset(zip(COUNTERS[name], values)))] = count
    lines = []
    for key in sorted(set(expected) | {key for key in figures if key[0] in COUNTERS}, key=str):
        name, labels = key
        if name in ignored or figures.get(key, 0) == expected.get(key, 0):
            continue
        text = ", ".join("=".join(pair) for pair in sorted(labels))
        lines.append(f"{name}{{{text}}}: expected {expected.get(key, 0)}, counted {figures.get(key, 0):.0f}")
    return lines


def differences(figures, truth, loose=0, ignored=(), arrivals=0):
    """Every figure that is not what the truth says, as a line each; `arrivals` is how far those of nodes may be apart."""
    lines = histogram_differences(figures, truth, loose, arrivals) + counter_differences(figures, truth, ignored)
    inflight = total(figures, "podinit_inflight_pods")
    if inflight != truth.in_flight():
        lines.append(f"podinit_inflight_pods: expected {truth.in_flight()}, counted {inflight:.0f}")
    held, gated = dict(truth.held()), by_labels(figures, "podinit_gated_pods", ("kind", "gate"))
    if gated != held:
        lines.append(f"podinit_gated_pods: expected {held}, counted {gated}")
    discovered = total(figures, "podinit_pods_discovered_total")
    finished = total(figures, "podinit_pods_finished_total")
    if discovered != finished + inflight:
        lines.append(f"not conserved: {discovered:.0f} discovered, {finished:.0f} finished, {inflight:.0f} in flight")
    return lines


def by_labels(figures, name, labels, **chosen):
    """{values of `labels`: sum} of the samples of `name` that have the labels `chosen` and are not 0."""
    sums, wanted = {}, set(chosen.items())
    for (found, have), value in figures.items():
        if found == name and wanted <= have and value:
            key = tuple(dict(have).get(label) for label in labels)
            sums[key] = sums.get(key, 0) + value
    return sums


def summary(truth):
    """`outcome=n` of what the truth counted, for the table."""
    found = {key[1]: n for key, n in truth.counters.items() if key[0] == "podinit_pods_finished_total"}
    if truth.in_flight():
        found["in flight"] = truth.in_flight()
    return ", ".join(f"{outcome} {n}" for outcome, n in sorted(found.items()))
