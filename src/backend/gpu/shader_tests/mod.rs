//! Generated shaders: every recipe with every operation and dtype is lowered, validated and looked over for what the
//! dialect forbids (`validity`, `dialect`, `structure`); every operation really runs on every adapter, on values that
//! break operations, and gives the CPU's bits (`opcodes`, `primitives`, `limits`).

mod cases;
mod dialect;
mod limits;
mod opcodes;
mod ops;
mod primitives;
mod structure;
mod twins;
mod validate;
mod validity;
mod windowed;
