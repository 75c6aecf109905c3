"""Everything that can be said of the manifests without a cluster: `run` calls it.

    check.py --tools DIR --schemas DIR --checkov FILE [--update]
"""

import argparse
import json
import os
import sys
import tempfile
import time

import krew
import mixin
import platforms
import release
from render import CHART, INSTALL, KUBERNETES, ROOT, Finding, Tools, call, objects, values, variants
from same import compare

# Value combinations of the chart that kustomize has no counterpart for.
HELM_ONLY = {"customized", "given-account"}
# Values that have to be refused, each with a word of the refusal.
REFUSED = {
    "image.pullpolicy=Always": "pullpolicy",
    "options.listen=:9090": "listen",
    "options.metrics-path=/readyz": "metrics-path",
    "watch.namespaces={Not_A_Name}": "namespaces",
    "access.auth=basic": "auth",
    "access.auth=kubernetes": "without TLS",
    "watch.ownNamespace=true,watch.namespaces={shop}": "exclude each other",
    "prometheusRule.enabled=true,slo=slos: []": "prometheusRule.groups",
    # Helm takes null for a value that is not there, and Kubernetes an empty list for everybody.
    "networkPolicy.from=null": "from",
    "networkPolicy.from={}": "from",
    "networkPolicy.from[0].namespaceSelecter.matchLabels.a=b": "from",
    "networkPolicy.from[0].podSelector=null": "from",
    "networkPolicy.apiServerPorts=null": "apiServerPorts",
    "networkPolicy.apiServerPorts={}": "apiServerPorts",
    "networkPolicy.egress[0].ports={},networkPolicy.egress[0].to[0].ipBlock.cidr=10.0.0.0/8": "ports",
    "networkPolicy=null": "networkPolicy",
    "image.repository=null": "repository",
    "slo=foo": "slo",
    "slo=slos:\n- objective: 0.99": "slo",
    "slo=slos:\n- {name: a\\, objective: 1.0}": "slo",
    "resources.limits.memory=lots": "memory",
    "resources.limits.memory=256m": "memory",
    "resources.request.memory=1Gi": "resources",
    "podLabels.app\\.kubernetes\\.io/name=mine": "app.kubernetes.io/name",
    "serviceMonitor.labels.helm\\.sh/chart=mine": "helm.sh/chart",
    "options.labels=namespace\\,node\\,namespace": "labels",
    "options.labels={node,node}": "labels",
    "serviceAccount.create=false": "serviceAccount.name",
    "service.port=0": "port",
    "shards=0": "shards",
    "shards=2,state.enabled=true,state.existingClaim=mine": "one of its own",
}
# Values that look like those, and are not to be refused.
ACCEPTED = [
    "resources=null",
    "resources.limits.memory=null,resources.limits.cpu=2,resources.requests.memory=1.5Gi",
    "slo=# objective: 0.5\nslos:\n- objective: 99.5",
    "podLabels.app=mine,tolerations=null",
    "options.labels={namespace,node}",
    "options.labels=namespace\\,node",
]


class Checks:
    def __init__(self, options):
        self.options = options
        self.tools = Tools(options.tools)
        self.failed = 0

    def run(self):
        self.say("deploy/install.yaml is what kustomize renders", self.install)
        with tempfile.TemporaryDirectory() as self.directory:
            for name in ["default", *variants()]:
                self.say(f"kustomize: {name}", lambda: self.rendered(f"kustomize-{name}", self.tools.variant(name)))
            for name in values():
                self.say(f"helm: {name}", lambda: self.rendered(f"helm-{name}", self.tools.chart(name)))
                self.say(f"helm lint: {name}", lambda: self.lint(name))
            for name in ["default", *variants()]:
                self.say(f"kustomize and helm say the same: {name}", lambda: compare(
                    self.read(f"kustomize-{name}"), self.tools.chart(name, "--skip-tests")))
            for name in platforms.RULES:
                for source in ("kustomize", "helm"):
                    self.say(f"{name} admits what {source} renders", lambda: platforms.admits(
                        name, self.read(f"{source}-{name}")))
            self.say("OpenShift refuses what is meant for others", self.openshift_refuses)
            self.say("OpenShift admits install.yaml", self.openshift_admits_install)
            self.say("releases in two namespaces share no name of the cluster", self.two_releases)
            self.say("from one process to shards, the claim stays", self.claim_stays)
            self.say("every combination of values has its counterpart", self.paired)
            for wrong, word in REFUSED.items():
                self.say(f"helm refuses {wrong}", lambda: self.refused(wrong, word))
            for right in ACCEPTED:
                self.say(f"helm accepts {right}", lambda: self.tools.chart("default", "--set", right) and None)
            self.say("helm unittest", lambda: self.tools("helm-unittest", "--strict", CHART))
            self.say("kubeconform", self.kubeconform)
            self.say("kubeconform refuses a field that is not there", self.kubeconform_refuses)
            self.say("checkov", self.checkov)
        self.say("the mixin is what is generated", lambda: mixin.same(self.tools))
        self.say("the mixin's configuration reaches every rule", lambda: mixin.configured(self.tools))
        self.say("the krew manifest keeps krew's rules", krew.valid)
        self.say("krew's rules find mistakes", krew.finds_mistakes)
        self.say("the chart of a release names its image", lambda: release.names_its_image(self.tools))
        self.say("install.yaml of a release names its image", release.install_names_its_image)
        self.say("Artifact Hub is told of the chart's repository", release.metadata)
        self.say("actionlint", self.actionlint)
        return self.failed

    def say(self, title, check):
        began = time.monotonic()
        try:
            counted = check()
        except Finding as finding:
            self.failed += 1
            print(f"FAILED {title}\n{finding}\n", flush=True)
            return
        counted = f" ({counted})" if isinstance(counted, (int, str)) and len(str(counted)) < 80 else ""
        print(f"passed {title}{counted} in {time.monotonic() - began:.1f} s", flush=True)

    def install(self):
        text = f"# kubectl apply -f this: podinit and its namespace. Rendered from deploy/install by\n" \
               f"# tests/deploy/run --update.\n{self.tools.variant('default')}"
        if self.options.update:
            with open(INSTALL, "w", encoding="utf-8") as file:
                file.write(text)
        with open(INSTALL, encoding="utf-8") as file:
            if file.read() != text:
                raise Finding("it is not: tests/deploy/run --update renders it")

    def rendered(self, name, text):
        with open(os.path.join(self.directory, f"{name}.yaml"), "w", encoding="utf-8") as file:
            file.write(text)
        return f"{text.count(chr(10))} lines"

    def read(self, name):
        with open(os.path.join(self.directory, f"{name}.yaml"), encoding="utf-8") as file:
            return file.read()

    def lint(self, name):
        self.tools("helm", "lint", "--strict", "--kube-version", KUBERNETES, "--namespace", "podinit",
                   "--values", os.path.join(CHART, "ci", f"{name}-values.yaml"), CHART)

    def paired(self):
        alone = set(values()) ^ {"default", *variants()}
        if alone != HELM_ONLY:
            raise Finding(f"on one side only: {sorted(alone ^ HELM_ONLY)}")

    def openshift_refuses(self):
        """The check finds what a cluster would."""
        try:
            platforms.admits("openshift", self.read("kustomize-full"))
        except Finding as finding:
            if str(finding) == "fsGroup is fixed":
                return
            raise
        raise Finding("it does not")

    def openshift_admits_install(self):
        with open(INSTALL, encoding="utf-8") as file:
            return platforms.admits("openshift", file.read())

    def two_releases(self):
        """The objects without a namespace of two tenants' releases, each of its own namespace."""
        names = []
        for namespace in ("shop", "payment"):
            text = self.tools.chart("tls-auth", "--namespace", namespace, "--set", "watch.ownNamespace=true")
            names += [(one["kind"], one["metadata"]["name"]) for one in objects(text)
                      if one["kind"].startswith("Cluster")]
        if len(set(names)) != len(names) or not names:
            raise Finding(str(sorted(names)))
        return len(names)

    def claim_stays(self):
        """Helm keeps the claim, and the first pod of the StatefulSet has it."""
        one = [one for one in objects(self.read("helm-persistent-state")) if one["kind"] == "PersistentVolumeClaim"]
        (claim,) = one
        if claim["metadata"]["annotations"].get("helm.sh/resource-policy") != "keep":
            raise Finding("Helm would delete it")
        sharded = [one for one in objects(self.read("helm-shards")) if one["kind"] == "StatefulSet"]
        (template,) = sharded[0]["spec"]["volumeClaimTemplates"]
        first = f"{template['metadata']['name']}-{sharded[0]['metadata']['name']}-0"
        if claim["metadata"]["name"] != first:
            raise Finding(f"the first shard uses {first}, not {claim['metadata']['name']}")

    def refused(self, wrong, word):
        try:
            self.tools.chart("default", "--set", wrong)
        except Finding as finding:
            if word.lower() in str(finding).partition("\n")[2].lower():
                return
            raise Finding(f"for another reason: {finding}") from finding
        raise Finding("it does not")

    def kubeconform(self, *paths):
        answer = self.tools(
            "kubeconform", "-strict", "-output", "json", "-summary",
            "-schema-location", os.path.join(self.options.schemas, "{{ .ResourceKind }}{{ .KindSuffix }}.json"),
            *(paths or [self.directory]))
        summary = json.loads(answer)["summary"]
        if summary["skipped"] or not summary["valid"]:
            raise Finding(str(summary))
        return f"{summary['valid']} objects"

    def kubeconform_refuses(self):
        with tempfile.TemporaryDirectory() as directory:
            for right, wrong in (("readOnlyRootFilesystem: true", "readOnlyRootFileSystem: true"),
                                 ("jobLabel:", "jobLabels:")):
                text = self.read("kustomize-full")
                assert right in text
                path = os.path.join(directory, "wrong.yaml")
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text.replace(right, wrong))
                try:
                    self.kubeconform(path)
                except Finding:
                    continue
                raise Finding(f"it does not refuse {wrong}")

    def checkov(self):
        """Once for files with a NetworkPolicy and once for those without: it looks across files."""
        groups = {True: [], False: []}
        for name in sorted(os.listdir(self.directory)):
            groups["kind: NetworkPolicy" in self.read(name.removesuffix(".yaml"))].append(name)
        passed = explained = 0
        for names in groups.values():
            files = [part for name in names for part in ("--file", os.path.join(self.directory, name))]
            answer = call(self.options.checkov, *files, "--framework", "kubernetes", "--compact",
                          "--skip-download", "--output", "json", "--soft-fail", env={"LOG_LEVEL": "ERROR"})
            found = json.loads(answer)
            for check in found["results"]["skipped_checks"]:
                if len(check["check_result"].get("suppress_comment") or "") < 20:
                    raise Finding(f"skipped without a reason: {check['check_id']} {check['resource']}")
            summary = found["summary"]
            if summary["failed"] or summary["parsing_errors"] or not summary["passed"]:
                lines = {f"{check['check_id']} {check['resource'][:60]}: {check['check_name']} ({check['file_path']})"
                         for check in found["results"]["failed_checks"]}
                raise Finding("\n".join(sorted(lines)) or str(summary))
            passed, explained = passed + summary["passed"], explained + summary["skipped"]
        return f"{passed} passed, {explained} explained beside the manifest"

    def actionlint(self):
        directory = os.path.join(ROOT, ".github", "workflows")
        files = sorted(os.path.join(directory, name) for name in os.listdir(directory))
        self.tools("actionlint", "-no-color", *files)
        return len(files)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tools", required=True)
    parser.add_argument("--schemas", required=True)
    parser.add_argument("--checkov", required=True)
    parser.add_argument("--update", action="store_true", help="render deploy/install.yaml anew")
    failed = Checks(parser.parse_args()).run()
    print(f"{failed} failed" if failed else "all passed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
