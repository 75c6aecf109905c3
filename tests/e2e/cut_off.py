"""What a watcher that was cut off can have been told of pods, and which of it podinit was.

Such a watcher misses snapshots of pods, and where they state different times for one milestone, it takes
another one for the first. That happens where a scheduler does not get the answer to a binding: it takes
PodScheduled back and binds again. Or where a snapshot without a started container is missed, and the next one
has a start that is earlier than the network condition. The recorder is cut off too, at other moments.

podinit's record of a pod says which milestones it took. They have to be those of a watcher that missed some of the
recorded snapshots, and then all figures have to follow from these.
"""

import collections
import itertools

from recording import read_recording
from truth import Truth, find, is_true, seconds, version_of

# What podinit calls milestones that are not called so here.
NAMES = {"PodScheduled": "Scheduled", "PodReadyToStartContainers": "NetworkReady"}
# Of so many snapshots of a pod each combination is tried, of more only those that come one after the other.
MOST = 8

# `missed` and `scheduled` as a truth takes them, for one pod.
View = collections.namedtuple("View", "missed scheduled")


def of_namespace(path, namespace):
    """What a recording says of the pods of a namespace: its lists, and its events."""
    for document in read_recording(path):
        if "items" in document:
            yield {**document, "items": [obj for obj in document["items"] if obj["metadata"]["namespace"] == namespace]}
        elif document["object"].get("kind") != "Event" and document["object"]["metadata"].get("namespace") == namespace:
            yield document


def snapshots(recording):
    """{(name, UID): [snapshots]} until each pod is ready, in the order of their versions."""
    pods = collections.defaultdict(dict)
    for document in recording:
        for obj in document["items"] if "items" in document else [document["object"]]:
            pods[obj["metadata"]["name"], obj["metadata"]["uid"]][version_of(obj)] = obj
    return {pod: until_ready([obj for _, obj in sorted(found.items())]) for pod, found in pods.items()}


def until_ready(found):
    """Up to the first snapshot that is ready, and the last one, which every watcher is told of in the end.

    Between them only those that say something else of PodScheduled: a scheduler that did not get the answer to a
    binding takes it back after the pod is ready too, and a watcher that missed the first may be told of it first.
    """
    count = next((index for index, obj in enumerate(found) if is_true(obj, "Ready")), len(found) - 1)
    kept = found[:count + 1]
    for obj in found[count + 1:-1]:
        if find(obj, "PodScheduled") != find(kept[-1], "PodScheduled"):
            kept.append(obj)
    return kept + found[-1:] * (count + 1 < len(found))


def views(found):
    """{milestones: View} of every watcher that was told of the last of a pod's snapshots, and not of all others."""
    known, uid = {}, found[-1]["metadata"]["uid"]
    for unseen in gaps(found[:-1]):
        missed = frozenset((uid, version_of(obj)) for obj in unseen)
        for scheduled in [{}, *({uid: time} for time in lost_bindings(found))]:
            known.setdefault(milestones(found, missed, scheduled), View(missed, scheduled))
    return known


def gaps(found):
    """What can be missed of snapshots, nothing first."""
    if len(found) < MOST:
        return itertools.chain.from_iterable(itertools.combinations(found, count) for count in range(len(found) + 1))
    return [(), *(found[first:end] for first in range(len(found)) for end in range(first + 1, len(found) + 1))]


def lost_bindings(found):
    """When a pod can have been bound without anybody being told: one that is not scheduled and has a node was."""
    times = set()
    for obj in found:
        entry, created = find(obj, "PodScheduled"), seconds(obj["metadata"]["creationTimestamp"])
        if entry and entry["status"] != "True" and obj["spec"].get("nodeName"):
            times.update(range(int(created), int(seconds(entry["lastTransitionTime"])) + 1))
    return sorted(times)


def milestones(found, missed=frozenset(), scheduled=None):
    """The milestones that a watcher takes, as a frozenset of (name, time)."""
    truth = Truth("api", missed=missed, scheduled=scheduled)
    truth.feed({"items": [], "observedAt": found[0]["metadata"]["creationTimestamp"]})
    for obj in found:
        truth.feed({"type": "MODIFIED", "object": obj})
    pod = truth.pods[found[-1]["metadata"]["uid"]]
    return frozenset((name, truth.time(pod, name)) for name in pod.reached)


def recorded(record):
    """The same of a record of podinit's."""
    return frozenset((NAMES.get(entry["milestone"], entry["milestone"]), seconds(entry.get("time")))
                     for entry in record["milestones"])


def seen(recording, record_of):
    """(View of all pods together, what podinit cannot have been told): `record_of(name, uid)` is podinit's record."""
    missed, scheduled, wrong = set(), {}, []
    for (name, uid), found in snapshots(recording).items():
        known = views(found)
        if len(known) == 1:
            continue
        told = recorded(record_of(name, uid))
        if told not in known:
            wrong.append(f"{name}: no watcher can be told {sorted(told, key=str)}")
            continue
        missed |= known[told].missed
        scheduled.update(known[told].scheduled)
    return View(missed, scheduled), wrong
