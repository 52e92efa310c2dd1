//! Measurements, with the keys that `ragged-bench --json` and `ragged-bench report` use.

use anyhow::Result;
use serde::{Deserialize, Serialize};

/// One operation of one library.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Record {
    pub peer: String,
    #[serde(default)]
    pub device: String,
    pub dist: String,
    pub op: String,
    pub values: u32,
    pub rows: usize,
    pub ms: f64,
    /// Whether the result equals ragged's, if they were compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub equal: Option<bool>,
}

/// Parses one object per line.
///
/// # Errors
/// A line is something else.
pub fn parse(text: &str) -> Result<Vec<Record>> {
    Ok(serde_json::Deserializer::from_str(text).into_iter().collect::<Result<_, _>>()?)
}

/// Whether two results are equal up to the order of sums and the exponential function. The maximum of an empty row may
/// be the least finite number.
pub fn same(ours: &[f32], theirs: &[f32]) -> bool {
    let is_close = |(&a, &b): (&f32, &f32)| {
        let (a, b) = (a.max(f32::MIN), b.max(f32::MIN));
        a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= 1e-4 * a.abs().max(b.abs()).max(1e-2)
    };
    ours.len() == theirs.len() && ours.iter().zip(theirs).all(is_close)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_compared_up_to_rounding() {
        assert!(same(&[1.0, f32::NEG_INFINITY, f32::NAN], &[1.00001, f32::MIN, f32::NAN]));
        assert!(!same(&[1.0], &[1.01]));
        assert!(!same(&[1.0], &[1.0, 1.0]));
        assert!(!same(&[1.0], &[f32::NAN]));
    }

    #[test]
    fn lines_are_read() -> Result<()> {
        let line = r#"{"peer":"cub","dist":"giant","op":"sum","values":8,"rows":3,"ms":0.5}"#;
        let all = parse(&format!("{line}\n{line}\n"))?;
        assert_eq!((all.len(), all[0].peer.as_str(), all[1].equal), (2, "cub", None));
        assert!(parse("{}").is_err());
        Ok(())
    }
}
