//! Model files, with the right checksum.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| dkp_fuzz::model(bytes));
