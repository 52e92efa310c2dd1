//! Clusters of real processes on loopback: the bits of one process, also when executors are killed.

mod bits;
mod killed;
mod misuse;
mod setup;
mod versions;
