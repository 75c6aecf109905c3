"""Panels as HTML and SVG."""

import html
import math
import re

from allowed import ALLOWED
from values import NAMED, PALETTE, by_threshold, clock, legend, written

MARGIN_LEFT, MARGIN_BOTTOM, MARGIN_TOP = 58, 16, 6
LEGEND_ROWS = 3


def panel(board, data, width, height, run):
    """The inside of a panel."""
    draw = {"stat": stat, "table": table, "heatmap": heatmap, "timeseries": graph}[data["type"]]
    drawn = draw(data, width, height, run)
    return drawn if drawn is not None else f'<div class="nothing">{html.escape(why_empty(board, data))}</div>'


def why_empty(board, data):
    """Why a panel has nothing to show, as the check of the queries knows it."""
    name = f"{board}: {data['title']} / A "
    found = [reason for pattern, reason in ALLOWED if re.search(pattern, name)]
    if not found:
        raise SystemExit(f"draw: {name.strip()} has no data: choose a scene in which it shows something")
    return found[0]


def number(point):
    return float(point[1])


def stat(data, width, height, run):
    defaults = data["fieldConfig"]["defaults"]
    series = [entry for target in data["targets"] for entry in target["series"]]
    if not series:
        return None
    value = number(series[0]["value"])
    text, color = written(value, defaults["unit"], run["end"]), by_threshold(value, defaults)
    for mapping in defaults["mappings"]:
        option = mapping["options"].get(f"{value:g}")
        if option:
            text, color = option["text"], NAMED.get(option["color"], option["color"])
    return f'<div class="stat" style="color:{color}">{html.escape(text)}</div>'


def table(data, width, height, run):
    names = {key: value for step in data["transformations"] if step["id"] == "organize"
             for key, value in step["options"]["renameByName"].items()}
    units = {override["matcher"]["options"]: override["properties"][0]["value"]
             for override in data["fieldConfig"]["overrides"]}
    rows, labels = {}, []
    for target in data["targets"]:
        field = "Value" if len(data["targets"]) == 1 else f"Value #{target['refId']}"
        for entry in target["series"]:
            labels += [name for name in entry["metric"] if name not in labels]
            rows.setdefault(tuple(sorted(entry["metric"].items())), {})[names[field]] = number(entry["value"])
    columns = list(names.values())
    ordered = sorted(rows.items(), key=lambda row: -row[1].get(columns[-1], -math.inf))
    head = "".join(f"<th>{html.escape(name)}</th>" for name in [*labels, *columns])
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(dict(key).get(name, ''))}</td>" for name in labels)
        + "".join(f'<td class="number">{written(row.get(name), units[name], run["end"])}</td>' for name in columns)
        + "</tr>" for key, row in ordered[:int(height / 22) - 1])
    return f"<table><tr>{head}</tr>{body}</table>"


def round_step(least):
    """The smallest of 1, 2, 2.5 and 5 times a power of ten that is at least so much."""
    power = 10.0 ** math.floor(math.log10(least))
    return next(step * power for step in (1, 2, 2.5, 5, 10) if step * power >= least * (1 - 1e-9))


class Axes:
    """Maps times and values to a drawing."""

    def __init__(self, width, height, run, low, high, log):
        self.width, self.height, self.run = width, height, run
        self.low, self.high, self.log = low, high, log

    def x(self, instant):
        begin = self.run["end"] - self.run["seconds"]
        return MARGIN_LEFT + (instant - begin) / self.run["seconds"] * (self.width - MARGIN_LEFT - 8)

    def y(self, value):
        if self.log:
            value, low, high = (math.log10(max(v, self.low)) for v in (value, self.low, self.high))
        else:
            low, high = self.low, self.high
        part = (value - low) / (high - low)
        return self.height - MARGIN_BOTTOM - part * (self.height - MARGIN_BOTTOM - MARGIN_TOP)

    def path(self, points):
        return " ".join(f"{self.x(at):.1f},{self.y(value):.1f}" for at, value in points)

    def ticks(self):
        if not self.log:
            step = round_step((self.high - self.low) / 4)
            first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
            return [step * tick for tick in range(first, last + 1)]
        first, last = math.ceil(math.log10(self.low)), math.floor(math.log10(self.high))
        return [10.0 ** power for power in range(first, last + 1)]

    def frame(self, unit):
        parts = []
        for tick in self.ticks():
            y = self.y(tick)
            parts.append(f'<line x1="{MARGIN_LEFT}" x2="{self.width - 8}" y1="{y:.1f}" y2="{y:.1f}" class="grid"/>'
                         f'<text x="{MARGIN_LEFT - 5}" y="{y + 3:.1f}" class="left">{written(tick, unit, self.run["end"])}</text>')
        return "".join(parts) + self.times()

    def times(self):
        begin, parts = self.run["end"] - self.run["seconds"], []
        step = 60 if self.run["seconds"] <= 600 else 120
        minute = math.ceil(begin / step) * step
        while minute <= self.run["end"]:
            # One at the edge would be cut.
            if self.x(minute) < self.width - 16:
                parts.append(f'<text x="{self.x(minute):.1f}" y="{self.height - 3}" class="time">{clock(minute)}</text>')
            minute += step
        return "".join(parts)


def graph(data, width, height, run):
    defaults = data["fieldConfig"]["defaults"]
    custom = defaults["custom"]
    lines = [(legend(target["legend"], entry["metric"]),
              [(point[0], number(point)) for point in entry["values"] if not math.isnan(number(point))])
             for target in data["targets"] for entry in target["series"]]
    order = {name: place for step in data["transformations"] if step["id"] == "organize"
             for name, place in step["options"]["indexByName"].items()}
    lines = sorted(((name, points) for name, points in lines if points),
                   key=lambda line: order.get(line[0], len(order)))
    if not lines:
        return None
    rows = min(LEGEND_ROWS, math.ceil(len(lines) / 3))
    height -= 17 * rows + 4
    dashed = [line for line in lines if line[0].startswith(("deadline ", "objective "))]
    solid = [line for line in lines if line not in dashed]
    if custom["stacking"]["mode"] == "normal":
        solid = stacked(solid)
    axes = scale(solid + dashed, width, height, run, custom)
    parts = [axes.frame(defaults["unit"]), thresholds(axes, defaults)]
    colors = dict(zip([name for name, _ in solid], PALETTE * 4))
    colors |= {override["matcher"]["options"]: entry["value"]["fixedColor"]
               for override in data["fieldConfig"]["overrides"] if override["matcher"]["id"] == "byName"
               for entry in override["properties"] if entry["id"] == "color"}
    ground = {}
    for name, points in solid:
        if custom["stacking"]["mode"] == "normal":
            lower = [(at, ground.get(at, axes.low)) for at, _ in reversed(points)]
            parts.append(f'<polygon points="{axes.path(points + lower)}" fill="{colors[name]}" class="area"/>')
            ground.update(points)
        parts.append(f'<polyline points="{axes.path(points)}" stroke="{colors[name]}" class="line"/>')
    for name, points in dashed:
        colors[name] = NAMED["red"]
        parts.append(f'<polyline points="{axes.path(points)}" stroke="{NAMED["red"]}" class="line dashed"/>')
    shown = [(name, points[-1][1], colors[name]) for name, points in lines]
    return (f'<svg width="{width}" height="{height}">{"".join(parts)}</svg>'
            + legends(shown, defaults["unit"], rows, run))


def stacked(lines):
    """Each line upon those before it."""
    ground, result = {}, []
    for name, points in lines:
        raised = [(at, value + ground.get(at, 0)) for at, value in points]
        ground.update(raised)
        result.append((name, raised))
    return result


def scale(lines, width, height, run, custom):
    found = [value for _, points in lines for _, value in points]
    low, high = min(found), max(found)
    if custom["scaleDistribution"]["type"] == "log":
        low = max(low, min((v for v in found if v > 0), default=0.01) / 1.5, 0.01)
        return Axes(width, height, run, low, max(high, low * 10) * 1.3, True)
    low = min(low, 0) if low < high * 0.7 or custom["stacking"]["mode"] == "normal" or low == high else low
    return Axes(width, height, run, low, high + ((high - low) * 0.06 or 1), False)


def thresholds(axes, defaults):
    """Lines at the steps that lie within the drawing."""
    if defaults["custom"]["thresholdsStyle"]["mode"] == "off":
        return ""
    steps = [step for step in defaults["thresholds"]["steps"]
             if step["value"] is not None and axes.low < step["value"] < axes.high]
    return "".join(f'<line x1="{MARGIN_LEFT}" x2="{axes.width - 8}" y1="{axes.y(step["value"]):.1f}" '
                   f'y2="{axes.y(step["value"]):.1f}" stroke="{NAMED[step["color"]]}" class="dashed"/>' for step in steps)


def legends(shown, unit, rows, run):
    items = "".join(f'<span><i style="background:{color}"></i>{html.escape(name) or "value"} '
                    f'<b>{written(value, unit, run["end"])}</b></span>' for name, value, color in shown[:rows * 3])
    more = f"<span>and {len(shown) - rows * 3} more</span>" if len(shown) > rows * 3 else ""
    return f'<div class="legend">{items}{more}</div>'


def heatmap(data, width, height, run):
    unit = data["fieldConfig"]["defaults"]["unit"]
    series = {float(entry["metric"]["le"]): dict((point[0], number(point)) for point in entry["values"])
              for target in data["targets"] for entry in target["series"]}
    bounds, cells, below = sorted(series), {}, {}
    for row, bound in enumerate(bounds):
        for at, count in series[bound].items():
            cells[row, at] = max(count - below.get(at, 0), 0)
            below[at] = count
    used = [row for (row, _), count in cells.items() if count > 0]
    if not used:
        return None
    first, last = min(used), max(used)
    axes = Axes(width, height, run, first, last + 1, False)
    greatest, across = max(cells.values()), (width - MARGIN_LEFT) / (run["seconds"] / run["step"])
    tall = abs(axes.y(1) - axes.y(0))
    parts = [axes.times()]
    for row in range(first, last + 1):
        label = "more" if math.isinf(bounds[row]) else written(bounds[row], unit, run["end"])
        parts.append(f'<text x="{MARGIN_LEFT - 5}" y="{axes.y(row + 1) + 4:.1f}" class="left">{label}</text>')
    for (row, at), count in cells.items():
        if count > 0 and axes.x(at) - across >= MARGIN_LEFT - 1:
            shade = math.sqrt(count / greatest)
            parts.append(f'<rect x="{axes.x(at) - across:.1f}" y="{axes.y(row + 1):.1f}" width="{across:.1f}" '
                         f'height="{tall - 1:.1f}" fill="hsl({38 - 24 * shade:.0f},92%,{92 - 50 * shade:.0f}%)"/>')
    return f'<svg width="{width}" height="{height}">{"".join(parts)}</svg>'
