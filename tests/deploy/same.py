"""Whether kustomize and helm say the same, but for what only Helm reads."""

import base64
import json

import yaml

from render import Finding, objects

# What helm puts on everything that it makes.
HELM_LABELS = {"helm.sh/chart", "app.kubernetes.io/managed-by"}


def compare(kustomized, templated):
    """Fail unless both texts hold the same objects, but for Namespaces and Helm's labels.

    A chart leaves its namespace to `helm install --create-namespace`.
    """
    left, right = keyed(objects(kustomized)), keyed(objects(templated))
    left = {key: value for key, value in left.items() if key[0] != "Namespace"}
    lines = [f"only kustomize has {key}" for key in left.keys() - right.keys()]
    lines += [f"only helm has {key}" for key in right.keys() - left.keys()]
    for key in left.keys() & right.keys():
        lines += [f"{' '.join(key)}{line}" for line in differences("", left[key], right[key])]
    if lines:
        raise Finding("\n".join(sorted(lines)[:20]))
    return len(left)


def keyed(documents):
    """Objects by kind, namespace and name, in one form."""
    found = {}
    for document in documents:
        meta = document["metadata"]
        key = (document["kind"], meta.get("namespace", "-"), meta["name"])
        if key in found:
            raise Finding(f"twice: {key}")
        found[key] = normal(document)
    return found


def normal(document):
    """One object without Helm's labels, its files parsed, and its lists by name in one order."""
    strip(document["metadata"])
    if document["kind"] == "Secret":
        document["data"] = {name: base64.b64decode(text).decode() for name, text in document["data"].items()}
    if document["kind"] in ("ConfigMap", "Secret"):
        # Comments and indentation of the files in it say nothing.
        document["data"] = {name: parsed(name, text) for name, text in document["data"].items()}
    if document["kind"] in ("Deployment", "StatefulSet"):
        strip(document["spec"]["template"]["metadata"])
        spec = document["spec"]["template"]["spec"]
        spec["volumes"] = by_name(spec.get("volumes", []))
        for container in spec["containers"]:
            container["env"] = by_name(container.get("env", []))
            container["volumeMounts"] = by_name(container.get("volumeMounts", []))
    return document


def strip(metadata):
    metadata["labels"] = {name: value for name, value in metadata["labels"].items() if name not in HELM_LABELS}
    annotations = metadata.pop("annotations", {})
    annotations.pop("helm.sh/resource-policy", None)
    if annotations:
        metadata["annotations"] = annotations


def parsed(name, text):
    return json.loads(text) if name.endswith(".json") else yaml.safe_load(text)


def by_name(entries):
    names = [entry["name"] for entry in entries]
    if len(set(names)) != len(names):
        raise Finding(f"twice in {names}")
    return {entry["name"]: entry for entry in entries}


def differences(path, left, right):
    """Lines that say where two values differ."""
    if isinstance(left, dict) and isinstance(right, dict):
        for name in sorted(left.keys() | right.keys(), key=str):
            yield from differences(f"{path}.{name}", left.get(name), right.get(name))
    elif isinstance(left, list) and isinstance(right, list) and len(left) == len(right):
        for index, (one, other) in enumerate(zip(left, right)):
            yield from differences(f"{path}[{index}]", one, other)
    elif left != right:
        yield f"{path}: kustomize {shown(left)}, helm {shown(right)}"


def shown(value):
    text = json.dumps(value)
    return text if len(text) <= 200 else text[:200] + "…"
