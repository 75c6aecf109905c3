"""What the dashboards' panels would show: the results of their queries, as JSON.

`dashboards/previews/draw` makes pictures of it.
"""

import time

import dashboards

# The stages for which a repeated row is shown; all of them would make a long picture.
REPEATED = {"stage": ["network", "containers"]}


def record(servers, boards, seconds, step):
    """Lets the demo run for `seconds` and then executes each panel's queries over that time."""
    began = time.monotonic()
    while time.monotonic() - began < seconds:
        servers.assert_running()
        time.sleep(1)
    end = time.time()
    built_in = {"__rate_interval": "30s", "__range": f"{seconds}s", "__interval": f"{step}s"}
    found = []
    for board in boards:
        values = {**built_in, **{name: every for name, _, _, every in board.labels()},
                  **{name: options[0] for name, options in board.choices().items()}, "job": "podinit"}
        panels = [panel_data(servers.prometheus, panel, {**values, **more}, seconds, step, end)
                  for panel, more in repeated(board.panels())]
        found.append({"name": board.name, "title": board.json["title"], "panels": panels})
    return {"end": end, "seconds": seconds, "step": step, "dashboards": found}


def repeated(panels):
    """The panels in their order, those of a repeated row once for each value."""
    rows = []
    for panel in panels:
        if panel["type"] == "row":
            rows.append((panel.get("repeat"), [panel]))
        else:
            rows[-1][1].append(panel)
    for variable, row in rows:
        for value in REPEATED.get(variable, [None]):
            for panel in row:
                yield panel, {} if value is None else {variable: value}


def panel_data(server, panel, values, seconds, step, end):
    """The panel with its variables put in, and the series of each target."""
    data = {key: panel[key] for key in ("type", "gridPos", "fieldConfig", "options") if key in panel}
    # Texts show what was chosen, not the expression that stands for all.
    shown = {name: "All" if value in (".+", ".*") else value for name, value in values.items()}
    data["title"] = dashboards.substitute(panel["title"], shown)
    data["transformations"] = panel.get("transformations", [])
    data["targets"] = []
    for target in panel.get("targets", []):
        text = dashboards.substitute(target["expr"], values)
        series = (server.query(text) if target["instant"]
                  else server.query_range(text, seconds, step, end))
        data["targets"].append({"refId": target["refId"], "series": series,
                                "legend": dashboards.substitute(target["legendFormat"], values)})
    return data
