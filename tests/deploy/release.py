"""The chart and install.yaml as a release has them, and what Artifact Hub is told of it."""

import os
import tempfile

import yaml

from render import INSTALL, KUBERNETES, ROOT, Finding, call, objects

SCRIPTS = os.path.join(ROOT, "deploy", "release")
METADATA = os.path.join(ROOT, "deploy", "chart", "artifacthub-repo.yml")
IMAGE, SOURCE = "images.example/acme/podinit", "https://git.example/acme/podinit"


def names_its_image(tools):
    """Its pods have the published image without any value; Artifact Hub finds the image and the sources."""
    with tempfile.TemporaryDirectory() as directory:
        path = f"{tools.directory}{os.pathsep}{os.environ['PATH']}"
        call(os.path.join(SCRIPTS, "chart"), IMAGE, SOURCE, directory, env={"PATH": path})
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


def install_names_its_image():
    """That is all that differs from the file of the repository."""
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "install.yaml")
        call(os.path.join(SCRIPTS, "install"), IMAGE, path)
        with open(path, encoding="utf-8") as file:
            released = file.read()
    with open(INSTALL, encoding="utf-8") as file:
        own = file.read()
    (workload,) = [one for one in objects(released) if one["kind"] == "Deployment"]
    (container,) = workload["spec"]["template"]["spec"]["containers"]
    image, _, version = container["image"].rpartition(":")
    if image != IMAGE or released.replace(f"{IMAGE}:{version}", f"podinit:{version}") != own:
        raise Finding(f"it names {container['image']}")
    return container["image"]


def metadata():
    """What is pushed to the repository of the chart, before the release fills in the ID."""
    with open(METADATA, encoding="utf-8") as file:
        told = yaml.safe_load(file)
    if told != {"repositoryID": "@ARTIFACTHUB_ID@", "ignore": [{"name": "podinit", "version": "-rc"}]}:
        raise Finding(str(told))
