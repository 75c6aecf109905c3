"""What each way to list pods costs a real kube-apiserver: CPU time, and seats of priority and fairness."""

import re
import statistics
import time

import consumers
from processes import wait_for

ROUNDS = 3
WAYS = ["whole", "pages", "stream"]
ENCODINGS = ["protobuf", "json"]
# A start is over within so many seconds; its watch stays open.
SECONDS = 6
BINDING = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"


def measure(server, binaries, processes):
    """By way and encoding: medians of CPU seconds, requests, seats, and seconds of execution, for each start of podinit."""
    lister = Lister(server)
    # Seats are estimated from the objects that the server counts once a minute.
    wait_for("the API server to count the pods",
             lambda: total(lister.metrics(), "apiserver_resource_objects", 'resource="pods"'), 180)
    found = {}
    for _ in range(ROUNDS):
        for encoding in ENCODINGS:
            for way in WAYS:
                started = []

                def start(way=way, encoding=encoding, started=started):
                    arguments = ["--list", way, "--api-encoding", encoding]
                    started.append(consumers.Consumer("podinit", binaries, processes, lister.kubeconfig, arguments))
                    time.sleep(SECONDS)

                before = lister.charged()
                cpu = server.costs(start)
                charged = [now - then for now, then in zip(lister.charged(), before)]
                started[0].stop()
                found.setdefault(f"{way}, {encoding}", []).append([cpu, *charged])
    return {name: [statistics.median(column) for column in zip(*rows)] for name, rows in found.items()}


class Lister:
    """A service account of its own, since administrators are exempt from priority and fairness."""

    def __init__(self, server):
        plane = self.plane = server.plane
        plane.client.create(BINDING, {
            "metadata": {"name": "lister"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
            "subjects": [{"kind": "ServiceAccount", "namespace": "default", "name": "default"}]})
        self.kubeconfig = plane.kubeconfig("lister", plane.service_account_token("default", "default"))

    def charged(self):
        """Requests, seats, and seconds of execution that the priority level of service accounts was charged with."""
        metrics = self.metrics()
        return [total(metrics, f"apiserver_flowcontrol_{name}", 'flow_schema="service-accounts"') for name in [
            "work_estimated_seats_count", "work_estimated_seats_sum", "request_execution_seconds_sum"]]

    def metrics(self):
        """What the server exposes: some megabytes."""
        return self.plane.client.get("/metrics")


def total(metrics, name, label):
    """The sum of the series with this label."""
    series = re.findall(rf"^{name}{{[^}}]*{label}[^}}]*}} (\S+)$", metrics, re.MULTILINE)
    return sum(float(value) for value in series)
