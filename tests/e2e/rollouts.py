"""`podinit wait` beside `kubectl rollout status`: real controllers, real kubelets.

What arrives ends both within a second of each other. Each way to fail ends `podinit wait` with its status, and with a
sentence that says why. What both print of the failing ones is kept side by side in `rollouts.md`, from which
docs/wait.md has its examples. podinit has the rights that docs/wait.md names, and no others.
"""

import os
import re
import signal
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

from kube import ApiError
from nodes import HOLLOW
from processes import Failure, wait_for
from provocations import stamp
from scenario import pod_spec
from scenarios import probe

APPS, BATCH = "/apis/apps/v1", "/apis/batch/v1"
# How far the ends of both may be apart, in seconds.
APART = 1.0
# How much longer than --fail-after it may take to give up.
SLACK = 15
RULES = [
    {"apiGroups": [""], "resources": ["pods", "pods/log"], "verbs": ["get"]},
    {"apiGroups": [""], "resources": ["pods", "events"], "verbs": ["list", "watch"]},
    {"apiGroups": ["apps"], "verbs": ["list", "watch"], "resources": [
        "deployments", "statefulsets", "daemonsets", "replicasets", "controllerrevisions"]},
    {"apiGroups": ["batch"], "resources": ["jobs"], "verbs": ["list", "watch"]},
]


class Ended:
    """A command that has ended."""

    def __init__(self, process, began):
        self.process, self.began = process, began
        self.out, self.err = process.communicate(timeout=300)
        self.at = time.monotonic()
        self.status = process.returncode
        # As podinit measures it: a machine that is busy starts it late.
        said = re.search(r"after (?:(\d+)m)?(\d+)s", self.out)
        self.took = 60 * int(said[1] or 0) + int(said[2]) if said else self.at - began

    def __str__(self):
        return f"status {self.status} after {self.took:.1f} s: {self.out}{self.err}"


class Rollouts:
    """The cluster, and who asks it."""

    def __init__(self, suite):
        self.suite, self.client = suite, suite.cluster.client
        self.kubectl = os.path.join(suite.options.binaries, "kubectl-1.37")
        self.accounts = {}
        # By row: what both have printed
        self.said = {}

    # -- commands -------------------------------------------------------------------------------

    def namespace(self, row):
        """A namespace of its own, with an account that has the rights of docs/wait.md."""
        name, group = f"e2e-rollout-{row}", "rbac.authorization.k8s.io"
        self.suite.cluster.namespace(name)
        base = f"/apis/{group}/v1/namespaces/{name}"
        self.client.create(f"/api/v1/namespaces/{name}/serviceaccounts", {"metadata": {"name": "wait"}})
        self.client.create(f"{base}/roles", {"metadata": {"name": "wait"}, "rules": RULES})
        self.client.create(f"{base}/rolebindings", {
            "metadata": {"name": "wait"}, "roleRef": {"apiGroup": group, "kind": "Role", "name": "wait"},
            "subjects": [{"kind": "ServiceAccount", "namespace": name, "name": "wait"}]})
        token = self.suite.cluster.service_account_token(name, "wait")
        self.accounts[name] = self.suite.cluster.kubeconfig(name, token)
        return name

    def start(self, *command, **environment):
        return subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={"PATH": os.environ["PATH"], "HOME": "/nonexistent", **environment})

    def podinit(self, namespace, *arguments):
        return self.start(self.suite.options.podinit, "wait", "--kubeconfig", self.accounts[namespace], "-n", namespace,
                          *arguments)

    def kubectl_rollout(self, namespace, *arguments):
        return self.start(self.kubectl, "-n", namespace, *arguments,
                          KUBECONFIG=self.suite.cluster.kubeconfig_path("admin"))

    def both(self, namespace, target, kubectl, *arguments):
        """How both end that wait for the same."""
        began = time.monotonic()
        processes = [self.kubectl_rollout(namespace, *kubectl), self.podinit(namespace, target, *arguments)]
        with ThreadPoolExecutor(2) as pool:
            theirs, ours = pool.map(lambda process: Ended(process, began), processes)
        return theirs, ours

    # -- objects --------------------------------------------------------------------------------

    def create(self, namespace, kind, template, name="web", **spec):
        body = {"metadata": {"name": name}, "spec": {
            "selector": {"matchLabels": {"app": name}}, "template": template_of(name, template), **spec}}
        return self.client.create(f"{APPS}/namespaces/{namespace}/{kind}", body)

    def update(self, namespace, kind, template, name="web"):
        """A new revision."""
        self.put(namespace, kind, name, template_of(name, template))

    def put(self, namespace, kind, name, template):
        """Replaces the template. The controller writes the status meanwhile."""
        path = f"{APPS}/namespaces/{namespace}/{kind}/{name}"
        for attempt in range(5):
            current = self.client.get(path)
            current["spec"]["template"] = template
            try:
                return self.client.replace(path, current)
            except ApiError as error:
                if error.status != 409 or attempt == 4:
                    raise

    def deployed(self, namespace, replicas=2, **spec):
        """A Deployment that has arrived, of which no pod goes before a new one is there."""
        strategy = {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}
        self.create(namespace, "deployments", {}, replicas=replicas, strategy=strategy, **spec)
        ended = Ended(self.podinit(namespace, "deploy/web", "--timeout", "2m"), time.monotonic())
        if ended.status != 0:
            raise Failure(f"the first rollout: {ended}")

    # -- what arrives ---------------------------------------------------------------------------

    def arrives(self, kind):
        """Both end well, and within a second of each other."""
        namespace = self.namespace(kind)
        slow = {"annotations": {"e2e/pull-delay": "2s"}}
        if kind == "jobs":
            template = {"container": {"command": ["exit", "0", "3s"]}, "restartPolicy": "Never"}
            body = {"metadata": {"name": "web"}, "spec": {"completions": 2, "template": template_of("web", template)}}
            body["spec"]["template"]["metadata"].pop("labels")
            self.client.create(f"{BATCH}/namespaces/{namespace}/jobs", body)
            kubectl = ["wait", "--for=condition=complete", "job/web", "--timeout=120s"]
        else:
            more = {"deployments": {"replicas": 3}, "statefulsets": {"replicas": 2, "serviceName": "web"}}
            self.create(namespace, kind, {}, **more.get(kind, {}))
            first = Ended(self.podinit(namespace, f"{kind}/web", "--timeout", "2m"), time.monotonic())
            if first.status != 0:
                raise Failure(f"the first rollout: {first}")
            self.update(namespace, kind, slow)
            kubectl = ["rollout", "status", f"{kind}/web", "--timeout=120s"]
        theirs, ours = self.both(namespace, f"{kind}/web", kubectl, "--timeout", "2m")
        if (theirs.status, ours.status) != (0, 0):
            raise Failure(f"kubectl: {theirs}; podinit: {ours}")
        apart = ours.at - theirs.at
        if abs(apart) > APART:
            raise Failure(f"podinit ended {apart:+.2f} s after kubectl: {ours}")
        if len(ours.out.splitlines()) != 1 or "the slowest, web-" not in ours.out:
            raise Failure(f"no line of the slowest pod: {ours}")
        return f"{apart:+.2f} s"

    # -- what fails -----------------------------------------------------------------------------

    def fails(self, row, begin, says, fail_after, longest=None, status=3, more=()):
        """It ends with its status and sentence, not much later than --fail-after."""
        namespace = self.namespace(row)
        begin(namespace)
        kubectl = ["rollout", "status", "deployment/web", f"--timeout={longest or fail_after + SLACK}s"]
        theirs, ours = self.both(namespace, "deployment/web", kubectl, "--fail-after", f"{fail_after}s", *more)
        self.said[row] = theirs, ours
        if ours.status != status:
            raise Failure(f"{ours}")
        first = ours.out.splitlines()[0] if ours.out else ""
        missing = [part for part in says if part not in first]
        if missing:
            raise Failure(f"the first sentence does not say {missing}: {ours}")
        if ours.took > (longest or fail_after + SLACK):
            raise Failure(f"it took too long: {ours}")
        return f"status {ours.status} after {ours.took:.0f} s"

    def image(self):
        def begin(namespace):
            self.deployed(namespace)
            self.update(namespace, "deployments", {
                "annotations": {"e2e/pull-error": "manifest for registry.example/web:2 not found"}})
        return self.fails("image", begin, ["cannot pull image", "not found", "Since "], 30)

    def crash(self):
        def begin(namespace):
            self.deployed(namespace)
            self.update(namespace, "deployments", {
                "container": {"command": ["exit", "3", "1s"], "readinessProbe": probe("fail")}})
        # The third restart comes after 10, 20 and 40 s.
        return self.fails("crash", begin, ["crash", "exit code 3", "Since "], 90)

    def quota(self):
        def begin(namespace):
            self.deployed(namespace)
            self.client.create(f"/api/v1/namespaces/{namespace}/resourcequotas", {
                "metadata": {"name": "small"}, "spec": {"hard": {"pods": "2"}}})
            wait_for("the quota", lambda: self.client.get(
                f"/api/v1/namespaces/{namespace}/resourcequotas/small").get("status", {}).get("used"))
            self.update(namespace, "deployments", {"annotations": {"e2e/release": "2"}})
        return self.fails("quota", begin, ["ReplicaSet web-", "cannot create pods", "exceeded quota: small"], 20)

    def webhook(self):
        def begin(namespace):
            self.deployed(namespace)
            self.client.create("/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations", {
                "metadata": {"name": namespace}, "webhooks": [{
                    "name": "policy.e2e.test", "failurePolicy": "Fail", "sideEffects": "None", "timeoutSeconds": 2,
                    "admissionReviewVersions": ["v1"], "clientConfig": {"url": "https://127.0.0.1:1/validate"},
                    "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
                    "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"],
                               "operations": ["CREATE"]}]}]})
            # The API server learns of it after a while.
            wait_for("the webhook", lambda: self.is_refused(namespace), 30)
            self.update(namespace, "deployments", {"annotations": {"e2e/release": "2"}})
        return self.fails("webhook", begin, ["ReplicaSet web-", "cannot create pods", "policy.e2e.test"], 20)

    def is_refused(self, namespace):
        try:
            self.client.create(f"/api/v1/namespaces/{namespace}/pods?dryRun=All", {
                "metadata": {"name": "probe"}, "spec": pod_spec()})
        except ApiError:
            return True
        return False

    def unschedulable(self, row, fail_after, says_no):
        def begin(namespace):
            self.deployed(namespace)
            self.update(namespace, "deployments", {"container": {"resources": {"requests": {"cpu": "9000"}}}})
            if says_no:
                pods = wait_for("a pod that fits nowhere", lambda: [
                    pod for pod in self.client.pods(namespace) if not pod["spec"].get("nodeName")])
                self.say_no(namespace, pods[0])
        longest = None if says_no else 5 * fail_after + SLACK
        says = ["Insufficient cpu", "0 of 2 pods of the new revision ready"]
        counted = self.fails(row, begin, says, fail_after, longest)
        if says_no and "max node group size reached" not in self.said[row][1].out:
            raise Failure(f"what the autoscaler says is missing: {self.said[row][1]}")
        return counted

    def say_no(self, namespace, pod):
        """An autoscaler adds no node."""
        metadata = pod["metadata"]
        self.client.create(f"/api/v1/namespaces/{namespace}/events", {
            "metadata": {"name": f"{metadata['name']}.no"}, "reason": "NotTriggerScaleUp", "type": "Normal",
            "message": "pod didn't trigger scale-up: 1 max node group size reached", "count": 1,
            "firstTimestamp": stamp(), "lastTimestamp": stamp(), "reportingComponent": "cluster-autoscaler",
            "source": {"component": "cluster-autoscaler"},
            "involvedObject": {"apiVersion": "v1", "kind": "Pod", "namespace": namespace, "name": metadata["name"],
                               "uid": metadata["uid"]}})

    def deadline(self):
        def begin(namespace):
            self.deployed(namespace, progressDeadlineSeconds=15)
            self.update(namespace, "deployments", {"container": {"readinessProbe": probe("fail")}})
        counted = self.fails("deadline", begin, ["has timed out progressing"], 300, 60)
        theirs, ours = self.said["deadline"]
        if theirs.status != 1 or abs(ours.at - theirs.at) > APART:
            raise Failure(f"kubectl: {theirs}; podinit: {ours}")
        return counted

    def paused(self):
        def begin(namespace):
            self.deployed(namespace)
            self.client.patch(f"{APPS}/namespaces/{namespace}/deployments/web", {"spec": {"paused": True}},
                              "merge-patch")
            self.update(namespace, "deployments", {"annotations": {"e2e/release": "2"}})
        return self.fails("paused", begin, ["is paused"], 5, 25, status=4, more=("--timeout", "10s"))

    def rolled_back(self):
        """A new revision is followed, and said."""
        namespace = self.namespace("back")
        self.deployed(namespace)
        before = self.client.get(f"{APPS}/namespaces/{namespace}/deployments/web")["spec"]["template"]
        self.update(namespace, "deployments", {"annotations": {"e2e/pull-error": "not found"}})
        began = time.monotonic()
        process = self.podinit(namespace, "deployment/web", "--fail-after", "60s")
        wait_for("a pod that cannot start", lambda: any(
            waits_for_image(pod) for pod in self.client.pods(namespace)))
        # podinit is to have seen the revision.
        time.sleep(2)
        self.put(namespace, "deployments", "web", before)
        ended = Ended(process, began)
        if ended.status != 0 or "took the place of" not in ended.out:
            raise Failure(f"{ended}")
        return f"status 0 after {ended.took:.0f} s"

    def interrupted(self):
        namespace = self.namespace("interrupted")
        self.deployed(namespace)
        self.update(namespace, "deployments", {"annotations": {"e2e/pull-error": "not found"}})
        process = self.podinit(namespace, "deployment/web")
        first = process.stderr.readline()
        process.send_signal(signal.SIGINT)
        ended = Ended(process, time.monotonic())
        if ended.status != 130 or "deployment/web" not in first + ended.out:
            raise Failure(f"{first}{ended}")
        return f"status 130 after {ended.took:.1f} s"

    # -- side by side ---------------------------------------------------------------------------

    def side_by_side(self):
        """Writes what both have printed of what failed."""
        path = os.path.join(self.suite.directory, "rollouts.md")
        with open(path, "w", encoding="utf-8") as file:
            for row, (theirs, ours) in self.said.items():
                file.write(f"### {row}\n\n```console\n$ kubectl rollout status deployment/web\n{theirs.out}{theirs.err}"
                           f"(status {theirs.status} after {theirs.took:.0f} s)\n```\n\n")
                file.write(f"```console\n$ podinit wait deployment/web\n{ours.out}"
                           f"(status {ours.status} after {ours.took:.0f} s)\n```\n\n")
        self.suite.report.note(f"what both say of failing rollouts: {path}")


def template_of(name, template):
    """The template of a workload's pods: labels, annotations, container and other fields of the spec."""
    template = dict(template)
    annotations, container = template.pop("annotations", {}), template.pop("container", None)
    return {"metadata": {"labels": {"app": name}, "annotations": annotations},
            "spec": pod_spec(HOLLOW, container, **template)}


def waits_for_image(pod):
    statuses = pod["status"].get("containerStatuses") or []
    return any("Image" in (one["state"].get("waiting") or {}).get("reason", "") for one in statuses)


def run(suite):
    rollouts = Rollouts(suite)
    rows = {f"wait, {kind}": ("ends with kubectl", lambda kind=kind: rollouts.arrives(kind))
            for kind in ("deployments", "statefulsets", "daemonsets", "jobs")}
    rows |= {
        "wait, progress deadline": ("status 3 with kubectl", rollouts.deadline),
        "wait, image": ("status 3, and why", rollouts.image),
        "wait, crash": ("status 3, and why", rollouts.crash),
        "wait, quota": ("status 3, and why", rollouts.quota),
        "wait, webhook": ("status 3, and why", rollouts.webhook),
        "wait, no node": ("status 3, and why", lambda: rollouts.unschedulable("no-node", 10, False)),
        "wait, no node to come": ("status 3, and why", lambda: rollouts.unschedulable("no-scale-up", 20, True)),
        "wait, paused": ("status 4, and why", rollouts.paused),
        "wait, rolled back": ("status 0, and that it was", rollouts.rolled_back),
        "wait, SIGINT": ("status 130", rollouts.interrupted),
    }
    # What ends with kubectl needs the machine for itself, to be within a second.
    first = 5
    for name, (expected, call) in list(rows.items())[:first]:
        suite.report.check(name, expected, call)
    with ThreadPoolExecutor(len(rows)) as pool:
        failing = list(rows.items())[first:]
        results = [(name, expected, pool.submit(call)) for name, (expected, call) in failing]
        for name, expected, result in results:
            suite.report.check(name, expected, result.result)
    rollouts.side_by_side()
