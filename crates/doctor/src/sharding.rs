//! Whether the API server shards (KEP-5866), and how many shards the pods need.

use super::pods::ClusterPodCounts;
use super::report::{Check, Finding};
use podinit_core::shard::Shard;
use podinit_text::words::count;

/// As many pods as one process holds in the memory that the manifests request (docs/scale.md has the sum).
const PODS_PER_SHARD: u64 = 250_000;

/// What one process needs for more of them.
const MORE_MEMORY: &str = "give the process memory for its pods: 128 MiB hold a million of them";

/// What the lists of `census`, which were those of `shard`, say.
pub(super) fn finding(census: &ClusterPodCounts, shard: Option<Shard>) -> Finding {
    const CHECK: Check = Check::Sharding;
    let Some(sharded) = census.sharded else {
        return Finding::skipped(CHECK, "there is no list that would show it");
    };
    let server = match sharded {
        true => "the API server shards",
        false => "the API server does not shard (feature gate ShardedListAndWatch)",
    };
    if !census.complete {
        let found = format!("{server}; how many pods there are is unknown");
        return Finding::ok(CHECK, found).detail("server_shards", sharded);
    }
    let present = shard.unwrap_or_default().count().get();
    let pods = census.pods.saturating_mul(present);
    let held = pods.div_ceil(PODS_PER_SHARD).max(1);
    // Where the API server does not shard, each shard costs it as much as one process alone.
    let needed = if sharded { held } else { 1 };
    let about = if shard.is_some() { "about " } else { "" };
    let pods_found = count(pods, "pod", "pods");
    let processes = count(needed, "process is enough", "processes are enough");
    let mut found = format!("{server}; {processes} for {about}{pods_found}");
    let fix = match (sharded, present) {
        (true, _) => {
            (held > present).then(|| format!("run {needed} shards (--shard 0/{needed} and so on)"))
        }
        (false, 1) => (held > 1).then(|| {
            found += ", with more memory than the manifests request";
            MORE_MEMORY.to_owned()
        }),
        (false, present) => {
            found += &format!("; each of {present} shards receives the events of all pods");
            Some(format!("run one process instead, or enable the feature gate; {MORE_MEMORY}"))
        }
    };
    let finding = match fix {
        None => Finding::ok(CHECK, found),
        Some(fix) => Finding::note(CHECK, found).fix(fix),
    };
    finding.detail("server_shards", sharded).detail("shards", needed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kubelets::PromptNodes;

    fn said(pods: u64, sharded: bool, shard: Option<Shard>) -> (String, Option<String>) {
        let mut census = ClusterPodCounts::new(None, PromptNodes::default(), None);
        (census.pods, census.sharded) = (pods, Some(sharded));
        let finding = finding(&census, shard);
        (finding.found, finding.fix)
    }

    #[test]
    fn one_process_is_enough_for_a_quarter_of_a_million_pods() {
        let (found, fix) = said(250_000, true, None);
        assert_eq!(found, "the API server shards; 1 process is enough for 250000 pods");
        assert_eq!(fix, None);
        let (found, fix) = said(250_001, true, None);
        assert_eq!(found, "the API server shards; 2 processes are enough for 250001 pods");
        assert_eq!(fix.as_deref(), Some("run 2 shards (--shard 0/2 and so on)"));
    }

    #[test]
    fn more_memory_is_advised_where_the_api_server_does_not_shard() {
        let server = "the API server does not shard (feature gate ShardedListAndWatch)";
        let (found, fix) = said(250_001, false, None);
        assert_eq!(
            found,
            format!(
                "{server}; 1 process is enough for 250001 pods, with more memory than the manifests request"
            )
        );
        assert_eq!(fix.as_deref(), Some(MORE_MEMORY));
        let (found, fix) = said(3, false, "0/4".parse().ok());
        assert_eq!(
            found,
            format!(
                "{server}; 1 process is enough for about 12 pods; each of 4 shards receives the events of all \
                 pods"
            )
        );
        assert!(fix.is_some_and(|fix| fix.starts_with("run one process instead")));
        assert_eq!(said(3, false, None).1, None);
    }

    /// How many shards there are is never worse than a note.
    #[test]
    fn it_fails_no_run() {
        for (pods, sharded) in [(3, true), (3, false), (1_000_000, true), (1_000_000, false)] {
            for shard in [None, "1/2".parse().ok()] {
                let mut census = ClusterPodCounts::new(None, PromptNodes::default(), None);
                (census.pods, census.sharded) = (pods, Some(sharded));
                assert_eq!(finding(&census, shard).severity.exit_code(), 0);
            }
        }
    }

    #[test]
    fn a_shard_stands_for_all_of_them() {
        let shard = "1/4".parse().ok();
        let (found, fix) = said(240_000, true, shard);
        assert!(found.ends_with("4 processes are enough for about 960000 pods"), "{found}");
        assert_eq!(fix, None);
        let (_, fix) = said(260_000, true, shard);
        assert_eq!(fix.as_deref(), Some("run 5 shards (--shard 0/5 and so on)"));
    }
}
