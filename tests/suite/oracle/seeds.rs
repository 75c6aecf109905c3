//! Runs a check over many seeds on all cores.

use std::num::NonZero;
use std::thread;

/// Random histories in the run against the implementation, without another number in `ORACLE_HISTORIES`.
/// .ci/run asks for more.
const HISTORIES: u64 = 16;

/// How many random histories the oracle reads.
pub(crate) fn histories() -> u64 {
    asked().unwrap_or(HISTORIES)
}

/// The number of histories that `ORACLE_HISTORIES` asks for.
pub(crate) fn asked() -> Option<u64> {
    let asked = std::env::var("ORACLE_HISTORIES").ok()?;
    Some(asked.parse().expect("ORACLE_HISTORIES is a number"))
}

/// The least seed below `limit` for which the check holds, whatever the number of cores.
pub(crate) fn first(limit: u64, check: impl Fn(u64) -> bool + Sync) -> Option<u64> {
    let threads = thread::available_parallelism().map_or(1, NonZero::get);
    let check = &check;
    thread::scope(|scope| {
        let searches: Vec<_> = (0..threads as u64)
            .map(|start| {
                scope.spawn(move || (start..limit).step_by(threads).find(|seed| check(*seed)))
            })
            .collect();
        let found = searches.into_iter().map(|search| search.join().unwrap());
        found.flatten().min()
    })
}

#[test]
fn the_least_seed_is_found() {
    assert_eq!(first(100, |seed| seed >= 41 && seed % 2 == 1), Some(41));
    assert_eq!(first(100, |seed| seed >= 100), None);
}
