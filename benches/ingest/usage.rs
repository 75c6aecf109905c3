//! What a process has taken of the machine, from `/proc`.

use std::collections::HashMap;
use std::fs;

/// What the threads of a process have taken since they began.
pub(crate) struct Usage {
    /// By thread: nanoseconds on a processor, voluntary and involuntary context switches
    threads: HashMap<String, [u64; 3]>,
}

impl Usage {
    pub(crate) fn of(process: u32) -> Self {
        let tasks = fs::read_dir(format!("/proc/{process}/task")).expect("a process, on Linux");
        let threads = tasks.flatten().filter_map(|task| {
            let path = task.path();
            let times = fs::read_to_string(path.join("schedstat")).ok()?;
            let status = fs::read_to_string(path.join("status")).ok()?;
            let nanoseconds = times.split(' ').next()?.parse().ok()?;
            let switches = |name: &str| {
                let line = status.lines().find(|line| line.starts_with(name))?;
                line.rsplit('\t').next()?.parse().ok()
            };
            let switches =
                (switches("voluntary_ctxt_switches")?, switches("nonvoluntary_ctxt_switches")?);
            let name = task.file_name().to_string_lossy().into_owned();
            Some((name, [nanoseconds, switches.0, switches.1]))
        });
        Self { threads: threads.collect() }
    }

    /// Nanoseconds on a processor, voluntary and involuntary context switches since `before`, of the
    /// threads that still run.
    pub(crate) fn since(&self, before: &Self) -> [f64; 3] {
        let mut taken = [0; 3];
        for (thread, now) in &self.threads {
            let then = before.threads.get(thread).copied().unwrap_or_default();
            for (sum, (now, then)) in taken.iter_mut().zip(now.iter().zip(then)) {
                *sum += now.saturating_sub(then);
            }
        }
        #[allow(clippy::cast_precision_loss)] // far below 2^52
        taken.map(|sum| sum as f64)
    }
}
