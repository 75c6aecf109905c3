//! Pods that crash right after they were Ready ([§13.11](crate::specification#s13-11)): what their newest snapshots
//! show, beside the table of the pods, which have no room for it.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::record::RecordedRelapse;
use crate::pod::{PodPhase, PodSnapshot, PodUid};
use crate::reason;
use crate::timestamp::Timestamp;

/// How long after its first Ready a pod is watched for crashes.
const LASTS: Duration = Duration::from_secs(600);

/// How many of the newest ready pods are watched: as many as records are kept.
const MOST_READY: usize = 1_000;

/// The longest message of a crash, in bytes.
const MOST_BYTES: usize = 256;

/// The pods that became ready lately.
#[derive(Debug, Default)]
pub(super) struct ReadyPods {
    pods: HashMap<PodUid, ReadyPod>,
    /// The order in which they became ready. It may name pods that are gone
    order: VecDeque<PodUid>,
    /// How many of them crash
    crashing: usize,
}

/// A pod that became ready.
#[derive(Clone, Debug)]
struct ReadyPod {
    at: Timestamp,
    /// When it was first seen to crash
    first: Option<Timestamp>,
    /// How it crashes now
    crash: Option<Box<ContainerCrash>>,
}

/// How a pod crashes.
#[derive(Clone, Debug)]
struct ContainerCrash {
    container: usize,
    message: Option<Arc<str>>,
}

/// The saved form of a pod that crashes, or has crashed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedCrash {
    /// The UID of the pod
    pub uid: PodUid,
    /// When it became ready
    pub ready: Timestamp,
    /// When it was first seen to crash
    pub first: Timestamp,
    /// The position of the container that crashes now
    pub container: Option<u8>,
    /// How its run before ended
    pub message: Option<String>,
}

/// Whether a pod whose first Ready was at `ready` has been so for less than ten minutes.
pub(super) fn is_recent(ready: Timestamp, now: Timestamp) -> bool {
    ready.plus(LASTS) > now
}

impl SavedCrash {
    /// Checks what was read.
    ///
    /// # Errors
    /// A value that no pod can have.
    pub fn check(all: &[Self]) -> Result<(), &'static str> {
        let longest = all.iter().filter_map(|one| Some(one.message.as_ref()?.len())).max();
        match all.len() > MOST_READY || longest > Some(MOST_BYTES) {
            true => Err("more of a crash than is kept"),
            false => Ok(()),
        }
    }
}

impl ReadyPods {
    /// A pod ended as ready, which it has been since `at`. Does nothing with one that is known.
    pub(super) fn add(&mut self, uid: PodUid, at: Timestamp) {
        if !self.pods.contains_key(&uid) {
            let (first, crash) = (None, None);
            self.insert(uid, ReadyPod { at, first, crash });
        }
    }

    fn insert(&mut self, uid: PodUid, ready: ReadyPod) {
        while self.order.len() >= MOST_READY
            && let Some(oldest) = self.order.pop_front()
        {
            self.remove(oldest);
        }
        self.crashing += usize::from(ready.crash.is_some());
        self.order.push_back(uid);
        self.pods.insert(uid, ready);
    }

    /// Takes in the newest snapshot of a pod whose startup is over, accounted for at `now`. Nearly all pods do not crash,
    /// and cost a look at their containers.
    pub(super) fn see(&mut self, snapshot: &PodSnapshot, now: Timestamp) {
        let active = snapshot.phase == PodPhase::Active;
        let container = snapshot.crashing_container().filter(|_| active);
        if container.is_none() && self.crashing == 0 {
            return;
        }
        let Some(ready) = self.pods.get_mut(&snapshot.uid) else {
            return;
        };
        let crashed = ready.crash.is_some();
        let late = !is_recent(ready.at, now);
        ready.crash = container.filter(|_| !late).map(|container| {
            ready.first.get_or_insert(now);
            let said = snapshot.waiting_message(container);
            let message = said.map(|said| reason::keep(said, MOST_BYTES).into());
            Box::new(ContainerCrash { container, message })
        });
        self.crashing += usize::from(ready.crash.is_some());
        self.crashing -= usize::from(crashed);
    }

    /// The pod is gone.
    pub(super) fn remove(&mut self, uid: PodUid) {
        if let Some(ready) = self.pods.remove(&uid) {
            self.crashing -= usize::from(ready.crash.is_some());
        }
    }

    /// Forgets the pods that are not remembered any more.
    pub(super) fn retain(&mut self, mut is_remembered: impl FnMut(PodUid) -> bool) {
        self.pods.retain(|uid, _| is_remembered(*uid));
        let crashing = self.pods.values().filter(|ready| ready.crash.is_some());
        self.crashing = crashing.count();
    }

    /// How a pod that became ready lately crashes at `now`; `None` if it does not crash.
    pub(super) fn get(&self, uid: PodUid, now: Timestamp) -> Option<RecordedRelapse> {
        if self.crashing == 0 {
            return None;
        }
        let ready = self.pods.get(&uid)?;
        let ContainerCrash { container, message } = ready.crash.as_deref()?;
        let relapse = RecordedRelapse {
            since: ready.first?,
            container: *container,
            message: message.clone(),
        };
        is_recent(ready.at, now).then_some(relapse)
    }

    /// The saved form of the pods that crash or have crashed, in the order in which they became ready. Records have the
    /// others.
    pub(super) fn saved(&self) -> Vec<SavedCrash> {
        let known = self.order.iter().filter_map(|uid| Some((*uid, self.pods.get(uid)?)));
        let saved = known.filter_map(|(uid, ready)| {
            let crash = ready.crash.as_deref();
            Some(SavedCrash {
                uid,
                ready: ready.at,
                first: ready.first?,
                container: crash.and_then(|crash| u8::try_from(crash.container).ok()),
                message: crash.and_then(|crash| Some(crash.message.as_deref()?.to_owned())),
            })
        });
        saved.collect()
    }

    /// Restores the pods of a checkpoint.
    pub(super) fn restore(&mut self, saved: Vec<SavedCrash>) {
        for one in saved {
            let message = one.message.map(Into::into);
            let crash = one.container.map(|container| {
                let container = container.into();
                Box::new(ContainerCrash { container, message })
            });
            let ready = ReadyPod { at: one.ready, first: Some(one.first), crash };
            self.insert(one.uid, ready);
        }
    }
}
