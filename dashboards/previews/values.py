"""Formats and colours values as Grafana does."""

import re
import time

PALETTE = ["#73bf69", "#5794f2", "#f2cc0c", "#ff9830", "#b877d9", "#8ab8ff", "#e0b400", "#ff780a",
           "#96d98d", "#37872d", "#fade2a", "#c4162a", "#8f3bb8", "#1f60c4"]
NAMED = {"green": "#56a64b", "yellow": "#e0b400", "orange": "#ff780a", "red": "#e02f44", "blue": "#3274d9", "text": "#24292e"}


def written(value, unit, now):
    """A value with its unit."""
    if value is None or value != value:
        return "–"
    if unit == "percentunit":
        return f"{value * 100:.4g} %" if abs(value) < 100 else f"{value * 100:.0f} %"
    if unit == "s":
        return seconds(value)
    if unit == "Bps":
        return f"{written(value, 'bytes', now)}/s"
    if unit == "bytes":
        for name in ("B", "KiB", "MiB", "GiB", "TiB"):
            if abs(value) < 1024 or name == "TiB":
                return f"{three_digits(value)} {name}"
            value /= 1024
    if unit == "dateTimeFromNow":
        return f"{seconds(max(now - value / 1000, 0))} ago"
    if abs(value) >= 10000:
        return f"{value / 1000:.3g} K"
    return three_digits(value)


def seconds(value):
    """A duration in the unit that suits it."""
    for limit, divisor, name in ((1e-9, 1, "s"), (0.9995, 0.001, "ms"), (120, 1, "s"), (7200, 60, "min"),
                                 (172800, 3600, "h")):
        if abs(value) < limit:
            return f"{three_digits(value / divisor)} {name}"
    return f"{three_digits(value / 86400)} d"


def three_digits(value):
    """Three significant digits, never as a power of ten."""
    return f"{value:.3g}" if abs(value) < 999.5 else f"{value:.0f}"


def clock(instant):
    """The time of day."""
    return time.strftime("%H:%M", time.gmtime(instant))


def by_threshold(value, defaults):
    """The colour of a value."""
    color = "green"
    for step in defaults["thresholds"]["steps"]:
        if step["value"] is None or value >= step["value"]:
            color = step["color"]
    return NAMED.get(color, color)


def legend(template, labels):
    """The legend of a series: {{label}} put in; all of its labels where there is no template."""
    if not template:
        return ", ".join(labels.values())
    for name, value in labels.items():
        template = template.replace("{{" + name + "}}", value)
    return re.sub(r"\{\{\w+\}\}", "", template).strip()
