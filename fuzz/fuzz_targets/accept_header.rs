#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| podinit_fuzz::accept_header::run(bytes));
