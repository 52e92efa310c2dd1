//! Examples, files of records and datasets, on every device: the conformance families, files that TensorFlow wrote,
//! damaged input, and pipelines.

mod conformance;
mod datasets;
mod devices;
mod examples;
mod got;
mod hostile;
mod records;
mod seed;
mod sequences;
mod threads;

#[path = "../data/allocations.rs"]
mod allocations;
#[path = "../data/mutate.rs"]
#[allow(dead_code, reason = "a part of it is about formats that take long")]
mod mutate;

#[global_allocator]
static ALLOCATOR: allocations::Counting = allocations::Counting;

#[path = "../../../../tests/conformance/case.rs"]
#[allow(dead_code, reason = "a part of it is about other families")]
mod case;
#[path = "../../../../tests/conformance/compare.rs"]
mod compare;
#[path = "../../../../tests/conformance/quirk.rs"]
#[allow(dead_code, reason = "a part of it is about other families")]
mod quirk;
