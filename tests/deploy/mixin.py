"""The monitoring mixin against the files that podinit and deploy/generate make."""

import json
import os

import yaml

from render import ROOT, Finding

RULES = os.path.join(ROOT, "deploy", "prometheus-rules.yaml")
LINKED = os.path.join(ROOT, "deploy", "mixin", "prometheus-rules.yaml")
DASHBOARDS = os.path.join(ROOT, "dashboards")
EVERYTHING = """
  local mixin = (import 'deploy/mixin/mixin.libsonnet') + { _config+:: %s };
  {
    record: mixin.prometheusRules.groups,
    alert: mixin.prometheusAlerts.groups,
    dashboards: mixin.grafanaDashboards,
  }
"""


def rendered(tools, **config):
    return json.loads(tools("jsonnet", "-e", EVERYTHING % json.dumps(config)))


def generated(text):
    """The groups of a rule file, by the kind of their rules."""
    groups = yaml.safe_load(text)["groups"]
    by_kind = {}
    for kind in ("record", "alert"):
        own = [{**group, "rules": [rule for rule in group["rules"] if kind in rule]} for group in groups]
        by_kind[kind] = [group for group in own if group["rules"]]
    return by_kind


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def differing(mixin, text):
    for kind, groups in generated(text).items():
        names = [group["name"] for group in groups]
        if [group["name"] for group in mixin[kind]] != names:
            raise Finding(f"groups of {kind} rules: {[group['name'] for group in mixin[kind]]}, not {names}")
        for group, other in zip(groups, mixin[kind]):
            for rule, its in zip(group["rules"], other["rules"], strict=True):
                if rule != its:
                    raise Finding(f"{group['name']}: {its}, not {rule}")
    return sum(len(group["rules"]) for groups in generated(text).values() for group in groups)


def same(tools):
    mixin = rendered(tools)
    rules = differing(mixin, read(RULES))
    files = {name for name in os.listdir(DASHBOARDS) if name.endswith(".json")}
    if files != {name.removeprefix("podinit-") for name in mixin["dashboards"]}:
        raise Finding(f"dashboards: {sorted(mixin['dashboards'])}")
    for name in files:
        if mixin["dashboards"][f"podinit-{name}"] != json.loads(read(os.path.join(DASHBOARDS, name))):
            raise Finding(f"{name} differs")
    return f"{rules} rules, {len(files)} dashboards"


def linked_to_page(mixin, page):
    """Without runbooks elsewhere, alerts link to those of the exporter."""
    for rule in (rule for group in mixin["alert"] for rule in group["rules"]):
        found, wanted = rule["annotations"].get("runbook_url"), f"{page}/runbooks/{rule['alert']}"
        if found != wanted:
            raise Finding(f"{rule['alert']} links to {found}, not {wanted}")


def configured(tools):
    job, runbooks, grafana = "another", "https://runbooks.example/podinit", "https://grafana.example/d"
    page = "https://podinit.example"
    mixin = rendered(tools, job=job, runbookURL=runbooks, dashboardURL=grafana, pageURL=page, dashboardTags=["ours"])
    # What `podinit rules --job --runbook-url --dashboard-url --page-url` writes.
    text = read(LINKED)
    for before, after in (('job="podinit"', f'job="{job}"'),
                          ('job=\\"podinit\\"', f'job=\\"{job}\\"'),
                          ('job=\\\\\\"podinit\\\\\\"', f'job=\\\\\\"{job}\\\\\\"'),
                          ("RUNBOOK_URL#", f"{runbooks}#"),
                          ("DASHBOARD_URL/", f"{grafana}/"),
                          ("PAGE_URL", page)):
        if before not in text:
            raise Finding(f"no {before} in the rule file")
        text = text.replace(before, after)
    left = [word for word in ('job="podinit', 'job=\\"podinit', 'job=\\\\\\"podinit', "RUNBOOK_URL", "DASHBOARD_URL", "PAGE_URL") if word in text]
    if left:
        raise Finding(f"left in the rules: {left}")
    linked_to_page(rendered(tools, pageURL=page), page)
    for name, dashboard in mixin["dashboards"].items():
        if "ours" not in dashboard["tags"]:
            raise Finding(f"{name} has the tags {dashboard['tags']}")
    return f"{differing(mixin, text)} rules"
