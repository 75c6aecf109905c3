#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| podinit_fuzz::pod_snapshot::run(bytes));
