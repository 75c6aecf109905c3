//! The pods of the cases, and what Kubernetes says of them: whoever makes a text knows of which kind it is, so that the
//! reading need not take any apart.

use crate::tests::{at, cause, on, pod, pulled, waits};
use podinit_core::lifecycle::{
    Cause, Milestone, MilestoneSource, Record, RecordedMilestone, Stage,
};
use podinit_core::pod::{Claims, Workload};

/// Why a pod waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Lack {
    Claim,
    Crash,
    Image,
    Resources,
    Volume,
}

impl Lack {
    pub(super) const ALL: [Self; 5] =
        [Self::Claim, Self::Crash, Self::Image, Self::Resources, Self::Volume];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Claim => "claim",
            Self::Crash => "crash",
            Self::Image => "image",
            Self::Resources => "resources",
            Self::Volume => "volume",
        }
    }

    /// Waiting causes are those of pods that no node is to blame for.
    pub(super) const fn is_waiting(self) -> bool {
        matches!(self, Self::Claim | Self::Resources | Self::Volume)
    }
}

/// A pod, affected or not, as the generator makes it.
#[derive(Clone, Debug)]
pub(super) struct Given {
    pub(super) image: u8,
    /// Not bound to a node, or without a controller, where there is none
    pub(super) node: Option<u8>,
    pub(super) workload: Option<u8>,
    pub(super) namespace: u8,
    /// Since when it is affected, and by what
    pub(super) affected: Option<(i64, Lack)>,
    /// When it became ready, whether it pulled its image, and what it claims
    pub(super) ready: i64,
    pub(super) is_pulled: bool,
    pub(super) claims: (bool, bool),
    /// What is said of it, if anything: which kind of text, and with which ids
    pub(super) said: Option<(u8, u64)>,
}

/// So many kinds of texts there are.
pub(super) const KINDS: u8 = 16;

/// Whether texts of a kind give no reason: that it is tried again says nothing.
pub(super) const fn says_nothing(kind: u8) -> bool {
    kind == 15
}

/// Whether texts of a kind say only how a container ended.
pub(super) const fn says_only_the_end(kind: u8) -> bool {
    matches!(kind, 10..=12)
}

const WORDS: [&str; 5] = ["database", "sessions", "tokens", "billing", "thumbs"];
const HOSTS: [&str; 4] = [
    "db.shop.svc.cluster.local",
    "cache.example.com",
    "kafka-0.kafka.batch.svc",
    "registry-1.docker.io",
];

/// How often a container was restarted, as the text of a crash says it. The number is an id as others are, and so is
/// the word that goes with it.
fn restarts(ids: u64) -> String {
    match ids % 7 {
        0 => String::new(),
        1 => ", 1 restart".to_owned(),
        many => format!(", {many} restarts"),
    }
}

impl Given {
    pub(super) fn image(&self) -> String {
        format!("{}/app{}", self.registry(), self.image)
    }

    /// The first images are in two registries, the others in eight.
    fn registry(&self) -> String {
        format!("r{}.io", self.image % if self.image < 6 { 2 } else { 8 })
    }

    pub(super) fn name(number: usize) -> String {
        format!("p{number}")
    }

    pub(super) fn namespace(&self) -> String {
        format!("ns{}", self.namespace)
    }

    fn node(&self) -> Option<String> {
        self.node.map(|node| format!("node-{node}"))
    }

    /// Its value in a dimension.
    pub(super) fn value(&self, dimension: &str) -> Option<String> {
        let lack = self.affected.map(|(_, lack)| lack);
        let (namespace, workload) = (self.namespace(), self.workload);
        match dimension {
            "image" => (!lack.is_some_and(Lack::is_waiting)).then(|| self.image()),
            "registry" => matches!(lack, None | Some(Lack::Image)).then(|| self.registry()),
            "workload" => workload.map(|name| format!("{namespace}/Deployment/w{name}")),
            "node" => self.node(),
            _ => Some(namespace),
        }
    }

    /// The names of things that its text has: texts with others are another one of the same kind.
    pub(super) fn named(&self) -> Vec<&'static str> {
        let Some((kind, ids)) = self.said else {
            return Vec::new();
        };
        let [word, other] = [ids, ids / 5].map(|ids| WORDS[(ids % 5) as usize]);
        match kind {
            3 | 15 => vec![word],
            4 | 8 | 9 | 13 | 14 => vec![word, other],
            5 => vec![HOSTS[(ids % 4) as usize]],
            _ => Vec::new(),
        }
    }

    /// What Kubernetes says of the pod with a number, with what each pod has of its own.
    pub(super) fn text(&self, number: usize) -> Option<String> {
        let (kind, ids) = self.said?;
        let letters = char::from(b'a' + (ids % 6) as u8).to_string().repeat(3);
        let (node, namespace) = (self.node().unwrap_or_default(), self.namespace());
        let word = WORDS[(ids % 5) as usize];
        let other = WORDS[(ids / 5 % 5) as usize];
        let restarts = restarts(ids);
        Some(match kind {
            0 => format!(
                "sandbox \"{ids:012x}{letters}\" of p{number}_{namespace}: no address after {}s",
                ids % 90
            ),
            1 => format!(
                "node {node}: dial tcp 10.0.{}.7:{}: refused",
                ids % 200,
                1_000 + ids % 9_000
            ),
            2 => format!(
                "volume {:08x}-0000-4000-8000-{ids:012x} at 02:42:{:02x}:ff:0a:b0 is gone",
                ids % (1 << 32),
                ids % 256
            ),
            3 => format!("secret \"{word}\" not found"),
            4 => format!("open /etc/{word}/{other}.conf: permission denied"),
            5 => format!("lookup {}: server misbehaving", HOSTS[(ids % 4) as usize]),
            6 => "HTTP probe failed with statuscode: 503".to_owned(),
            7 => "HTTP probe failed with statuscode: 404".to_owned(),
            8 => format!("exit code 1{restarts}: cannot reach {word}/{other}"),
            9 => format!("exit code 2{restarts}: cannot reach {word}/{other}"),
            10 => format!("exit code 1{restarts}"),
            11 => format!("OOMKilled, exit code 137{restarts}"),
            12 => format!("exit code 2{restarts}"),
            13 => format!("manifest of docker.io/{other}/{word}:1.2 is unknown"),
            14 => format!("mount failed [{word} {other}]: it exists"),
            _ => {
                format!("back-off 40s restarting failed container={word} pod=p{number}_{namespace}")
            }
        })
    }

    pub(super) fn record(&self, number: usize) -> Record {
        let name = Self::name(number);
        let mut record = pod(&name, &self.image());
        if let Some(node) = self.node() {
            record = on(record, &node);
        }
        record.pod.namespace = self.namespace().into();
        record.pod.workload = self.workload.map(|name| {
            let (kind, name) = ("Deployment".into(), format!("w{name}").into());
            std::sync::Arc::new(Workload { kind, name })
        });
        record.claims = Claims::new(self.claims.0, self.claims.1);
        let Some((since, lack)) = self.affected else {
            record.milestones = vec![RecordedMilestone {
                milestone: Milestone::Ready,
                time: Some(at(self.ready)),
                source: Some(MilestoneSource::Condition),
            }];
            return match self.is_pulled {
                true => pulled(record),
                false => record,
            };
        };
        let (stage, had) = match lack {
            Lack::Claim => (Stage::Unschedulable, Cause::Claim),
            Lack::Crash => (Stage::Containers, Cause::Crash),
            Lack::Image => (Stage::Containers, Cause::Image),
            Lack::Resources => (Stage::Unschedulable, Cause::Resources),
            Lack::Volume => (Stage::Unschedulable, Cause::Volume),
        };
        let mut causes = [cause(stage, had, since)];
        causes[0].container = (!lack.is_waiting()).then_some(0);
        record.message = self.text(number).map(Into::into);
        waits(record, since, &causes)
    }
}
