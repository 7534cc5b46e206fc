//! Tables on disk, from the outside.

mod common;
mod damage;
mod encoding;
mod errors;
mod parquet_types;
mod reading;
mod round_trip;
mod typing;
