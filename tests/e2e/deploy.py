"""The manifests that the project ships, against the API server: with Pod Security "restricted" enforced.

Every variant of tests/deploy is applied as it stands, in its own namespace `podinit`, and taken away
again before the next. Runs last: it takes podinit's rights away.
"""

import copy
import glob
import os
import subprocess
import sys

import yaml

from cluster import ACCOUNT, ROOT
from contained import SCRAPER, works
from kube import ApiError
from processes import Failure, wait_for

sys.path.append(os.path.join(ROOT, "tests", "deploy"))
from render import CHART, Tools, objects, variants  # noqa: E402

USER = "system:serviceaccount:{}:{}"
MANAGER = "e2e-deploy"
# What Helm leaves behind: the claims with the state.
KEPT = {"helm.sh/resource-policy": "keep"}


def run(suite):
    deploy = Deploy(suite)
    check = suite.report.check
    check("manifests: CRDs of the Prometheus operator", "served", deploy.define, "kinds")
    for name in ["default", *variants()]:
        check(f"manifests: {name}", "applied, admitted, least in rights", lambda: deploy.variant(name), "objects")
    check("manifests: what Pod Security refuses", "refused", deploy.refused, "pods")
    check("chart: install, upgrade, test, uninstall", "as a cluster's Helm does it", deploy.chart, "objects")


class Deploy:
    def __init__(self, suite):
        self.suite, self.client = suite, suite.cluster.client
        self.tools = Tools(os.path.dirname(suite.cluster.binaries["promtool"]))
        self.plurals = {}
        self.namespaces = set()

    # -- objects ------------------------------------------------------------------------------

    def path(self, document, with_name=True):
        """The path of an object, from what the API server says of its kind."""
        version = document["apiVersion"]
        base = f"/apis/{version}" if "/" in version else f"/api/{version}"
        if version not in self.plurals:
            self.plurals[version] = {entry["kind"]: entry for entry in self.client.get(base)["resources"]
                                     if "/" not in entry["name"]}
        entry, meta = self.plurals[version][document["kind"]], document["metadata"]
        scope = f"/namespaces/{meta['namespace']}" if entry["namespaced"] else ""
        return f"{base}{scope}/{entry['name']}" + (f"/{meta['name']}" if with_name else "")

    def apply(self, document):
        """Server-side apply, with no unknown field and no warning."""
        warnings = []
        self.client.request(
            "PATCH", f"{self.path(document)}?fieldManager={MANAGER}&force=true&fieldValidation=Strict",
            document, "application/apply-patch+yaml", warnings)
        if warnings:
            raise Failure(f"{document['kind']}: {warnings}")

    def gone(self, document):
        try:
            self.client.get(self.path(document))
        except ApiError as error:
            return error.status == 404
        return False

    def remove(self, documents):
        for document in reversed(documents):
            if document["kind"] != "Namespace":
                try:
                    self.client.request("DELETE", f"{self.path(document)}?propagationPolicy=Background")
                except ApiError as error:
                    if error.status != 404:
                        raise
        # The claim goes with the last pod that uses it. A StatefulSet leaves its claims behind.
        wait_for("the pods to go", lambda: self.force_pods_away(), 60)
        self.client.request("DELETE", f"/api/v1/namespaces/{ACCOUNT[0]}/persistentvolumeclaims")
        wait_for("all to be gone", lambda: all(
            self.gone(document) for document in documents if document["kind"] != "Namespace"), 60)

    def force_pods_away(self):
        pods = self.client.pods(ACCOUNT[0])
        for pod in pods:
            self.client.delete(f"/api/v1/namespaces/{ACCOUNT[0]}/pods/{pod['metadata']['name']}", 0)
        return not pods

    # -- checks -------------------------------------------------------------------------------

    def define(self):
        files = [glob.glob(os.path.join(self.suite.options.crds, f"*_{plural}.yaml"))[0]
                 for plural in ("servicemonitors", "prometheusrules")]
        for file in files:
            with open(file, encoding="utf-8") as text:
                document = yaml.safe_load(text)
            self.apply(document)

            def established(document=document):
                conditions = self.client.get(self.path(document)).get("status", {}).get("conditions") or []
                return any(c["type"] == "Established" and c["status"] == "True" for c in conditions)

            wait_for(f"{document['metadata']['name']}", established)
        return len(files)

    def variant(self, name):
        documents = objects(self.tools.variant(name))
        if name == "default":
            self.remove(self.suite.cluster.rbac)
        places = {document["metadata"].get("namespace") for document in documents} | {SCRAPER[0]}
        for namespace in places - {None, ACCOUNT[0]} - self.namespaces:
            self.suite.cluster.namespace(namespace)
            self.namespaces.add(namespace)
        # Namespace first: what stands in it needs it.
        for document in sorted(documents, key=lambda document: document["kind"] != "Namespace"):
            self.apply(document)
        try:
            enforced = self.client.get(f"/api/v1/namespaces/{ACCOUNT[0]}")["metadata"]["labels"]
            if enforced["pod-security.kubernetes.io/enforce"] != "restricted":
                raise Failure("Pod Security is not enforced")
            pods = self.admitted(documents)
            self.rights(name)
            works(self.suite, name, documents, pods)
        finally:
            self.remove(documents)
        return len(documents)

    def admitted(self, documents):
        """The pods, once the controllers have made them all, which Pod Security had to let in."""
        workload = next(d for d in documents if d["kind"] in ("Deployment", "StatefulSet"))
        replicas = workload["spec"].get("replicas", 1)

        def made():
            conditions = self.client.get(self.path(workload)).get("status", {}).get("conditions", [])
            failed = [c["message"] for c in conditions if c["type"] == "ReplicaFailure"]
            if failed:
                raise Failure(failed[0])
            pods = self.client.pods(ACCOUNT[0], "app.kubernetes.io/name=podinit")
            return pods if len(pods) == replicas else None

        return wait_for(f"the pods of the {workload['kind']}", made, 30)

    def allowed(self, account, groups=(), **asked):
        """Whether RBAC lets a service account do something."""
        kind = "nonResourceAttributes" if "path" in asked else "resourceAttributes"
        namespace, name = account
        answer = self.client.create("/apis/authorization.k8s.io/v1/subjectaccessreviews", {
            "apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview",
            "spec": {"user": USER.format(namespace, name), kind: asked,
                     "groups": ["system:authenticated", "system:serviceaccounts", *groups]}})
        return answer["status"]["allowed"]

    def rights(self, name):
        """Fail unless podinit may watch pods where the variant says, and ask what it has to ask."""
        places = {"namespaced": {ACCOUNT[0]}, "two-namespaces": {"shop", "payment"}}.get(name)
        expected, found = {}, {}

        def ask(what, account, wanted, **asked):
            expected[what], found[what] = wanted, self.allowed(account, **asked)

        for namespace in ("", ACCOUNT[0], "shop", "payment"):
            for verb in ("list", "watch"):
                ask(f"{verb} pods in {namespace or 'all'}", ACCOUNT, places is None or namespace in places,
                    verb=verb, resource="pods", namespace=namespace)
            for verb in ("get", "create", "delete"):
                ask(f"{verb} pods in {namespace or 'all'}", ACCOUNT, False,
                    verb=verb, resource="pods", namespace=namespace)
        checks = name in ("tls-auth", "full", "openshift")
        for group, resource in (("authentication.k8s.io", "tokenreviews"),
                                ("authorization.k8s.io", "subjectaccessreviews")):
            ask(f"create {resource}", ACCOUNT, checks, verb="create", group=group, resource=resource)
        ask("Prometheus: get /metrics", SCRAPER, checks, verb="get", path="/metrics")
        ask("anyone: get /metrics", ("default", "default"), False, verb="get", path="/metrics")
        wrong = [f"{what}: {found[what]}" for what in expected if expected[what] != found[what]]
        if wrong:
            raise Failure("; ".join(wrong))

    def refused(self):
        """The shipped pod is let in; without any one of its restrictions it is not."""
        documents = objects(self.tools.variant("default"))
        spec = next(d for d in documents if d["kind"] == "Deployment")["spec"]["template"]["spec"]
        for document in documents[:2]:  # the Namespace and the ServiceAccount
            self.apply(document)
        path = f"/api/v1/namespaces/{ACCOUNT[0]}/pods?dryRun=All"
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "podinit"}, "spec": spec}
        self.client.create(path, pod)
        weaker = {
            "runAsNonRoot": lambda spec: spec["securityContext"].pop("runAsNonRoot"),
            "seccompProfile": lambda spec: spec["securityContext"].pop("seccompProfile"),
            "allowPrivilegeEscalation":
                lambda spec: spec["containers"][0]["securityContext"].pop("allowPrivilegeEscalation"),
            "capabilities": lambda spec: spec["containers"][0]["securityContext"].pop("capabilities"),
            "hostPath": lambda spec: spec.update(volumes=[{"name": "host", "hostPath": {"path": "/"}}]),
        }
        for word, weaken in weaker.items():
            weak = copy.deepcopy(pod)
            weaken(weak["spec"])
            try:
                self.client.create(path, weak)
            except ApiError as error:
                if error.status != 403 or word not in str(error):
                    raise
                continue
            raise Failure(f"a pod without {word} was let in")
        return len(weaker)

    def chart(self):
        """A release's life. Its test pod is let in; that it succeeds takes a real kubelet."""
        namespace = "release"
        self.suite.cluster.namespace(namespace)
        self.client.patch(f"/api/v1/namespaces/{namespace}", {"metadata": {"labels": {
            "pod-security.kubernetes.io/enforce": "restricted"}}}, "merge-patch")
        self.helm(namespace, "install", "e2e", CHART)
        made = objects(self.helm(namespace, "get", "manifest", "e2e"))
        for values in ("full", "default"):
            file = os.path.join(CHART, "ci", f"{values}-values.yaml")
            self.helm(namespace, "upgrade", "e2e", CHART, "--reset-values", "--values", file)
            made += objects(self.helm(namespace, "get", "manifest", "e2e"))
        hooks = objects(self.helm(namespace, "get", "hooks", "e2e"))
        for hook in hooks:
            self.client.create(f"{self.path(hook, with_name=False)}?dryRun=All&fieldValidation=Strict", hook)
        self.helm(namespace, "uninstall", "e2e", "--wait=false")
        kept = [document for document in made if KEPT.items() <= document["metadata"].get("annotations", {}).items()]
        wait_for("the release to be gone", lambda: all(
            self.gone(document) for document in made if document not in kept), 60)
        lost = [document["metadata"]["name"] for document in kept if self.gone(document)]
        if lost or not kept:
            raise Failure(f"the claims with the state are to be kept, {lost or 'all'} are gone")
        return len(made) + len(hooks)

    def helm(self, namespace, *arguments):
        kubeconfig = self.suite.cluster.kubeconfig_path("admin")
        done = subprocess.run(
            [os.path.join(self.tools.directory, "helm"), *arguments, "--namespace", namespace, "--kubeconfig", kubeconfig],
            capture_output=True, text=True, check=False, timeout=120,
            env={**os.environ, "HELM_CACHE_HOME": self.suite.directory, "HELM_CONFIG_HOME": self.suite.directory,
                 "HELM_DATA_HOME": self.suite.directory})
        if done.returncode:
            raise Failure(f"helm {' '.join(arguments)}: {done.stderr.strip()}")
        return done.stdout
