"""Writes the texts of the program into files, so that Vale can read them: texts.py DIRECTORY

One file for each source: the help of every command, the annotations of the alerts, the texts of the dashboards, the
pages, and the sentences in the sources of podinit (errors, log lines, verdicts). The help texts of the metrics are a
table of docs/reference/metrics.md, which is made from the program. A line `path:line` stands above each text.
"""

import html
import json
import os
import re
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")

# What stands for a value in a text: it counts as one word.
VALUE = "X"


def write(directory, name, blocks):
    """One paragraph for each block: its place in a code span, which Vale leaves out, and the text."""
    if not blocks:
        raise SystemExit(f"{name}: no texts were found")
    with open(os.path.join(directory, name + ".md"), "w", encoding="utf-8") as file:
        for place, text in blocks:
            file.write(f"`{place}`\n\n{text}\n\n")


def helps():
    """The help of every command, without its examples and lists of values."""
    def run(*arguments):
        command = ["cargo", "run", "--quiet", "--locked", "--", *arguments, "--help"]
        return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout

    overview = run()
    listed = overview.split("Commands:\n", 1)[1].split("\n\n", 1)[0]
    commands = re.findall(r"^  ([a-z]+)", listed, re.M)
    for command in commands:
        if command == "help":
            continue
        paragraphs = run(command).split("\nExamples:", 1)[0].split("\n\n")
        for paragraph in paragraphs:
            words = " ".join(line.strip() for line in paragraph.split("\n") if not line.lstrip().startswith(("-", "[", "Usage:")))
            if len(words.split()) > 3:
                yield f"podinit {command} --help", words


def alerts():
    path = "deploy/prometheus-rules.yaml"
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        lines = file.read().split("\n")
    for number, line in enumerate(lines, 1):
        found = re.match(r"\s+(?:summary|description): (.+)$", line)
        if found:
            # What is in braces chooses between texts, or is a value.
            text = re.sub(r"\{\{ (?:with|range|if|else|end)\b.*?\}\}", "", found[1].strip("'\""))
            yield f"{path}:{number}", re.sub(r"\{\{.*?\}\}", VALUE, text)


def boards():
    directory = os.path.join(ROOT, "dashboards")
    for name in sorted(os.listdir(directory)):
        if not name.endswith(".json"):
            continue
        with open(os.path.join(directory, name), encoding="utf-8") as file:
            content = json.load(file)
        waiting = [content]
        while waiting:
            item = waiting.pop()
            if isinstance(item, dict):
                waiting.extend(item.values())
                for key in ("title", "description"):
                    if isinstance(item.get(key), str):
                        yield f"dashboards/{name} {key}", item[key]
            elif isinstance(item, list):
                waiting.extend(item)


def sources(ending):
    for top in ("src", "crates"):
        for directory, _, names in os.walk(os.path.join(ROOT, top)):
            for name in sorted(names):
                if name.endswith(ending) and not name.endswith(("_tests.rs", "tests.rs", "fixtures.rs")):
                    path = os.path.join(directory, name)
                    with open(path, encoding="utf-8") as file:
                        yield os.path.relpath(path, ROOT), file.read()


def pages():
    for path, text in sources(".html"):
        text = re.sub(r"<(style|script)\b.*?</\1>", "", text, flags=re.S)
        text = re.sub(r"\{#.*?#\}", "", text, flags=re.S)
        text = re.sub(r"\{\{.*?\}\}", VALUE, text, flags=re.S)
        # Tags within a sentence, and then all others, which divide texts. So do conditions.
        text = re.sub(r"</?(?:a|b|i|em|strong|span|code|time|abbr)\b[^>]*>", "", text, flags=re.S)
        for part in re.split(r"<[^>]*>|\{%.*?%\}", text, flags=re.S):
            words = html.unescape(" ".join(part.split()))
            if len(words.split()) > 2:
                yield path, words


def literals():
    """String literals that are sentences, or may be parts of some: three words and more."""
    for path, text in sources(".rs"):
        if "/sim/" in path:
            continue  # What others say: kubelets, schedulers and logs of the simulated cluster.
        text = text.split("\n#[cfg(test)]\nmod ")[0]
        text = re.sub(r"^\s*//.*$", "", text, flags=re.M)
        for found in re.finditer(r'"((?:[^"\\]|\\.)*)"', text, re.S):
            words = re.sub(r"\\\n\s*", "", found[1]).split("Examples:")[0]
            words = re.sub(r'\\["\\]', "'", words).replace("\\n", "\n\n")
            words = re.sub(r"\{[^{}]*\}", VALUE, words)
            if len(re.findall(r"\b[a-z]{2,}\b ", words)) >= 3 and not re.search(r"[{}=;|<]|podinit_\w+\(|--\w+ X", words):
                line = text[: found.start()].count("\n") + 1
                yield f"{path} near {line}", words


def main():
    directory = sys.argv[1]
    os.makedirs(directory, exist_ok=True)
    for name, texts in {"help": helps, "alerts": alerts, "dashboards": boards, "pages": pages, "messages": literals}.items():
        write(directory, name, list(texts()))


main()
