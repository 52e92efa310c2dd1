//! Tensors whose sizes only the device knows, with their naive twins.

use ragged::opt::{Encoding, nonempty};
use ragged::{DType, Result, Tensor};

use super::material::{Leaf, Leaves, Material};
use super::twin::{Twin, transposed, unique};
use crate::common::naive::Rows;

/// An expression over the arrays of a material.
pub struct Source {
    pub name: &'static str,
    pub build: fn(&Leaves) -> Result<Tensor>,
    pub twin: fn(&Material) -> Option<Twin>,
}

fn rows(rows: Rows<i64>) -> Option<Twin> {
    Some(Twin::Rows { wide: false, rows })
}

fn wide_rows(rows: Rows<i64>) -> Option<Twin> {
    Some(Twin::Rows { wide: true, rows })
}

/// The rows that are flagged.
fn of_flagged(m: &Material) -> Rows<i64> {
    m.rows().into_iter().zip(m.row_flags()).filter(|(_, flag)| *flag).map(|(row, _)| row).collect()
}

/// The flagged values of each row.
fn flagged_values(m: &Material) -> Rows<i64> {
    let mut flags = m.value_flags().into_iter();
    let kept = |row: Vec<i64>| row.into_iter().filter(|_| flags.next() == Some(true)).collect();
    m.rows().into_iter().map(kept).collect()
}

/// The ranges below the positive lengths.
fn ranges(m: &Material) -> Rows<i64> {
    m.row_lengths().into_iter().filter(|&len| len > 0).map(|len| (0..i64::from(len)).collect()).collect()
}

fn lines(l: &Leaves) -> Result<Tensor> {
    l.get(Leaf::Text)?.string_split("\n")?.values()
}

fn masked_rows(l: &Leaves) -> Result<Tensor> {
    l.get(Leaf::Rows)?.boolean_mask(l.get(Leaf::RowFlags)?)
}

fn masked_values(l: &Leaves) -> Result<Tensor> {
    l.get(Leaf::Rows)?.boolean_mask(l.get(Leaf::ValueFlags)?)
}

/// A count of rows that is 0.
fn no_rows(l: &Leaves) -> Result<Tensor> {
    let flags = l.get(Leaf::RowFlags)?;
    l.get(Leaf::Rows)?.boolean_mask(&flags.logical_and(&flags.logical_not()?)?)
}

fn positive_counts(l: &Leaves) -> Result<Tensor> {
    let counts = l.get(Leaf::Counts)?;
    counts.boolean_mask(&counts.greater(0i64)?)
}

fn positions(l: &Leaves) -> Result<Tensor> {
    l.get(Leaf::Flat)?.greater(2)?.where_indices()
}

pub const SOURCES: &[Source] = &[
    Source { name: "masked rows", build: masked_rows, twin: |m| rows(of_flagged(m)) },
    Source { name: "masked values", build: masked_values, twin: |m| rows(flagged_values(m)) },
    Source { name: "no rows", build: no_rows, twin: |_| rows(Vec::new()) },
    Source { name: "lines", build: lines, twin: |_| None },
    Source { name: "codes of lines", build: |l| lines(l)?.unicode_decode(Encoding::Utf8), twin: |_| None },
    Source { name: "words", build: |l| l.get(Leaf::Words)?.string_split(nonempty(" ")), twin: |_| None },
    Source {
        name: "lengths of words",
        build: |l| l.get(Leaf::Words)?.string_split(nonempty(" "))?.string_length(),
        twin: |_| None,
    },
    Source {
        name: "groups",
        build: |l| Ok(l.get(Leaf::Flat)?.group_by_key(l.get(Leaf::Keys)?)?.1),
        twin: |m| rows(m.rows().into_iter().filter(|row| !row.is_empty()).collect()),
    },
    Source { name: "ranges", build: |l| positive_counts(l)?.range(), twin: |m| wide_rows(ranges(m)) },
    Source {
        name: "unique",
        build: |l| l.get(Leaf::Rows)?.unique(1),
        twin: |m| rows(m.rows().iter().map(|row| unique(row)).collect()),
    },
    Source {
        name: "transposed",
        build: |l| l.get(Leaf::Rows)?.transpose_rows(),
        twin: |m| rows(transposed(&m.rows())),
    },
    Source { name: "windows", build: |l| masked_rows(l)?.sliding_windows(3, 1), twin: |_| None },
    Source {
        name: "masked vector",
        build: |l| {
            let x = l.get(Leaf::Flat)?;
            x.boolean_mask(&x.greater(2)?)
        },
        twin: |m| {
            let values = m.flat().into_iter().filter(|&v| v > 2).map(i64::from).collect();
            Some(Twin::Vector { wide: false, values })
        },
    },
    Source { name: "positions", build: positions, twin: |_| None },
    Source {
        name: "pairs of positions",
        build: |l| {
            let at = positions(l)?;
            Tensor::concat(&[&at, &at], 1)
        },
        twin: |_| None,
    },
    Source {
        name: "runs",
        build: |l| Ok(l.get(Leaf::Rows)?.run_lengths()?.0),
        twin: |m| {
            let runs = |mut row: Vec<i64>| {
                row.dedup();
                row
            };
            rows(m.rows().into_iter().map(runs).collect())
        },
    },
    Source { name: "flags of masked rows", build: |l| masked_rows(l)?.greater(2), twin: |_| None },
    Source {
        name: "halves of masked values",
        build: |l| masked_values(l)?.cast(DType::F32)?.multiply(0.5f32),
        twin: |_| None,
    },
];
