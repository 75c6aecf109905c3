#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| podinit_fuzz::watch_frame::run(bytes));
