"""`podinit doctor` before a real API server, with and without what it needs."""

import copy
import json
import os
import subprocess

import certificates
from cluster import ACCOUNT
from processes import Failure, wait_for

NAME = "podinit-e2e-doctor"
RBAC = "/apis/rbac.authorization.k8s.io/v1"


def run(suite):
    report = suite.report
    report.check("doctor, RBAC as shipped", "no error", lambda: shipped(suite), "pods")
    report.check("doctor, without the verb watch", "an error, fixed by what it says",
                 lambda: without_watch(suite), "")
    report.check("doctor, as an administrator", "rights noted, kubelets read", lambda: administrator(suite), "kubelets")
    report.check("doctor, another certificate authority", "an error with a remedy", lambda: stranger(suite), "")
    report.check("doctor, a token that is none", "an error", lambda: no_token(suite), "")


class Said:
    """What one run of the doctor said."""

    def __init__(self, suite, kubeconfig, *arguments):
        command = [suite.options.podinit, "doctor", "-o", "json", "--listen", "127.0.0.1:0",
                   "--kubeconfig", kubeconfig, *arguments]
        ran = subprocess.run(command, capture_output=True, timeout=90, check=False)
        self.status = ran.returncode
        self.report = json.loads(ran.stdout or b"{}")
        if self.report.get("exit_code") != self.status:
            raise Failure(f"status {self.status}: {ran.stdout.decode()[-500:]} {ran.stderr.decode()[-500:]}")

    def of(self, check):
        return [found for found in self.report["findings"] if found["check"] == check]

    def expect(self, check, severity, text=""):
        """The finding of `check` that is of this severity and says `text`."""
        for found in self.of(check):
            if found["severity"] in severity and text in found["found"]:
                return found
        raise Failure(f"{check}: no {severity} that says {text!r}: {self.of(check)}")

    def warns_of(self, text):
        """Whether a warning or an error is about `text`."""
        return any(text in found["found"] for found in self.report["findings"]
                   if found["severity"] in ("warning", "error"))

    def status_is(self, *statuses):
        if self.status not in statuses:
            worst = [f for f in self.report["findings"] if f["severity"] in ("warning", "error")]
            raise Failure(f"status {self.status}: {worst}")


def shipped(suite):
    """The account that the project ships: nothing is an error, and the list is the cluster's."""

    def agrees():
        said = Said(suite, suite.cluster.kubeconfig_path("podinit"), "--labels", "namespace,workload_type")
        # The old condition name and pods without it are among the scenarios.
        said.status_is(0, 3)
        for check in ("cluster", "api-server", "permissions", "watch", "clock"):
            said.expect(check, ["ok"])
        said.expect("identity", ["ok"], ":".join(("system:serviceaccount", *ACCOUNT)))
        said.expect("kubelets", ["skipped", "note"], "listing nodes is not allowed")
        condition = said.expect("network-condition", ["ok", "warning"])
        if not condition["details"]["PodReadyToStartContainers"]:
            raise Failure(f"no pod has the condition: {condition}")
        pods = said.expect("pods", ["ok"])["details"]["pods"]
        there = len(suite.cluster.client.get("/api/v1/pods")["items"])
        if pods != there:
            raise Failure(f"{pods} pods, the cluster has {there}")
        return pods

    return wait_for("doctor to agree with the cluster", agrees, 30, 1)


def without_watch(suite):
    """An account that may only list: what is missing is told; granted, all is well."""
    cluster = suite.cluster
    cluster.client.create(f"/api/v1/namespaces/{ACCOUNT[0]}/serviceaccounts", {"metadata": {"name": NAME}})
    rule = {"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]}
    role = {"metadata": {"name": NAME}, "rules": [rule]}
    cluster.client.create(f"{RBAC}/clusterroles", role)
    cluster.client.create(f"{RBAC}/clusterrolebindings", {
        "metadata": {"name": NAME},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": NAME},
        "subjects": [{"kind": "ServiceAccount", "name": NAME, "namespace": ACCOUNT[0]}]})
    kubeconfig = cluster.kubeconfig(NAME, cluster.service_account_token(ACCOUNT[0], NAME))

    def refused():
        said = Said(suite, kubeconfig)
        said.status_is(4)
        denied = said.expect("permissions", ["error"], "may not watch pods of all namespaces")
        if denied["details"]["verbs"] != ["watch"] or f"--serviceaccount={ACCOUNT[0]}:{NAME}" not in denied["fix"]:
            raise Failure(f"{denied}")
        said.expect("pods", ["ok", "warning"])
        said.expect("watch", ["skipped"])
        return True

    wait_for("doctor to miss the verb", refused, 20, 0.5)
    granted = copy.deepcopy(role)
    granted["rules"][0]["verbs"] = ["list", "watch"]
    cluster.client.replace(f"{RBAC}/clusterroles/{NAME}", granted)

    def allowed():
        said = Said(suite, kubeconfig)
        said.status_is(0, 3)
        said.expect("permissions", ["ok"])
        said.expect("watch", ["ok"])
        return True

    wait_for("doctor to see the verb", allowed, 20, 0.5)
    return "refused, then granted"


def administrator(suite):
    said = Said(suite, suite.cluster.kubeconfig_path("admin"))
    said.status_is(0, 3)
    said.expect("permissions", ["note"], "may do anything")
    nodes = len(suite.cluster.client.get("/api/v1/nodes")["items"])
    found = said.of("kubelets")[0]
    # Binaries without a stamp, and kwok's nodes, tell no release.
    counted = found["details"].get("nodes", nodes if str(nodes) in found["found"] else 0)
    if counted != nodes:
        raise Failure(f"{found}, the cluster has {nodes} nodes")
    return counted


def stranger(suite):
    """The certificate of the API server is not of the authority that the kubeconfig names."""
    directory = os.path.join(suite.directory, "stranger")
    os.makedirs(directory)
    path = suite.cluster.kubeconfig_path("podinit")
    with open(path, encoding="utf-8") as file:
        document = json.load(file)
    document["clusters"][0]["cluster"]["certificate-authority"] = certificates.make(directory)["ca"]
    path = suite.cluster.kubeconfig_path("stranger")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(document, file)
    said = Said(suite, path)
    said.status_is(4)
    found = said.expect("api-server", ["error"], "does not answer")
    if "certificate-authority-data" not in found["fix"]:
        raise Failure(f"{found}")
    return "certificate refused"


def no_token(suite):
    said = Said(suite, suite.cluster.kubeconfig("no-token", "none"))
    said.status_is(4)
    said.expect("api-server", ["error"], "does not accept the credentials")
    return "refused"
