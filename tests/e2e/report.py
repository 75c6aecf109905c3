"""The table of a run, and its closing line."""

import os
import time

from compare import summary


class Report:
    """Collects one row per check; `close` prints them and says whether all passed."""

    def __init__(self, directory):
        self.directory = directory
        self.rows, self.failures = [], []
        self.passed = self.skipped = 0
        self.began = time.monotonic()

    def note(self, text):
        print(f"[{time.monotonic() - self.began:6.1f} s] {text}", flush=True)

    def row(self, name, pods, expected, counted, lines):
        self.rows.append((name, str(pods), expected, counted, "no" if lines else "yes"))
        if lines:
            self.failures.append((name, lines))
            self.note(f"FAILED {name}: {lines[0]}")
        else:
            self.passed += 1
            self.note(f"passed {name}")

    def add(self, scenario, state, lines):
        """A scenario: what the truth expects, what podinit counted."""
        expected = counted = "-"
        pods = 0
        if state and "truth" in state:
            expected = summary(state["truth"])
            counted = outcomes(state["figures"])
            pods = state["truth"].counters[("podinit_pods_discovered_total",)]
        self.row(scenario.title, pods, expected, counted, lines)

    def check(self, name, expected, call, unit=""):
        """Anything else: `call` returns what it counted, or raises."""
        try:
            counted = call()
        except Exception as error:
            self.row(name, "-", expected, "-", [f"{type(error).__name__}: {error}"])
            return None
        self.row(name, "-", expected, f"{counted} {unit}".strip(), [])
        return counted

    def skip(self, name, why):
        self.rows.append((name, "-", "-", f"skipped: {why}", "-"))
        self.skipped += 1

    def fail(self, name, why):
        self.row(name, "-", "-", "-", [why])

    def table(self):
        lines = ["| scenario | pods | expected | counted | equal |", "|---|---:|---|---|---|"]
        lines += ["| " + " | ".join(row) + " |" for row in self.rows]
        return "\n".join(lines)

    def close(self):
        """Print everything; the exit status of the suite."""
        with open(os.path.join(self.directory, "table.md"), "w", encoding="utf-8") as file:
            file.write(self.table() + "\n")
        print("\n" + self.table() + "\n")
        for name, lines in self.failures:
            print(f"{name}:")
            for line in lines[:20]:
                print(f"  {line}")
        print(f"{self.passed} passed, {len(self.failures)} failed, {self.skipped} skipped", flush=True)
        return 1 if self.failures or not self.passed else 0


def outcomes(figures):
    """`outcome n` as podinit counted them."""
    found = {}
    for (name, labels), value in figures.items():
        if name == "podinit_pods_finished_total" and value:
            found[dict(labels)["outcome"]] = int(value)
        if name == "podinit_inflight_pods" and value:
            found["in flight"] = found.get("in flight", 0) + int(value)
    return ", ".join(f"{outcome} {count}" for outcome, count in sorted(found.items()))
