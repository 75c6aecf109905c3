"""etcd, API servers, scheduler and controller manager of one run, on loopback."""

import json
import os
import signal
import ssl
import urllib.request

import certificates
from kube import Client
from processes import Failure, free_port, wait_for

ADMIN = "e2e-admin-token"
# Groups of pods that are scheduled together, off by default in 1.37.
GATES = "GenericWorkload=true"
# Off, so that no request of a test is ever refused.
PRIORITY_AND_FAIRNESS = False


class ControlPlane:
    """One cluster. `directory` takes certificates, data and kubeconfigs."""

    def __init__(self, processes, binaries, directory):
        self.processes, self.binaries, self.directory = processes, binaries, directory
        self.files = certificates.make(os.path.join(directory, "pki"))
        self.tokens = os.path.join(directory, "tokens.csv")
        with open(os.open(self.tokens, os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
            file.write(f'{ADMIN},e2e-admin,e2e-admin,"system:masters"\n')
        self.etcd_port, self.port = free_port(), free_port()
        self.servers = {}
        self.starts = 0
        self.managers = []
        self.client = Client(self.port, self.files["ca"], ADMIN)

    def start(self):
        """Start everything and return once the API server is ready."""
        peer = free_port()
        address, peers = f"http://127.0.0.1:{self.etcd_port}", f"http://127.0.0.1:{peer}"
        self.etcd = self.processes.start("etcd", [
            self.binaries["etcd"], "--data-dir", os.path.join(self.directory, "etcd"),
            "--listen-client-urls", address, "--advertise-client-urls", address,
            "--listen-peer-urls", peers, "--initial-advertise-peer-urls", peers,
            "--initial-cluster", f"default={peers}",
            "--unsafe-no-fsync", "--quota-backend-bytes", "8589934592", "--log-level", "warn",
        ])
        self.start_server(self.port)
        self.kubeconfig("admin", ADMIN)
        kubeconfig = self.kubeconfig_path("admin")
        for name, options in {
            "kube-scheduler": [f"--feature-gates={GATES}"],
            "kube-controller-manager": [
                "--use-service-account-credentials",
                "--service-account-private-key-file", self.files["sa_key"],
                "--root-ca-file", self.files["ca"],
                "--node-monitor-period=1s", "--node-monitor-grace-period=12s",
                "--kube-api-qps=500", "--kube-api-burst=1000", "--concurrent-replicaset-syncs=20",
            ],
        }.items():
            self.managers.append(self.processes.start(name, [
                self.binaries[name], "--kubeconfig", kubeconfig,
                "--authentication-kubeconfig", kubeconfig, "--authorization-kubeconfig", kubeconfig,
                "--bind-address=127.0.0.1", f"--secure-port={free_port()}", "--leader-elect=false",
                *options,
            ]))
        wait_for("the service account of namespace default", lambda: self.client.get(
            "/api/v1/namespaces/default/serviceaccounts/default"))

    def start_server(self, port):
        """Start an API server on `port` and wait until it is ready."""
        self.starts += 1
        arguments = [
            self.binaries["kube-apiserver"],
            f"--etcd-servers=http://127.0.0.1:{self.etcd_port}",
            "--bind-address=127.0.0.1", f"--secure-port={port}",
            "--advertise-address=127.0.0.1", "--endpoint-reconciler-type=none",
            f"--cert-dir={self.directory}",
            f"--tls-cert-file={self.files['cert']}", f"--tls-private-key-file={self.files['key']}",
            f"--client-ca-file={self.files['ca']}", f"--token-auth-file={self.tokens}",
            "--authorization-mode=RBAC",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={self.files['sa_pub']}",
            f"--service-account-signing-key-file={self.files['sa_key']}",
            "--service-account-max-token-expiration=1h",
            "--service-cluster-ip-range=10.96.0.0/16",
            # Without kubelet certificates nothing here asks for a pod's token.
            "--disable-admission-plugins=TaintNodesByCondition",
            "--etcd-compaction-interval=0", "--shutdown-delay-duration=0s",
            # Keeps the watch history short enough for a resume to be too old.
            "--watch-cache=true", f"--enable-priority-and-fairness={str(PRIORITY_AND_FAIRNESS).lower()}",
            f"--feature-gates={GATES}", "--runtime-config=scheduling.k8s.io/v1beta1=true",
        ]
        if not PRIORITY_AND_FAIRNESS:
            arguments += ["--max-requests-inflight=0", "--max-mutating-requests-inflight=0"]
        name = f"kube-apiserver-{self.starts}"
        self.servers[port] = self.processes.start(name, arguments)
        self.wait_ready(port)

    def wait_ready(self, port):
        context = ssl.create_default_context(cafile=self.files["ca"])
        request = urllib.request.Request(f"https://127.0.0.1:{port}/readyz")
        request.add_header("Authorization", f"Bearer {ADMIN}")

        def ready():
            if self.servers[port].poll() is not None:
                raise Failure(f"{self.servers[port].name} ended, see its log")
            return urllib.request.urlopen(request, context=context, timeout=5).status == 200

        wait_for(f"the API server on port {port}", ready, 120)

    def stop_server(self, port, kill=False):
        """End the API server on `port`: SIGKILL, or SIGTERM and some seconds as a kubelet grants them."""
        self.processes.stop(self.servers.pop(port), signal.SIGKILL if kill else signal.SIGTERM, 5)

    def kubeconfig_path(self, name):
        return os.path.join(self.directory, f"{name}.kubeconfig")

    def kubeconfig(self, name, token=None, port=None, token_file=None):
        """Write a kubeconfig for a bearer token, or for a file that holds one; return its path."""
        user = {"tokenFile": token_file} if token_file else {"token": token}
        path = self.kubeconfig_path(name)
        document = {
            "apiVersion": "v1", "kind": "Config", "current-context": "e2e",
            "clusters": [{"name": "e2e", "cluster": {
                "server": f"https://127.0.0.1:{port or self.port}",
                "certificate-authority": self.files["ca"]}}],
            "users": [{"name": name, "user": user}],
            "contexts": [{"name": "e2e", "context": {"cluster": "e2e", "user": name}}],
        }
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            json.dump(document, file)  # JSON is YAML
        return path

    def service_account_token(self, namespace, name, seconds=3600, audience=None):
        """A token of a service account, as the TokenRequest API gives it."""
        path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{name}/token"
        request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest",
                   "spec": {"expirationSeconds": seconds, "audiences": [audience] if audience else []}}
        return self.client.create(path, request)["status"]["token"]

    def namespace(self, name):
        """Create a namespace and wait for its default service account."""
        self.client.create("/api/v1/namespaces", {"metadata": {"name": name}})
        wait_for(f"the service account of namespace {name}", lambda: self.client.get(
            f"/api/v1/namespaces/{name}/serviceaccounts/default"))
