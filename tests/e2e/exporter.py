"""podinit as a process: started, scraped, read."""

import json
import re
import ssl
import urllib.error
import urllib.request

from prometheus_client.parser import text_string_to_metric_families

from processes import Failure, wait_for

TEXT = "text/plain;version=0.0.4"


class Exporter:
    """`podinit serve` of one run. `arguments` are flags beside those that each run needs, `env`
    variables; where it has a certificate, `authority` is the file of who issued it."""

    def __init__(self, processes, binary, name, kubeconfig, *arguments, authority=None, env=None):
        self.processes, self.name = processes, name
        self.context = ssl.create_default_context(cafile=authority) if authority else None
        self.process = processes.start(f"podinit-{name}", [
            binary, "serve", "--kubeconfig", kubeconfig, "--listen", "127.0.0.1:0",
            "--log-format", "json", *arguments,
        ], env)
        self.port = int(wait_for(f"the address of podinit {name}", self.find_port, 20))

    def find_port(self):
        if self.process.poll() is not None:
            raise Failure(f"podinit ended: {self.processes.log_text(self.process)[-500:]}")
        found = re.search(r"127\.0\.0\.1:([1-9]\d*)", "\n".join(self.listen_lines()))
        return found and found[1]

    def log(self):
        return self.processes.log_text(self.process)

    def listen_lines(self):
        return [line for line in self.log().splitlines() if "listen" in line.lower()]

    def ready(self):
        """Wait for the completed first list."""
        wait_for(f"podinit {self.name} to be ready", lambda: self.get("/readyz")[0] == 200, 60)
        return self

    def get(self, path="/metrics", accept=TEXT, timeout=10, headers=None):
        """(status, headers, body) of one request."""
        url = f"{'https' if self.context else 'http'}://127.0.0.1:{self.port}{path}"
        request = urllib.request.Request(url, headers={"Accept": accept, **(headers or {})})
        try:
            with urllib.request.urlopen(request, timeout=timeout, context=self.context) as answer:
                return answer.status, answer.headers, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.headers, error.read()

    def figures(self):
        """Every podinit_* sample of a classic text scrape: {(name, labels): value}."""
        status, _, body = self.get()
        if status != 200:
            raise Failure(f"scrape of {self.name}: HTTP {status}")
        return figures(body.decode())

    def stop(self):
        """SIGTERM; the exit status has to be 0."""
        status = self.processes.stop(self.process)
        if status != 0:
            raise Failure(f"podinit {self.name} ended with {status} on SIGTERM")


def figures(text):
    """The podinit_* samples of classic text: {(name, frozenset of labels): value}."""
    return {
        (sample.name, frozenset(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name.startswith("podinit_")
    }


def total(figures, name, **labels):
    """The sum of the samples of `name` whose labels contain `labels`."""
    wanted = set(labels.items())
    return sum(value for (n, have), value in figures.items() if n == name and wanted <= have)
