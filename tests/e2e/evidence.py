"""What Events and container statuses tell of a pod's startup, read from the specification alone.

Used by `truth.py`; shares no code with podinit.
"""

import datetime
import re

NETWORK_REASONS = ("Pulling", "Pulled", "Created", "Started")
FIELD = re.compile(r"^spec\.(containers|initContainers)\{(.+)\}$")
PULLED = re.compile(r'^Successfully pulled image "([^"]*)" in (\S+?)(?: \((\S+) including waiting\))?'
                    r'(?:\. Image size: (\d+) bytes\.)?$')
PRESENT = re.compile(r'^Container image "([^"]*)" already present on machine')
FAILED = re.compile(r'^Failed to pull image "([^"]*)"')
DURATION = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)")
UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
THIRTY_DAYS = 30 * 86400


def seconds(text):
    """Seconds since 1970 of an RFC 3339 time; None where absent, unreadable or absurd."""
    try:
        value = datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()
    except (AttributeError, ValueError):
        return None
    return value if value > 0 else None


def go_duration(text):
    """Seconds of a Go duration such as `1m2.5s`; None where it is none."""
    parts = DURATION.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        return None
    return sum(float(number) * UNITS[unit] for number, unit in parts)


def registry_of(image):
    """The domain of an image reference, as container tools normalize it."""
    first, slash, _ = image.partition("/")
    named = slash and (set(first) & set(".:") or first == "localhost" or first != first.lower())
    return first if named and first != "index.docker.io" else "docker.io"


def container_starts(statuses):
    """{name: the earliest start that a container's status states}."""
    starts = {}
    for status in statuses or []:
        state, last = status.get("state") or {}, status.get("lastState") or {}
        stated = [seconds((part or {}).get("startedAt")) for part in (
            state.get("running"), state.get("terminated"), last.get("terminated"))]
        stated = [at for at in stated if at is not None]
        if stated:
            starts[status["name"]] = min(stated)
    return starts


def first_start(obj):
    """The earliest start of any container or init container of a pod; None where none started."""
    status = obj.get("status") or {}
    starts = [at for kind in ("containerStatuses", "initContainerStatuses")
              for at in container_starts(status.get(kind)).values()]
    return min(starts, default=None)


def has_run(obj):
    """Whether a snapshot shows a container or init container that started or ended, whatever became of it."""
    status = obj.get("status") or {}
    statuses = [s for kind in ("containerStatuses", "initContainerStatuses") for s in status.get(kind) or []]
    ended = any((s.get(which) or {}).get("terminated") for s in statuses for which in ("state", "lastState"))
    return ended or first_start(obj) is not None


class Pull:
    """What one Event says of an image: `result`, `registry`, and of a pull that succeeded how long it took."""

    def __init__(self, result, image, length=None, with_wait=None, size=None):
        self.result, self.registry, self.length, self.size = result, registry_of(image), length, size
        self.waited = None if with_wait is None else with_wait - length
        self.whole = length if with_wait is None else with_wait


def read_pull(reason, message):
    """The pull that an Event tells of; None where it tells of none, or not so that it can be read."""
    if reason == "Failed":
        found = FAILED.match(message)
        return found and Pull("failed", found[1])
    if reason != "Pulled":
        return None
    found = PRESENT.match(message)
    if found:
        return Pull("present", found[1])
    found = PULLED.match(message)
    if not found:
        return None
    length, with_wait = go_duration(found[2]), found[3] and go_duration(found[3])
    if length is None or (found[3] and with_wait is None):
        return None
    return Pull("pulled", found[1], length, with_wait, found[4] and int(found[4]))


class KubeletEvent:
    """A `v1` Event, as far as it is evidence. `at` is its time as `clock` takes it."""

    def __init__(self, obj, clock):
        involved = obj.get("involvedObject") or {}
        self.uid = involved.get("uid")
        # Its author may write any UID, but only one namespace. What is not stated contradicts nothing.
        self.namespaces = {obj["metadata"].get("namespace"), involved.get("namespace")} - {None}
        self.names = {involved.get("name")} - {None}
        reporter = obj.get("reportingComponent") or (obj.get("source") or {}).get("component")
        self.from_kubelet = reporter == "kubelet"
        found = FIELD.match(involved.get("fieldPath") or "")
        self.container, self.init = (found[2], found[1] == "initContainers") if found else (None, False)
        self.shows_network = obj.get("reason") in NETWORK_REASONS
        self.pull = read_pull(obj.get("reason"), obj.get("message") or "")
        self.bound_at = seconds(obj.get("eventTime")) if obj.get("reason") == "Scheduled" else None
        self.at = seconds(obj.get("firstTimestamp"))
        if clock == "fused" and self.at is not None:
            self.at = self.fused(self.at, obj["metadata"]["name"])

    @staticmethod
    def fused(second, name):
        """The instant in the Event's name where it lies in the second, else the middle of the second."""
        try:
            named = int(name.rpartition(".")[2], 16) / 1e9
        except ValueError:
            return second + 0.5
        return named if second <= named < second + 1 else second + 0.5


def startup_sli_exclusion(pod, outcome, judged):
    """Why a pod's startup does not enter the official SLI; None where it does."""
    if outcome in ("static", "preexisting"):
        return outcome
    if pod.adopted:
        return "preexisting"
    if pod.gated:
        return "gated"
    if pod.unschedulable:
        return "unschedulable"
    if pod.stateful:
        return "stateful"
    if not judged:
        return outcome if outcome not in ("ready", "completed") else "no_evidence"
    return None


def init_runs(obj):
    """Seconds that init containers have run that are not restartable: the runs that their statuses state."""
    total = 0.0
    ending = {c["name"] for c in (obj.get("spec") or {}).get("initContainers") or []
              if c.get("restartPolicy") != "Always"}
    for status in (obj.get("status") or {}).get("initContainerStatuses") or []:
        for state in (status.get("state"), status.get("lastState")) if status["name"] in ending else ():
            run = (state or {}).get("terminated") or {}
            begin, end = seconds(run.get("startedAt")), seconds(run.get("finishedAt"))
            if None not in (begin, end):
                total += max(end - begin, 0)
    return total


def startup_sli_parts(pod, time):
    """Seconds from creation to all containers' start, of pulls in it and of init containers; None where unusable."""
    created, started, network = time("Created"), time("ContainersStarted"), time("NetworkReady")
    if None in (created, started, network):
        return None
    pulls = []
    for pull, end in pod.pulled.values():
        if pull.result == "pulled":
            if end is None:
                return None
            pulls.append((max(end - pull.whole, network), min(end, started)))
    return started - created, union(pulls), pod.init_runs


def startup_sli(pod, time):
    """Seconds from creation to all containers' start, without pulls and init containers; None where unusable."""
    parts = startup_sli_parts(pod, time)
    if parts is None:
        return None
    whole, pulls, init = parts
    value = whole - init - pulls
    if value < -1 or value > THIRTY_DAYS:
        return None
    return max(value, 0.0)


def union(spans):
    """How long the union of (begin, end) spans is."""
    length, reached = 0.0, float("-inf")
    for begin, end in sorted(spans):
        begin = max(begin, reached)
        if end > begin:
            length, reached = length + end - begin, end
    return length
