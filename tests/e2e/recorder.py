"""Record what the watches of pods and of their Events say, as it comes: `recorder.py KUBECONFIG-JSON FILE [NAMESPACE]`.

A process of its own beside the exporter, sharing nothing with it. With a namespace it records the pods and
Events of that one, and all nodes, which are listed before the pods. One JSON document per line:
lists as {"kind": "PodList", "listBegan": T, "observedAt": T, ...}, events of any watch as
{"type", "object", "observedAt"}. Pods are listed first; Events are recorded from the current version
on. Each watch resumes from the last version when a stream ends; when that is too old, pods are
listed again, and Events go on from the then current version. SIGTERM ends it.
"""

import datetime
import http.client
import json
import os
import signal
import ssl
import sys
import threading
import time
import urllib.parse


class TooOld(Exception):
    """The version to resume from is no longer served."""


def now():
    return datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


class Recording:
    """The file that both watches write to, a line at a time."""

    def __init__(self, path):
        self.out = open(path, "w", encoding="utf-8")
        self.lock = threading.Lock()

    def write(self, document):
        """Write a document that arrives now."""
        with self.lock:
            document["observedAt"] = now()
            self.out.write(json.dumps(document, separators=(",", ":")) + "\n")
            self.out.flush()


class Watcher:
    """One watch: of `/api/v1/PATH`, in a namespace if one is given, with `query` in every request."""

    path, query = "pods", {}

    def __init__(self, kubeconfig, recording, namespace=None):
        if namespace:
            self.path = f"namespaces/{namespace}/{self.path}"
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
        self.recording = recording
        self.version = None

    def open(self, query, timeout):
        connection = http.client.HTTPSConnection(
            self.address.hostname, self.address.port, timeout=timeout, context=self.context
        )
        query = urllib.parse.urlencode({**self.query, **query})
        connection.request("GET", f"/api/v1/{self.path}?{query}", headers=self.headers)
        answer = connection.getresponse()
        if answer.status == 410:
            raise TooOld
        if answer.status != 200:
            raise OSError(f"HTTP {answer.status}: {answer.read(200)!r}")
        return answer

    def list(self):
        """Find the version to watch from; of pods and nodes, record what stands."""
        began = now()
        document = json.loads(self.open({}, 60).read())
        document["listBegan"] = began
        self.version = document["metadata"]["resourceVersion"]
        self.recording.write(document)

    def watch(self):
        answer = self.open(
            {"watch": "true", "resourceVersion": self.version, "allowWatchBookmarks": "true"}, 90
        )
        for line in answer:
            event = json.loads(line)
            if event["type"] == "ERROR":
                if event["object"].get("code") == 410:
                    raise TooOld
                raise OSError(f"watch: {event['object'].get('message')}")
            self.version = event["object"]["metadata"]["resourceVersion"]
            if self.recorded(event):
                self.recording.write(event)

    def recorded(self, _):
        """Whether an event of the watch is written down."""
        return True

    def run(self):
        while True:
            try:
                if self.version is None:
                    self.list()
                self.watch()
            except TooOld:
                print(f"{self.path}: too old, listing again", file=sys.stderr, flush=True)
                self.version = None
            except (OSError, http.client.HTTPException, json.JSONDecodeError) as error:
                print(f"{now()} {self.path}: {error}", file=sys.stderr, flush=True)
                time.sleep(0.2)


class EventWatcher(Watcher):
    """Events of pods, without those that stand when it begins."""

    path, query = "events", {"fieldSelector": "involvedObject.kind=Pod"}

    def list(self):
        self.version = json.loads(self.open({"limit": "1"}, 60).read())["metadata"]["resourceVersion"]

    def recorded(self, event):
        return event["type"] != "BOOKMARK"


class NodeWatcher(Watcher):
    """Nodes of the cluster."""

    path = "nodes"


def main(kubeconfig, path, namespace=None):
    recording = Recording(path)
    others = [EventWatcher(kubeconfig, recording, namespace)]
    if namespace:
        others.append(NodeWatcher(kubeconfig, recording))
        others[-1].list()
    for watcher in others:
        threading.Thread(target=watcher.run, daemon=True).start()
    Watcher(kubeconfig, recording, namespace).run()


if __name__ == "__main__":
    # At once: a thread may be amid a line, which readers take for the last one of a recording that goes on.
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    main(*sys.argv[1:])
