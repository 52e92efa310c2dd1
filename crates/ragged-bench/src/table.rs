//! Tables and units.

use comfy_table::{CellAlignment, LineStyle, Table, TableStyle};

/// Table style: a line below the header and no other.
const STYLE: TableStyle = TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));

/// Formats a table. The first `left` columns are aligned to the left, the others to the right.
pub fn table(header: &[&str], left: usize, rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_style(STYLE);
    table.set_header(header.iter().copied());
    for row in rows {
        table.add_row(row);
    }
    for (k, column) in table.column_iter_mut().enumerate() {
        column.set_cell_alignment(if k < left { CellAlignment::Left } else { CellAlignment::Right });
    }
    table.trim_fmt()
}

/// Formats a number with a comma every three digits.
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() * 4 / 3);
    for (k, digit) in digits.chars().enumerate() {
        if k > 0 && (digits.len() - k).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// Formats bytes in the largest unit that leaves at least one.
pub fn bytes(n: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let unit = (n.max(1).ilog2() / 10).min(4);
    if unit == 0 {
        return format!("{n} B");
    }
    format!("{:.1} {}", n as f64 / (1u64 << (10 * unit)) as f64, UNITS[unit as usize])
}

/// Placeholder for an unknown value.
pub const UNKNOWN: &str = "–";

/// Formats a number with the given number of decimals, or [`UNKNOWN`].
pub fn number(v: Option<f64>, decimals: usize) -> String {
    v.map_or_else(|| UNKNOWN.to_owned(), |v| format!("{v:.decimals$}"))
}

/// Formats a count, or [`UNKNOWN`].
pub fn count(v: Option<u64>) -> String {
    v.map_or_else(|| UNKNOWN.to_owned(), grouped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units() {
        assert_eq!([0, 999, 1000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
        assert_eq!([0, 1023, 1024, 1_572_864].map(bytes), ["0 B", "1023 B", "1.0 KiB", "1.5 MiB"]);
        assert_eq!(number(None, 2), UNKNOWN);
        assert_eq!(number(Some(1.0), 2), "1.00");
    }

    #[test]
    fn numbers_are_aligned_to_the_right() {
        let text = table(&["op", "ms"], 1, [vec!["sum".into(), "1.0".into()], vec!["max".into(), "10.0".into()]]);
        assert_eq!(text.lines().map(|l| l.trim_start().to_owned()).filter(|l| l.starts_with("sum")).count(), 1);
        let ends: Vec<usize> = text.lines().skip(2).map(str::len).collect();
        assert_eq!(ends[0], ends[1]);
    }
}
