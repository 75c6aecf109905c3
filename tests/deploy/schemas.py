"""JSON schemas for kubeconform, from what Kubernetes and the Prometheus operator publish as modules.

    schemas.py SWAGGER CRDS OUT    Kubernetes' swagger.json, a directory of CRDs, where to write
"""

import json
import os
import sys

import yaml

# What podinit's manifests consist of.
KINDS = {"ConfigMap", "Namespace", "PersistentVolumeClaim", "Pod", "Secret", "Service", "ServiceAccount",
         "Deployment", "StatefulSet", "NetworkPolicy", "Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"}
CRDS = ("prometheusrules", "servicemonitors")
# These are what they are by their own encoding, not by their fields.
SCALARS = {
    "io.k8s.apimachinery.pkg.util.intstr.IntOrString": {"type": ["string", "integer"]},
    "io.k8s.apimachinery.pkg.api.resource.Quantity": {"type": ["string", "number"]},
}


def inlined(definitions, schema):
    """`schema` with every reference replaced by what it refers to, and no fields beside those named."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return SCALARS.get(name) or inlined(definitions, definitions[name])
    schema = dict(schema)
    if "properties" in schema:
        schema["properties"] = {
            name: nullable(inlined(definitions, field), name in schema.get("required", ()))
            for name, field in schema["properties"].items()}
        schema.setdefault("additionalProperties", False)
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            schema[key] = inlined(definitions, schema[key])
    return strict(schema)


def strict(schema):
    """What CRDs say in words of their own."""
    if schema.pop("x-kubernetes-int-or-string", False):
        schema.pop("anyOf", None)
        schema["type"] = ["string", "integer"]
    schema.pop("format", None)
    return schema


def nullable(schema, required):
    """Fields that need not be there may be null."""
    if required or not isinstance(schema.get("type"), str):
        return schema
    return {**schema, "type": [schema["type"], "null"]}


def write(out, group, version, kind, schema):
    name = "-".join(filter(None, (kind.lower(), group.split(".")[0], version)))
    properties = schema.setdefault("properties", {})
    properties["apiVersion"] = {"enum": [f"{group}/{version}" if group else version]}
    properties["kind"] = {"enum": [kind]}
    properties.setdefault("metadata", {"type": "object"})
    schema["required"] = sorted({"apiVersion", "kind", "metadata", *schema.get("required", ())})
    with open(os.path.join(out, f"{name}.json"), "w", encoding="utf-8") as file:
        json.dump(schema, file)


def main(swagger, crds, out):
    os.makedirs(out, exist_ok=True)
    with open(swagger, encoding="utf-8") as file:
        definitions = json.load(file)["definitions"]
    found = set()
    for definition in definitions.values():
        for told in definition.get("x-kubernetes-group-version-kind", ()):
            if told["kind"] in KINDS and told["version"] == "v1" and len(definition["x-kubernetes-group-version-kind"]) == 1:
                write(out, told["group"], told["version"], told["kind"], inlined(definitions, definition))
                found.add(told["kind"])
    assert found == KINDS, f"not in {swagger}: {KINDS - found}"
    for plural in CRDS:
        with open(os.path.join(crds, f"monitoring.coreos.com_{plural}.yaml"), encoding="utf-8") as file:
            spec = yaml.safe_load(file)["spec"]
        version = next(version for version in spec["versions"] if version["storage"])
        schema = inlined({}, version["schema"]["openAPIV3Schema"])
        schema["properties"]["metadata"] = inlined(definitions, {"$ref": "ObjectMeta/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"})
        write(out, spec["group"], version["name"], spec["names"]["kind"], schema)


if __name__ == "__main__":
    main(*sys.argv[1:])
