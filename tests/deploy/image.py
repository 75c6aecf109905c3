"""What the image holds, whether two builds are the same, and how it runs: `image` calls it as root.

    image.py BUILT BUILT-ELSEWHERE BUNDLE
"""

import hashlib
import io
import json
import os
import platform
import statistics
import subprocess
import sys
import tarfile
import time
import urllib.request

# The profile that Kubernetes' RuntimeDefault stands for.
SECCOMP = "/usr/share/containers/seccomp.json"
STARTS = 7


class Archive:
    """An OCI archive: its digest, and its image for this machine."""

    def __init__(self, path):
        with tarfile.open(path) as archive:
            self.files = {member.name: archive.extractfile(member).read() for member in archive if member.isfile()}
        index = json.loads(self.files["index.json"])["manifests"][0]
        self.digest = index["digest"]
        manifest = self.blob(self.digest)
        if "manifests" in manifest:
            machine = {"x86_64": "amd64", "aarch64": "arm64"}[platform.machine()]
            found = [entry for entry in manifest["manifests"] if entry["platform"]["architecture"] == machine]
            manifest = self.blob(found[0]["digest"])
        self.config = self.blob(manifest["config"]["digest"])
        self.layers = [self.files[name(layer["digest"])] for layer in manifest["layers"]]
        self.compressed = sum(layer["size"] for layer in manifest["layers"])

    def blob(self, digest):
        return json.loads(self.files[name(digest)])


def name(digest):
    return "blobs/" + digest.replace(":", "/")


def same(one, other):
    """The same bytes, from two places."""
    for path in (f"{arch}/podinit" for arch in os.listdir(one) if os.path.isdir(os.path.join(one, arch))):
        first, second = digest(os.path.join(one, path)), digest(os.path.join(other, path))
        assert first == second, f"{path}: {first} here, {second} elsewhere"
        print(f"passed two builds of {path}: sha256 {first}")
    first, second = (digest(os.path.join(place, "podinit.cdx.json")) for place in (one, other))
    assert first == second, "the SBOMs differ"
    first, second = (Archive(os.path.join(place, "podinit.oci")) for place in (one, other))
    assert first.digest == second.digest, f"the images differ: {first.digest}, {second.digest}"
    print(f"passed two builds of the image: {first.digest}")
    return first


def digest(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def contents(image, rootfs):
    """Nothing but the binary; unpacked."""
    os.makedirs(rootfs)
    found = []
    for layer in image.layers:
        with tarfile.open(fileobj=io.BytesIO(layer)) as archive:
            found += [(member.name, oct(member.mode & 0o7777), member.uid) for member in archive]
            archive.extractall(rootfs)
    assert found == [("podinit", "0o755", 0)], found
    config = image.config["config"]
    assert config["User"] == "65534:65534" and config["Entrypoint"] == ["/podinit"] and config["Cmd"] == ["serve"], config
    labels = config["Labels"]
    for label in ("title", "description", "licenses", "version", "revision", "created"):
        assert labels[f"org.opencontainers.image.{label}"], label
    size = os.path.getsize(os.path.join(rootfs, "podinit"))
    needed = subprocess.run(["readelf", "--dynamic", os.path.join(rootfs, "podinit")], capture_output=True, text=True, check=True)
    assert "NEEDED" not in needed.stdout, "not a static binary"
    print(f"passed the image holds one static binary of {size / 1e6:.1f} MB, {image.compressed / 1e6:.1f} MB compressed")


def profile():
    """The seccomp profile in the form of the runtime specification, for a container without capabilities."""
    with open(SECCOMP, encoding="utf-8") as file:
        told = json.load(file)
    machine = {"x86_64": "amd64", "aarch64": "arm64"}[platform.machine()]
    calls = [{key: rule[key] for key in ("names", "action", "args", "errnoRet") if rule.get(key)}
             for rule in told["syscalls"]
             if not rule.get("includes", {}).get("caps")
             and machine in (rule.get("includes", {}).get("arches") or [machine])]
    native = {"amd64": "SCMP_ARCH_X86_64", "arm64": "SCMP_ARCH_AARCH64"}[machine]
    return {"defaultAction": told["defaultAction"], "architectures": [native], "syscalls": calls}


def bundle(directory, arguments, environment):
    config = {
        "ociVersion": "1.0.2", "root": {"path": "rootfs", "readonly": True},
        "process": {
            "user": {"uid": 65534, "gid": 65534}, "cwd": "/", "args": ["/podinit", *arguments], "env": environment,
            "noNewPrivileges": True,
            "capabilities": {kind: [] for kind in ("bounding", "effective", "inheritable", "permitted", "ambient")}},
        "mounts": [{"destination": "/proc", "type": "proc", "source": "proc"}],
        # The network is the machine's, so that the test can ask it.
        "linux": {"namespaces": [{"type": kind} for kind in ("mount", "pid", "ipc", "uts")], "seccomp": profile()}}
    with open(os.path.join(directory, "config.json"), "w", encoding="utf-8") as file:
        json.dump(config, file)


def start(command, directory):
    """Start the demonstration; its process, where it listens, and seconds until /metrics answered."""
    began = time.monotonic()
    process = subprocess.Popen(command, cwd=directory, stdout=subprocess.PIPE, text=True)
    for line in process.stdout:
        if "/metrics" in line:
            url = "http://" + line.partition("http://")[2].split()[0]
            with urllib.request.urlopen(url, timeout=10) as answer:
                body = answer.read().decode()
            return process, body, time.monotonic() - began
    raise SystemExit(f"it ended with {process.wait()}")


def runs(directory, environment):
    """It answers, cannot write, and is nobody; how soon, beside a process that is no container."""
    arguments = ["demo", "--listen", "127.0.0.1:0", "--log-level", "error"]
    bundle(directory, arguments, environment)
    contained, alone = [], []
    for number in range(STARTS):
        process, body, seconds = start(["runc", "--root", os.path.join(directory, "state"), "run", f"podinit-{number}"], directory)
        contained.append(seconds)
        if number == 0:
            restricted(directory, f"podinit-{number}")
            resident = next(line for line in body.splitlines() if line.startswith("process_resident_memory_bytes "))
        subprocess.run(["runc", "--root", os.path.join(directory, "state"), "kill", f"podinit-{number}", "TERM"], check=True)
        assert process.wait(20) == 0, "it did not end in good order on SIGTERM"
        process, _, seconds = start([os.path.join(directory, "rootfs", "podinit"), *arguments], directory)
        alone.append(seconds)
        process.terminate()
        process.wait(20)
    print(f"passed it runs: {float(resident.split()[1]) / 2**20:.1f} MiB resident; first scrape after "
          f"{statistics.median(contained) * 1000:.0f} ms in a container, {statistics.median(alone) * 1000:.0f} ms without "
          f"(medians of {STARTS})")


def restricted(directory, container):
    told = subprocess.run(["runc", "--root", os.path.join(directory, "state"), "state", container],
                          capture_output=True, text=True, check=True)
    pid = json.loads(told.stdout)["pid"]
    with open(f"/proc/{pid}/status", encoding="utf-8") as file:
        status = dict(line.rstrip("\n").split(":\t", 1) for line in file if ":\t" in line)
    assert set(status["Uid"].split()) == set(status["Gid"].split()) == {"65534"}, status["Uid"]
    assert int(status["CapEff"], 16) == int(status["CapBnd"], 16) == 0, status["CapEff"]
    assert status["NoNewPrivs"] == "1" and status["Seccomp"] == "2", status
    with open(f"/proc/{pid}/mountinfo", encoding="utf-8") as file:
        roots = [line.split() for line in file]
    assert [fields[5].split(",")[0] for fields in roots if fields[4] == "/"] == ["ro"], roots
    print("passed it is user 65534 without capabilities, on a read-only root, under seccomp")


def main(one, other, directory):
    image = same(one, other)
    contents(image, os.path.join(directory, "rootfs"))
    runs(directory, image.config["config"]["Env"])


if __name__ == "__main__":
    main(*sys.argv[1:])
