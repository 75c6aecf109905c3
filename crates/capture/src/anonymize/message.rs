//! Messages: free text of schedulers and kubelets, in which names stand beside the words of Kubernetes.
//!
//! What is kept is listed: words, the phrases that the rules of the specification look for, and numbers
//! where Kubernetes counts something. Everything else becomes a hash, word by word.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::LazyLock;

use super::keyed_hash::Anonymizer;
use super::vocabulary::REASONS;
use podinit_decode::event::go_duration;

/// What the rules look for in messages, in any case ([§10.1](crate::specification#s10-1)). It is kept
/// wherever it stands, also within another word, so that an anonymized recording has the same causes.
const PHRASES: [&str; 48] = [
    // How the message of a scheduler is divided
    " nodes are available: ",
    " nodes are unavailable: ",
    " preemption:",
    " no new claims to deallocate",
    " still not schedulable",
    " deallocation of resourceclaim",
    " deletion of resourceclaim",
    "terminating pod on the nominated node",
    "workload aware preemption",
    "pod group preemption",
    // The causes of its clauses
    "insufficient",
    "too many pods",
    "taint",
    "unschedulable",
    "topology spread",
    "volume",
    "pvc",
    "storage",
    "disk",
    "claim",
    "device",
    "affinity",
    "selector",
    "volumebinding",
    "binding volumes",
    "pod group",
    "podgroup",
    "gang",
    "sibling pods",
    "mincount",
    "minavailable",
    "minmember",
    "mintaskmember",
    "can possibly be assigned",
    // Sandboxes and their network
    "network",
    "cni",
    "setup network",
    "networkplugin cni",
    "cni network",
    "plugin type=",
    "pod network sandbox",
    "network is not ready",
    "cni plugin not initialized",
    "failed to reserve sandbox name",
    "failed to pull image",
    "no pod sandbox",
    "no ip",
    "(combined from similar events): ",
];

/// The words that a message keeps: those of kubelets and schedulers that say why a pod waits. All in
/// lower case; a word is compared in any case.
const WORDS: &str = "
    a able access accessed active add address affinity after again all allocate allocated allocation already also
    an and another any anti api appear are as assigned at attach attached attachvolume.attach available
    aware
    back be because been before being bind binding bound but by can cannot capacity caused challenge class
    cni claim claims combined complete completed condition conditions config configmap configmaps conflict
    connect connection constraint constraints container containerd containers controller could count cpu crash create
    created creating credentials csi
    daemon deadline deallocate deallocation default defined delete deleted deleting deletion denied device
    devices did didn directory disk dns do does doesn domain done driver due
    e each eligible end enough eof ephemeral error errors evicted events exceed exceeded exec exist existing
    exists exit exited expected
    fail failed failing false failure feature file filesystem find fit for form format found free from
    gang gangs gate gated gates get given gone group groups guaranteed
    had handshake has have head helpful help hook host host-port http https i id if image images immediate
    in in-use including incoming incomplete incompatible inconsistent init initialized insufficient
    internal into invalid io ip ips is it its
    killed killing label labels lacks last least limit limits list lookup low
    made make manifest many map mark marked match matched max maximum may minavailable member members memory message
    mincount minimum missing mode more most mount mounted mountvolume.setup mountvolume.mountdevice
    mounting must
    name namespace needed needs network networkplugin networkpluginnotready networkready never new no node nodes nominated nominator non-existent
    non-zero not now
    occurred of off old on one only open operation or other out over override owner
    path pending permission persistent persistentvolume persistentvolumes persistentvolumeclaim
    persistentvolumeclaims phase plugin plugins pod podgroup pods policy port ports postfilter prebind
    preempt preempted preempting preemption preemptionpolicy prefilter present pressure previous priority
    probe process provision provisioned provisioner provisioning pull pulled pulling pv pvc
    quantity queue queued quorum quota
    rate reached read readiness readonlymany readwritemany readwriteonce readwriteoncepod ready reason
    received recently refused register registered registering registry rejected remaining request
    requested requests required requires reserve reserved resize resolve resource resourceclaim
    resourceclaims resources response rest restart restarted restarting resolving retry returned returns rpc rule
    rules run running runtime
    same sandbox satisfied satisfy schedulable scheduled scheduler scheduling secret secrets selector
    server service set setup shim sibling similar since size skew so some spec spread start started
    starting startup state status statuscode still storage storageclass succeeded success successful
    successfully such sync
    t taint tainted taints terminate terminated terminating termination than that the their there these
    this threshold time timed timeout times tls to tolerate toleration tolerations too topology torn true try
    type
    unable unauthorized unavailable unbound unexpected unhealthy unknown unmounted unpack unready
    unreachable unresolvable unschedulable until untolerated unusable up update upstream use used user
    using
    valid victims volume volumebinding volumes
    wait waited waiting waitforfirstconsumer was waits were when which while will with within without
    workload x509 yet you your zone zones
    bytes kubelet s core/v1 code desc authorization repository tag machine
    node.kubernetes.io/not-ready node.kubernetes.io/unreachable node.kubernetes.io/memory-pressure
    node.kubernetes.io/disk-pressure node.kubernetes.io/pid-pressure node.kubernetes.io/unschedulable
    node.kubernetes.io/network-unavailable node.kubernetes.io/out-of-service
    node.cloudprovider.kubernetes.io/uninitialized node-role.kubernetes.io/control-plane
    node-role.kubernetes.io/master node-role.kubernetes.io/controlplane node-role.kubernetes.io/etcd nvidia.com/gpu amd.com/gpu
    anti-affinity affinity/selector ephemeral-storage hugepages hugepages-1gi hugepages-2mi back-off backoff
    cluster-autoscaler dynamicresources interpodaffinity nodeaffinity nodeports noderesourcesfit
    nodeunschedulable nodevolumelimits podtopologyspread tainttoleration volumerestrictions volumezone
";

/// Words before a number of something.
const BEFORE_NUMBER: &str = "code status statuscode size mincount exit quantity available using";
/// Words before a duration.
const BEFORE_DURATION: &str = "in after within timeout back-off backoff exceeded";
/// Words after a number of something, where it begins a clause.
const AFTER_NUMBER: &str = "nodes node insufficient preemption scheduled remaining including pending \
                            minavailable unschedulable running succeeded allocated";

/// After what a scheduler gives a number of nodes to each reason.
const CLAUSES: [&str; 2] = [" nodes are available: ", " nodes are unavailable: "];

impl Anonymizer {
    /// A message of which only known words, phrases and counts are kept.
    pub(super) fn message(&self, message: &str) -> String {
        let text = MessageText::from_message(message);
        let mut out = String::with_capacity(message.len());
        let mut at = 0;
        while let Some(length) = message[at..].find(|c: char| !is_separator(c)) {
            let begin = at + length;
            out.push_str(&message[at..begin]);
            // A quoted image, as in the messages of pulls: it may hold what separates words.
            let quoted = message[..begin].ends_with("image \"");
            let end = match message[begin..].find('"').filter(|_| quoted) {
                Some(length) => begin + length,
                None => word_end(message, begin),
            };
            match quoted && message[end..].starts_with('"') {
                true => out.push_str(&self.image(&message[begin..end])),
                false => self.word(&text, begin..end, &mut out),
            }
            at = end;
        }
        out.push_str(&message[at..]);
        out
    }

    /// Adds the word that stands at `place`, or what is kept of it.
    fn word(&self, text: &MessageText<'_>, place: Range<usize>, out: &mut String) {
        let word = &text.message[place.clone()];
        let bare = word.trim_end_matches(['.', '!', '?']);
        let bare_place = place.start..place.start + bare.len();
        if text.is_kept(bare_place.clone()) {
            out.push_str(word);
            return;
        }
        // What stands between phrases, each piece by itself.
        let mut at = bare_place.start;
        for phrase in text.phrases_in(&bare_place) {
            out.push_str(&self.name(&text.message[at..phrase.start]));
            out.push_str(&text.message[phrase.clone()]);
            at = phrase.end;
        }
        out.push_str(&self.name(&text.message[at..bare_place.end]));
        out.push_str(&text.message[bare_place.end..place.end]);
    }
}

/// A message, and where the phrases stand in it.
struct MessageText<'m> {
    message: &'m str,
    /// In order, without overlap
    phrases: Vec<Range<usize>>,
    /// Where a scheduler's clauses begin
    clauses: Option<usize>,
}

impl<'m> MessageText<'m> {
    fn from_message(message: &'m str) -> Self {
        let lower = message.to_ascii_lowercase();
        let mut found: Vec<Range<usize>> = Vec::new();
        for phrase in PHRASES {
            let places = lower.match_indices(phrase);
            found.extend(places.map(|(at, phrase)| at..at + phrase.len()));
        }
        found.sort_by_key(|place| place.start);
        let mut phrases: Vec<Range<usize>> = Vec::new();
        for place in found {
            match phrases.last_mut() {
                Some(last) if place.start <= last.end => last.end = last.end.max(place.end),
                _ => phrases.push(place),
            }
        }
        let clauses = CLAUSES.iter().filter_map(|head| Some(message.find(head)? + head.len()));
        Self { message, phrases, clauses: clauses.min() }
    }

    /// The parts of phrases that lie in `place`.
    fn phrases_in(&self, place: &Range<usize>) -> impl Iterator<Item = Range<usize>> {
        let (start, end) = (place.start, place.end);
        let parts = self.phrases.iter();
        let parts = parts.map(move |phrase| phrase.start.max(start)..phrase.end.min(end));
        parts.filter(|part| part.start < part.end)
    }

    /// Whether the word at `place` is kept as it is.
    fn is_kept(&self, place: Range<usize>) -> bool {
        let word = &self.message[place.clone()];
        match word {
            _ if word.bytes().all(|byte| byte.is_ascii_punctuation()) => true,
            _ if REASON_WORDS.contains(word) => true,
            _ if self.is_quoted(&place) => false,
            _ if KNOWN_WORDS.contains(&*word.to_ascii_lowercase()) => true,
            _ => self.is_count(place),
        }
    }

    /// Whether the word at `place` is all that a pair of quotation marks holds: a name, as a rule.
    fn is_quoted(&self, place: &Range<usize>) -> bool {
        let before = self.message[..place.start].chars().next_back();
        let after = self.message[place.end..].chars().next();
        matches!(before, Some('"' | '\'' | '`')) && before == after
    }

    /// Whether the word at `place` is a number that counts or measures something. Elsewhere it may be a
    /// name.
    fn is_count(&self, place: Range<usize>) -> bool {
        let (before, after) = (&self.message[..place.start], &self.message[place.end..]);
        let word = &self.message[place.clone()];
        let is_duration = word.ends_with(['s', 'm', 'h']) && go_duration::parse(word).is_some();
        if !is_number(word) && !is_duration {
            return false;
        }
        let clause_before = before.trim_end_matches(' ');
        let begins_clause =
            clause_before.is_empty() || clause_before.ends_with([':', ',', '(', '.']);
        let decimal = word.bytes().all(|byte| byte.is_ascii_digit());
        let is_of_clause = self.clauses.is_some_and(|clauses| {
            place.start == clauses || (place.start > clauses && before.ends_with(", "))
        });
        if decimal && is_of_clause && after.starts_with(' ') {
            return true;
        }
        let next = after.trim_start_matches(' ');
        let next = &next[..word_end(next, 0)];
        let last = clause_before.trim_end_matches(['(', '=', ':', ' ']);
        let last = last.rsplit(is_separator).next().unwrap_or_default();
        let last_is = |list: &str| is_in(list, last);
        (begins_clause && after.starts_with(' ') && is_in(AFTER_NUMBER, next))
            || (is_duration && last_is(BEFORE_DURATION))
            || last_is(BEFORE_NUMBER) && !before.ends_with(['"', '\'', '{', '['])
    }
}

static KNOWN_WORDS: LazyLock<HashSet<&str>> = LazyLock::new(|| WORDS.split_whitespace().collect());
static REASON_WORDS: LazyLock<HashSet<&str>> =
    LazyLock::new(|| REASONS.split_whitespace().collect());

/// Where the word that begins at `begin` ends.
fn word_end(message: &str, begin: usize) -> usize {
    message[begin..].find(is_separator).map_or(message.len(), |length| begin + length)
}

/// Whether `word` is in `list`, which is separated by spaces, in any case.
fn is_in(list: &str, word: &str) -> bool {
    let mut words = list.split_ascii_whitespace();
    words.any(|listed| listed.eq_ignore_ascii_case(word))
}

fn is_separator(c: char) -> bool {
    c.is_whitespace()
        || matches!(
            c,
            '"' | '\'' | '`' | ',' | ':' | ';' | '{' | '}' | '[' | ']' | '=' | '\\' | '(' | ')'
        )
}

/// Whether `word` is a number, a fraction such as `0/12`, or a size such as `350Mi`.
fn is_number(word: &str) -> bool {
    let number = word.trim_end_matches(['K', 'M', 'G', 'T', 'i', 'k', 'm', '%']);
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let parts = number.split_once('/').or_else(|| number.split_once('.'));
    match parts {
        Some((one, other)) => digits(one) && digits(other),
        None => digits(number),
    }
}

#[cfg(test)]
#[path = "message_tests.rs"]
mod tests;
