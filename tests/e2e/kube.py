"""A small Kubernetes client: JSON over HTTPS, nothing but the standard library."""

import http.client
import json
import ssl
import threading
import urllib.parse

from processes import Failure


class ApiError(Failure):
    """An answer other than 2xx."""

    def __init__(self, method, path, status, body):
        super().__init__(f"{method} {path}: HTTP {status}: {body[:300]}")
        self.status = status


class Client:
    """Requests as the holder of `token` to the API server at 127.0.0.1:`port`."""

    def __init__(self, port, ca, token):
        self.port, self.token = port, token
        self.context = ssl.create_default_context(cafile=ca)
        self.local = threading.local()

    def connection(self, timeout=30):
        return http.client.HTTPSConnection("127.0.0.1", self.port, timeout=timeout, context=self.context)

    def request(self, method, path, body=None, content_type="application/json", warnings=None):
        """One request; returns the decoded answer (None where it is empty). `warnings` takes its own."""
        payload = None if body is None else json.dumps(body)
        headers = {"Authorization": f"Bearer {self.token}", "Accept": "application/json"}
        if payload is not None:
            headers["Content-Type"] = content_type
        for attempt in (1, 2):
            connection = getattr(self.local, "connection", None)
            fresh = connection is None
            if fresh:
                connection = self.local.connection = self.connection()
            try:
                connection.request(method, path, payload, headers)
                answer = connection.getresponse()
                data = answer.read().decode()
                if warnings is not None:
                    warnings += answer.headers.get_all("Warning") or []
                break
            except (OSError, http.client.HTTPException) as error:
                connection.close()
                self.local.connection = None
                # A kept connection may have been closed by the server meanwhile.
                if fresh or attempt == 2:
                    raise OSError(f"{method} {path}: {error}") from error
        if not 200 <= answer.status < 300:
            raise ApiError(method, path, answer.status, data)
        return json.loads(data) if data.startswith("{") else data

    def get(self, path):
        return self.request("GET", path)

    def create(self, path, body):
        return self.request("POST", path, body)

    def replace(self, path, body):
        return self.request("PUT", path, body)

    def delete(self, path, grace=None):
        suffix = "" if grace is None else f"?gracePeriodSeconds={grace}"
        return self.request("DELETE", path + suffix)

    def patch(self, path, body, kind="strategic-merge-patch"):
        return self.request("PATCH", path, body, f"application/{kind}+json")

    def apply(self, path, body):
        """Create, or replace what stands there under the same name."""
        try:
            return self.create(path, body)
        except ApiError as error:
            if error.status != 409:
                raise
            return self.patch(f"{path}/{body['metadata']['name']}", body, "merge-patch")

    def pods(self, namespace, selector=None):
        query = "?" + urllib.parse.urlencode({"labelSelector": selector}) if selector else ""
        return self.get(f"/api/v1/namespaces/{namespace}/pods{query}")["items"]


def condition(pod, kind):
    """The status of one condition of a pod, or None where it does not stand."""
    for entry in pod.get("status", {}).get("conditions") or []:
        if entry["type"] == kind:
            return entry["status"]
    return None
