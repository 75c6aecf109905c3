"""What platforms admit, for the manifests that are meant for them."""

from render import Finding, objects

# The kinds of volumes that Pod Security "restricted" and the SCC restricted-v2 admit.
VOLUMES = {"configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "persistentVolumeClaim", "projected", "secret"}
# Autopilot's minimum of a pod, and the span of its memory (GiB) for each processor.
AUTOPILOT_CPU, AUTOPILOT_MEMORY, AUTOPILOT_RATIO = 0.05, 52 / 1024, (1, 6.5)


def pods(text):
    """The specifications of all pods that the objects make."""
    for document in objects(text):
        if document["kind"] == "Pod":
            yield document["spec"]
        elif document["kind"] in ("Deployment", "StatefulSet"):
            yield document["spec"]["template"]["spec"]


def restricted(pod):
    """Pod Security "restricted", as a namespace can enforce it on every platform."""
    context = pod.get("securityContext", {})
    yield pod.get("hostNetwork") or pod.get("hostPID") or pod.get("hostIPC"), "it uses a namespace of the host"
    yield context.get("runAsNonRoot") is not True, "it may run as root"
    yield context.get("runAsUser") == 0, "it runs as root"
    yield context.get("seccompProfile", {}).get("type") not in ("RuntimeDefault", "Localhost"), "no seccomp profile"
    for volume in pod.get("volumes", []):
        yield set(volume) - {"name"} - VOLUMES, f"the volume {volume['name']} is of a kind that is refused"
    for container in pod["containers"]:
        own = container.get("securityContext", {})
        yield own.get("privileged"), "it is privileged"
        yield own.get("allowPrivilegeEscalation") is not False, "it may gain privileges"
        yield "ALL" not in own.get("capabilities", {}).get("drop", []), "it keeps capabilities"
        yield own.get("capabilities", {}).get("add"), "it adds capabilities"
        yield any("hostPort" in port for port in container.get("ports", [])), "it takes a port of the node"


def restricted_v2(pod):
    """OpenShift's SCC: users, groups and labels come from the ranges of the namespace, which nobody knows before."""
    contexts = [pod.get("securityContext", {})] + [one.get("securityContext", {}) for one in pod["containers"]]
    for context in contexts:
        for field in ("runAsUser", "runAsGroup", "fsGroup", "supplementalGroups", "seLinuxOptions"):
            yield field in context, f"{field} is fixed"


def autopilot(pod):
    """GKE Autopilot: what it would change at admission, or refuse."""
    for container in pod["containers"]:
        requests, limits = container["resources"]["requests"], container["resources"]["limits"]
        cpu, memory = cores(requests["cpu"]), gibibytes(requests["memory"])
        yield cpu < AUTOPILOT_CPU or memory < AUTOPILOT_MEMORY, "it requests less than the minimum"
        yield not AUTOPILOT_RATIO[0] <= memory / cpu <= AUTOPILOT_RATIO[1], "memory does not fit the processors"
        yield limits["memory"] != requests["memory"], "the limit of memory becomes the request"


def kind(pod):
    """kind: images are loaded, and no registry has them."""
    yield any(one["imagePullPolicy"] == "Always" for one in pod["containers"]), "the image is pulled"


def no_rule(_):
    """EKS: nothing besides Pod Security; its class of volumes is looked at below."""
    return ()


RULES = {"openshift": restricted_v2, "kind": kind, "eks": no_rule, "gke-autopilot": autopilot}


def admits(name, text):
    """Fail unless the platform `name` admits what `text` holds."""
    lines, counted = [], 0
    for pod in pods(text):
        counted += 1
        lines += [line for wrong, line in [*restricted(pod), *RULES[name](pod)] if wrong]
    if not counted:
        raise Finding("it makes no pod")
    if name == "eks":
        claims = [one for one in objects(text) if one["kind"] == "PersistentVolumeClaim"]
        lines += ["the claim names no class" for one in claims if not one["spec"].get("storageClassName")]
    if lines:
        raise Finding("\n".join(lines))
    return counted


def cores(quantity):
    return float(quantity[:-1]) / 1000 if quantity.endswith("m") else float(quantity)


def gibibytes(quantity):
    return float(quantity[:-2]) / {"Mi": 1024, "Gi": 1}[quantity[-2:]]
