"""Looks at the page of `podinit report --baseline`: light and dark, at the width of a desk and of a phone, with axe-core.

The pods of four pairs: some nodes are slower, nothing is different, few pods, other workloads.
"""

import datetime
import json
import pathlib
import random
import subprocess
import tempfile

PAIRS = {
    "slower": ({"slow": {2, 5}}, "The slowest tenth of startups is slower: created to ready p90 "),
    "same": ({}, ""),
    "few": ({"count": 4}, "Cannot tell whether startups are slower: too few pods"),
    "others": ({"offset": 100}, "Cannot tell whether startups are slower: these are not the same workloads"),
}


def at(seconds):
    return datetime.datetime.fromtimestamp(1772359200 + seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def pods(seed, count=400, slow=(), offset=0):
    """A list of pods with names as long as real ones; those on `slow` nodes need 8 s more for the network."""
    rng, items = random.Random(seed), []
    for index in range(count):
        name, node = f"checkout-frontend-{rng.randrange(8) + offset}-6f7c9d8b5d", rng.randrange(8)
        created = 20 * index
        network = created + 2 + rng.randrange(3) + (8 if node in slow else 0)
        ready = network + 3 + rng.randrange(4)
        times = {"PodScheduled": created, "PodReadyToStartContainers": network, "Initialized": network,
                 "ContainersReady": ready, "Ready": ready}
        items.append({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": f"{name}-{index}", "namespace": "team-production", "uid": f"{seed}-{index}",
                         "resourceVersion": "1", "creationTimestamp": at(created),
                         "labels": {"pod-template-hash": "6f7c9d8b5d"},
                         "ownerReferences": [{"kind": "ReplicaSet", "name": name, "controller": True}]},
            "spec": {"nodeName": f"ip-10-0-{node}-17.eu-central-1.compute.internal",
                     "containers": [{"name": "main", "image": f"registry.internal.example.com/platform/{name}:v{seed}"}]},
            "status": {"phase": "Running", "startTime": at(created), "conditions": [
                {"type": kind, "status": "True", "lastTransitionTime": at(time)} for kind, time in times.items()]}})
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": items})


def look(browser, podinit, sizes, axe, images):
    """What is wrong with the pages."""
    faults = []
    with tempfile.TemporaryDirectory() as directory:
        directory = pathlib.Path(directory)
        before = directory / "before.json"
        before.write_text(pods(1))
        for number, (name, (after_with, begins)) in enumerate(PAIRS.items()):
            after, file = directory / f"{name}.json", directory / f"{name}.html"
            after.write_text(pods(number + 2, **after_with))
            subprocess.run([podinit, "report", "-o", "html", "--output-file", file, "--baseline", before, after], check=True)
            for width, height in sizes:
                for scheme in ("light", "dark"):
                    where = f"comparison {name} {width} {scheme}"
                    # axe-core is a script, which the page's own policy does not allow.
                    context = browser.new_context(
                        viewport={"width": width, "height": height}, color_scheme=scheme, bypass_csp=True)
                    page = context.new_page()
                    page.goto(file.as_uri())
                    if images:
                        page.screenshot(path=images / f"comparison-{name}-{width}-{scheme}.png", full_page=True)
                    if not page.locator("h1").inner_text().startswith(begins):
                        faults.append(f"{where}: it begins with {page.locator('h1').inner_text()!r}")
                    wide = page.evaluate("document.documentElement.scrollWidth")
                    if wide > width:
                        faults.append(f"{where}: the page is {wide} wide")
                    cut = page.evaluate("[...document.querySelectorAll('.scroll')].filter(one => one.scrollWidth > one.clientWidth).length")
                    if cut:
                        faults.append(f"{where}: {cut} tables scroll sideways")
                    page.add_script_tag(path=axe)
                    faults += [f"{where}: {one['id']} ({one['impact']}): {one['help']}"
                               for one in page.evaluate("axe.run()")["violations"]]
                    context.close()
    return faults
