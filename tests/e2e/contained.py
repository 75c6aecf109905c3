"""podinit as a process with all that a manifest gives its container."""

import base64
import json
import os
import re

import access
from cluster import ACCOUNT
from exporter import Exporter
from processes import Failure

# Whom the manifests with authentication let scrape.
SCRAPER = ("monitoring", "prometheus-k8s")
# Where the pods are that shards have to share out.
UNSCHEDULED = "to-share-out"


def works(suite, name, documents, pods):
    """Run podinit as its account, with the arguments, variables and files of each of the pods that the
    controllers made from the manifest. Of several, which are shards, each pod of the cluster has exactly one."""
    names = unscheduled(suite.cluster, 64) if len(pods) > 1 else []
    exporters = [contained(suite, f"deploy-{name}-{i}", documents, pod) for i, pod in enumerate(pods)]
    for exporter in exporters:
        exporter.ready()
    if names:
        shared_out(exporters, names)
    for exporter in exporters:
        exporter.stop()


def contained(suite, name, documents, pod):
    """podinit as a process with what the pod gives its one container."""
    spec = pod["spec"]
    container = spec["containers"][0]
    directory = os.path.join(suite.directory, name)
    mounts = [mount for mount in container.get("volumeMounts", []) if "serviceaccount" not in mount["mountPath"]]
    places = {mount["mountPath"]: os.path.join(directory, mount["name"]) for mount in mounts}

    def moved(text):
        for path, place in places.items():
            text = text.replace(path, place)
        return text

    for mount in mounts:
        place = places[mount["mountPath"]]
        os.makedirs(place)
        for file, text in held(suite.cluster, mount["name"], spec["volumes"], documents).items():
            with open(os.path.join(place, file), "w", encoding="utf-8") as out:
                out.write(moved(text))
    variables = {key: moved(value) for key, value in environment(container, pod).items()}
    scheme = container["readinessProbe"]["httpGet"].get("scheme", "HTTP")
    exporter = Exporter(
        suite.processes, suite.options.podinit, name, suite.cluster.exporter_kubeconfig(name), env=variables,
        authority=suite.cluster.files["ca"] if scheme == "HTTPS" else None)
    if "PODINIT_AUTH" in variables:
        guarded(suite.cluster, exporter.ready())
    return exporter


def environment(container, pod):
    """The container's variables as a kubelet sets them: fields of the pod, and `$(NAME)` of those before."""
    variables = {}
    for entry in container["env"]:
        value = entry.get("value", "")
        if "valueFrom" in entry:
            value = field(pod, entry["valueFrom"]["fieldRef"]["fieldPath"])
        for known, text in variables.items():
            value = value.replace(f"$({known})", text)
        variables[entry["name"]] = value
    return variables


def field(pod, path):
    """The value of a `fieldPath` of the downward API, of those that the manifests use."""
    label = re.fullmatch(r"metadata\.labels\['(.+)'\]", path)
    if label:
        return pod["metadata"]["labels"][label[1]]
    section, name = path.split(".")
    return pod[section][name]


def unscheduled(cluster, count):
    """Create pods that no scheduler takes, so many that each of a few shards has some; their names."""
    cluster.namespace(UNSCHEDULED)
    names = [f"unscheduled-{index:02}" for index in range(count)]
    for name in names:
        cluster.client.create(f"/api/v1/namespaces/{UNSCHEDULED}/pods", {
            "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
            "spec": {"schedulerName": "none", "containers": [{"name": "main", "image": "example.com/main"}]}})
    return names


def shared_out(exporters, names):
    """Fail unless each of these pods is in flight at exactly one of the shards, and no shard is without any."""
    held_by = []
    for exporter in exporters:
        status, _, body = exporter.get(f"/api/v1/inflight?namespace={UNSCHEDULED}&limit=500")
        if status != 200:
            raise Failure(f"{exporter.name}: /api/v1/inflight: HTTP {status}")
        held_by.append([item["name"] for item in json.loads(body)["items"]])
    if sorted(sum(held_by, [])) != names or not all(held_by):
        raise Failure(f"the pods of the shards: {held_by}")


def held(cluster, name, volumes, documents):
    """The files of a volume: of a ConfigMap or Secret among the documents, or the cluster's certificate."""
    volume = next(volume for volume in volumes if volume["name"] == name)
    source = volume.get("configMap", {}).get("name") or volume.get("secret", {}).get("secretName")
    if source == "podinit-tls":
        return {"tls.crt": read(cluster.files["cert"]), "tls.key": read(cluster.files["key"])}
    for document in documents:
        if document["kind"] in ("ConfigMap", "Secret") and document["metadata"]["name"] == source:
            secret = document["kind"] == "Secret"
            return {file: base64.b64decode(text).decode() if secret else text
                    for file, text in document["data"].items()}
    return {}


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def guarded(cluster, exporter):
    """Nobody scrapes without a token, nor without the right that the manifest gives."""
    namespace, name = SCRAPER
    for place in (namespace, "default"):
        cluster.client.apply(f"/api/v1/namespaces/{place}/serviceaccounts", {"metadata": {"name": name}})
    access.expect(exporter, "/metrics", 401)
    access.expect(exporter, "/metrics", 403, cluster.service_account_token("default", name))
    access.expect(exporter, "/metrics", 200, cluster.service_account_token(namespace, name))
