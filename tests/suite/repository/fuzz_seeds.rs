//! Runs the functions of the fuzz targets on their seeds and on simple mutations of them. `fuzz/run` runs
//! the fuzzer itself.

use std::fs;
use std::path::{Path, PathBuf};

use podinit_sim::rng::Rng;

#[path = "../../../fuzz/src/lib.rs"]
mod targets;

/// Mutations of each seed.
const MUTATIONS: u64 = 100;

fn fuzz() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz")
}

/// The files of a directory, ordered by name.
fn files(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir).unwrap_or_else(|error| panic!("{}: {error}", dir.display()));
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// Runs a target on its seeds and on mutations of them.
fn run(target: &str, run: fn(&[u8])) {
    let seeds = files(&fuzz().join("seeds").join(target));
    let seeds: Vec<_> = seeds.iter().map(|seed| fs::read(seed).unwrap()).collect();
    assert!(seeds.len() >= 3, "{target} has too few seeds");
    run(b"");
    for (at, seed) in seeds.iter().enumerate() {
        run(seed);
        for mutation in 0..MUTATIONS {
            let mut rng = Rng::fork(at as u64, mutation);
            let other = rng.pick(&seeds).clone();
            run(&mutated(seed.clone(), &other, &mut rng));
        }
    }
}

/// Changes, removes or duplicates a few bytes, or appends the end of another seed.
fn mutated(mut bytes: Vec<u8>, other: &[u8], rng: &mut Rng) -> Vec<u8> {
    for _ in 0..=rng.below(3) {
        let at = rng.below(bytes.len() as u64 + 1) as usize;
        let end = bytes.len().min(at + 1 + rng.below(20) as usize);
        match rng.below(5) {
            0 if at < bytes.len() => bytes[at] ^= 1 << rng.below(8),
            1 if at < bytes.len() => bytes[at] = rng.next_u64() as u8,
            2 => drop(bytes.drain(at..end)),
            3 => bytes.extend_from_within(at..end),
            _ => {
                bytes.truncate(at);
                bytes.extend(&other[rng.below(other.len() as u64) as usize..]);
            }
        }
    }
    bytes
}

/// A test for each target, and one that there is no other.
macro_rules! targets {
    ($($target:ident)*) => {
        $(#[test]
        fn $target() {
            run(stringify!($target), targets::$target::run);
        })*

        #[test]
        fn every_target_is_run() {
            let mut known = vec![$(stringify!($target)),*];
            known.sort_unstable();
            let names = |dir: &str| -> Vec<String> {
                let stem = |path: &PathBuf| path.file_stem().unwrap().to_str().unwrap().to_owned();
                files(&fuzz().join(dir)).iter().map(stem).collect()
            };
            assert_eq!(names("fuzz_targets"), known);
            assert_eq!(names("seeds"), known);
        }
    };
}

targets! { accept_header checkpoint_loader credential_sources kube_event pod_snapshot slo_file times watch_frame watch_line }
