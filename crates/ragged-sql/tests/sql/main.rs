//! Queries with the functions of rows, on every device, against the engine.

mod bits;
mod calls;
mod clauses;
mod constants;
mod every;
mod fused;
mod misuse;
mod nulls;
mod scalars;
mod session;
mod tables;
mod types;
