//! Construction of ragged tensors and access to their parts: round trips of every encoding, errors and their messages,
//! device-known sizes, and invalid lists for unchecked constructors.

#[path = "../common/mod.rs"]
mod common;

mod conversions;
mod device_known;
mod invalid;
mod lists;
mod nested_lists;
mod printed;
mod round_trips;
mod unchecked;
