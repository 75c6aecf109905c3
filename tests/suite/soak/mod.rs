//! Long runs: does anything grow, and does anything come to differ, that should not?
//!
//! ```text
//! cargo test --test suite -- --ignored --nocapture soak::a_day   # 24 simulated hours, minutes
//! cargo test --release --test suite -- --ignored --nocapture soak::ten_minutes
//! ```
//!
//! The first runs the pipeline against the simulated cluster on simulated time, with every fault at
//! random instants, and holds the metrics against the oracle every hour. It prints its
//! seed; `PODINIT_SOAK_SEED` replays one. The second runs the real binary under load with a
//! scraper. Both print what memory does, and fail where it grows.
//!
//! Measured: the day (seed 1) had 19,260 pods and 1,400 faults, and no difference in any hour; what
//! accounting holds grew by 28 bytes an hour. In half an hour of the real binary there were 180,786
//! pods, of which at most 5,000 were remembered; resident memory was 31 MiB after 5 minutes, 32.5 MiB
//! after 15, and then grew by 6 KiB a minute. In the first minutes each thread's arena of the allocator
//! fills up; with `MALLOC_ARENA_MAX=1`, as in the image, it stood at 23 MiB after 15 minutes.

mod day;
#[cfg(target_os = "linux")]
mod process;
mod slope;
