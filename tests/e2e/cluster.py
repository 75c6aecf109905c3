"""The cluster of a run: control plane, nodes, and podinit's service account."""

import json
import os
import threading

import yaml

import nodes
from controlplane import ControlPlane
from processes import Failure, wait_for

ROOT = os.path.dirname(os.path.dirname(nodes.HERE))
RBAC = os.path.join(ROOT, "deploy", "base", "rbac.yaml")
ACCOUNT = ("podinit", "podinit")
PATHS = {
    "ClusterRole": "/apis/rbac.authorization.k8s.io/v1/clusterroles",
    "ClusterRoleBinding": "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
}


class Cluster(ControlPlane):
    """`start` brings up everything that scenarios use."""

    def start(self):
        super().start()
        self.manifests = os.path.join(self.directory, "manifests")
        os.makedirs(self.manifests)
        started = [
            nodes.HollowNode(self, "hollow-0", manifests=self.manifests),
            nodes.HollowNode(self, "hollow-1"),
        ]
        self.kwok = nodes.start_kwok(self)
        nodes.add_kwok_node(self.client, "kwok-0")
        for node in started:
            node.wait()
        self.grant()
        self.old_nodes, self.starts_old_nodes, self.silent = {}, threading.Lock(), None

    def grant(self):
        """Apply the RBAC that the project ships, as it ships it."""
        self.namespace(ACCOUNT[0])
        with open(RBAC, encoding="utf-8") as file:
            self.rbac = [document for document in yaml.safe_load_all(file) if document]
        for document in self.rbac:
            kind = document["kind"]
            if kind == "Namespace":
                continue
            path = PATHS.get(kind, f"/api/v1/namespaces/{ACCOUNT[0]}/{kind.lower()}s")
            self.client.apply(path, document)

    def exporter_kubeconfig(self, name="podinit", port=None):
        """A kubeconfig that holds nothing but a token of podinit's service account."""
        return self.kubeconfig(name, self.service_account_token(*ACCOUNT), port)

    def events_kubeconfig(self):
        """A kubeconfig of an account that may list and watch pods and Events."""
        return self.account("podinit-events", "pods", "events")

    def account(self, name, *resources):
        """A kubeconfig of a new account that may list and watch these resources."""
        rules = [{"apiGroups": [""], "resources": list(resources), "verbs": ["list", "watch"]}]
        group = "rbac.authorization.k8s.io"
        self.client.create(f"/api/v1/namespaces/{ACCOUNT[0]}/serviceaccounts", {"metadata": {"name": name}})
        self.client.create(PATHS["ClusterRole"], {"metadata": {"name": name}, "rules": rules})
        self.client.create(PATHS["ClusterRoleBinding"], {
            "metadata": {"name": name}, "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": name},
            "subjects": [{"kind": "ServiceAccount", "namespace": ACCOUNT[0], "name": name}]})
        return self.kubeconfig(name, self.service_account_token(ACCOUNT[0], name))

    def add_hollow_node(self, name, labels):
        return nodes.HollowNode(self, name, labels).wait()

    def silent_node(self):
        """The name of a node without a kubelet; pods of a node that does not exist would be collected."""
        if not self.silent:
            self.silent = "silent"
            self.client.create("/api/v1/nodes", {
                "metadata": {"name": self.silent}, "spec": {"unschedulable": True}})
            size = {"cpu": "4", "memory": "4Gi", "pods": "100"}
            self.client.patch(f"/api/v1/nodes/{self.silent}/status", {"status": {"capacity": size, "allocatable": size}})
        return self.silent

    def old_node(self, version):
        """The labels of a node whose kubelet is of an older version; it is started once."""
        labels = {"type": f"hollow-{version}"}
        # Two scenes that play at once ask for it.
        with self.starts_old_nodes:
            if version not in self.old_nodes:
                self.old_nodes[version] = nodes.HollowNode(self, f"hollow-{version}", labels, version=version).wait()
        return labels

    def write_static_pod(self, name, namespace):
        """Have the kubelet of hollow-0 run a static pod."""
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": namespace},
               "spec": {"containers": [{"name": "main", "image": "e2e/main"}]}}
        with open(os.path.join(self.manifests, f"{name}.json"), "w", encoding="utf-8") as file:
            json.dump(pod, file)

    def least_privilege(self):
        """Fail unless podinit's account may list and watch pods, and nothing else of these."""
        allowed = set()
        user = f"system:serviceaccount:{ACCOUNT[0]}:{ACCOUNT[1]}"
        groups = ["system:serviceaccounts", f"system:serviceaccounts:{ACCOUNT[0]}", "system:authenticated"]
        verbs = ("get", "list", "watch", "create", "update", "patch", "delete", "deletecollection")
        resources = ("pods", "pods/log", "pods/exec", "pods/status", "secrets", "configmaps", "nodes",
                     "namespaces", "events", "services", "endpoints", "persistentvolumes")
        for resource in resources:
            for verb in verbs:
                name, _, sub = resource.partition("/")
                answer = self.client.create("/apis/authorization.k8s.io/v1/subjectaccessreviews", {
                    "apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview",
                    "spec": {"user": user, "groups": groups, "resourceAttributes": {
                        "namespace": "default", "verb": verb, "resource": name, "subresource": sub}}})
                if answer["status"]["allowed"]:
                    allowed.add((resource, verb))
        if allowed != {("pods", "list"), ("pods", "watch")}:
            raise Failure(f"podinit's service account may: {sorted(allowed)}")
        return len(verbs) * len(resources)

    def wait_synced(self):
        """Wait until the API server shows podinit's grant."""
        wait_for("podinit's grant", self.least_privilege)
