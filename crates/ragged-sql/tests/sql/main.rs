//! Queries with the functions of rows, on every device, against the engine.

mod bits;
mod calls;
mod every;
mod fused;
mod misuse;
mod nulls;
mod session;
mod tables;
mod types;
