"""The dashboards' expressions, with their variables put in as Grafana would."""

import glob
import itertools
import json
import os
import re

# What Grafana sets by itself, for a graph over the last minute.
BUILT_IN = {"__rate_interval": "20s", "__interval": "1s", "__range": "60s"}

LABEL_VALUES = re.compile(r"^label_values\((?:(.*), )?(\$?\w+)\)$", re.S)
# The jobs of this Prometheus honour labels, so that namespaces keep their label.
HONOURED = {"namespace_label": "namespace"}


class Dashboard:
    """A dashboard, from its file."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            self.json = json.load(file)
        self.name = os.path.basename(path).removesuffix(".json")
        self.variables = [v for v in self.json["templating"]["list"] if v["type"] != "datasource"]

    def panels(self):
        """Rows and panels; those of a collapsed row follow it, as when it is open."""
        for panel in self.json["panels"]:
            yield panel
            yield from panel.get("panels", [])

    def choices(self):
        """{variable: values} of the variables that are lists."""
        return {v["name"]: [option["value"] for option in v["options"]]
                for v in self.variables if v["type"] == "custom"}

    def labels(self):
        """The variables that are values of a label: (name, selector, label, what all stands for)."""
        found = []
        for variable in self.variables:
            if variable["type"] == "query":
                selector, label = LABEL_VALUES.match(variable["query"]).groups()
                label = substitute(label, HONOURED)
                found.append((variable["name"], selector, label, variable["allValue"]))
        return found

    def queries(self):
        """Every query of panels and annotations: (title, expression, kind, exemplars)."""
        for panel in self.panels():
            for target in panel.get("targets", []):
                kind = "instant" if target["instant"] else "range"
                yield f"{panel['title']} / {target['refId']}", target["expr"], kind, target["exemplar"]
        for annotation in self.json["annotations"]["list"]:
            yield f"annotation {annotation['name']}", annotation["expr"], "range", False


def load(directory):
    """Every dashboard of a directory."""
    return [Dashboard(path) for path in sorted(glob.glob(os.path.join(directory, "*.json")))]


def substitute(text, values):
    """Puts values in for $name and ${name}; a variable without one is an error."""
    def value(match):
        return values[match.group(1) or match.group(2)]
    return re.sub(r"\$(?:(\w+)|\{(\w+)\})", value, text)


def mentioned(text):
    """The variables that a text mentions."""
    return {a or b for a, b in re.findall(r"\$(?:(\w+)|\{(\w+)\})", text)}


def combinations(dashboard, expr, fixed):
    """Every combination of the choices that an expression mentions, those in `fixed` aside."""
    choices = {name: values for name, values in dashboard.choices().items()
               if name in mentioned(expr) and name not in fixed}
    for values in itertools.product(*choices.values()):
        yield dict(zip(choices, values))


def several(values):
    """How Grafana writes several values into a matcher: escaped, as alternatives."""
    escaped = [re.sub(r"([\\^$*+?.()|{}\[\]])", r"\\\\\1", value) for value in values]
    return escaped[0] if len(escaped) == 1 else f"({'|'.join(escaped)})"
