//! Workbooks: as they are, or made of their parts, since a checksum that does not match would end every mutant early.
#![no_main]

use dkp_fuzz::{PARTS, REST, archive, table};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| match bytes {
    [b'P', b'K', ..] => table(bytes, ".xlsx"),
    _ => table(&archive(bytes, &PARTS, &REST), ".xlsx"),
});
