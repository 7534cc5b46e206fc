//! Arrays, and archives of them: as they are, or made of arrays, since a checksum that does not match would end every mutant early.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| match bytes {
    [b'P', b'K', ..] => dkp_fuzz::table(bytes, ".npz"),
    [b'+', parts @ ..] => dkp_fuzz::table(&dkp_fuzz::archive(parts, &["x.npy", "y.npy", "z.npy"], &[]), ".npz"),
    _ => dkp_fuzz::table(bytes, ".npy"),
});
