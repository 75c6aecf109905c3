"""What podinit may say of a recording whose two watches came in another order to it.

Pods and Events come over watches of their own, so that podinit may be told of an Event shortly before
a status that the recorder was told of first. For each pod the truth is worked out as recorded, and with
its Events a little earlier and a little later; podinit's figures have to lie between the extremes.
"""

import collections

from compare import COUNTERS, EXACT, buckets, histograms
from recording import read_recording
from truth import Truth, seconds

APART = 0.5  # seconds by which the watches may be apart; pods here have nothing to tell before that


def documents_by_pod(path, namespace):
    """(the first list, {uid: [(arrival, document)]}) of a recording; the namespace began empty."""
    first, found = None, collections.defaultdict(list)
    for document in read_recording(path):
        if "items" in document:
            first = first or {**document, "items": []}
            continue
        obj = document["object"]
        event = obj.get("kind") == "Event"
        subject = obj.get("involvedObject") if event else obj.get("metadata")
        if subject and subject.get("namespace") == namespace and document["type"] != "BOOKMARK":
            uid = subject["uid"]
            found[uid].append((seconds(document["observedAt"]), event, document))
    return first, found


def shifted(documents, by):
    """The documents with Events moved by `by` seconds, in their new order."""
    return [document for _, _, document in sorted(
        ((arrived + by if event else arrived, event, document) for arrived, event, document in documents),
        key=lambda one: one[0])]


def figures_of(truth):
    """{(name, labels): value} of what a truth counted."""
    found = collections.Counter()
    for metric, labels, values in histograms(truth):
        key = frozenset(labels.items())
        found[(f"{metric}_count", key)] += len(values)
        found[(f"{metric}_sum", key)] += sum(values)
        for bound in buckets(metric):
            found[(f"{metric}_bucket", frozenset({**labels, "le": f"{bound:g}"}.items()))] += sum(
                value <= bound + EXACT for value in values)
    for (name, *values), count in truth.counters.items():
        found[(name, frozenset(zip(COUNTERS[name], values)))] += count
    return found


def bounds(path, namespace, clock="api"):
    """{(name, labels): (least, greatest)} over the orders of each pod's documents, and how many pods are firm."""
    first, by_pod = documents_by_pod(path, namespace)
    least, greatest, firm = collections.Counter(), collections.Counter(), 0
    for documents in by_pod.values():
        outcomes = []
        for by in (0, -APART, APART):
            truth = Truth(clock, events=True).feed_all([first, *shifted(documents, by)])
            outcomes.append(figures_of(truth))
        firm += outcomes[0] == outcomes[1] == outcomes[2]
        for key in set().union(*outcomes):
            values = [outcome[key] for outcome in outcomes]
            least[key] += min(values)
            greatest[key] += max(values)
    return {key: (least[key], greatest[key]) for key in greatest}, firm


def outside(figures, allowed):
    """A line for each figure that no order explains."""
    figures = {(name, normal(labels)): value for (name, labels), value in figures.items()}
    lines = []
    for key, (least, greatest) in sorted(allowed.items(), key=str):
        found = figures.get(key, 0)
        resolution = EXACT * (1 + figures.get((f"{key[0].removesuffix('_sum')}_count", key[1]), 0))
        if not least - resolution <= found <= greatest + resolution:
            lines.append(f"{key[0]}{sorted(key[1])}: between {least:g} and {greatest:g}, counted {found:g}")
    for key, found in sorted(figures.items(), key=str):
        if found and key not in allowed and key[0] in COUNTERS:
            lines.append(f"{key[0]}{sorted(key[1])}: expected none, counted {found:g}")
    return lines


def normal(labels):
    """Labels with `le` spelt as `figures_of` spells it."""
    return frozenset((key, f"{float(value):g}" if key == "le" else value) for key, value in labels)
