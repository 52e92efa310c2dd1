//! Runs: how what was recorded or traced is computed, step by step, and how results and failed conditions reach the host.

pub(crate) mod diagnosis;
pub(crate) mod driver;
pub(super) mod read_bytes;
pub(crate) mod recording;
pub(crate) mod stage;
pub(crate) mod timed_run;
pub(crate) mod traced_run;
