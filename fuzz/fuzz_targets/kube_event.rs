#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| podinit_fuzz::kube_event::run(bytes));
