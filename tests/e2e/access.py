"""Access control: tokens judged by the real API server, over TLS, and a real Prometheus that has both."""

import json
import os
import time
import urllib.request

from cluster import ACCOUNT, PATHS
from exporter import Exporter
from processes import Failure, free_port, wait_for

NAME = "podinit-access"
# The name of a user and his password, and the latter's bcrypt hash.
LOGIN = ("prometheus", "correct horse battery staple")
HASH = "$2b$10$CrXv.JQcbSReYFA4g/gySu2s/1Z2gyzk7kl2l19d2Xk5AlIXgYdci"


def run(suite):
    """Every check, each a row of the report."""
    grant(suite.cluster)
    tokens, users = exporters(suite)
    report = suite.report
    report.check("access: tokens before a real API server", "401, 403, 200 by rights",
                 lambda: by_rights(suite, tokens), "requests")
    report.check("access: Prometheus over TLS", "scrapes by token and by password",
                 lambda: scraped(suite, tokens, users), "targets up")
    report.check("access: API server stopped", "closed, and open again",
                 lambda: closed(suite, tokens), "requests")
    for exporter in (tokens, users):
        exporter.stop()


def grant(cluster):
    """An account for podinit, which may ask for reviews too, and two for scrapers, one with the right to."""
    for name in (NAME, "scraper", "stranger"):
        cluster.client.create(f"/api/v1/namespaces/{ACCOUNT[0]}/serviceaccounts", {"metadata": {"name": name}})
    role = next(d for d in cluster.rbac if d["kind"] == "ClusterRole")["metadata"]["name"]
    bind(cluster, f"{NAME}-pods", role, NAME)
    for suffix, account, rule in (
        ("reviews", NAME, [
            {"apiGroups": ["authentication.k8s.io"], "resources": ["tokenreviews"], "verbs": ["create"]},
            {"apiGroups": ["authorization.k8s.io"], "resources": ["subjectaccessreviews"], "verbs": ["create"]}]),
        ("metrics", "scraper", [{"nonResourceURLs": ["/metrics"], "verbs": ["get"]}]),
    ):
        name = f"{NAME}-{suffix}"
        cluster.client.create(PATHS["ClusterRole"], {"metadata": {"name": name}, "rules": rule})
        bind(cluster, name, name, account)


def bind(cluster, name, role, account):
    cluster.client.create(PATHS["ClusterRoleBinding"], {
        "metadata": {"name": name},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
        "subjects": [{"kind": "ServiceAccount", "name": account, "namespace": ACCOUNT[0]}]})


def exporters(suite):
    """One that asks for tokens and one that asks for passwords, both with TLS."""
    cluster, files = suite.cluster, suite.cluster.files
    kubeconfig = cluster.kubeconfig(NAME, cluster.service_account_token(ACCOUNT[0], NAME))
    tls = {"cert_file": files["cert"], "key_file": files["key"]}

    def started(name, config, *arguments):
        path = os.path.join(suite.directory, f"{name}.web.yaml")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(config, file)  # JSON is YAML
        return Exporter(suite.processes, suite.options.podinit, name, kubeconfig, "--web-config", path,
                        *arguments, authority=files["ca"]).ready()

    tokens = started("tokens", {"tls_server_config": tls}, "--auth", "kubernetes")
    users = started("users", {"tls_server_config": tls, "basic_auth_users": {LOGIN[0]: HASH}})
    return tokens, users


def token_of(suite, name, **options):
    return suite.cluster.service_account_token(ACCOUNT[0], name, **options)


def expect(exporter, path, status, token=None, challenge=None):
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    found, answered, _ = exporter.get(path, headers=headers)
    if found != status:
        raise Failure(f"{path}: HTTP {found}, wanted {status}")
    if challenge and not (answered["WWW-Authenticate"] or "").startswith(challenge):
        raise Failure(f"{path}: WWW-Authenticate: {answered['WWW-Authenticate']}")


def by_rights(suite, exporter):
    scraper, stranger = token_of(suite, "scraper"), token_of(suite, "stranger")
    elsewhere = token_of(suite, "scraper", audience="elsewhere")
    # A grant may take the authorizer a moment.
    wait_for("the right to scrape", lambda: exporter.get(headers={
        "Authorization": f"Bearer {token_of(suite, 'scraper')}"})[0] == 200, 20)
    cases = [
        ("/metrics", 401, None), ("/metrics", 401, "forged"), ("/metrics", 401, scraper[:-4] + "AAAA"),
        ("/metrics", 401, elsewhere), ("/metrics", 403, stranger), ("/metrics", 200, scraper),
        ("/", 401, None), ("/", 403, scraper), ("/nothing-here", 403, scraper),
        ("/livez", 200, None), ("/readyz", 200, None),
    ]
    for path, status, token in cases:
        expect(exporter, path, status, token, "Bearer" if status == 401 else None)
    log = suite.processes.log_text(exporter.process)
    if any(token in log for token in (scraper, stranger, elsewhere)):
        raise Failure("a token stands in the log")
    return len(cases)


def scraped(suite, tokens, users):
    """A Prometheus that trusts the authority, with a token for one and a password for the other."""
    directory, port = os.path.join(suite.directory, "prometheus-access"), free_port()
    os.makedirs(directory)
    secret = os.path.join(directory, "token")
    with open(os.open(secret, os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="ascii") as file:
        file.write(token_of(suite, "scraper"))
    common = {"scheme": "https", "tls_config": {"ca_file": suite.cluster.files["ca"]}}
    jobs = [
        {"job_name": "token", "authorization": {"credentials_file": secret}, **common,
         "static_configs": [{"targets": [f"127.0.0.1:{tokens.port}"]}]},
        {"job_name": "password", "basic_auth": dict(zip(("username", "password"), LOGIN)), **common,
         "static_configs": [{"targets": [f"127.0.0.1:{users.port}"]}]},
        {"job_name": "nobody", **common,
         "static_configs": [{"targets": [f"127.0.0.1:{users.port}"]}]},
    ]
    config = os.path.join(directory, "prometheus.json")
    with open(config, "w", encoding="utf-8") as file:
        json.dump({"global": {"scrape_interval": "1s", "scrape_timeout": "1s"}, "scrape_configs": jobs}, file)
    process = suite.processes.start("prometheus-access", [
        suite.cluster.binaries["prometheus"], "--config.file", config,
        "--storage.tsdb.path", os.path.join(directory, "data"),
        "--web.listen-address", f"127.0.0.1:{port}", "--log.level=warn"])

    def health():
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/targets", timeout=10) as answer:
            targets = json.load(answer)["data"]["activeTargets"]
        return {target["labels"]["job"]: target["health"] for target in targets}

    wanted = {"token": "up", "password": "up", "nobody": "down"}
    wait_for("Prometheus to have scraped", lambda: health() == wanted, 30)
    suite.processes.stop(process)
    return sum(state == "up" for state in wanted.values())


def closed(suite, exporter):
    cluster = suite.cluster
    known, fresh, later = (token_of(suite, "scraper") for _ in range(3))
    expect(exporter, "/metrics", 200, known)
    cluster.stop_server(cluster.port)
    # What was decided holds for two minutes; nothing else is decided.
    cases = [("/metrics", 200, known), ("/metrics", 503, fresh), ("/", 503, known), ("/metrics", 401, None),
             ("/livez", 200, None), ("/readyz", 200, None)]
    for path, status, token in cases:
        expect(exporter, path, status, token)
    time.sleep(1)
    expect(exporter, "/metrics", 503, fresh)
    cluster.start_server(cluster.port)
    wait_for("tokens to be judged again", lambda: exporter.get(headers={
        "Authorization": f"Bearer {later}"})[0] == 200, 30)
    expect(exporter, "/metrics", 200, fresh)
    return len(cases) + 3
