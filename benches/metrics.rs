//! Benchmarks of the metrics.

fn main() {}
