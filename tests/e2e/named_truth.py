"""Gates and milestones by name, worked out from section 16 of the specification alone. `truth.py` calls it.

Figures are in `Truth.gates` (lists of seconds, by kind and gate), `Truth.own` (by milestone, `from` and namespace) and
`Truth.counters`; `Truth.held` says which gates hold how many pods.
"""

import math

from evidence import seconds

FOLLOWED = 8
THIRTY_DAYS = 30 * 86400
SCHEDULING, READINESS = "scheduling", "readiness"


def entry_of(obj, kind):
    return next((one for one in (obj.get("status") or {}).get("conditions") or [] if one["type"] == kind), None)


def holds(obj, kind):
    return (entry_of(obj, kind) or {}).get("status") == "True"


def names(entries, key):
    """16.1: the first eight, without empty names and repetitions."""
    found = [entry.get(key) for entry in entries or []]
    return list(dict.fromkeys(name for name in found if name))[:FOLLOWED]


def scheduling_gates(obj):
    return names((obj.get("spec") or {}).get("schedulingGates"), "name")


def usable(start, end, least=-1):
    """4.5 and 4.6 without their anomalies: seconds, or None."""
    if start is None or end is None or not least <= end - start <= THIRTY_DAYS:
        return None
    return max(end - start, 0.0)


# So many seconds after Ready a pod is followed (16.5)
LASTS = 600


class Named:
    """What is known of the gates and of the milestones of one's own of one UID, since `obj` discovered it."""

    def __init__(self, obj, adopted, milestones):
        self.scheduling = scheduling_gates(obj)
        self.readiness = names((obj.get("spec") or {}).get("readinessGates"), "conditionType")
        self.milestones = milestones
        self.reached = {}  # condition type -> [API time, instant of arrival]
        self.before = {kind for kind in self.types() if adopted and holds(obj, kind)}
        self.judged, self.unobserved = set(), set()
        self.is_over = False  # followed no longer after Ready
        self.lengths = {}  # by (kind, gate), in seconds
        self.obj = obj

    def types(self):
        return {*self.readiness, *self.milestones.values()}

    # -- one snapshot, which `truth` has folded already --------------------------------------

    def fold(self, truth, pod, obj, arrived):
        self.obj = obj
        for kind in self.types() - set(self.reached):
            if holds(obj, kind):
                self.reached[kind] = [seconds(entry_of(obj, kind).get("lastTransitionTime")), arrived]
        standing = scheduling_gates(obj)
        for gate in self.scheduling:
            if gate not in standing and self.once(SCHEDULING, gate):
                self.add(truth, SCHEDULING, gate, usable(truth.time(pod, "Created"), self.passed(truth, pod, arrived)))
        for gate in self.readiness:
            if gate in self.reached and "ContainersReady" in pod.reached and self.once(READINESS, gate):
                length = usable(truth.time(pod, "ContainersReady"), truth.interpret(*self.reached[gate]), -math.inf)
                self.add(truth, READINESS, gate, None if gate in self.before else length)
        for name, kind in self.milestones.items():
            if kind in self.reached and self.once("milestone", name):
                self.judge(truth, pod, name, kind)

    def once(self, *key):
        new = key not in self.judged
        self.judged.add(key)
        return new

    def passed(self, truth, pod, arrived):
        """16.2: by 4.4."""
        at = arrived if arrived is None or truth.clock != "api" else float(math.floor(arrived))
        scheduled = truth.time(pod, "Scheduled") if holds(self.obj, "PodScheduled") else None
        return min((time for time in (at, scheduled) if time is not None), default=None)

    def add(self, truth, kind, gate, length):
        if length is not None:
            self.lengths[(kind, gate)] = length
            truth.gates[(kind, gate)].append(length)

    def judge(self, truth, pod, name, kind):
        """16.6: with the snapshot that latches it."""
        at = truth.interpret(*self.reached[kind])
        if kind in self.before:
            self.miss(truth, name, "preexisting")
        elif (length := usable(truth.time(pod, "Created"), at)) is None:
            self.miss(truth, name, "time")
        else:
            truth.own[(name, "created", pod.namespace)].append(length)
        if "ContainersStarted" in pod.reached and kind not in self.before:
            length = usable(truth.time(pod, "ContainersStarted"), at)
            if length is not None:
                truth.own[(name, "containers_started", pod.namespace)].append(length)

    def miss(self, truth, name, reason):
        if name not in self.unobserved:
            self.unobserved.add(name)
            truth.counters[("podinit_milestone_unobserved_total", name, reason)] += 1

    # -- ends ---------------------------------------------------------------------------------

    def finish(self, truth, pod, outcome):
        """16.6: a pod that is ready is followed until its time has passed."""
        if outcome == "completed":
            self.miss_all(truth, pod)

    def follow(self, truth, pod, obj, arrived, now):
        """16.5: what the snapshot of a pod shows that is ready, until 10 minutes later. SLOs have no part in that here."""
        if self.pass_time(truth, pod, now):
            return
        for name, kind in self.milestones.items():
            if kind not in self.reached and holds(obj, kind):
                self.reached[kind] = [seconds(entry_of(obj, kind).get("lastTransitionTime")), arrived]
                if self.once("milestone", name):
                    self.judge(truth, pod, name, kind)
        phase = (obj.get("status") or {}).get("phase")
        if phase == "Succeeded":
            self.miss_all(truth, pod)
        if phase in ("Succeeded", "Failed"):
            self.is_over = True

    def pass_time(self, truth, pod, now):
        """Whether the pod is followed no longer at `now`."""
        ready = truth.time(pod, "Ready")
        if not self.is_over and ready is not None and now > ready + LASTS:
            self.miss_all(truth, pod)
            self.is_over = True
        return self.is_over

    def miss_all(self, truth, pod):
        for name, kind in self.milestones.items():
            if ("milestone", name) not in self.judged:
                self.miss(truth, name, "not_seen" if kind in pod.types else "condition_absent")

    def held(self, pod):
        """16.4: the gates that hold a pod in flight, by its newest snapshot."""
        standing = scheduling_gates(self.obj)
        yield from ((SCHEDULING, gate) for gate in self.scheduling if gate in standing)
        if "ContainersReady" in pod.reached:
            yield from ((READINESS, gate) for gate in self.readiness if not holds(self.obj, gate))
