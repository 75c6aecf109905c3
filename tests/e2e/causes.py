"""Why pods wait: each cause provoked in a namespace of its own, and what podinit says of it.

All provocations stand at once, before an exporter of each for every namespace; where podinit can watch
Events, a second one does. The table of what was provoked and what podinit said goes to causes.md.
"""

import json
import os

from compare import by_labels
from exporter import total
from kube import ApiError
from nodes import OLD
from processes import Failure, wait_for
from provocations import Provocation
from scenario import Scenario

WAITING, BAD_CAUSES = "podinit_waiting_pods", "podinit_slo_bad_causes_total"
HEADER = ["| stage | cause without Events | with Events | provoked by | who says so |", "|---|---|---|---|---|"]
# So short that every pod of these misses one of them.
SLOS = {"slos": [
    {"name": f"{interval.replace('_', '-')}-soon", "interval": interval, "threshold": "1s", "objective": 99,
     "window": "30d"} for interval in ("network", "containers", "created_to_ready")]}


def run(suite):
    """One row for each provocation; their pods are gone at the end."""
    suite.cluster.silent_node()
    suite.cluster.old_node(OLD)
    scenes = []
    for provocation in Provocation.registry:
        scene = Scenario(f"cause-{provocation.name}", provocation.how, {}, provocation.play).prepare(suite.cluster)
        scenes.append((provocation, scene))
    slo = os.path.join(suite.directory, "causes-slo.yaml")
    with open(slo, "w", encoding="utf-8") as file:
        json.dump(SLOS, file)  # JSON is YAML
    sides = [Side(suite, scenes, slo, events) for events in ((False, True) if suite.has_events else (False,))]
    for _, scene in scenes:
        scene.start()
    rows = []
    for provocation, scene in scenes:
        expected = ", with Events ".join(dict.fromkeys(provocation.causes))
        said = suite.report.check(f"cause: {provocation.how}", f"{provocation.stage}: {expected}",
                                  lambda p=provocation, s=scene: said_of(p, s, sides))
        told = [cause if said and index < len(sides) else "-" for index, cause in enumerate(provocation.causes)]
        rows.append([provocation.stage, *told, provocation.how, provocation.by])
    if not suite.has_events:
        suite.report.skip("causes with Events", "this podinit has no --evidence")
    suite.report.check("causes: sums over causes", "pods in flight, bad events", lambda: conserved(sides), "sums")
    with open(os.path.join(suite.directory, "causes.md"), "w", encoding="utf-8") as file:
        file.write("\n".join(HEADER + ["| " + " | ".join(row) + " |" for row in rows]) + "\n")
    for _, scene in scenes:
        end(scene)
    for side in sides:
        side.stop()


class Side:
    """Exporters of every provocation's namespace, with SLOs that each waiting pod misses, with or without Events."""

    def __init__(self, suite, scenes, slo, events):
        self.events = events
        flags = ["--slo", slo, "--timestamps", "api", *(["--evidence", "events"] if events else [])]
        kubeconfig = suite.cluster.kubeconfig_path("podinit-events" if events else "podinit")
        self.exporters = {scene.namespace: suite.exporter(
            f"{scene.namespace}{'-events' if events else ''}", "--namespace", scene.namespace, *flags,
            kubeconfig=kubeconfig) for _, scene in scenes}
        for exporter in self.exporters.values():
            exporter.ready()

    def stop(self):
        for exporter in self.exporters.values():
            exporter.stop()


def said_of(provocation, scene, sides):
    """What podinit says of the pod once it says what is right, without and with Events."""
    scene.thread.join()
    if scene.error:
        raise scene.error
    said = []
    for side, cause in zip(sides, provocation.causes):
        exporter, last = side.exporters[scene.namespace], {}
        wanted = {(provocation.stage, one): 1 for one in (cause, provocation.beside) if one}

        def agrees(exporter=exporter, wanted=wanted, last=last):
            last["found"] = by_labels(exporter.figures(), WAITING, ("stage", "cause"))
            return last["found"] == wanted

        try:
            wait_for(provocation.name, agrees, 40, 0.5)
        except Failure as failure:
            raise Failure(f"expected {wanted}, {exporter.name} says {last.get('found')}") from failure
        said.append(cause)
    return ", with Events ".join(dict.fromkeys(said))


def conserved(sides):
    """Over its causes each stage has its pods in flight, and each SLO its bad events.

    A bad event comes once its deadline has passed, which may be after every cause was said.
    """
    exporters = [exporter for side in sides for exporter in side.exporters.values()]
    wait_for("a bad event", lambda: any(total(exporter.figures(), BAD_CAUSES) for exporter in exporters), 90, 1.0)
    checked = 0
    for exporter in exporters:
        figures = exporter.figures()
        sums = [("podinit_inflight_pods", {}, WAITING, ("stage",)),
                ("podinit_slo_events_total", {"result": "bad"}, BAD_CAUSES, ("slo",))]
        for whole, chosen, parts, labels in sums:
            expected = by_labels(figures, whole, labels, **chosen)
            found = by_labels(figures, parts, labels)
            if expected != found:
                raise Failure(f"{exporter.name}: {whole} {expected}, {parts} {found}")
            checked += len(expected)
    return checked


def end(scene):
    """Delete the pods of a provocation, whatever holds them."""
    for pod in scene.pods():
        name = pod["metadata"]["name"]
        try:
            if pod["metadata"].get("finalizers"):
                scene.client.patch(f"{scene.path}/{name}", {"metadata": {"finalizers": None}}, "merge-patch")
            scene.delete(name)
        except ApiError as error:
            if error.status != 404:
                raise
