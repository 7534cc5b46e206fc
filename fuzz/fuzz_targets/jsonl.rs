//! Files with the ending .jsonl.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| dkp_fuzz::table(bytes, ".jsonl"));
