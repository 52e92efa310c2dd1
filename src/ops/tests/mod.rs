//! Tests of the arrays that operations record.

mod accesses;
