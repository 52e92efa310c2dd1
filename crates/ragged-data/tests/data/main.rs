//! Data in and out: round trips, nulls, memory, damaged input, misuse.

mod allocations;
mod arrow_errors;
mod arrow_nulls;
mod arrow_round_trips;
mod arrow_types;
mod by_bytes;
mod devices;
mod dlpack;
mod json;
mod large;
mod memory;
mod mutate;
mod mutated_memory;
mod mutations;
mod npy;
mod parquet;
mod random_arrays;
mod rows;
mod safetensors;
mod tree;

#[global_allocator]
static ALLOCATOR: allocations::Counting = allocations::Counting;
