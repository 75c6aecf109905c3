"""The krew manifest against the rules by which krew validates manifests (internal/index/validation and
pkg/constants of sigs.k8s.io/krew), and those of its guides for plugins."""

import copy
import hashlib
import os
import re
import subprocess
import tarfile
import tempfile

import yaml

from render import ROOT, Finding, call

MANIFEST = os.path.join(ROOT, "deploy", "krew", "podinit.yaml")
RENDER = os.path.join(ROOT, "deploy", "krew", "render")
ARCHIVE = os.path.join(ROOT, "deploy", "release", "archive")
PLATFORMS = ["darwin-amd64", "darwin-arm64", "linux-amd64", "linux-arm64"]
SOURCE = "https://git.example/podinit"
SEMVER = r"v(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?"
# Stands for podinit: what matters here is the archive and the manifest.
PROGRAM = """#!/bin/sh
case $1 in
  man) mkdir -p "$3" && echo page >"$3/podinit.1" ;;
  *) echo "$2" ;;
esac
"""


def mistakes(manifest, name):
    """What krew would refuse of a manifest in a file of this name."""
    spec, meta = manifest.get("spec", {}), manifest.get("metadata", {})
    short = spec.get("shortDescription") or ""
    rules = [
        ("apiVersion", manifest.get("apiVersion") == "krew.googlecontainertools.github.com/v1alpha2"),
        ("kind", manifest.get("kind") == "Plugin"),
        ("unsafe name", re.fullmatch(r"[\w-]+", meta.get("name", ""))),
        ("name of the file", name == f"{meta.get('name')}.yaml"),
        ("name in lower case", meta.get("name", "").islower() and not meta["name"].startswith("kubectl")),
        ("version", re.fullmatch(SEMVER, spec.get("version") or "")),
        ("shortDescription", short and not re.search(r"[\r\n]", short)),
        ("length of shortDescription", len(short) <= 50 and not short.endswith(".")),
        ("description", spec.get("description")),
        ("examples in the description", not re.search(r"kubectl |^ |`|\$ ", spec.get("description") or "", re.M)),
        ("length of description", len(spec.get("description") or "") <= 500),
        ("homepage", (spec.get("homepage") or "").startswith("https://")),
        ("platforms", spec.get("platforms")),
        ("unknown keys", set(manifest) == {"apiVersion", "kind", "metadata", "spec"} and set(spec) <= {
            "version", "homepage", "shortDescription", "description", "caveats", "platforms"}),
    ]
    found = [rule for rule, kept in rules if not kept]
    for platform in spec.get("platforms") or []:
        found += of_platform(platform)
    return found


def of_platform(platform):
    selector = platform.get("selector") or {}
    files = platform.get("files")
    rules = [
        ("uri", (platform.get("uri") or "").startswith("https://")),
        ("kind of archive", (platform.get("uri") or "").endswith((".tar.gz", ".zip"))),
        ("sha256", re.fullmatch("[0-9a-f]{64}", platform.get("sha256") or "")),
        ("bin", platform.get("bin") and ".." not in platform["bin"] and not platform["bin"].startswith("/")),
        ("files", files is None or files and all(file.get("from") and file.get("to") for file in files)),
        ("selector", set(selector) <= {"matchLabels", "matchExpressions"}
         and set(selector.get("matchLabels") or {}) == {"os", "arch"}
         and selector["matchLabels"]["os"] in ("linux", "darwin", "windows")),
        ("unknown keys of a platform", set(platform) <= {"selector", "uri", "sha256", "files", "bin"}),
    ]
    return [rule for rule, kept in rules if not kept]


def rendered(directory):
    """The manifest of a release whose archives are made in `directory`."""
    program = os.path.join(directory, "program")
    with open(program, "w", encoding="utf-8") as file:
        file.write(PROGRAM)
    os.chmod(program, 0o755)
    for platform in PLATFORMS:
        with open(os.path.join(directory, platform), "w", encoding="utf-8") as file:
            file.write(platform)
        call(ARCHIVE, os.path.join(directory, platform), archive_of(directory, platform), program)
    return call(RENDER, "1.2.3", SOURCE, directory)


def archive_of(directory, platform):
    return os.path.join(directory, f"podinit-{platform}.tar.gz")


def valid():
    with tempfile.TemporaryDirectory() as directory:
        text = rendered(directory)
        if "@" in text.partition("apiVersion")[2]:
            raise Finding(f"not filled in: {text}")
        manifest = yaml.safe_load(text)
        found = mistakes(manifest, os.path.basename(MANIFEST))
        if found:
            raise Finding(f"krew would refuse: {found}")
        platforms = manifest["spec"]["platforms"]
        named = ["{os}-{arch}".format(**platform["selector"]["matchLabels"]) for platform in platforms]
        if sorted(named) != PLATFORMS:
            raise Finding(f"platforms: {named}")
        for name, platform in zip(named, platforms):
            installable(platform, name, archive_of(directory, name))
    return len(platforms)


def installable(platform, name, archive):
    """krew finds in the archive what the manifest names; the checksum and address are its own."""
    if platform["uri"] != f"{SOURCE}/releases/download/v1.2.3/{os.path.basename(archive)}":
        raise Finding(f"{name}: {platform['uri']}")
    with open(archive, "rb") as file:
        if platform["sha256"] != hashlib.sha256(file.read()).hexdigest():
            raise Finding(f"{name}: another checksum")
    with tarfile.open(archive) as content:
        members = {member.name: member for member in content}
        odd = [member.name for member in members.values() if not (member.isreg() or member.isdir())]
        if odd:
            raise Finding(f"{name}: krew extracts files and directories only, not {odd}")
        wanted = {file["from"] for file in platform["files"]} | {
            "completions/podinit.bash", "completions/_podinit", "completions/podinit.fish", "man/man1/podinit.1"}
        if wanted - set(members):
            raise Finding(f"{name}: not in the archive: {sorted(wanted - set(members))}")
        if content.extractfile("podinit").read().decode() != name or members["podinit"].mode != 0o755:
            raise Finding(f"{name}: not its binary")
    if platform["bin"] not in {file["from"] for file in platform["files"]}:
        raise Finding(f"{name}: bin is not among the files")


def finds_mistakes():
    with tempfile.TemporaryDirectory() as directory:
        right = yaml.safe_load(rendered(directory))
        os.remove(archive_of(directory, PLATFORMS[0]))
        if subprocess.run([RENDER, "1.2.3", SOURCE, directory], capture_output=True, check=False).returncode == 0:
            raise Finding("a release without one of the archives passes")
    wrong = {
        "apiVersion": lambda it: it.update(apiVersion="v1"),
        "unsafe name": lambda it: it["metadata"].update(name="../podinit"),
        "version": lambda it: it["spec"].update(version="1.2.3"),
        "length of shortDescription": lambda it: it["spec"].update(shortDescription="a" * 51),
        "examples in the description": lambda it: it["spec"].update(description="Run:\n\n  kubectl podinit stuck\n"),
        "length of description": lambda it: it["spec"].update(description="a" * 501),
        "sha256": lambda it: it["spec"]["platforms"][1].update(sha256="0" * 63),
        "files": lambda it: it["spec"]["platforms"][0].update(files=[]),
        "bin": lambda it: it["spec"]["platforms"][3].update(bin="../podinit"),
        "selector": lambda it: it["spec"]["platforms"][2].update(selector={"labels": {}}),
    }
    for rule, change in wrong.items():
        manifest = copy.deepcopy(right)
        change(manifest)
        if rule not in mistakes(manifest, os.path.basename(MANIFEST)):
            raise Finding(f"not found: {rule}")
    return len(wrong)
