//! The classes of faults, and which faults each injects.

use std::time::Duration;

use podinit_sim::EventFaults;
use podinit_sim::rng::Rng;
use tokio::time::Instant;

use crate::proof::server_faults::{Break, ServerFaults};
use crate::proof::shard::ServerSharding;

/// A class of faults.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    None,
    Duplicated,
    Replayed,
    Coalesced,
    Reordered,
    Sources,
    Cut,
    Silent,
    Gone,
    BrokenLists,
    LaggingLists,
    Refused,
    Undecodable,
    Garbled,
    TooLong,
    UnseenDeletions,
    RolledBack,
    ClockStepped,
    Stopped,
    SlowAccounting,
    SameNames,
    ColdRestart,
    Restart,
    RestartInGap,
    LostKubeEvents,
    LateKubeEvents,
    DoubledKubeEvents,
    ReorderedKubeEvents,
    CombinedKubeEvents,
    Shards,
    ShardsUnknown,
    ShardsMixed,
    ShardsKilled,
    ShardsRenumbered,
    Nodes,
    Everything,
}

impl Class {
    pub const ALL: [Self; 36] = [
        Self::None,
        Self::Duplicated,
        Self::Replayed,
        Self::Coalesced,
        Self::Reordered,
        Self::Sources,
        Self::Cut,
        Self::Silent,
        Self::Gone,
        Self::BrokenLists,
        Self::LaggingLists,
        Self::Refused,
        Self::Undecodable,
        Self::Garbled,
        Self::TooLong,
        Self::UnseenDeletions,
        Self::RolledBack,
        Self::ClockStepped,
        Self::Stopped,
        Self::SlowAccounting,
        Self::SameNames,
        Self::ColdRestart,
        Self::Restart,
        Self::RestartInGap,
        Self::LostKubeEvents,
        Self::LateKubeEvents,
        Self::DoubledKubeEvents,
        Self::ReorderedKubeEvents,
        Self::CombinedKubeEvents,
        Self::Shards,
        Self::ShardsUnknown,
        Self::ShardsMixed,
        Self::ShardsKilled,
        Self::ShardsRenumbered,
        Self::Nodes,
        Self::Everything,
    ];

    /// Those that happen to Events of pods. Where there is one of them, Events are a source of evidence.
    pub const OF_KUBE_EVENTS: [Self; 5] = [
        Self::LostKubeEvents,
        Self::LateKubeEvents,
        Self::DoubledKubeEvents,
        Self::ReorderedKubeEvents,
        Self::CombinedKubeEvents,
    ];

    /// Those in which the pods are divided among four processes.
    pub const OF_SHARDS: [Self; 6] = [
        Self::Shards,
        Self::ShardsUnknown,
        Self::ShardsMixed,
        Self::ShardsKilled,
        Self::ShardsRenumbered,
        Self::Nodes,
    ];

    /// The name that `PROOF_CLASS` takes.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Duplicated => "duplicated",
            Self::Replayed => "replayed",
            Self::Coalesced => "coalesced",
            Self::Reordered => "reordered",
            Self::Sources => "sources",
            Self::Cut => "cut",
            Self::Silent => "silent",
            Self::Gone => "gone",
            Self::BrokenLists => "broken-lists",
            Self::LaggingLists => "lagging-lists",
            Self::Refused => "refused",
            Self::Undecodable => "undecodable",
            Self::Garbled => "garbled",
            Self::TooLong => "too-long",
            Self::UnseenDeletions => "unseen-deletions",
            Self::RolledBack => "rolled-back",
            Self::ClockStepped => "clock-stepped",
            Self::Stopped => "stopped",
            Self::SlowAccounting => "slow-accounting",
            Self::SameNames => "same-names",
            Self::ColdRestart => "cold-restart",
            Self::Restart => "restart",
            Self::RestartInGap => "restart-in-gap",
            Self::LostKubeEvents => "lost-kube-events",
            Self::LateKubeEvents => "late-kube-events",
            Self::DoubledKubeEvents => "doubled-kube-events",
            Self::ReorderedKubeEvents => "reordered-kube-events",
            Self::CombinedKubeEvents => "combined-kube-events",
            Self::Shards => "shards",
            Self::ShardsUnknown => "shards-unknown",
            Self::ShardsMixed => "shards-mixed",
            Self::ShardsKilled => "shards-killed",
            Self::ShardsRenumbered => "shards-renumbered",
            Self::Nodes => "nodes",
            Self::Everything => "everything",
        }
    }

    /// In words, for the table.
    pub const fn title(self) -> &'static str {
        match self {
            Self::None => "none (control)",
            Self::Duplicated => "events come twice",
            Self::Replayed => "a watch begins again up to 300 versions too early",
            Self::Coalesced => "versions in between are left out, the rest comes up to 10 s late",
            Self::Reordered => "events of different pods change places, with the watch cut",
            Self::Sources => {
                "a list-watch for each of eight namespaces, each late in its own way, some relisting"
            }
            Self::Cut => "the stream ends, is reset, or is cut within an event, and is resumed",
            Self::Silent => "half-open: the stream is silent for up to 100 s",
            Self::Gone => "410 in the stream or at its opening, events lost, relist",
            Self::BrokenLists => {
                "relists whose pages expire (410), fail, are cut or hang: incomplete lists"
            }
            Self::LaggingLists => "relists from a cache that lags",
            Self::Refused => {
                "429, 403, 500, 503, 504 or no connection for up to 60 s: sync lost, resumed"
            }
            Self::Undecodable => "events whose object is no pod, deletions too",
            Self::Garbled => "lines that are no JSON and of which not even the type is known",
            Self::TooLong => "events longer than is read, deletions too",
            Self::UnseenDeletions => "deletions without a watch event, found by a later list",
            Self::RolledBack => "the API server is restored from a backup of up to 20 s before",
            Self::ClockStepped => "the machine's clock is stepped by up to an hour, there and back",
            Self::Stopped => {
                "SIGSTOP for up to ten minutes: deadlines have passed and events wait at once"
            }
            Self::SlowAccounting => {
                "the accounting is slower than the watch: events wait in the queue"
            }
            Self::SameNames => {
                "pods are re-created under their names within 0.4 s, in and out of gaps"
            }
            Self::ColdRestart => {
                "SIGKILL, and a start without a checkpoint: counted anew from the first list"
            }
            Self::Restart => {
                "SIGKILL at any instant, a start from the checkpoint, the watch resumed"
            }
            Self::RestartInGap => "the same, with the checkpoint's version gone (410): relist",
            Self::LostKubeEvents => "`--evidence events`: a third of the `v1` Events is lost",
            Self::LateKubeEvents => "`--evidence events`: half of the Events come up to 60 s late",
            Self::DoubledKubeEvents => "`--evidence events`: half of the Events come twice",
            Self::ReorderedKubeEvents => {
                "`--evidence events`: Events overtake each other and the pods by up to 2 s"
            }
            Self::CombinedKubeEvents => {
                "`--evidence events`: half of the Events are combined with similar ones"
            }
            Self::Shards => "four shards, of an API server that sends each its own pods",
            Self::ShardsUnknown => "four shards, of an API server that does not know of shards",
            Self::ShardsMixed => {
                "four shards, of API servers of which some know of shards; watches cut, and 410"
            }
            Self::ShardsKilled => {
                "four shards, SIGKILL of one after the other, a start from the checkpoint; the API server changes"
            }
            Self::ShardsRenumbered => {
                "the same, and after half of the pods they are killed and six start from the four checkpoints"
            }
            Self::Nodes => {
                "`--evidence nodes`, four shards: events of nodes lost, lists, SIGKILL of one after the other"
            }
            Self::Everything => "several of all these at once",
        }
    }

    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|class| class.name() == name)
    }

    /// The faults of a trial: the class itself, or several for [`Class::Everything`].
    pub fn parts(self, rng: &mut Rng) -> Vec<Self> {
        if self != Self::Everything {
            return vec![self];
        }
        let mixed: Vec<Self> = (Self::ALL.into_iter()).filter(|class| class.is_mixed()).collect();
        (0..4).map(|_| *rng.pick(&mixed)).collect()
    }

    /// Whether it is one of those that are mixed. The order of
    /// events is that of their versions wherever a stream may break off, a restored server and a cold
    /// start change what is to be expected, and several sources are decided at the start.
    fn is_mixed(self) -> bool {
        if self.is_of_shards() {
            return false;
        }
        let others = [
            Self::None,
            Self::Reordered,
            Self::Sources,
            Self::RolledBack,
            Self::ColdRestart,
            Self::Everything,
        ];
        !others.contains(&self)
    }

    /// Whether the program has a checkpoint.
    pub fn has_checkpoint(self) -> bool {
        let restarts = [Self::Restart, Self::RestartInGap];
        let of_shards = [Self::ShardsKilled, Self::ShardsRenumbered, Self::Nodes];
        restarts.contains(&self) || of_shards.contains(&self)
    }

    /// Whether the pods are divided among shards.
    pub fn is_of_shards(self) -> bool {
        Self::OF_SHARDS.contains(&self)
    }

    /// Which API servers send shards their own pods only.
    pub fn sharding(parts: &[Self]) -> ServerSharding {
        match parts {
            [Self::Shards | Self::ShardsKilled | Self::ShardsRenumbered | Self::Nodes] => {
                ServerSharding::Always
            }
            [Self::ShardsMixed] => ServerSharding::Mixed,
            _ => ServerSharding::Never,
        }
    }

    /// What happens to Events of pods where these faults are injected; `None` where there are no Events.
    pub fn of_events(parts: &[Self]) -> Option<EventFaults> {
        let injects = |class: Self| parts.contains(&class);
        let share = |class, share| if injects(class) { share } else { 0.0 };
        let any = Self::OF_KUBE_EVENTS.into_iter().any(injects);
        any.then(|| EventFaults {
            lost: share(Self::LostKubeEvents, 1.0 / 3.0),
            late: share(Self::LateKubeEvents, 0.5),
            doubled: share(Self::DoubledKubeEvents, 0.5),
            reordered: share(Self::ReorderedKubeEvents, 1.0),
            combined: share(Self::CombinedKubeEvents, 0.5),
        })
    }

    /// Injects the faults that last for the whole trial.
    pub fn inject_lasting(self, faults: &mut ServerFaults) {
        match self {
            Self::Duplicated => faults.duplicate = 0.3,
            Self::Replayed => faults.replay = 300,
            Self::Coalesced => {
                faults.coalesce = 0.7;
                faults.hold = Duration::from_secs(10);
            }
            Self::Reordered => {
                faults.shuffle = true;
                faults.hold = Duration::from_secs(2);
            }
            Self::Sources => faults.hold = Duration::from_secs(4),
            Self::BrokenLists => faults.page_fault = 0.08,
            Self::LaggingLists => faults.lagging = true,
            Self::Undecodable => faults.corrupt = 0.02,
            Self::Garbled => faults.garble = 0.01,
            Self::TooLong => faults.oversize = 0.02,
            _ => {}
        }
    }

    /// Injects the faults of one instant that are the server's.
    pub fn inject(self, faults: &mut ServerFaults, rng: &mut Rng) {
        let seconds = |rng: &mut Rng, most: u64| {
            Instant::now() + Duration::from_millis(rng.below(most * 1_000))
        };
        match self {
            Self::Cut | Self::Reordered | Self::Replayed | Self::SlowAccounting => {
                let ways = [Break::End, Break::Reset, Break::Torn, Break::Short, Break::Error];
                faults.break_watches(*rng.pick(&ways));
            }
            Self::Gone | Self::BrokenLists | Self::LaggingLists | Self::UnseenDeletions => {
                faults.break_watches(Break::Gone);
                if rng.chance(0.5) {
                    // What happens until the list is lost to the watch.
                    faults.refused_until = Some(seconds(rng, 20));
                }
            }
            Self::Sources | Self::SameNames => {
                let ways = [Break::Gone, Break::Reset, Break::End];
                faults.break_watches(*rng.pick(&ways));
                faults.refused_until = Some(seconds(rng, 6));
            }
            Self::ShardsMixed => {
                let ways = [Break::Gone, Break::Reset, Break::End, Break::Torn];
                faults.break_watches(*rng.pick(&ways));
            }
            Self::Silent => faults.silent_until = Some(seconds(rng, 100)),
            Self::Refused => {
                faults.refused_until = Some(seconds(rng, 60));
                faults.break_watches(Break::Reset);
            }
            _ => {}
        }
    }
}
