"""The HTTP API of Prometheus."""

import json
import math
import time
import urllib.error
import urllib.parse
import urllib.request


class Refused(Exception):
    """Prometheus did not accept a query; the message is its own."""


class Prometheus:
    """A server, by its address."""

    def __init__(self, url):
        self.url = url

    def api(self, path, **query):
        pairs = urllib.parse.urlencode(query, doseq=True).encode()
        get = path.startswith("label/") or path in ("rules", "parse_query")
        request = (urllib.request.Request(f"{self.url}/api/v1/{path}?{pairs.decode()}") if get
                   else urllib.request.Request(f"{self.url}/api/v1/{path}", data=pairs))
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as error:
            raise Refused(reason(error)) from error

    def query(self, expr):
        """The series of an instant query."""
        return self.api("query", query=expr)["result"]

    def query_range(self, expr, seconds, step, end=None):
        """The series of a range query that ends now."""
        end = end or time.time()
        return self.api("query_range", query=expr, start=end - seconds, end=end, step=step)["result"]

    def exemplars(self, expr, seconds):
        """The exemplars of the series that an expression reads."""
        end = time.time()
        found = self.api("query_exemplars", query=expr, start=end - seconds, end=end + seconds)
        return [exemplar for series in found for exemplar in series["exemplars"]]

    def label_values(self, selector, label):
        """What Grafana's label_values() returns."""
        return self.api(f"label/{label}/values", **{"match[]": selector})

    def rules(self):
        """Recording rules and alerts, as loaded."""
        return [rule for group in self.api("rules")["groups"] for rule in group["rules"]]

    def selectors(self, expr):
        """The selectors of an expression, by Prometheus' own parser."""
        found = []

        def walk(node):
            if isinstance(node, list):
                for item in node:
                    walk(item)
            elif isinstance(node, dict):
                if node.get("type") in ("vectorSelector", "matrixSelector"):
                    found.append(selector(node))
                    return
                for value in node.values():
                    walk(value)

        walk(self.api("parse_query", query=expr))
        return found


def reason(error):
    """Why a request was refused. A server that is starting up answers without JSON."""
    body = error.read().decode(errors="replace")
    try:
        return json.loads(body)["error"]
    except (ValueError, KeyError):
        return f"status {error.code}: {body.strip()}"


def selector(node):
    """A selector in PromQL, from its syntax tree."""
    pairs = [f'{matcher["name"]}{matcher["type"]}{json.dumps(matcher["value"])}' for matcher in node["matchers"]]
    return "{" + ",".join(pairs) + "}"


def has_data(series):
    """Whether there is a value among the series that is a number, or a histogram."""
    def is_number(point):
        return not math.isnan(float(point[1]))
    return any("histogram" in entry or entry.get("histograms") or
               any(is_number(point) for point in entry.get("values", [entry["value"]] if "value" in entry else []))
               for entry in series)
