"""The chart as a release has it, and what Artifact Hub is told of it."""

import os
import tempfile

import yaml

from render import KUBERNETES, ROOT, Finding, call, objects

SCRIPT = os.path.join(ROOT, "deploy", "release", "chart")
METADATA = os.path.join(ROOT, "deploy", "chart", "artifacthub-repo.yml")
IMAGE, SOURCE = "images.example/acme/podinit", "https://git.example/acme/podinit"


def names_its_image(tools):
    """Its pods have the published image without any value; Artifact Hub finds the image and the sources."""
    with tempfile.TemporaryDirectory() as directory:
        path = f"{tools.directory}{os.pathsep}{os.environ['PATH']}"
        call(SCRIPT, IMAGE, SOURCE, directory, env={"PATH": path})
        (package,) = [os.path.join(directory, name) for name in os.listdir(directory)]
        tools("helm", "lint", "--strict", "--kube-version", KUBERNETES, package)
        chart = yaml.safe_load(tools("helm", "show", "chart", package))
        text = tools("helm", "template", "podinit", package, "--kube-version", KUBERNETES)
    image = f"{IMAGE}:{chart['version']}"
    pods = [one["spec"]["template"]["spec"] for one in objects(text) if one["kind"] == "Deployment"]
    pods += [one["spec"] for one in objects(text) if one["kind"] == "Pod"]
    used = {container["image"] for pod in pods for container in pod["containers"]}
    if used != {image}:
        raise Finding(f"its pods have {used}")
    told = [one["image"] for one in yaml.safe_load(chart["annotations"]["artifacthub.io/images"])]
    links = yaml.safe_load(chart["annotations"]["artifacthub.io/links"])
    if told != [image] or chart["home"] != SOURCE or chart["sources"] != [SOURCE]:
        raise Finding(str(chart))
    for link in links:
        page = link["url"].removeprefix(f"{SOURCE}/blob/v{chart['version']}/")
        if not os.path.exists(os.path.join(ROOT, page)):
            raise Finding(f"{link['name']} leads to {link['url']}")
    return image


def metadata():
    """What is pushed to the repository of the chart, before the release fills in the ID."""
    with open(METADATA, encoding="utf-8") as file:
        told = yaml.safe_load(file)
    if told != {"repositoryID": "@ARTIFACTHUB_ID@", "ignore": [{"name": "podinit", "version": "-rc"}]}:
        raise Finding(str(told))
