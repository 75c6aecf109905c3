"""Recordings for the fast tests: `fixtures.py RECORDING DIRECTORY`.

Splits a recording of the suite by namespace, trims each pod and Event to what startup is told by, and
writes beside each what the truth makes of it, on both clocks, with each of `EVIDENCE`. `cargo test`
replays them (tests/suite/recordings/real_clusters.rs).
"""

import gzip
import json
import os
import sys

from compare import COUNTERS, buckets, histograms
from truth import Truth

SKIPPED = {"e2e-deployment"}  # large, and the same life a thousand times
# Faults are of the pods' watch: their recordings are kept without Events.
FAULT = "e2e-fault-"
EVIDENCE = ("none", "events")


def trimmed(pod):
    """The pod without what podinit must not depend on."""
    meta, spec, status = pod["metadata"], pod.get("spec", {}), pod.get("status", {})
    annotations = {key: value for key, value in (meta.get("annotations") or {}).items()
                   if key == "kubernetes.io/config.mirror"}
    keep = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp", "deletionTimestamp")
    small = {
        "kind": "Pod", "apiVersion": "v1",
        "metadata": {key: meta[key] for key in keep if key in meta},
        "spec": {key: spec[key] for key in ("nodeName", "hostNetwork", "schedulingGates", "readinessGates")
                 if key in spec},
        "status": {key: status[key] for key in ("phase", "startTime", "conditions") if key in status},
    }
    if "volumes" in spec:  # of each only its kind
        small["spec"]["volumes"] = [{key: volume[key] if key == "name" else {} for key in volume}
                                    for volume in spec["volumes"]]
    for kind in ("initContainerStatuses", "containerStatuses"):
        if kind in status:
            small["status"][kind] = [{key: c[key] for key in ("name", "state", "lastState") if key in c}
                                     for c in status[kind]]
    if annotations:
        small["metadata"]["annotations"] = annotations
    for kind in ("initContainers", "containers"):
        if kind in spec:
            small["spec"][kind] = [{key: c[key] for key in ("name", "restartPolicy") if key in c}
                                   for c in spec[kind]]
    return small


def trimmed_event(event):
    """The Event without what podinit must not depend on."""
    keep = ("kind", "apiVersion", "involvedObject", "reason", "message", "source", "firstTimestamp",
            "lastTimestamp", "count", "type", "reportingComponent")
    meta = {key: event["metadata"][key] for key in ("name", "namespace", "resourceVersion")}
    return {"metadata": meta, **{key: event[key] for key in keep if key in event}}


def split(path):
    """{namespace: documents} of a recording; every namespace has every list."""
    lists, documents = [], {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            document = json.loads(line)
            if "items" in document:
                lists.append(document)
                for namespace in {pod["metadata"]["namespace"] for pod in document["items"]}:
                    documents.setdefault(namespace, list(map(empty, lists[:-1])))
                for namespace, kept in documents.items():
                    kept.append({**empty(document), "items": [
                        trimmed(pod) for pod in document["items"] if pod["metadata"]["namespace"] == namespace]})
            elif document["type"] in ("ADDED", "MODIFIED", "DELETED"):
                obj = document["object"]
                if obj["kind"] == "Event" and obj["metadata"]["namespace"].startswith(FAULT):
                    continue
                kept = documents.setdefault(obj["metadata"]["namespace"], list(map(empty, lists)))
                kept.append({"type": document["type"], "observedAt": document["observedAt"],
                             "object": trimmed_event(obj) if obj["kind"] == "Event" else trimmed(obj)})
    return documents


def empty(document):
    return {"kind": "PodList", "apiVersion": "v1", "observedAt": document["observedAt"],
            "metadata": {"resourceVersion": document["metadata"]["resourceVersion"]}, "items": []}


def expected(documents, clock, events):
    """Every sample other than 0 that replay has to expose, {`name{label="value",...}`: value}."""
    truth = Truth(clock, events=events)
    for document in documents:
        truth.feed(json.loads(json.dumps(document)))
    samples = {}
    for metric, labels, values in histograms(truth):
        samples[spelt(f"{metric}_count", labels)] = len(values)
        samples[spelt(f"{metric}_sum", labels)] = round(sum(values), 6)
        for bound in buckets(metric):
            below = sum(value <= bound for value in values)
            samples[spelt(f"{metric}_bucket", {**labels, "le": f"{bound:g}"})] = below
    for (name, *values), count in truth.counters.items():
        samples[spelt(name, dict(zip(COUNTERS[name], values)))] = count
    samples["in flight"] = truth.in_flight()
    return dict(sorted((key, value) for key, value in samples.items() if value or key == "in flight"))


def spelt(name, labels):
    return name + "{" + ",".join(f'{key}="{labels[key]}"' for key in sorted(labels)) + "}"


def main(recording, directory):
    os.makedirs(directory, exist_ok=True)
    for namespace, documents in sorted(split(recording).items()):
        if not namespace.startswith("e2e-") or namespace in SKIPPED:
            continue
        stem = os.path.join(directory, namespace.removeprefix("e2e-"))
        text = "".join(json.dumps(document, separators=(",", ":")) + "\n" for document in documents)
        with open(f"{stem}.watch.json.gz", "wb") as file:
            file.write(gzip.compress(text.encode(), 9, mtime=0))
        figures = {f"{clock}, {evidence}": expected(documents, clock, evidence == "events")
                   for clock in ("api", "fused") for evidence in EVIDENCE
                   if evidence == "none" or not namespace.startswith(FAULT)}
        with open(f"{stem}.expected.json", "w", encoding="utf-8") as file:
            json.dump(figures, file, indent=1)
            file.write("\n")
        print(f"{namespace}: {len(documents)} documents")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
