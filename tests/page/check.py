"""Looks at the live page of `podinit demo` in a headless Chromium: at the width of a desk and of a phone, light and
dark, with axe-core. Every scene has a demo of its own; `none` is the demo without a scene. Then it looks at a demo in a
terminal, and at the page of a comparison (comparison.py).

    tests/page/run [--podinit FILE] [--scene NAME]... [--speed N] [--seconds N] [--images DIRECTORY]

Exit status: 0 if all holds, 1 if not, 77 if no browser can be started.
"""

import argparse
import io
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

import axe_playwright_python
from playwright.sync_api import Error, sync_playwright

import comparison
from terminal import ENTER, HOME, LEAVE, Terminal, last_frame

ROOT = pathlib.Path(__file__).resolve().parents[2]
AXE = pathlib.Path(axe_playwright_python.__file__).parent / "axe.min.js"
BROWSERS = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"]
SIZES = [(1920, 1080), (1280, 1000), (768, 1024), (390, 844)]
PHONE, MOST_HEIGHT = 390, 6000
BROKEN_NAMES = """() => [...document.querySelectorAll(".name")].map(name => {
  const range = document.createRange();
  range.selectNodeContents(name);
  return [name.textContent, new Set([...range.getClientRects()].map(line => line.top)).size];
}).filter(([, lines]) => lines > 1)"""
SCHEMES = ["light", "dark"]
NO_BROWSER = 77


class Demo:
    """A demo in which the scene begins after five simulated minutes."""

    def __init__(self, options, scene):
        self.scene = scene
        command = [options.podinit, "demo", "--listen", "127.0.0.1:0", "--speed", str(options.speed), "--rate", "1"]
        command += ["--log-level", "off"]
        if scene != "none":
            command += ["--scene", scene, "--scene-after", "5m"]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        for line in self.process.stdout:
            if "/metrics" in line:
                self.url = line.split()[-1].removesuffix("/metrics")
                return
        raise SystemExit("the demo does not say where it is")

    def stop(self):
        self.process.terminate()
        self.process.wait()


class Check:
    """Collects what is wrong with the page of one demo."""

    def __init__(self, browser, demo, images):
        self.browser, self.demo, self.images, self.faults = browser, demo, images, []

    def fault(self, where, what):
        self.faults.append(f"{self.demo.scene}: {where}: {what}")

    def axe(self, page, where):
        page.add_script_tag(path=AXE)
        for one in page.evaluate("axe.run()")["violations"]:
            self.fault(where, f"{one['id']} ({one['impact']}): {one['help']}: {one['nodes'][0]['html'][:200]}")

    def look(self, width, height, scheme):
        """The page, and the page of its first pod."""
        # axe-core is a script, which the page's own policy does not allow.
        context = self.browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme, bypass_csp=True)
        page = context.new_page()
        page.goto(f"{self.demo.url}/?refresh=off")
        where = f"{width} {scheme}"
        if self.images:
            self.screenshot(page, f"page-{self.demo.scene}-{width}-{scheme}.png")
        self.axe(page, f"{where} /")
        wide = page.evaluate("document.documentElement.scrollWidth")
        if wide > width:
            self.fault(where, f"the page is {wide} wide")
        if width == PHONE and page.locator(".status .command").count():
            box = page.locator(".status .command").bounding_box()
            if box["y"] + box["height"] > height:
                self.fault(where, f"the command is not on the first screen: {box}")
        high = page.evaluate("document.documentElement.scrollHeight")
        if width == PHONE and high > MOST_HEIGHT:
            self.fault(where, f"the page is {high} high")
        if width > PHONE and (broken := page.evaluate(BROKEN_NAMES)):
            self.fault(where, f"names are broken: {broken[:3]}")
        if self.open_pod(page):
            self.axe(page, f"{where} {page.url}")
        else:
            self.fault(where, "no pod of the page has a page of its own")
        context.close()

    def open_pod(self, page):
        """Follows the link to a pod. One that has gone since the page was made has no page any more, so others follow."""
        for number in range(12):
            if page.locator("summary #slowest").count():
                page.locator("summary #slowest").click()
            pods = page.locator(".slowest a[href^='pods/']")
            pods.nth(number % pods.count()).click()
            if page.locator("#timeline").count() == 1:
                return True
            page.goto(f"{self.demo.url}/?refresh=off")
        return False

    def screenshot(self, page, name):
        from PIL import Image

        shot = Image.open(io.BytesIO(page.screenshot()))
        shot = shot.convert("P", palette=Image.Palette.ADAPTIVE, colors=128)
        shot.save(self.images / name, optimize=True)

    def use(self):
        """As a browser shows it that obeys the policy: styled, without a fault, usable by keyboard, loading nothing
        from elsewhere, and loading again by itself."""
        context = self.browser.new_context()
        page = context.new_page()
        page.on("console", lambda message: self.fault("/", f"the console says: {message.text}"))
        page.on("requestfailed", lambda request: self.fault("/", f"{request.url} fails"))
        page.on("request", lambda request: request.url.startswith(self.demo.url)
                or self.fault("/", f"it asks for {request.url}"))
        page.goto(f"{self.demo.url}/")
        if "pod" not in page.locator(".status").inner_text():
            self.fault("/", "its status is not about pods")
        self.no_sentence_twice(page)
        if page.evaluate("document.styleSheets.length") != 1 or page.evaluate("document.scripts.length") != 1:
            self.fault("/", "it has not exactly a style sheet and a script")
        self.reload(page)
        self.filter(page)
        links = page.locator("a").count()
        reached = set()
        for _ in range(links + 10):
            page.keyboard.press("Tab")
            reached.add(page.evaluate("document.activeElement.getAttribute('href')"))
        if not any(href and href.startswith("pods/") for href in reached):
            self.fault("/", "the Tab key reaches no pod")
        if not self.open_pod(page):
            self.fault("/", "no pod of the page has a page of its own")
        context.close()

    def no_sentence_twice(self, page):
        """The header says what is wrong, and the first card does not say it again."""
        headline = page.locator("h1").inner_text()
        if page.locator(".problems .card").count() and headline in page.locator(".problems .card").first.inner_text():
            self.fault("/", f"the first card repeats {headline!r}")

    def reload(self, page):
        """It loads again by itself, but takes away no selection and closes nothing."""
        page.evaluate("document.querySelector('main').dataset.old = 'yes'")
        page.evaluate("getSelection().selectAllChildren(document.querySelector('h1'))")
        page.evaluate("refresh()")
        if page.locator("main[data-old]").count() != 1 or page.evaluate("getSelection().isCollapsed"):
            self.fault("/", "a reload takes away what is selected")
        page.evaluate("getSelection().removeAllRanges()")
        page.locator("#pods ~ ul summary").first.click()
        page.evaluate("refresh()")
        if page.locator("main[data-old]").count() != 0:
            self.fault("/", "it does not load again by itself")
        if page.locator("details[open]").count() != 1:
            self.fault("/", "a reload closes what was opened")

    def filter(self, page):
        """A link to a node, where a problem has one, shows the pods of that node."""
        link = page.locator(".problems a[href^='?node=']")
        if link.count() == 0:
            return
        link.first.click()
        of_node = page.locator(".wanted strong").inner_text()
        total = page.locator(".wanted").inner_text().split(": ")[1].split()[0]
        if page.locator("#pods").inner_text() != f"{total} pods in flight":
            self.fault("/", f"the totals of {of_node} do not agree")
        page.locator(".wanted a").click()

    def run(self):
        self.use()
        for width, height in SIZES:
            for scheme in SCHEMES:
                self.look(width, height, scheme)
        return self.faults


def in_terminal(podinit):
    """What is wrong with the demo in a terminal: it shows frames, and leaves the terminal as it was."""
    faults = []
    for number in [signal.SIGINT, signal.SIGTERM]:
        demo = Terminal([podinit, "demo", "--listen", "127.0.0.1:0", "--speed", "20", "--scene", "cni-outage"], 80, 24)
        deadline = time.monotonic() + 20
        while demo.bytes.count(HOME.encode()) < 3 and time.monotonic() < deadline:
            time.sleep(0.1)
        status, text = demo.end(number)
        frame = last_frame(text)
        if status != 0:
            faults.append(f"terminal: {number.name} ends it with status {status}")
        if text.count(ENTER) != 1 or not text.endswith(LEAVE):
            faults.append(f"terminal: {number.name} does not restore it: {text[-100:]!r}")
        for part in ["podinit demo: cni-outage", "network ", "/metrics"]:
            if part not in frame:
                faults.append(f"terminal: the frame lacks {part!r}: {frame!r}")
    quiet = Terminal([podinit, "demo", "--listen", "127.0.0.1:0", "--quiet", "--duration", "2s"])
    quiet.process.wait(30)
    _, text = quiet.end()
    if "\x1b" in text or "/metrics" not in text:
        faults.append(f"terminal: --quiet shows {text!r}")
    return faults


def launch(playwright):
    """A browser: the one that CHROMIUM names, of the system, or Playwright's own."""
    named = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)
    try:
        return playwright.chromium.launch(executable_path=named, args=["--no-sandbox"])
    except Error as error:
        print(f"page: SKIPPED: the browser does not start: {str(error).splitlines()[0]}", file=sys.stderr)
        print("page: 0 passed, 0 failed, 1 skipped")
        sys.exit(NO_BROWSER)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--podinit", default=ROOT / "target" / "release" / "podinit")
    parser.add_argument("--scene", action="append", help="[default: none, registry-down and bad-image]")
    parser.add_argument("--speed", type=float, default=60)
    parser.add_argument("--seconds", type=float, default=20, help="how long to let the demos run before")
    parser.add_argument("--images", type=pathlib.Path, help="where to put screenshots; takes Pillow")
    options = parser.parse_args()
    # A signal that ends this process ends the demos too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    faults, demos = [], []
    scenes = options.scene or ["none", "registry-down", "bad-image"]
    with sync_playwright() as playwright:
        browser = launch(playwright)
        try:
            faults += in_terminal(options.podinit)
            faults += comparison.look(browser, options.podinit, SIZES, AXE, options.images)
            for scene in scenes:
                # One after the other: on a slow machine the last one would be looked at hours into its time.
                demos.append(Demo(options, scene))
                time.sleep(options.seconds)
                faults += Check(browser, demos[-1], options.images).run()
                demos[-1].stop()
        finally:
            for demo in demos:
                demo.stop()
            browser.close()
    print("\n".join(faults) or f"page: nothing wrong in {', '.join(scenes)}")
    print(f"page: {0 if faults else 1} passed, {1 if faults else 0} failed, 0 skipped")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
