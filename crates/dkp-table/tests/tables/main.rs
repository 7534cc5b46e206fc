//! Tables on disk and in memory, from the outside.

mod common;
mod damage;
mod encoding;
mod errors;
mod json_lines;
mod memory;
mod parquet_types;
mod reading;
mod round_trip;
mod sheets;
mod typing;
