//! A watch event of 100 MiB is passed over in bounded memory, with the settings of production.

use std::time::Duration;

use super::counting;
use crate::support::embedded::{Embedded, cluster};
use bytes::Bytes;
use podinit_kube::watch::stats::WatchErrorReason;
use podinit_sim::faults::StreamFault;

const MIB: isize = 1 << 20;

#[tokio::test(start_paused = true)]
async fn a_line_of_100_mib_takes_no_more_than_the_limit_of_a_line() {
    let mut api = Embedded::watching(cluster().await);
    assert_eq!(api.next_delivery().await, "Listed ");
    let faults = api.cluster.faults();
    // One piece that is sent many times, so that the server's side takes no memory for the line.
    let piece = Bytes::from(vec![b'x'; 256 * 1024]);
    // Server and client are tasks of this thread.
    let held = counting::held();
    counting::forget_peak();
    let head = Bytes::from_static(b"{\"type\":\"MODIFIED\",\"object\":{\"kind\":\"Pod\",\"x\":\"");
    faults.stream(StreamFault::Raw(head));
    for _ in 0..400 {
        faults.stream(StreamFault::Raw(piece.clone()));
    }
    faults.stream(StreamFault::Raw(Bytes::from_static(b"\"}}\n")));
    api.put("a");
    assert_eq!(api.next_delivery().await, "Applied a@1001");
    let most = counting::peak() - held;
    // The limit of a line is 8 MiB; a buffer that grows holds its old self and its new one.
    assert!(most >= 4 * MIB, "the line was not even begun: {most} bytes");
    assert!(most <= 26 * MIB, "{most} bytes");
    assert_eq!(api.errors(WatchErrorReason::LineTooLong), 1);
    assert!(api.stats.synced());
    // What it took is given back.
    tokio::time::sleep(Duration::from_secs(1)).await;
    let kept = counting::held() - held;
    assert!(kept <= MIB, "{kept} bytes");
}
