//! The table of all libraries.

use crate::on_ragged::PEER;
use crate::record::Record;

/// Formats a row per operation and distribution, with a column per library.
pub fn show(records: &[Record]) -> String {
    let (mut peers, mut lines) = (Vec::new(), Vec::new());
    for r in records {
        if !peers.contains(&&r.peer) {
            peers.push(&r.peer);
        }
        if !lines.contains(&(&r.dist, &r.op)) {
            lines.push((&r.dist, &r.op));
        }
    }
    let mut table = vec![["lengths", "operation"].map(str::to_owned).to_vec()];
    table[0].extend(peers.iter().map(|p| format!("{p} ms")));
    for (dist, op) in lines {
        let of = |peer: &str| records.iter().find(|r| r.peer == peer && r.dist == *dist && r.op == *op);
        let ours = of(PEER).map(|r| r.ms);
        let cell = |peer: &str| {
            let Some(r) = of(peer) else { return "–".to_owned() };
            let ratio = ours.filter(|_| peer != PEER).map_or_else(String::new, |o| format!(" ({:.2})", r.ms / o));
            format!("{:.3}{ratio}{}", r.ms, if r.equal == Some(false) { " differs" } else { "" })
        };
        let mut line = vec![dist.clone(), op.clone()];
        line.extend(peers.iter().map(|p| cell(p)));
        table.push(line);
    }
    let width = |k: usize| table.iter().map(|line| line[k].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..peers.len() + 2).map(width).collect();
    let mut out = String::new();
    for line in &table {
        for (k, (cell, width)) in line.iter().zip(&widths).enumerate() {
            out += &if k < 2 { format!("{cell:<width$}  ") } else { format!("{cell:>width$}  ") };
        }
        out.truncate(out.trim_end().len());
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_relative_to_ragged() {
        let record = |peer: &str, ms, equal| Record {
            peer: peer.into(),
            device: String::new(),
            dist: "giant".into(),
            op: "sum".into(),
            values: 8,
            rows: 2,
            ms,
            equal,
        };
        let shown = show(&[record(PEER, 2.0, None), record("other", 3.0, Some(false))]);
        assert!(shown.contains("2.000") && shown.contains("3.000 (1.50) differs"), "{shown}");
    }
}
