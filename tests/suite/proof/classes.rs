//! The classes of faults, and which faults each injects.

use std::time::Duration;

use podinit_sim::rng::Rng;
use tokio::time::Instant;

use crate::proof::server_faults::{Break, ServerFaults};
use crate::proof::shard::ServerSharding;

/// Declares the classes, each with the name that `PROOF_CLASS` takes and with what the table says of it.
macro_rules! classes {
    ($($class:ident $name:literal $title:literal)*) => {
        /// A class of faults.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Class {
            $($class),*
        }

        impl Class {
            pub const ALL: &'static [Self] = &[$(Self::$class),*];

            /// The name that `PROOF_CLASS` takes.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$class => $name),*
                }
            }

            /// In words, for the table.
            pub const fn title(self) -> &'static str {
                match self {
                    $(Self::$class => $title),*
                }
            }
        }
    };
}

classes! {
    None "none" "none (control)"
    Duplicated "duplicated" "events come twice"
    Replayed "replayed" "a watch begins again up to 300 versions too early"
    Coalesced "coalesced" "versions in between are left out, the rest comes up to 10 s late"
    Reordered "reordered" "events of different pods change places, with the watch cut"
    Sources "sources" "a list-watch for each of eight namespaces, each late in its own way, some relisting"
    Cut "cut" "the stream ends, is reset, or is cut within an event, and is resumed"
    Silent "silent" "half-open: the stream is silent for up to 100 s"
    Gone "gone" "410 in the stream or at its opening, events lost, relist"
    BrokenLists "broken-lists" "relists whose pages expire (410), fail, are cut or hang: incomplete lists"
    LaggingLists "lagging-lists" "relists from a cache that lags"
    Refused "refused" "429, 403, 500, 503, 504 or no connection for up to 60 s: sync lost, resumed"
    Undecodable "undecodable" "events whose object is no pod, deletions too"
    Garbled "garbled" "lines that are no JSON and of which not even the type is known"
    TooLong "too-long" "events longer than is read, deletions too"
    UnseenDeletions "unseen-deletions" "deletions without a watch event, found by a later list"
    RolledBack "rolled-back" "the API server is restored from a backup of up to 20 s before"
    ClockStepped "clock-stepped" "the machine's clock is stepped by up to an hour, there and back"
    Stopped "stopped" "SIGSTOP for up to ten minutes: deadlines have passed and events wait at once"
    SlowAccounting "slow-accounting" "the accounting is slower than the watch: events wait in the queue"
    SameNames "same-names" "pods are re-created under their names within 0.4 s, in and out of gaps"
    ColdRestart "cold-restart" "SIGKILL, and a start without a checkpoint: counted anew from the first list"
    Restart "restart" "SIGKILL at any instant, a start from the checkpoint, the watch resumed"
    RestartInGap "restart-in-gap" "the same, with the checkpoint's version gone (410): relist"
    Shards "shards" "four shards, of an API server that sends each its own pods"
    ShardsUnknown "shards-unknown" "four shards, of an API server that does not know of shards"
    ShardsMixed "shards-mixed" "four shards, of API servers of which some know of shards; watches cut, and 410"
    ShardsKilled "shards-killed" "four shards, SIGKILL of one after the other, a start from the checkpoint; the API server changes"
    ShardsRenumbered "shards-renumbered" "the same, and after half of the pods they are killed and six start from the four checkpoints"
    Everything "everything" "several of all these at once"
}

impl Class {
    /// Those in which the pods are divided among four processes.
    pub const OF_SHARDS: [Self; 5] = [
        Self::Shards,
        Self::ShardsUnknown,
        Self::ShardsMixed,
        Self::ShardsKilled,
        Self::ShardsRenumbered,
    ];

    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|class| class.name() == name)
    }

    /// The faults of a trial: the class itself, or several for [`Class::Everything`].
    pub fn parts(self, rng: &mut Rng) -> Vec<Self> {
        if self != Self::Everything {
            return vec![self];
        }
        let mixed = Self::ALL.iter().copied().filter(|class| class.is_mixed());
        let mixed: Vec<Self> = mixed.collect();
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
        let of_shards = [Self::ShardsKilled, Self::ShardsRenumbered];
        restarts.contains(&self) || of_shards.contains(&self)
    }

    /// Whether the pods are divided among shards.
    pub fn is_of_shards(self) -> bool {
        Self::OF_SHARDS.contains(&self)
    }

    /// Which API servers send shards their own pods only.
    pub fn sharding(parts: &[Self]) -> ServerSharding {
        match parts {
            [Self::Shards | Self::ShardsKilled | Self::ShardsRenumbered] => ServerSharding::Always,
            [Self::ShardsMixed] => ServerSharding::Mixed,
            _ => ServerSharding::Never,
        }
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
