//! Tables on disk and in memory, from the outside.

mod common;
mod damage;
mod encoding;
mod errors;
mod memory;
mod parquet_types;
mod reading;
mod round_trip;
mod typing;
