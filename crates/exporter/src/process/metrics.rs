//! The `process_*` metrics, with the names, types and help texts of Prometheus client libraries. They
//! are read from `/proc` at each scrape. What cannot be read, as on systems other than Linux, is absent
//! and never fails a scrape.

use std::fmt;
use std::fs;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use rustix::process::{Resource, getrlimit};

/// Collects the metrics of this process. Belongs in a registry without a prefix.
#[derive(Debug)]
pub struct ProcessCollector {
    ticks_per_second: f64,
    page_size: f64,
    /// Read once: it never changes, but the boot time that it is computed from does whenever the clock
    /// is set, and a changed start time looks like a restart.
    started: Option<f64>,
}

impl Default for ProcessCollector {
    fn default() -> Self {
        Self::new()
    }
}

impl ProcessCollector {
    /// A collector for this process.
    pub fn new() -> Self {
        let ticks_per_second = rustix::param::clock_ticks_per_second() as f64;
        let since_boot = ProcessStat::read().map(|stat| stat.start_ticks / ticks_per_second);
        Self {
            ticks_per_second,
            page_size: rustix::param::page_size() as f64,
            started: since_boot.and_then(|seconds| Some(boot_time()? + seconds)),
        }
    }
}

impl Collector for ProcessCollector {
    fn encode(&self, mut encoder: DescriptorEncoder) -> Result<(), fmt::Error> {
        let mut metric = |name: &str, help: &str, value: Option<&dyn EncodeMetric>| match value {
            Some(value) => {
                value.encode(encoder.encode_descriptor(name, help, None, value.metric_type())?)
            }
            None => Ok(()),
        };
        fn some(value: &Option<impl EncodeMetric>) -> Option<&dyn EncodeMetric> {
            value.as_ref().map(|value| value as &dyn EncodeMetric)
        }
        let stat = ProcessStat::read();
        let stat = stat.as_ref();
        // The encoder of counters appends `_total`.
        metric(
            "process_cpu_seconds",
            "Total user and system CPU time spent in seconds.",
            some(&stat.map(|stat| ConstCounter::new(stat.cpu_ticks / self.ticks_per_second))),
        )?;
        metric(
            "process_open_fds",
            "Number of open file descriptors.",
            some(&open_fds().map(ConstGauge::new)),
        )?;
        metric(
            "process_max_fds",
            "Maximum number of open file descriptors.",
            some(&Some(ConstGauge::new(soft_limit(Resource::Nofile)))),
        )?;
        metric(
            "process_virtual_memory_bytes",
            "Virtual memory size in bytes.",
            some(&stat.map(|stat| ConstGauge::new(stat.virtual_bytes))),
        )?;
        metric(
            "process_virtual_memory_max_bytes",
            "Maximum amount of virtual memory available in bytes.",
            some(&Some(ConstGauge::new(soft_limit(Resource::As)))),
        )?;
        metric(
            "process_resident_memory_bytes",
            "Resident memory size in bytes.",
            some(&stat.map(|stat| ConstGauge::new(stat.resident_pages * self.page_size))),
        )?;
        metric(
            "process_start_time_seconds",
            "Start time of the process since unix epoch in seconds.",
            some(&self.started.map(ConstGauge::new)),
        )
    }
}

/// What `/proc/self/stat` says (proc_pid_stat(5)).
#[derive(Debug, PartialEq)]
struct ProcessStat {
    /// User and system time, in clock ticks
    cpu_ticks: f64,
    /// Clock ticks from boot to the start of the process
    start_ticks: f64,
    virtual_bytes: f64,
    resident_pages: f64,
}

impl ProcessStat {
    fn read() -> Option<Self> {
        Self::parse(&fs::read_to_string("/proc/self/stat").ok()?)
    }

    /// The second field is the name of the program in parentheses, which may itself contain spaces and
    /// parentheses; the third, the state, follows the last closing one.
    fn parse(text: &str) -> Option<Self> {
        let (_, rest) = text.rsplit_once(')')?;
        let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
        let field = |number: usize| fields.get(number - 3)?.parse::<f64>().ok();
        Some(Self {
            cpu_ticks: field(14)? + field(15)?,
            start_ticks: field(22)?,
            virtual_bytes: field(23)?,
            resident_pages: field(24)?,
        })
    }
}

/// Seconds since the Unix epoch at which the machine was booted.
fn boot_time() -> Option<f64> {
    let text = fs::read_to_string("/proc/stat").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("btime "))?;
    line.trim().parse().ok()
}

/// Does not count the descriptor with which the directory is read.
fn open_fds() -> Option<f64> {
    let count = fs::read_dir("/proc/self/fd").ok()?.count();
    Some(count.saturating_sub(1) as f64)
}

/// Without a limit it is the greatest number, as in the kernel.
fn soft_limit(resource: Resource) -> f64 {
    getrlimit(resource).current.unwrap_or(u64::MAX) as f64
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use prometheus_client::encoding::text::encode;
    use prometheus_client::registry::Registry;

    #[test]
    fn fields_are_counted_from_the_end_of_the_name() {
        let text = "7 (a) R (b) S 1 7 7 0 -1 4194560 100 0 0 0 250 50 0 0 20 0 9 0 12345 4096000 \
                    321 18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 3 0 0";
        let expected = ProcessStat {
            cpu_ticks: 300.0,
            start_ticks: 12345.0,
            virtual_bytes: 4_096_000.0,
            resident_pages: 321.0,
        };
        assert_eq!(ProcessStat::parse(text), Some(expected));
        for broken in ["", ")", "7 (a) S 1 2", "7 (a) S x x x x x x x x x x x x x x x x x x x x x"]
        {
            assert_eq!(ProcessStat::parse(broken), None);
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn every_metric_has_the_name_that_client_libraries_use() {
        let mut registry = Registry::default();
        registry.register_collector(Box::new(ProcessCollector::new()));
        let mut text = String::new();
        encode(&mut text, &registry).unwrap();
        let value = |name: &str| -> f64 {
            let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
            line.unwrap().parse().unwrap()
        };
        assert!(value("process_cpu_seconds_total") >= 0.0);
        assert!(value("process_open_fds") >= 3.0);
        assert!(value("process_max_fds") >= value("process_open_fds"));
        assert!(value("process_virtual_memory_bytes") > value("process_resident_memory_bytes"));
        assert!(value("process_virtual_memory_max_bytes") > value("process_virtual_memory_bytes"));
        assert!(value("process_resident_memory_bytes") > 0.0);
        assert!(value("process_start_time_seconds") > 1_577_836_800.0);
        assert!(text.contains("# TYPE process_cpu_seconds counter\n"));
        assert!(text.contains("# TYPE process_open_fds gauge\n"));
    }
}
