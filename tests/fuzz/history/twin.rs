//! Naive twins: values as lists of 64-bit integers, and the operations of one ragged dimension as loops over them.

use ragged::{HostTensor, HostValues};

use crate::common::naive::{self, Rows};

/// A vector or rows of 32-bit or 64-bit integers.
#[derive(Clone, Debug, PartialEq)]
pub enum Twin {
    Vector { wide: bool, values: Vec<i64> },
    Rows { wide: bool, rows: Rows<i64> },
}

/// The number as an integer of the tensor's width.
fn fit(wide: bool, n: i64) -> i64 {
    if wide { n } else { i64::from(n as i32) }
}

impl Twin {
    /// The twin of a tensor of at most one ragged and no inner dimension.
    pub fn of(host: &HostTensor) -> Option<Self> {
        let (wide, values): (bool, Vec<i64>) = match &host.values {
            HostValues::I32(v) => (false, v.iter().map(|&n| n.into()).collect()),
            HostValues::I64(v) => (true, v.clone()),
            _ => return None,
        };
        match (host.inner_shape.len(), host.nested_row_splits.as_slice()) {
            (1, []) => Some(Self::Vector { wide, values }),
            (1, [splits]) => {
                let rows = splits.windows(2).map(|w| values[w[0] as usize..w[1] as usize].to_vec()).collect();
                Some(Self::Rows { wide, rows })
            }
            _ => None,
        }
    }

    /// Rows whose values are a function of each row's values.
    pub fn each_row(&self, f: impl Fn(&[i64]) -> Vec<i64>) -> Option<Self> {
        let Self::Rows { wide, rows } = self else { return None };
        let fitted = |row: &Vec<i64>| f(row).into_iter().map(|n| fit(*wide, n)).collect();
        Some(Self::Rows { wide: *wide, rows: rows.iter().map(fitted).collect() })
    }

    /// 64-bit rows that are a function of each row's values.
    pub fn each_row_wide(&self, f: impl Fn(&[i64]) -> Vec<i64>) -> Option<Self> {
        let Self::Rows { rows, .. } = self else { return None };
        Some(Self::Rows { wide: true, rows: rows.iter().map(|row| f(row)).collect() })
    }

    /// 32-bit rows that are a function of each row's values, as 32-bit integers.
    pub fn each_row_narrow(&self, f: impl Fn(&[i32]) -> Vec<i32>) -> Option<Self> {
        let Self::Rows { rows, .. } = self else { return None };
        let narrow = |row: &Vec<i64>| row.iter().map(|&n| n as i32).collect::<Vec<_>>();
        let rows = rows.iter().map(|row| f(&narrow(row)).into_iter().map(i64::from).collect()).collect();
        Some(Self::Rows { wide: false, rows })
    }

    /// A vector whose numbers are a function of each number.
    pub fn each_number(&self, f: impl Fn(i64) -> i64) -> Option<Self> {
        let Self::Vector { wide, values } = self else { return None };
        Some(Self::Vector { wide: *wide, values: values.iter().map(|&n| fit(*wide, f(n))).collect() })
    }

    /// Rows that are a function of all rows.
    pub fn all_rows(&self, f: impl Fn(&[Vec<i64>]) -> Rows<i64>) -> Option<Self> {
        let Self::Rows { wide, rows } = self else { return None };
        Some(Self::Rows { wide: *wide, rows: f(rows) })
    }

    /// A vector that is a function of all rows.
    pub fn vector(&self, f: impl Fn(&[Vec<i64>]) -> Vec<i64>) -> Option<Self> {
        let Self::Rows { wide, rows } = self else { return None };
        Some(Self::Vector { wide: *wide, values: f(rows).into_iter().map(|n| fit(*wide, n)).collect() })
    }

    /// A 64-bit vector that is a function of all rows.
    pub fn vector_wide(&self, f: impl Fn(&[Vec<i64>]) -> Vec<i64>) -> Option<Self> {
        let Self::Rows { rows, .. } = self else { return None };
        Some(Self::Vector { wide: true, values: f(rows) })
    }

    /// The values, without rows.
    pub fn flat(&self) -> Option<Self> {
        self.vector(<[_]>::concat)
    }
}

/// Rows transposed: row `j` has the `j`-th values of all rows that are long enough.
pub fn transposed(rows: &[Vec<i64>]) -> Rows<i64> {
    let longest = rows.iter().map(Vec::len).max().unwrap_or(0);
    let mut out = vec![Vec::new(); longest];
    for row in rows {
        row.iter().zip(&mut out).for_each(|(&v, column)| column.push(v));
    }
    out
}

/// The distinct values in ascending order.
pub fn unique(row: &[i64]) -> Vec<i64> {
    row.iter().copied().collect::<std::collections::BTreeSet<_>>().into_iter().collect()
}

/// The stable order of a row's values.
pub fn order(row: &[i64], descending: bool) -> Vec<i64> {
    let mut out: Vec<i64> = (0..row.len() as i64).collect();
    out.sort_by_key(|&at| if descending { -row[at as usize] } else { row[at as usize] });
    out
}

/// The sums before or up to each value.
pub fn running(row: &[i64]) -> Vec<i64> {
    row.iter()
        .scan(0i64, |sum, &v| {
            Some({
                *sum = sum.wrapping_add(v);
                *sum
            })
        })
        .collect()
}

/// The values at the positions that a Python slice takes from the row.
pub fn sliced(row: &[i64], start: Option<i64>, stop: Option<i64>, step: i64) -> Vec<i64> {
    naive::slice(row, start, stop, step)
}
