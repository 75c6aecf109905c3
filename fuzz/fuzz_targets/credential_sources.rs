#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| podinit_fuzz::credential_sources::run(bytes));
