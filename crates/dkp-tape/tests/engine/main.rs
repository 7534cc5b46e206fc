//! Tests of the whole engine, on a model written from public operations.

mod allocation;
mod composition;
mod layer;
