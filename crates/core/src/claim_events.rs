//! What Events say of the persistent volume claims of pods ([§10.1](crate::specification#s10-1)), for those who read
//! recordings and lists: `serve` does without.
//!
//! Such an Event is about no pod. [`ClaimEvents`] knows the claims of the pods that are not ready, and says it of each of
//! these, as a [`Hint`] about the pod.

use std::collections::HashMap;
use std::sync::Arc;

use crate::kube_event::{
    ClaimWord, EventOccurrence, EventReason, Hint, InvolvedPod, KubeEvent, VolumeClaim,
};
use crate::pod::{PodSnapshot, PodUid};
use crate::reason;

/// The claims of so many pods are known at most. Nothing is said of those of others.
const MOST_PODS: usize = 100_000;
/// Of so many claims it is kept what was said. Beyond twice as many, it is forgotten of those where that is longest ago.
const MOST_CLAIMS: usize = 10_000;
/// The longest text, in bytes.
const MOST_BYTES: usize = 256;

/// What was said of claims, and the pods that wait for them.
#[derive(Debug, Default)]
pub struct ClaimEvents {
    pods: HashMap<PodUid, ClaimingPod>,
    /// By claim, the pods that have it
    users: HashMap<VolumeClaim, Vec<PodUid>>,
    said: HashMap<VolumeClaim, ClaimTexts>,
    /// How many Events have been taken in
    events: u64,
}

/// A pod with claims.
#[derive(Debug)]
struct ClaimingPod {
    pod: InvolvedPod,
    names: Arc<[Arc<str>]>,
}

/// The number of an Event, and its text.
type NumberedText = (u64, Box<str>);

/// What was said of a claim since a volume was provisioned for it.
#[derive(Debug, Default)]
struct ClaimTexts {
    fails: Option<NumberedText>,
    waits: Option<NumberedText>,
    /// The number of the last Event
    last: u64,
}

impl ClaimEvents {
    /// Takes in the newest version of a pod. Returns what was said of its claims before, to be delivered behind it.
    pub fn pod(&mut self, pod: &PodSnapshot) -> Option<KubeEvent> {
        let known = self.pods.get(&pod.uid).map(|known| &known.names);
        if known == pod.claim_names.as_ref() {
            return None;
        }
        self.forget(pod.uid);
        let names = pod.claim_names.as_ref().filter(|_| self.pods.len() < MOST_PODS)?;
        let (namespace, name) = (&pod.info.namespace, &pod.info.name);
        for claim in claims(namespace, names) {
            self.users.entry(claim).or_default().push(pod.uid);
        }
        let involved = InvolvedPod::new(pod.uid, Arc::clone(namespace), name.clone());
        let claiming = ClaimingPod { pod: involved, names: Arc::clone(names) };
        let told = claims(namespace, names).any(|claim| self.said.contains_key(&claim));
        let told = told.then(|| self.told(&claiming));
        self.pods.insert(pod.uid, claiming);
        told
    }

    /// Takes in several pods. Returns what was said of their claims before.
    pub fn pods<'a>(&mut self, pods: impl IntoIterator<Item = &'a PodSnapshot>) -> Vec<KubeEvent> {
        pods.into_iter().filter_map(|pod| self.pod(pod)).collect()
    }

    /// The pods that are listed next are all that there are.
    pub fn forget_pods(&mut self) {
        self.pods.clear();
        self.users.clear();
    }

    /// A pod is gone, or ready.
    pub fn forget(&mut self, uid: PodUid) {
        let Some(gone) = self.pods.remove(&uid) else {
            return;
        };
        for claim in claims(&gone.pod.namespace, &gone.names) {
            if let Some(users) = self.users.get_mut(&claim) {
                users.retain(|user| *user != uid);
                if users.is_empty() {
                    self.users.remove(&claim);
                }
            }
        }
    }

    /// Takes in an Event. Returns what it says of the pods that have the claim, if it is about one.
    pub fn event(&mut self, event: &KubeEvent) -> Vec<KubeEvent> {
        let EventReason::OfClaim { claim, said } = &event.reason else {
            return Vec::new();
        };
        self.events += 1;
        let text = event.message.as_deref().unwrap_or_default();
        let kept = |text: &str| Some((self.events, reason::keep(text, MOST_BYTES).into()));
        let texts = self.said.entry(claim.clone()).or_default();
        texts.last = self.events;
        match said {
            ClaimWord::Fails => texts.fails = kept(text),
            ClaimWord::Waits => texts.waits = kept(&waits_for(text)),
            ClaimWord::Succeeds => *texts = ClaimTexts { last: self.events, ..Default::default() },
        }
        self.make_room();
        let users = self.users.get(claim).into_iter().flatten();
        users.filter_map(|uid| Some(self.told(self.pods.get(uid)?))).collect()
    }

    /// What is said of all claims of a pod: the newest warning, or else what one of them waits for.
    fn told(&self, pod: &ClaimingPod) -> KubeEvent {
        let texts = || {
            let claims = claims(&pod.pod.namespace, &pod.names);
            claims.filter_map(|claim| self.said.get(&claim))
        };
        let newest = |one: fn(&ClaimTexts) -> &Option<NumberedText>| {
            texts().filter_map(|texts| one(texts).as_ref()).max().map(|(_, text)| text.clone())
        };
        let (hint, text) = match newest(|texts| &texts.fails) {
            Some(text) => (Hint::Claim, text),
            None => (Hint::Provisioner, newest(|texts| &texts.waits).unwrap_or_default()),
        };
        KubeEvent {
            pod: Some(pod.pod.clone()),
            from_kubelet: false,
            container: None,
            first: None,
            named: None,
            occurred: EventOccurrence::default(),
            reason: EventReason::Hint(hint),
            message: Some(text),
        }
    }

    fn make_room(&mut self) {
        if self.said.len() > 2 * MOST_CLAIMS {
            let mut last: Vec<u64> = self.said.values().map(|texts| texts.last).collect();
            let (_, oldest, _) = last.select_nth_unstable(self.said.len() - MOST_CLAIMS);
            let oldest = *oldest;
            self.said.retain(|_, texts| texts.last >= oldest);
        }
    }
}

/// The claims of these names.
fn claims<'a>(
    namespace: &'a Arc<str>,
    names: &'a [Arc<str>],
) -> impl Iterator<Item = VolumeClaim> + 'a {
    let of_name = |name| VolumeClaim { namespace: Arc::clone(namespace), name: Arc::clone(name) };
    names.iter().map(of_name)
}

/// What a claim waits for, by the message of `ExternalProvisioning`: the provisioner that it has in quotes.
fn waits_for(message: &str) -> String {
    let mut quoted = message.split(['\'', '"']);
    match quoted.nth(1).filter(|name| !name.is_empty() && !name.contains(' ')) {
        Some(provisioner) => format!("waits for the provisioner {provisioner}"),
        None => message.to_owned(),
    }
}

#[cfg(test)]
#[path = "claim_events_tests.rs"]
mod tests;
