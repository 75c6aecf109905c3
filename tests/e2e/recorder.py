"""Record what the pod watch says, as it comes: `recorder.py KUBECONFIG-JSON FILE`.

A process of its own beside the exporter, sharing nothing with it. One JSON document per line:
lists as {"kind": "PodList", "listBegan": T, "observedAt": T, ...}, events as
{"type", "object", "observedAt"}. It resumes from the last version when a stream ends and lists
again when that version is too old. SIGTERM ends it.
"""

import datetime
import http.client
import json
import signal
import ssl
import sys
import time
import urllib.parse


class TooOld(Exception):
    """The version to resume from is no longer served."""


def now():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


class Recorder:
    def __init__(self, kubeconfig, path):
        with open(kubeconfig, encoding="utf-8") as file:
            config = json.load(file)
        cluster = config["clusters"][0]["cluster"]
        self.address = urllib.parse.urlsplit(cluster["server"])
        self.context = ssl.create_default_context(cafile=cluster["certificate-authority"])
        self.headers = {
            "Authorization": "Bearer " + config["users"][0]["user"]["token"],
            "User-Agent": "e2e-recorder",
            "Accept": "application/json",
        }
        self.out = open(path, "w", encoding="utf-8")
        self.version = None

    def write(self, document):
        self.out.write(json.dumps(document, separators=(",", ":")) + "\n")
        self.out.flush()

    def open(self, query, timeout):
        connection = http.client.HTTPSConnection(
            self.address.hostname, self.address.port, timeout=timeout, context=self.context
        )
        connection.request("GET", f"/api/v1/pods?{urllib.parse.urlencode(query)}", headers=self.headers)
        answer = connection.getresponse()
        if answer.status == 410:
            raise TooOld
        if answer.status != 200:
            raise OSError(f"HTTP {answer.status}: {answer.read(200)!r}")
        return answer

    def list(self):
        began = now()
        document = json.loads(self.open({}, 60).read())
        document["listBegan"], document["observedAt"] = began, now()
        self.version = document["metadata"]["resourceVersion"]
        self.write(document)

    def watch(self):
        answer = self.open(
            {"watch": "true", "resourceVersion": self.version, "allowWatchBookmarks": "true"}, 90
        )
        for line in answer:
            event = json.loads(line)
            event["observedAt"] = now()
            if event["type"] == "ERROR":
                if event["object"].get("code") == 410:
                    raise TooOld
                raise OSError(f"watch: {event['object'].get('message')}")
            self.version = event["object"]["metadata"]["resourceVersion"]
            self.write(event)

    def run(self):
        while True:
            try:
                if self.version is None:
                    self.list()
                self.watch()
            except TooOld:
                print("too old, listing again", file=sys.stderr, flush=True)
                self.version = None
            except (OSError, http.client.HTTPException, json.JSONDecodeError) as error:
                print(f"{now()} {error}", file=sys.stderr, flush=True)
                time.sleep(0.2)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    Recorder(sys.argv[1], sys.argv[2]).run()
