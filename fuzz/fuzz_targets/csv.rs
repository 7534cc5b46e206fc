//! Files with the ending .csv.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| dkp_fuzz::table(bytes, ".csv"));
