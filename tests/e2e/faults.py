"""Faults of the real thing: no startup lost, none counted twice.

Each has a namespace, an exporter and a load of plain pods of its own; the figures must equal the
recording's once all is well again. Pods that are deleted during a fault have been ready before,
so that how they ended does not depend on who saw what.
"""

import base64
import json
import os
import signal
import threading
import time
import urllib.request

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding

import cut_off
from cluster import ACCOUNT, PATHS
from compare import differences
from exporter import total
from kube import ApiError, Client
from processes import Failure, free_port, wait_for
from proxy import Proxy
from scenario import Scenario
from truth import Truth

# Re-entries may go unseen while an exporter is cut off.
IGNORED = {"podinit_reentries_total"}
PAUSE = 130


class Fault:
    """One fault: its namespace, its load of pods, and the exporter that must survive it."""

    def __init__(self, suite, name, port=None, kubeconfig=None):
        self.suite, self.cluster = suite, suite.cluster
        scenario = Scenario(f"fault-{name}", name, {}, None).prepare(suite.cluster)
        if port:
            # Through the same address as the exporter, which outlives single API servers.
            scenario.client = Client(port, suite.cluster.files["ca"], suite.cluster.client.token)
        self.load, self.client, self.namespace = scenario, scenario.client, scenario.namespace
        self.created = 0
        self.kubeconfig = kubeconfig or suite.cluster.exporter_kubeconfig(f"fault-{name}", port)
        self.exporter = self.another()

    def another(self, *flags):
        """An exporter of the namespace."""
        name = "".join([self.namespace, *flags])
        return self.suite.exporter(name, "--namespace", self.namespace, "--timestamps", "api", *flags,
                                   kubeconfig=self.kubeconfig).ready()

    def create(self, count):
        """Create pods, however often it takes."""
        for _ in range(count):
            name = f"pod-{self.created}"

            def made(name=name):
                try:
                    self.load.pod(name)
                except ApiError as error:
                    if error.status != 409:
                        raise
                return True

            wait_for(f"pod {name} to be created", made, 60, 0.3)
            self.created += 1

    def settle(self, deleted=0):
        """Wait until every pod that stands is ready."""
        self.load.wait_condition("Ready", self.created - deleted, seconds=120)

    def caught_up(self):
        """Wait until podinit has counted every pod so far."""
        wait_for("podinit to catch up", lambda: self.counter(
            "podinit_pods_finished_total", outcome="ready") == self.created, 20)

    def delete(self, count):
        """Delete the oldest pods, which are ready; gone once this returns."""
        names = [f"pod-{index}" for index in range(count)]
        for name in names:
            self.load.delete(name)

        def gone():
            return not {pod["metadata"]["name"] for pod in self.load.pods()} & set(names)

        wait_for("deleted pods to be gone", gone)

    def counter(self, name, **labels):
        return total(self.exporter.figures(), name, **labels)

    def record(self, name, uid):
        """podinit's record of a pod."""
        status, _, body = self.exporter.get(f"/api/v1/pods/{self.namespace}/{name}")
        if status != 200 or json.loads(body)["uid"] != uid:
            raise Failure(f"podinit's record of {name} ({uid}): HTTP {status}: {body[:200]}")
        return json.loads(body)

    def agree(self):
        """The row's count: startups, all in the recording, all counted once."""
        state = {}

        def agrees():
            recording = list(cut_off.of_namespace(self.suite.recording, self.namespace))
            view, lines = cut_off.seen(recording, self.record)
            truth = Truth("api", **view._asdict()).feed_all(recording)
            lines += differences(self.exporter.figures(), truth, ignored=IGNORED)
            state["ready"] = truth.counters[("podinit_pods_finished_total", "ready")]
            if state["ready"] != self.created:
                lines.append(f"{self.created} pods created, {state['ready']} ready in the recording")
            if lines:
                raise Failure("; ".join(lines[:5]))
            return True

        wait_for("podinit to agree with the recording", agrees, 90, 1)
        self.exporter.stop()
        return f"{state['ready']} startups"


def run(suite):
    """All faults. Those that mostly wait run beside each other, before servers are restarted."""
    pause, *aside = [aside_of(suite, *fault) for fault in (
        ("exporter stopped for minutes (SIGSTOP)", stopped),
        ("token expired, then rotated", token_expiry),
        ("RBAC taken away and given back", rbac),
    )]
    for thread in aside:
        thread.join()
    for title, fault in (
        ("API server killed and restarted", server_killed),
        ("two API servers behind one address, rolling", rolling),
        ("etcd compacted during a pause (410)", compaction),
    ):
        suite.report.check(title, "as the recording", lambda fault=fault: fault(suite))
    pause.join()


def aside_of(suite, title, fault):
    thread = threading.Thread(
        target=lambda: suite.report.check(title, "as the recording", lambda: fault(suite)), daemon=True)
    thread.start()
    return thread


def server_killed(suite):
    fault = Fault(suite, "killed")
    fault.create(10)
    port = suite.cluster.port
    for _ in range(2):
        # Killed while pods start.
        fault.create(10)
        suite.cluster.stop_server(port, kill=True)
        time.sleep(2)
        suite.cluster.start_server(port)
        fault.create(5)
    fault.settle()
    return fault.agree()


def rolling(suite):
    cluster, second = suite.cluster, free_port()
    cluster.start_server(second)
    proxy = Proxy(cluster.port, second)
    try:
        fault = Fault(suite, "rolling", proxy.port)
        fault.create(10)
        for port in (cluster.port, second, cluster.port):
            cluster.stop_server(port)
            fault.create(8)
            cluster.start_server(port)
            fault.create(2)
        fault.settle()
        return fault.agree()
    finally:
        proxy.close()
        cluster.stop_server(second)


def compaction(suite):
    fault = Fault(suite, "compaction")
    exporters = {"whole": fault.exporter, "paged": fault.another("--list", "pages"),
                 "streamed": fault.another("--list", "stream")}
    fault.create(10)
    fault.settle()
    for fault.exporter in exporters.values():
        fault.caught_up()
        fault.exporter.process.send_signal(signal.SIGSTOP)
    fault.create(15)
    fault.settle()
    fault.delete(5)
    # A new server knows nothing of what was before it started. What is written while there is none
    # makes sure that even a bookmark of the old one's last moment lies before that.
    suite.cluster.stop_server(suite.cluster.port)
    mark = {"key": encoded("podinit-e2e"), "value": encoded("a revision that no watch has seen")}
    revision = etcd(suite.cluster, "kv/put", mark)["header"]["revision"]
    etcd(suite.cluster, "kv/compaction", {"revision": revision, "physical": True})
    suite.cluster.start_server(suite.cluster.port)
    for exporter in exporters.values():
        exporter.process.send_signal(signal.SIGCONT)
    fault.create(5)
    fault.settle(deleted=5)
    results = []
    for listed, fault.exporter in exporters.items():
        relists = wait_for("a relist", lambda: fault.counter("podinit_relists_total"), 90)
        if refused := fault.counter("podinit_watch_errors_total", reason="watch_list"):
            raise Failure(f"{refused:.0f} lists were not streamed")
        results.append(f"{listed}: {fault.agree()}, {relists:.0f} relists")
    return "; ".join(results)


def encoded(text):
    """As etcd's JSON gateway takes keys and values."""
    return base64.b64encode(text.encode()).decode()


def etcd(cluster, path, body):
    """One call of etcd's JSON gateway."""
    request = urllib.request.Request(f"http://127.0.0.1:{cluster.etcd_port}/v3/{path}", json.dumps(body).encode())
    with urllib.request.urlopen(request, timeout=30) as answer:
        return json.load(answer)


def stopped(suite):
    fault = Fault(suite, "stopped")
    fault.create(10)
    fault.settle()
    fault.caught_up()
    fault.exporter.process.send_signal(signal.SIGSTOP)
    began = time.monotonic()
    fault.create(20)
    fault.delete(3)
    while time.monotonic() - began < PAUSE:
        time.sleep(1)
    fault.exporter.process.send_signal(signal.SIGCONT)
    fault.create(5)
    fault.settle(deleted=3)
    return f"{fault.agree()} after {PAUSE} s"


def token_expiry(suite):
    cluster, path = suite.cluster, os.path.join(suite.directory, "token")
    account = cluster.client.get(f"/api/v1/namespaces/{ACCOUNT[0]}/serviceaccounts/{ACCOUNT[1]}")
    write_token(path, signed_token(cluster, account, 25))
    proxy = Proxy(cluster.port)
    try:
        fault = Fault(suite, "token", proxy.port, cluster.kubeconfig("expiring", port=proxy.port, token_file=path))
        began = time.monotonic()
        fault.create(10)
        # API servers remember a good token for ten seconds more.
        time.sleep(max(0, 40 - (time.monotonic() - began)))
        proxy.drop()
        fault.create(10)
        errors = wait_for("podinit to be refused", lambda: fault.counter("podinit_watch_errors_total"), 90)
        write_token(path, signed_token(cluster, account, 3600))
        fault.create(5)
        wait_for("podinit to be in sync", lambda: fault.counter("podinit_synced") == 1, 180, 1)
        fault.settle()
        return f"{fault.agree()}, refused {errors:.0f} times or more"
    finally:
        proxy.close()


def write_token(path, token):
    """As a kubelet does it: a new file in the place of the old one."""
    with open(path + ".new", "w", encoding="ascii") as file:
        file.write(token)
    os.replace(path + ".new", path)


def signed_token(cluster, account, seconds):
    """A service account token shorter than the ten minutes that the TokenRequest API allows."""
    now = int(time.time())
    meta = account["metadata"]
    claims = {
        "iss": "https://kubernetes.default.svc", "aud": ["https://kubernetes.default.svc"],
        "iat": now, "nbf": now, "exp": now + seconds,
        "sub": f"system:serviceaccount:{meta['namespace']}:{meta['name']}",
        "kubernetes.io": {"namespace": meta["namespace"],
                          "serviceaccount": {"name": meta["name"], "uid": meta["uid"]}},
    }

    def encode(data):
        return base64.urlsafe_b64encode(data).rstrip(b"=")

    head = encode(json.dumps({"alg": "RS256", "typ": "JWT"}).encode()) + b"." + encode(json.dumps(claims).encode())
    with open(cluster.files["sa_key"], "rb") as file:
        key = serialization.load_pem_private_key(file.read(), None)
    return (head + b"." + encode(key.sign(head, padding.PKCS1v15(), hashes.SHA256()))).decode()


def rbac(suite):
    """A second account with the shipped role, whose binding goes and comes back."""
    cluster, name = suite.cluster, "podinit-e2e-rbac"
    cluster.client.create(f"/api/v1/namespaces/{ACCOUNT[0]}/serviceaccounts", {"metadata": {"name": name}})
    role = next(d for d in cluster.rbac if d["kind"] == "ClusterRole")
    binding = {
        "metadata": {"name": name},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role["metadata"]["name"]},
        "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": ACCOUNT[0]}],
    }
    cluster.client.create(PATHS["ClusterRoleBinding"], binding)
    token = cluster.service_account_token(ACCOUNT[0], name)
    proxy = Proxy(cluster.port)
    try:
        fault = Fault(suite, "rbac", proxy.port, cluster.kubeconfig(name, token, proxy.port))
        fault.create(10)
        cluster.client.delete(f"{PATHS['ClusterRoleBinding']}/{name}")
        time.sleep(2)
        proxy.drop()
        fault.create(10)
        errors = wait_for("podinit to be refused", lambda: fault.counter("podinit_watch_errors_total"), 60)
        # A watch that opens again within two seconds stays in sync.
        wait_for("podinit to be out of sync", lambda: fault.counter("podinit_synced") == 0, 30)
        fault.settle()
        wait_for("the binding", lambda: cluster.client.create(PATHS["ClusterRoleBinding"], binding), 60)
        wait_for("podinit to be in sync", lambda: fault.counter("podinit_synced") == 1, 180, 1)
        fault.create(5)
        fault.settle()
        return f"{fault.agree()}, refused {errors:.0f} times or more"
    finally:
        proxy.close()
