//! The words of kubelets, container runtimes, CNI plugins and CSI drivers for the layers of an error. In any case.

/// What says nothing at the end of a chain, or anywhere in it.
pub(super) const NOTHING: [&str; 3] = ["unknown", "none", "nil"];

/// Whole parts that name a layer.
pub(super) const LAYERS: &[&str] = &[
    "rpc error",
    "error",
    "err",
    "failed",
    "errors",
    "error response from daemon",
    // kubelet
    "failed to create pod sandbox",
    "failed to create pod network sandbox",
    "failed to prepare dynamic resources",
    "prepare dynamic resources",
    "errimagepull",
    "imagepullbackoff",
    "pod was rejected",
    "container runtime network not ready",
    "network is not ready",
    // containerd, CRI-O, runc
    "failed to create containerd task",
    "failed to create task for container",
    "failed to create shim task",
    "failed to start shim",
    "failed to start containerd task",
    "start failed",
    "oci runtime create failed",
    "oci runtime error",
    "oci runtime attempted to invoke a command that was not found",
    "container create failed",
    "creating container failed",
    "createcontainer failed",
    "runc create failed",
    "crun",
    "runc",
    "unable to start container process",
    "error during container init",
    "container_linux.go",
    "failed to apply oci options",
    // registries
    "failed to do request",
    "failed to copy",
    "httpreadseeker",
    "failed open",
    "failed to authorize",
    "failed to fetch anonymous token",
    "failed to fetch oauth token",
    "server message",
    "failed to unpack image on snapshotter overlayfs",
    "initializing source",
    "pinging container registry",
    // sockets
    "connect",
    "read",
    "write",
    "connection error",
    "error while dialing",
    "dial tcp",
    "dial udp",
    "transport",
    "tls",
    "net/http",
    // plugins
    "add cmd",
    "cmdadd",
    "loadconf()",
    // scheduler
    "binding rejected",
];

/// The beginnings of parts that name a layer.
pub(super) const LAYERS_THAT_BEGIN: &[&str] = &[
    // kubelet
    "back-off ",
    "failed to pull image ",
    "failed to apply default image tag ",
    "couldn't parse image name ",
    "image pull failed for ",
    "mountvolume.",
    "unmountvolume.",
    "attachvolume.",
    "mapvolume.",
    "networkready=false ",
    "runtime network not ready",
    "operation cannot be fulfilled on ",
    "running bind plugin ",
    "running prebind plugin ",
    "running reserve plugin ",
    // containerd, CRI-O, runc
    "failed to pull and unpack image",
    "failed to resolve reference",
    "failed to resolve image",
    "failed to start sandbox",
    "failed to create sandbox",
    "failed to get sandbox image ",
    "failed to get sandbox runtime",
    "failed to setup network for sandbox",
    "failed to set up sandbox container ",
    "failed to set up pod ",
    "networkplugin cni failed ",
    "failed to generate container ",
    "failed to generate spec",
    "failed to reserve container name ",
    "failed to reserve sandbox name ",
    "container_linux.go:",
    "process_linux.go:",
    "unexpected status code http",
    "parsing image configuration",
    "reading manifest ",
    "pinging container registry ",
    "initializing source ",
    "copying system image from manifest list",
    "[kubelet ",
    // plugins
    "plugin type=",
    "error adding pod ",
    "error adding container to network ",
    "failed to create cilium agent client ",
    "kubernetes.io/csi",
    "attacher.",
    "mounter.",
    "blockmapper.",
    "operation error ",
    "could not attach volume ",
    "could not mount ",
];

/// What is in parts that name a layer, in any place: the figures of an answer of AWS.
pub(super) const LAYERS_WITHIN: [&str; 1] = ["https response error StatusCode: "];

/// Layers that say what an error is about, which no later part says.
pub(super) const SUBJECTS: [&str; 1] = ["failed to get sandbox image \""];

/// What went wrong, where another part says with what.
pub(super) const FAULTS: &[&str] = &[
    "i/o timeout",
    "eof",
    "unexpected eof",
    "not found",
    "no such file or directory",
    "no such host",
    "no such device",
    "no space left on device",
    "no route to host",
    "permission denied",
    "operation not permitted",
    "operation timed out",
    "context deadline exceeded",
    "context canceled",
    "deadline exceeded",
    "timed out",
    "timeout",
    "tls handshake timeout",
    "net/http",
    "invalid argument",
    "invalid reference format",
    "connection refused",
    "connection reset by peer",
    "connection timed out",
    "network is unreachable",
    "host is down",
    "resource temporarily unavailable",
    "device or resource busy",
    "exec format error",
    "file exists",
    "read-only file system",
    "is a directory",
    "not a directory",
    "too many open files",
    "cannot allocate memory",
    "input/output error",
    "broken pipe",
    "unauthorized",
    "forbidden",
    "bad request",
    "internal server error",
    "service unavailable",
    "exit status ",
    "signal: ",
    "killed",
    "executable file not found",
    "\"",
];

/// What a program asked its kernel for: the part before says why.
pub(super) const SYSCALLS: &[&str] = &[
    "open ",
    "stat ",
    "lstat ",
    "mkdir ",
    "write /",
    "read /",
    "mount src=",
    "chown ",
    "chmod ",
    "unlink ",
    "dial unix ",
    "readdirent ",
    "symlink ",
    "rename ",
    "remove ",
    "fork/exec ",
];

/// A request over HTTP, which says of what a fault is where no address does.
pub(super) const REQUESTS: [&str; 5] =
    ["get \"http", "head \"http", "post \"http", "put \"http", "patch \"http"];

/// What a part ends with whose sentence goes on in the next one.
pub(super) const LEADS_ON: &[&str] = &[
    " to perform",
    " because",
    " reason",
    " probe failed",
    " not yet valid",
    " with error",
    " returned error",
    " with",
    " is",
    " are",
    "exec",
    "on resource",
];

/// The packets between a node and its DNS server.
pub(super) const DATAGRAMS: [&str; 2] = ["read udp ", "write udp "];

/// What begins an aside, which ends the part.
pub(super) const ASIDES: &[&str] = &[
    " (pod: ",
    ". You may ",
    ". You have to ",
    ". See ",
    ". Please ",
    ". For more ",
    ". Encoded authorization failure message",
    " - Server message",
    ". unable to ",
    ". Learn more",
    ", failed to clean up ",
];

/// What a part may end with for no reader.
pub(super) const ENDINGS: [&str; 3] = [" - error from a previous attempt", ", ignoring", " :"];

/// The words of a fault, in lower case. What stands beside them stays where a text is cut.
pub(super) const FAULT_WORDS: &[&str] = &[
    "already",
    "cannot",
    "can't",
    "couldn't",
    "denied",
    "didn't",
    "doesn't",
    "exceeded",
    "exceeds",
    "expired",
    "forbidden",
    "insufficient",
    "invalid",
    "mismatch",
    "missing",
    "no",
    "not",
    "refused",
    "timeout",
    "unable",
    "unauthorized",
    "unavailable",
    "unexpected",
    "unsupported",
];
