"""The same pods and Events, fetched from the API server as JSON and as protobuf.

`cargo test` then checks that both decode to the same (tests/suite/recordings/protobuf.rs). What is committed in
tests/fixtures/encodings was fetched in the same way.
"""

import gzip
import os

from processes import Failure

NAMESPACE = "e2e-encodings"
BASE = f"/api/v1/namespaces/{NAMESPACE}"
FORMS = {
    "json": ("application/json", "application/json"),
    "protobuf": ("application/vnd.kubernetes.protobuf", "application/vnd.kubernetes.protobuf;stream=watch"),
}
PODS = 12


def run(suite):
    suite.report.check("pods and Events of the API server as JSON and as protobuf", "fetched, to be decoded",
                       lambda: fetch(suite), "bytes")


def fetch(suite):
    cluster = suite.cluster
    directory = os.path.join(suite.directory, "encodings")
    os.makedirs(directory)
    before = versions(cluster)
    create(cluster)
    between = versions(cluster)
    for number in range(PODS):
        cluster.client.delete(f"{BASE}/pods/pod-{number}", 0)
    size = 0
    for resource, since in before.items():
        listed = between[resource]
        requests = {
            "list": f"resourceVersion={listed}&resourceVersionMatch=Exact",
            "watch": f"watch=true&resourceVersion={since}&timeoutSeconds=3&fieldSelector=metadata.namespace={NAMESPACE}",
        }
        for kind, query in requests.items():
            for form, accepted in FORMS.items():
                accept = accepted[kind == "watch"]
                body = get(cluster, f"/api/v1/{resource}?{query}", accept)
                size += len(body)
                with gzip.open(os.path.join(directory, f"{resource}.{kind}.{form}.gz"), "wb") as file:
                    file.write(body)
    return size


def create(cluster):
    """Pods of no kubelet, which change only here, and an Event about each."""
    cluster.namespace(NAMESPACE)
    for number in range(PODS):
        name = f"pod-{number}"
        pod = cluster.client.create(f"{BASE}/pods", {
            "metadata": {"name": name, "labels": {"app": "web"}},
            "spec": {"schedulerName": "none", "containers": [{"name": "main", "image": "e2e/main"}]}})
        reference = {"kind": "Pod", "namespace": NAMESPACE, "name": name, "uid": pod["metadata"]["uid"]}
        cluster.client.create(f"{BASE}/events", {
            "metadata": {"name": f"{name}.18b0000000000001"}, "involvedObject": reference, "reason": "Pulling",
            "message": 'Pulling image "e2e/main"', "source": {"component": "kubelet"},
            "firstTimestamp": pod["metadata"]["creationTimestamp"], "type": "Normal"})
        status = {"conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable",
                                  "message": "no node", "lastTransitionTime": pod["metadata"]["creationTimestamp"]}]}
        cluster.client.patch(f"{BASE}/pods/{name}/status", {"status": status})


def versions(cluster):
    """The newest version of each resource."""
    return {resource: cluster.client.get(f"/api/v1/{resource}?limit=1")["metadata"]["resourceVersion"]
            for resource in ("pods", "events")}


def get(cluster, path, accept):
    connection = cluster.client.connection()
    headers = {"Authorization": f"Bearer {cluster.client.token}", "Accept": accept}
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    found = answer.getheader("Content-Type")
    if answer.status != 200 or found != accept:
        raise Failure(f"GET {path} as {accept}: HTTP {answer.status}, {found}")
    return body
