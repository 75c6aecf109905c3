"""Looks at the live page of `podinit demo` in a headless Chromium: checks it with axe-core, at the width of a desk and
of a phone, light and dark, and takes screenshots.

    python tests/page/check.py PODINIT AXE_MIN_JS SCENE [IMAGES]

PODINIT is the binary, AXE_MIN_JS the file axe.min.js of the npm package axe-core, SCENE a scene of the demo or `none`.
Needs the Python packages playwright and pillow, and a Chromium (CHROMIUM, default /usr/bin/chromium).
"""

import io
import os
import pathlib
import subprocess
import sys
import time

from PIL import Image
from playwright.sync_api import sync_playwright

SIZES = [(1280, 1000), (390, 844)]
SCHEMES = ["light", "dark"]


def start(podinit, scene):
    """A demo that is in the middle of the scene, and its URL."""
    command = [podinit, "demo", "--listen", "127.0.0.1:0", "--speed", "20", "--rate", "1", "--evidence", "events"]
    command += ["--log-level", "off"]
    if scene != "none":
        command += ["--scene", scene, "--scene-after", "5m"]
    demo = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    for line in demo.stdout:
        if "/metrics" in line:
            return demo, line.split()[0].removesuffix("/metrics")
    raise SystemExit("the demo does not say where it is")


def violations(page, axe):
    """What axe-core finds, as lines."""
    page.add_script_tag(path=axe)
    found = page.evaluate("axe.run()")["violations"]
    return [f"{one['id']} ({one['impact']}): {one['help']}: {one['nodes'][0]['html'][:200]}" for one in found]


def look(browser, url, axe, images, scene):
    """Opens the page and the page of its first pod in every size and scheme. Returns what is wrong."""
    faults = []
    for width, height in SIZES:
        for scheme in SCHEMES:
            context = browser.new_context(
                viewport={"width": width, "height": height}, color_scheme=scheme, bypass_csp=True
            )
            page = context.new_page()
            page.goto(f"{url}/?refresh=off")
            where = f"{scene} {width} {scheme}"
            if images:
                shot = Image.open(io.BytesIO(page.screenshot()))
                shot = shot.convert("P", palette=Image.Palette.ADAPTIVE, colors=128)
                shot.save(images / f"page-{scene}-{width}-{scheme}.png", optimize=True)
            faults += [f"{where} /: {line}" for line in violations(page, axe)]
            wide = page.evaluate("document.documentElement.scrollWidth")
            if wide > width:
                faults.append(f"{where}: the page is {wide} wide")
            pod = page.locator("a[href^='pods/']").first
            if pod.count():
                pod.click()
                faults += [f"{where} {page.url}: {line}" for line in violations(page, axe)]
            context.close()
    return faults


def main():
    podinit, axe, scene, *images = sys.argv[1:]
    images = pathlib.Path(images[0]) if images else None
    demo, url = start(podinit, scene)
    try:
        # Twenty minutes of simulated time: a quarter of an hour of the scene.
        time.sleep(60)
        with sync_playwright() as playwright:
            chromium = os.environ.get("CHROMIUM", "/usr/bin/chromium")
            browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            faults = look(browser, url, axe, images, scene)
            browser.close()
    finally:
        demo.terminate()
        demo.wait()
    print("\n".join(faults) or f"{scene}: nothing wrong")
    sys.exit(1 if faults else 0)


main()
