"""Renders the manifests: kustomize and helm, as lists of objects."""

import os
import subprocess

import yaml

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CHART = os.path.join(ROOT, "deploy", "chart", "podinit")
VARIANTS = os.path.join(ROOT, "tests", "deploy", "variants")
INSTALL = os.path.join(ROOT, "deploy", "install.yaml")
# Kubernetes as helm is told that it is, where no cluster is asked.
KUBERNETES = "1.37.0"
# What the API server of a platform serves besides.
APIS = {"openshift": ["security.openshift.io/v1"]}


class Finding(Exception):
    """Something that does not hold; the message says what."""


def call(*command, cwd=ROOT, env=None):
    """Standard output of a command; a Finding with all that it said if it fails."""
    done = subprocess.run(command, cwd=cwd, env={**os.environ, **(env or {})}, text=True,
                          capture_output=True, check=False)
    if done.returncode:
        raise Finding(f"{os.path.basename(command[0])} {' '.join(command[1:])}\n{done.stdout}{done.stderr}".rstrip())
    return done.stdout


def objects(text):
    return [document for document in yaml.safe_load_all(text) if document]


def variants():
    """Names of the kustomize variants under test."""
    return sorted(os.listdir(VARIANTS))


def values():
    """Names of the chart's value combinations."""
    suffix = "-values.yaml"
    return sorted(name.removesuffix(suffix) for name in os.listdir(os.path.join(CHART, "ci")))


class Tools:
    """The programs of one directory."""

    def __init__(self, directory):
        self.directory = directory

    def __call__(self, name, *arguments, **options):
        return call(os.path.join(self.directory, name), *arguments, **options)

    def kustomize(self, directory):
        return self("kustomize", "build", directory)

    def variant(self, name):
        if name == "default":
            return self.kustomize(os.path.join(ROOT, "deploy", "install"))
        return self.kustomize(os.path.join(VARIANTS, name))

    def chart(self, name, *arguments):
        """The chart with the values of ci/NAME-values.yaml, for a cluster that serves what NAME's does."""
        served = [part for api in APIS.get(name, []) for part in ("--api-versions", api)]
        return self("helm", "template", "podinit", CHART, "--namespace", "podinit", "--kube-version", KUBERNETES,
                    "--values", os.path.join(CHART, "ci", f"{name}-values.yaml"), *served, *arguments)
