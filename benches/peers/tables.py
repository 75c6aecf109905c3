"""The figures as Markdown."""

BASE = "podinit"


def of_stream(found, pods):
    rates = list(found[BASE]["rates"])
    rows = [(f"{rate:,} events/s: CPU per event, µs", lambda one, rate=rate: one["rates"][rate]["micros"], 0)
            for rate in rates]
    rows += [
        (f"start with {pods:,} pods: CPU, s", lambda one: one["start_cpu"], 2),
        ("resident after the start, MiB", lambda one: one["memory"], 0),
        ("peak of the start, MiB", lambda one: one["peak"], 0),
        ("resident after the events, MiB", lambda one: one["memory_after"], 0),
        ("a scrape: CPU, ms", lambda one: one["scrape_cpu"] * 1000, 1),
        ("a scrape: bytes (gzip), kB", lambda one: one["scrape_bytes"] / 1000, 0),
        ("from the server: first list of pods, MB", lambda one: one["list_bytes"] / 1e6, 2),
        ("from the server: an event, kB", lambda one: one["rates"][rates[-1]]["bytes"] / 1000, 2),
    ]
    names = list(found)
    lines = ["| | " + " | ".join(names) + " |", "|---|" + "---:|" * len(names)]
    for title, value, digits in rows:
        base = value(found[BASE])
        cells = []
        for name in names:
            figure = f"{value(found[name]):,.{digits}f}"
            ratio = value(found[name]) / base if base else 0
            cells.append(figure if name == BASE or not base else f"{figure} ({ratio:.1f}×)")
        lines.append(f"| {title} | " + " | ".join(cells) + " |")
    reached = {name: {rate: round(found[name]["rates"][rate]["rate"]) for rate in rates} for name in names}
    return "\n".join(lines) + f"\n\nEvents per second that were reached: {reached}"


def of_server(found):
    lines = ["| kube-apiserver's CPU | µs | bytes |", "|---|---:|---:|"]
    for form, (micros, size) in found["once"].items():
        lines.append(f"| an event to the one watch in {form} | {micros:,.0f} | {size:,.0f} |")
    for form, micros in found["more"].items():
        lines.append(f"| an event to one more watch in {form} | {micros:,.0f} | |")
    lines += ["", f"| start, with {found['pods']:,} pods | s |", "|---|---:|"]
    lines += [f"| {name} | {seconds:.2f} |" for name, seconds in found["starts"].items()]
    return "\n".join(lines)


def of_lists(found, pods):
    lines = [f"| start, with {pods:,} pods | kube-apiserver's CPU, ms | requests | seats | in execution, ms |",
             "|---|---:|---:|---:|---:|"]
    lines += [f"| {name} | {cpu * 1e3:,.0f} | {requests:.0f} | {seats:.0f} | {seconds * 1e3:,.0f} |"
              for name, (cpu, requests, seats, seconds) in found.items()]
    return "\n".join(lines)


def of_nodes(found):
    lines = ["| nodes | renewals every | a second | kube-apiserver: a write, µs | one more watch: an event, µs | of a core | "
             "podinit: an event, µs |", "|---:|---:|---:|---:|---:|---:|---:|"]
    lines += [f"| {one['nodes']:,} | {one['every']} s | {one['rate']:.0f} | {one['write']:,.0f} | {one['event']:,.1f} | "
              f"{one['event'] * one['rate'] / 1e4:.2f} % | {one['podinit']:,.1f} |" for one in found["renewals"]]
    lines += ["", "| first list | kube-apiserver's CPU, ms |", "|---|---:|"]
    lines += [f"| {count:,} nodes | {seconds * 1e3:,.0f} |" for count, seconds in found["lists"].items()]
    return "\n".join(lines)
