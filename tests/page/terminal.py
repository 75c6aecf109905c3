"""A command in a terminal of its own: what it shows, as text or as a picture.

    PYTHON tests/page/terminal.py --output FILE.png [--columns 110] [--rows 40] [--seconds N] COMMAND [ARGUMENT]...

PYTHON has requirements.txt. A command that does not end by itself is ended by SIGTERM after `--seconds`; of one that
repaints its screen the last frame is taken.
"""

import argparse
import fcntl
import html
import os
import pathlib
import pty
import re
import signal
import struct
import subprocess
import termios
import threading
import time

HOME = "\x1b[H"
ENTER = "\x1b[?1049h\x1b[?25l"
LEAVE = "\x1b[?25h\x1b[?1049l"
COLOURS = {"30": "#555", "31": "#e5534b", "32": "#57ab5a", "33": "#c69026", "34": "#539bf5", "35": "#b083f0",
           "36": "#39c5cf", "90": "#8b949e", "92": "#6bc46d", "93": "#daaa3f", "94": "#6cb6ff", "95": "#dcbdfb",
           "96": "#56d4dd"}
PAGE = """<!DOCTYPE html><meta charset="utf-8"><style>
body {{ margin: 0; background: #1c2128 }}
pre {{ display: inline-block; margin: 0; padding: 14px 18px; color: #cdd9e5; background: #1c2128;
      font: 13px/1.25 "DejaVu Sans Mono", monospace }}
</style><pre>{}</pre>"""


class Terminal:
    """Runs a command in a terminal of this size, and collects what it writes."""

    def __init__(self, command, columns=110, rows=40):
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        environment = {**os.environ, "TERM": "xterm-256color"}
        environment.pop("NO_COLOR", None)
        self.process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=subprocess.DEVNULL,
                                        env=environment, start_new_session=True)
        os.close(theirs)
        self.bytes = b""
        self.reader = threading.Thread(target=self.read, args=[ours])
        self.reader.start()

    def read(self, ours):
        while True:
            try:
                some = os.read(ours, 65536)
            except OSError:  # nobody has the other end any more
                some = b""
            if not some:
                os.close(ours)
                return
            self.bytes += some

    def end(self, number=signal.SIGTERM):
        """Ends it, if it still runs, and returns its exit status and what it wrote."""
        if self.process.poll() is None:
            self.process.send_signal(number)
        status = self.process.wait(30)
        self.reader.join(30)
        return status, self.bytes.decode(errors="replace").replace("\r\n", "\n")


def last_frame(text):
    """Of a command that repaints its screen, the last frame; else all of it."""
    if HOME not in text:
        return text
    return text.split(HOME)[-1].split(LEAVE)[0]


def as_html(text):
    spans, depth = [], 0
    for part in re.split(r"(\x1b\[[0-9;?]*[A-Za-z])", text):
        if not part.startswith("\x1b["):
            spans.append(html.escape(part))
        elif part.endswith("m"):
            code = part[2:-1]
            if code in ("", "0"):
                spans.append("</span>" * depth)
                depth = 0
            else:
                style = "font-weight:bold" if code == "1" else f"color:{COLOURS.get(code, 'inherit')}"
                spans.append(f'<span style="{style}">')
                depth += 1
    return PAGE.format("".join(spans) + "</span>" * depth)


def main():
    from PIL import Image
    from playwright.sync_api import sync_playwright

    from check import launch

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", type=pathlib.Path, required=True)
    parser.add_argument("--columns", type=int, default=110)
    parser.add_argument("--rows", type=int, default=40)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    terminal = Terminal(options.command, options.columns, options.rows)
    deadline = time.monotonic() + options.seconds
    while terminal.process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.1)
    _, text = terminal.end()
    with sync_playwright() as playwright:
        browser = launch(playwright)
        page = browser.new_page(viewport={"width": 1400, "height": 1000})
        page.set_content(as_html(last_frame(text).rstrip("\n")))
        page.locator("pre").screenshot(path=options.output)
        browser.close()
    Image.open(options.output).convert("P", palette=Image.Palette.ADAPTIVE, colors=64).save(options.output, optimize=True)


if __name__ == "__main__":
    main()
