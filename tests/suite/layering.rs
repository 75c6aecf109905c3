//! The pure core stays pure: it names no Kubernetes client, runtime, server, log, metric or
//! clock, and nothing outside of itself.

use std::fs;
use std::path::{Path, PathBuf};

/// What the core consists of, below `src`.
const CORE: [&str; 7] = [
    "timestamp.rs",
    "pod.rs",
    "pod",
    "kube_event.rs",
    "shard.rs",
    "label_value.rs",
    "lifecycle",
];

/// Names that would let the outside in, each with the reason.
const BANNED: [(&str, &str); 13] = [
    ("kube::", "the core does not know the Kubernetes client"),
    ("k8s_openapi", "the core does not know Kubernetes' types"),
    ("tokio", "the core is synchronous"),
    ("futures", "the core is synchronous"),
    ("async ", "the core is synchronous"),
    ("axum", "the core does not know HTTP"),
    ("http::", "the core does not know HTTP"),
    ("tracing", "the core says what happened, it does not log"),
    (
        "prometheus_client",
        "the core does not know how it is counted",
    ),
    ("SystemTime", "time comes in as an argument"),
    ("Instant", "time comes in as an argument"),
    ("std::fs", "the core does no I/O"),
    ("std::io", "the core does no I/O"),
];

/// Where the core may name serde: these files define the values that a checkpoint holds, and their
/// saved form is a promise that must stand beside the types. Everywhere else the edges parse.
const SAVED: [&str; 5] = [
    "lifecycle/saved.rs",
    "lifecycle/saved/evidence.rs",
    "lifecycle/saved/form.rs",
    "lifecycle/saved/image_pulls.rs",
    "lifecycle/saved/record.rs",
];

fn sources(path: &Path) -> Vec<PathBuf> {
    if path.is_file() {
        return vec![path.to_owned()];
    }
    let entries = fs::read_dir(path).expect("the core stands where CORE says");
    entries
        .flat_map(|entry| sources(&entry.unwrap().path()))
        .collect()
}

/// The lines of code of the core, without comments and without the tests beside the code.
fn core_lines() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut lines = Vec::new();
    for path in CORE.iter().flat_map(|place| sources(&root.join(place))) {
        let text = fs::read_to_string(&path).unwrap();
        let code = text.split("#[cfg(test)]").next().unwrap();
        let code = code
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"));
        lines.extend(code.map(|line| (path.clone(), line.to_owned())));
    }
    lines
}

#[test]
fn the_core_names_nothing_from_outside() {
    for (path, line) in core_lines() {
        for (banned, reason) in BANNED {
            assert!(
                !line.contains(banned),
                "{}: {reason}: {line}",
                path.display()
            );
        }
    }
}

#[test]
fn the_core_names_serde_only_where_it_defines_what_is_saved() {
    let mut saved = core_lines();
    saved.retain(|(_, line)| line.contains("serde"));
    let allowed = |path: &Path| SAVED.iter().any(|file| path.ends_with(file));
    for (path, line) in &saved {
        assert!(allowed(path), "{}: the edges parse: {line}", path.display());
    }
    for file in SAVED {
        let used = saved.iter().any(|(path, _)| path.ends_with(file));
        assert!(used, "{file} does not name serde and needs no exception");
    }
}

#[test]
fn the_core_uses_only_itself() {
    const INSIDE: [&str; 6] = [
        "crate::timestamp",
        "crate::pod",
        "crate::kube_event",
        "crate::shard",
        "crate::label_value",
        "crate::lifecycle",
    ];
    for (path, line) in core_lines() {
        let leaves = line.contains("crate::") && !INSIDE.iter().any(|module| line.contains(module));
        assert!(
            !leaves,
            "{} reaches outside the core: {line}",
            path.display()
        );
    }
}
