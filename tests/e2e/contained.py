"""podinit as a process with all that a manifest gives its container."""

import base64
import os

import access
from cluster import ACCOUNT
from exporter import Exporter

# Whom the manifests with authentication let scrape.
SCRAPER = ("monitoring", "prometheus-k8s")


def works(suite, name, documents):
    """Run podinit as its account, with the arguments, variables and files of the manifest."""
    pod = next(d for d in documents if d["kind"] == "Deployment")["spec"]["template"]["spec"]
    container = pod["containers"][0]
    directory = os.path.join(suite.directory, f"deploy-{name}")
    mounts = container.get("volumeMounts", [])
    places = {mount["mountPath"]: os.path.join(directory, mount["name"]) for mount in mounts}

    def moved(text):
        for path, place in places.items():
            text = text.replace(path, place)
        return text

    for mount in mounts:
        place = places[mount["mountPath"]]
        os.makedirs(place)
        for file, text in held(suite.cluster, mount["name"], pod["volumes"], documents).items():
            with open(os.path.join(place, file), "w", encoding="utf-8") as out:
                out.write(moved(text))
    # The one fieldRef there is names the namespace.
    variables = {entry["name"]: moved(entry.get("value", ACCOUNT[0])) for entry in container["env"]}
    scheme = container["readinessProbe"]["httpGet"].get("scheme", "HTTP")
    exporter = Exporter(
        suite.processes, suite.options.podinit, f"deploy-{name}",
        suite.cluster.exporter_kubeconfig(f"deploy-{name}"), env=variables,
        authority=suite.cluster.files["ca"] if scheme == "HTTPS" else None)
    exporter.ready()
    if "PODINIT_AUTH" in variables:
        guarded(suite.cluster, exporter)
    exporter.stop()


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
