"""Two tenants: who may write Events in one namespace moves no figure and no sentence about pods in another."""

import datetime
import itertools
import json
import os

from exporter import total
from kube import ApiError, Client
from processes import Failure, wait_for
from scenario import Scenario

ROLE = "edit"
PLANTED = "all is well, says a stranger"
# What no clock moves; the SLO is so long that nothing but an Event decides it.
STEADY = ("podinit_inflight_pods", "podinit_waiting_pods", "podinit_unschedulable_pods", "podinit_slo_events_total",
          "podinit_network_evidence_total", "podinit_images_total", "podinit_pod_start_sli_excluded_total",
          "podinit_pod_start_sli_duration_seconds_count", "podinit_stage_duration_seconds_count",
          "podinit_step_duration_seconds_count", "podinit_problem_pods")
SLOS = {"slos": [{"name": "network", "interval": "network", "threshold": "1h", "objective": 99, "window": "30d"}]}
# Reason, message and reporter: one for each thing that podinit reads out of an Event.
SAID = (
    ("Pulling", PLANTED, "kubelet"),
    ("Pulled", 'Container image "planted.example/stranger:1" already present on machine', "kubelet"),
    ("Pulled", 'Successfully pulled image "planted.example/stranger:1" in 9s (9s including waiting)', "kubelet"),
    ("Created", PLANTED, "kubelet"),
    ("Started", PLANTED, "kubelet"),
    ("Failed", 'Failed to pull image "planted.example/stranger:1": no', "kubelet"),
    ("FailedMount", PLANTED, "kubelet"),
    ("FailedCreatePodSandBox", f"failed to setup network for sandbox: {PLANTED}", "kubelet"),
    ("SuccessfulAttachVolume", PLANTED, "attachdetach-controller"),
    ("TriggeredScaleUp", PLANTED, "cluster-autoscaler"),
    ("Nominated", PLANTED, "karpenter"),
)


def run(suite):
    """One row; the pods of both tenants are gone at the end."""
    victim, attacker = (Scenario(name, name, {}, None).prepare(suite.cluster) for name in ("victim", "attacker"))
    suite.report.check("tenants: a stranger's Events", "no figure and no sentence moves",
                       lambda: Tenants(suite, victim, attacker).check(), "Events dropped")
    victim.delete_all()


class Tenants:
    """A victim with pods that wait for different things, and an attacker with the role `edit` in his namespace."""

    def __init__(self, suite, victim, attacker):
        self.victim, self.cluster = victim, suite.cluster
        self.namespaces = attacker.namespace, victim.namespace
        self.stranger = Client(self.cluster.port, self.cluster.files["ca"], self.edit(attacker.namespace))
        slo = os.path.join(suite.directory, "tenants-slo.yaml")
        with open(slo, "w", encoding="utf-8") as file:
            json.dump(SLOS, file)  # JSON is YAML
        scopes = itertools.chain(*(("--namespace", namespace) for namespace in self.namespaces))
        self.exporter = suite.exporter("tenants", *scopes, "--evidence", "events", "--slo", slo, "--timestamps", "api",
                                       kubeconfig=self.cluster.kubeconfig_path("podinit-events")).ready()
        self.numbers = itertools.count()
        # After the exporter, which asks for no Events of the past.
        victim.pod("nowhere", node={"type": "nowhere"})
        victim.pod("sandbox", annotations={"e2e/sandbox-delay": "30m"})
        victim.pod("pulling", annotations={"e2e/pull-delay": "30m"})

    def edit(self, namespace):
        """A token of an account with the role `edit` in one namespace."""
        group = "rbac.authorization.k8s.io"
        client = self.cluster.client
        client.create(f"/api/v1/namespaces/{namespace}/serviceaccounts", {"metadata": {"name": "developer"}})
        client.create(f"/apis/{group}/v1/namespaces/{namespace}/rolebindings", {
            "metadata": {"name": "developer"}, "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": ROLE},
            "subjects": [{"kind": "ServiceAccount", "namespace": namespace, "name": "developer"}]})
        return self.cluster.service_account_token(namespace, "developer")

    def event(self, client, pod, said, namespace, of_pod, new=False):
        """Create an Event in `namespace` about `pod`, whose namespace it says is `of_pod`."""
        reason, message, reporter = said
        now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        meta = pod["metadata"]
        path = {"Pulling": "main", "Pulled": "main", "Created": "main", "Started": "main", "Failed": "main"}.get(reason)
        client.create(f"/api/v1/namespaces/{namespace}/events", {
            "metadata": {"name": f"{meta['name']}.{next(self.numbers):016x}", "namespace": namespace},
            "involvedObject": {"apiVersion": "v1", "kind": "Pod", "namespace": of_pod, "name": meta["name"],
                               "uid": meta["uid"], "fieldPath": f"spec.containers{{{path}}}" if path else ""},
            "type": "Normal", "reason": reason, "message": message, "source": {"component": reporter},
            "reportingComponent": reporter, "reportingInstance": "stranger", "action": "Planting",
            "firstTimestamp": f"{now[:19]}Z", "lastTimestamp": f"{now[:19]}Z", **({"eventTime": now} if new else {})})

    def attack(self):
        """Every Event in every way that the API server allows; how many it took."""
        own, others = self.namespaces
        taken = 0
        for pod, said in itertools.product(self.victim.pods(), SAID):
            # One that is about a pod of its own namespace, which has the UID of another; and one of the newer kind,
            # of which the API server does not compare the namespaces.
            self.event(self.stranger, pod, said, own, own)
            self.event(self.stranger, pod, said, own, others, new=True)
            taken += 2
        for namespace, status in ((others, 403), (own, 422)):
            self.refused(status, lambda name=namespace: self.event(
                self.stranger, self.victim.pods()[0], SAID[0], name, others))
        return taken

    @staticmethod
    def refused(status, call):
        try:
            call()
        except ApiError as error:
            if error.status == status:
                return
            raise
        raise Failure(f"the API server took an Event that it refuses with {status}")

    def steady(self):
        return {key: value for key, value in self.exporter.figures().items() if key[0] in STEADY}

    def dropped(self):
        return total(self.exporter.figures(), "podinit_kube_events_ignored_total", reason="other")

    def texts(self):
        """What people read of the victim's pods."""
        paths = ("/", "/api/v1/problems", "/api/v1/stuck", "/api/v1/startups", "/metrics")
        answers = [(path, *self.exporter.get(path)) for path in paths]
        missing = [path for path, status, _, _ in answers if status != 200]
        if missing:
            raise Failure(f"no answer from {missing}")
        return "\n".join(body.decode() for _, _, _, body in answers)

    def check(self):
        wait_for("the victim's three pods to wait", lambda: (
            total(self.exporter.figures(), "podinit_inflight_pods", stage="unschedulable") == 1
            and total(self.exporter.figures(), "podinit_inflight_pods", stage="network") == 1
            and total(self.exporter.figures(), "podinit_waiting_pods", stage="containers", cause="pull") == 1))
        wait_for("the right to write Events", lambda: self.stranger.create(
            "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", {"spec": {"resourceAttributes": {
                "namespace": self.namespaces[0], "verb": "create", "resource": "events"}}})["status"]["allowed"])
        before, dropped = self.steady(), self.dropped()
        taken = self.attack()
        wait_for("the planted Events to be dropped", lambda: self.dropped() - dropped >= taken)
        changed = {key for key, value in self.steady().items() if before.get(key) != value}
        if changed or self.dropped() - dropped != taken:
            raise Failure(f"{taken} Events were planted, {self.dropped() - dropped} dropped, and changed {changed}")
        if PLANTED in self.texts() or "planted.example" in self.texts():
            raise Failure("a planted text is shown")
        # The same from somebody who may write in the victim's namespace counts: the row can fail.
        pod = next(pod for pod in self.victim.pods() if pod["metadata"]["name"] == "sandbox")
        self.event(self.cluster.client, pod, SAID[7], self.victim.namespace, self.victim.namespace)
        wait_for("an Event of the victim's namespace to count", lambda: total(
            self.exporter.figures(), "podinit_waiting_pods", stage="network", cause="cni") == 1)
        self.exporter.stop()
        return taken
