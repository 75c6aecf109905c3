//! Faults of real clusters, each with what Kubernetes says of a pod that it keeps from starting: texts of one fault
//! differ in ids alone.

use podinit_core::lifecycle::{Cause, Stage};

use crate::oracle::history::Rng;

/// A fault that can be put into a list.
pub(super) struct FaultKind {
    pub waits: (Stage, Cause),
    /// Words that are in the reason of each of its texts, one of these, and in no other fault's of the cause
    pub signs: &'static [&'static str],
    pub reach: Reach,
    /// What is said of a pod
    pub text: fn(&mut Ids<'_>) -> String,
}

/// Which pods a fault is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// Of several workloads, anywhere
    Workloads,
    /// Of one workload, anywhere
    Workload,
    /// Of several workloads whose images are in one registry
    Registry,
    /// Of several workloads, on few nodes
    Nodes,
}

/// What a text has of a pod, and of the moment.
pub(super) struct Ids<'a> {
    pub rng: &'a mut Rng,
    pub namespace: &'a str,
    pub service: &'a str,
    pub name: &'a str,
    pub uid: &'a str,
    pub registry: &'a str,
    pub image: &'a str,
}

impl Ids<'_> {
    fn hexadecimal(&mut self, digits: usize) -> String {
        let digit = |_| char::from_digit(self.rng.below(16) as u32, 16).unwrap();
        (0..digits).map(digit).collect()
    }

    fn address(&mut self) -> String {
        let mut byte = || self.rng.below(256);
        format!("10.{}.{}.{}", byte(), byte(), byte())
    }

    fn volume(&mut self) -> String {
        let lengths = [8, 4, 4, 4, 12];
        format!("pvc-{}", lengths.map(|digits| self.hexadecimal(digits)).join("-"))
    }

    /// How a container ended, and the last line that it wrote, if there is one.
    fn crash(&mut self, ended: &str, line: &str) -> String {
        let (wait, restarts) = self.rng.pick(&[
            ("10s", "1 restart"),
            ("20s", "2 restarts"),
            ("40s", "3 restarts"),
            ("1m20s", "4 restarts"),
            ("2m40s", "5 restarts"),
            ("5m0s", "17 restarts"),
        ]);
        let Self { service, name, namespace, uid, .. } = self;
        let colon = if line.is_empty() { "" } else { ": " };
        format!(
            "back-off {wait} restarting failed container={service} pod={name}_{namespace}({uid}): \
             {ended}, {restarts}{colon}{line}"
        )
    }

    /// How a pull failed: as containerd says it, by the kubelet's back-off or without.
    fn pull(&mut self, error: &str) -> String {
        let image = self.image;
        let back_off = match self.rng.percent(60) {
            true => format!("Back-off pulling image \"{image}\": ErrImagePull: "),
            false => String::new(),
        };
        format!(
            "{back_off}failed to pull and unpack image \"{image}\": failed to resolve reference \"{image}\": {error}"
        )
    }

    /// The path of the image's manifest.
    fn manifest(&self) -> String {
        let (_, rest) = self.image.split_once('/').unwrap();
        let (repository, tag) = rest.split_once(':').unwrap();
        format!("https://{}/v2/{repository}/manifests/{tag}", self.registry)
    }

    fn request(&mut self, error: &str) -> String {
        let manifest = self.manifest();
        self.pull(&format!("failed to do request: Head \"{manifest}\": {error}"))
    }

    fn status(&mut self, status: &str) -> String {
        let manifest = self.manifest();
        self.pull(&format!("unexpected status from HEAD request to {manifest}: {status}"))
    }

    /// How a network plugin failed.
    fn network(&mut self, plugin: &str, error: &str) -> String {
        let sandbox = self.hexadecimal(64);
        format!(
            "Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox \
             \"{sandbox}\": plugin type=\"{plugin}\" failed (add): {error}"
        )
    }
}

const CRASH: (Stage, Cause) = (Stage::Containers, Cause::Crash);
const IMAGE: (Stage, Cause) = (Stage::Containers, Cause::Image);
const CONFIG: (Stage, Cause) = (Stage::Containers, Cause::Config);
const PROBE: (Stage, Cause) = (Stage::Containers, Cause::Probe);
const CNI: (Stage, Cause) = (Stage::Network, Cause::Cni);
const SANDBOX: (Stage, Cause) = (Stage::Network, Cause::Sandbox);
const VOLUME: (Stage, Cause) = (Stage::Network, Cause::Volume);

/// The causes of [`KINDS`], those more often that are so in clusters.
pub(super) const CAUSES: [Cause; 12] = [
    Cause::Crash,
    Cause::Crash,
    Cause::Crash,
    Cause::Crash,
    Cause::Image,
    Cause::Image,
    Cause::Image,
    Cause::Config,
    Cause::Probe,
    Cause::Cni,
    Cause::Sandbox,
    Cause::Volume,
];

const fn kind(
    waits: (Stage, Cause),
    reach: Reach,
    signs: &'static [&'static str],
    text: fn(&mut Ids<'_>) -> String,
) -> FaultKind {
    FaultKind { waits, signs, reach, text }
}

pub(super) const KINDS: &[FaultKind] = &[
    kind(CRASH, Reach::Workloads, &["PAYMENT_URL"], |ids| {
        ids.crash("exit code 1", "Error: the setting PAYMENT_URL is missing")
    }),
    kind(CRASH, Reach::Workloads, &["5432: connection refused", "5432: i/o timeout"], |ids| {
        let address = ids.address();
        let fault = ids.rng.pick(&["i/o timeout", "connect: connection refused"]);
        ids.crash(
            "exit code 2",
            &format!("cannot reach the database: dial tcp {address}:5432: {fault}"),
        )
    }),
    kind(CRASH, Reach::Workloads, &["password authentication failed"], |ids| {
        let user = ids.service;
        ids.crash(
            "exit code 1",
            &format!("FATAL: password authentication failed for user \"{user}\""),
        )
    }),
    kind(CRASH, Reach::Workloads, &["permission denied"], |ids| {
        let (service, uid) = (ids.service, ids.uid);
        ids.crash(
            "exit code 1",
            &format!("panic: open /data/{service}/{uid}.db: permission denied"),
        )
    }),
    kind(CRASH, Reach::Workloads, &["Java heap space"], |ids| {
        ids.crash("exit code 3", "java.lang.OutOfMemoryError: Java heap space")
    }),
    kind(CRASH, Reach::Workloads, &["no leader"], |ids| {
        let (number, id) = (ids.rng.below(9), ids.hexadecimal(16));
        let line = format!(
            "broker kafka-{number}.kafka.streams.svc:9092 has no leader (correlation id {id})"
        );
        ids.crash("exit code 1", &line)
    }),
    kind(CRASH, Reach::Workloads, &["does not exist"], |ids| {
        let (table, seconds) = (ids.service, ids.rng.below(60));
        let line =
            format!("2026-11-26T09:00:{seconds:02}Z ERROR: relation \"{table}\" does not exist");
        ids.crash("exit code 1", &line)
    }),
    kind(CRASH, Reach::Workload, &["OOMKilled"], |ids| ids.crash("OOMKilled, exit code 137", "")),
    kind(CRASH, Reach::Workload, &["exit code 139"], |ids| ids.crash("exit code 139", "")),
    kind(IMAGE, Reach::Registry, &["connection refused"], |ids| {
        let address = ids.address();
        ids.request(&format!("dial tcp {address}:443: connect: connection refused"))
    }),
    kind(IMAGE, Reach::Registry, &["i/o timeout", "TLS handshake timeout"], |ids| {
        let address = ids.address();
        let fault = ids.rng.pick(&["net/http: TLS handshake timeout", "", "", ""]);
        match fault {
            "" => ids.request(&format!("dial tcp {address}:443: i/o timeout")),
            fault => ids.request(fault),
        }
    }),
    kind(IMAGE, Reach::Registry, &["401 Unauthorized"], |ids| ids.status("401 Unauthorized")),
    kind(IMAGE, Reach::Registry, &["503 Service Unavailable"], |ids| {
        ids.status("503 Service Unavailable")
    }),
    kind(IMAGE, Reach::Registry, &["toomanyrequests", "429 Too Many", "pull rate limit"], |ids| {
        let digest = ids.hexadecimal(64);
        let manifest = ids.manifest();
        let path = manifest.rsplit_once('/').unwrap().0.to_owned();
        ids.pull(&format!(
            "failed to copy: httpReadSeeker: failed open: unexpected status code {path}/sha256:{digest}: 429 Too \
             Many Requests - Server message: toomanyrequests: You have reached your pull rate limit."
        ))
    }),
    kind(IMAGE, Reach::Registry, &["certificate has expired"], |ids| {
        let second = ids.rng.below(60);
        ids.request(&format!(
            "tls: failed to verify certificate: x509: certificate has expired or is not yet valid: current time \
             2026-11-26T09:00:{second:02}Z is after 2026-11-26T08:00:00Z"
        ))
    }),
    kind(IMAGE, Reach::Workload, &["not found"], |ids| {
        let image = ids.image;
        ids.pull(&format!("{image}: not found"))
    }),
    kind(CONFIG, Reach::Workloads, &["secret \""], |ids| {
        format!("secret \"{}-credentials\" not found", ids.service)
    }),
    kind(CONFIG, Reach::Workload, &["configmap \""], |_| {
        "configmap \"feature-flags\" not found".to_owned()
    }),
    kind(CONFIG, Reach::Workloads, &["couldn't find key"], |ids| {
        format!("couldn't find key password in Secret {}/{}", ids.namespace, ids.service)
    }),
    kind(CONFIG, Reach::Workloads, &["runAsNonRoot"], |ids| {
        format!(
            "container has runAsNonRoot and image will run as root (pod: \"{}_{}({})\", container: main)",
            ids.name, ids.namespace, ids.uid
        )
    }),
    kind(PROBE, Reach::Workloads, &["statuscode: 503"], |_| {
        "Readiness probe failed: HTTP probe failed with statuscode: 503".to_owned()
    }),
    kind(PROBE, Reach::Workload, &["statuscode: 404"], |_| {
        "Readiness probe failed: HTTP probe failed with statuscode: 404".to_owned()
    }),
    kind(PROBE, Reach::Workloads, &["connection refused"], |ids| {
        let address = ids.address();
        format!(
            "Readiness probe failed: Get \"http://{address}:8080/ready\": dial tcp {address}:8080: connect: \
             connection refused"
        )
    }),
    kind(PROBE, Reach::Workloads, &["Client.Timeout", "deadline exceeded"], |ids| {
        let address = ids.address();
        format!(
            "Readiness probe failed: Get \"http://{address}:9090/-/ready\": context deadline exceeded \
             (Client.Timeout exceeded while awaiting headers)"
        )
    }),
    kind(CNI, Reach::Nodes, &["ClusterInformation"], |ids| {
        ids.network(
            "calico",
            "error getting ClusterInformation: connection is unauthorized: Unauthorized",
        )
    }),
    kind(CNI, Reach::Nodes, &["cilium.sock"], |ids| {
        ids.network(
            "cilium-cni",
            "unable to connect to Cilium agent: failed to create cilium agent client after 30.000000 seconds \
             timeout: Get \"http://localhost/v1/config\": dial unix /var/run/cilium/cilium.sock: connect: no such \
             file or directory",
        )
    }),
    kind(CNI, Reach::Workloads, &["failed to assign an IP address"], |ids| {
        ids.network("aws-cni", "add cmd: failed to assign an IP address to container")
    }),
    kind(CNI, Reach::Nodes, &["no IP addresses available"], |ids| {
        let net = ids.rng.below(8);
        ids.network(
            "bridge",
            &format!("failed to allocate for range 0: no IP addresses available in range set: 10.244.{net}.1-10.244.{net}.254"),
        )
    }),
    kind(SANDBOX, Reach::Nodes, &["no space left"], |ids| {
        let task = ids.hexadecimal(64);
        format!(
            "Failed to create pod sandbox: rpc error: code = Unknown desc = failed to create containerd task: \
             mkdir /run/containerd/io.containerd.runtime.v2.task/k8s.io/{task}: no space left on device"
        )
    }),
    kind(SANDBOX, Reach::Nodes, &["pause:3.10"], |ids| {
        let address = ids.address();
        format!(
            "Failed to create pod sandbox: rpc error: code = Unknown desc = failed to get sandbox image \
             \"registry.k8s.io/pause:3.10\": failed to pull image \"registry.k8s.io/pause:3.10\": dial tcp \
             {address}:443: i/o timeout"
        )
    }),
    kind(SANDBOX, Reach::Workloads, &["gvisor"], |_| {
        "Failed to create pod sandbox: rpc error: code = Unknown desc = failed to get sandbox runtime: no runtime \
         for \"gvisor\" is configured"
            .to_owned()
    }),
    kind(VOLUME, Reach::Workloads, &["not found"], |ids| {
        let service = ids.service;
        format!(
            "MountVolume.SetUp failed for volume \"{service}-tls\" : secret \"{service}-tls\" not found"
        )
    }),
    kind(VOLUME, Reach::Workloads, &["Multi-Attach"], |ids| {
        format!(
            "Multi-Attach error for volume \"{}\" Volume is already exclusively attached to one node and can't be \
             attached to another",
            ids.volume()
        )
    }),
    kind(VOLUME, Reach::Nodes, &["Connection timed out"], |ids| {
        let (volume, uid, address) = (ids.volume(), ids.uid, ids.rng.below(250));
        format!(
            "MountVolume.SetUp failed for volume \"{volume}\" : mount failed: exit status 32 Mounting command: mount \
             Mounting arguments: -t nfs 192.0.2.{address}:/export/{volume} \
             /var/lib/kubelet/pods/{uid}/volumes/kubernetes.io~nfs/{volume} Output: mount.nfs: Connection timed out"
        )
    }),
    kind(VOLUME, Reach::Workloads, &["AttachVolume"], |ids| {
        format!(
            "AttachVolume.Attach failed for volume \"{}\" : rpc error: code = Internal desc = Could not attach volume \
             \"vol-{}\" to node \"i-{}\": RequestLimitExceeded",
            ids.volume(),
            ids.hexadecimal(17),
            ids.hexadecimal(17)
        )
    }),
];
