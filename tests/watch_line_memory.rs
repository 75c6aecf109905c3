//! A watch event of 100 MiB is passed over in bounded memory, with the settings of production.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod embedded_support;
mod scrape_support;
mod watch_support;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use bytes::Bytes;
use embedded_support::{Embedded, cluster};
use podinit::sim::faults::StreamFault;
use podinit::watch::stats::WatchErrorReason;

/// The system's allocator, which remembers the most that was ever held.
struct Peak;

static HELD: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is passed on unchanged to the system's allocator, which keeps the contract.
// Counting allocates nothing and cannot unwind. `alloc_zeroed` and `realloc` are the provided
// methods, which call the two below.
unsafe impl GlobalAlloc for Peak {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let held = HELD.fetch_add(layout.size(), Relaxed) + layout.size();
        MOST.fetch_max(held, Relaxed);
        // SAFETY: the caller's promise about `layout` is the one that is asked for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size(), Relaxed);
        // SAFETY: `pointer` came from `alloc` above, hence from the system's allocator, and the
        // caller promises that `layout` is the one it was allocated with.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Peak = Peak;

const MIB: usize = 1 << 20;

#[tokio::test(start_paused = true)]
async fn a_line_of_100_mib_takes_no_more_than_the_limit_of_a_line() {
    let mut api = Embedded::watching(cluster().await);
    assert_eq!(api.told().await, "Listed ");
    let faults = api.cluster.faults();
    // One piece that is sent many times, so that the server's side takes no memory for the line.
    let piece = Bytes::from(vec![b'x'; 256 * 1024]);
    let held = HELD.load(Relaxed);
    MOST.store(held, Relaxed);
    let head = Bytes::from_static(b"{\"type\":\"MODIFIED\",\"object\":{\"kind\":\"Pod\",\"x\":\"");
    faults.stream(StreamFault::Raw(head));
    for _ in 0..400 {
        faults.stream(StreamFault::Raw(piece.clone()));
    }
    faults.stream(StreamFault::Raw(Bytes::from_static(b"\"}}\n")));
    api.put("a");
    assert_eq!(api.told().await, "Applied a@1001");
    let most = MOST.load(Relaxed) - held;
    // The limit of a line is 8 MiB; a buffer that grows holds its old self and its new one.
    assert!(most >= 4 * MIB, "the line was not even begun: {most} bytes");
    assert!(most <= 26 * MIB, "{most} bytes");
    assert_eq!(api.errors(WatchErrorReason::LineTooLong), 1);
    assert!(api.stats.synced());
    // What it took is given back.
    tokio::time::sleep(Duration::from_secs(1)).await;
    let kept = HELD.load(Relaxed).saturating_sub(held);
    assert!(kept <= MIB, "{kept} bytes");
}
