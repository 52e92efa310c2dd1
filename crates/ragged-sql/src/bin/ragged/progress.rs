//! How far a query is.

use std::io::{IsTerminal as _, Write as _, stderr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use datafusion::common::stats::Precision;
use datafusion::datasource::physical_plan::FileScanConfig;
use datafusion::datasource::source::DataSourceExec;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::statistics::{StatisticsArgs, StatisticsContext};
use datafusion::physical_plan::streaming::StreamingTableExec;
use indicatif::{HumanBytes, ProgressBar, ProgressStyle};
use ragged_sql::Functions;

use crate::counted::Count;
use crate::inputs::Table;

/// Between two messages.
pub const PERIOD: Duration = Duration::from_millis(200);

/// The progress of a query, on a terminal, as lines of JSON, or nowhere.
pub struct Progress {
    plan: Arc<dyn ExecutionPlan>,
    count: Arc<Count>,
    functions: Functions,
    started: Instant,
    total: Total,
    to: To,
}

enum To {
    Terminal(ProgressBar),
    Lines,
    Nowhere,
}

/// What is known before the rows are read.
#[derive(Debug, Default)]
struct Total {
    /// Rows of all files, if they say.
    rows: Option<usize>,
    /// Bytes of all files, of which column formats are read in part.
    bytes: u64,
}

impl Progress {
    pub fn new(
        plan: &Arc<dyn ExecutionPlan>,
        tables: &[Table],
        count: &Arc<Count>,
        functions: Functions,
        lines: bool,
    ) -> Self {
        let mut total = Total { rows: Some(0), bytes: 0 };
        leaves(plan, &mut |leaf| total.add(leaf));
        for (bytes, rows) in tables.iter().filter_map(|table| table.extent) {
            let sum = |sum: usize| sum.checked_add(usize::try_from(rows?).ok()?);
            total.rows = total.rows.and_then(sum);
            total.bytes += bytes;
        }
        let to = match lines {
            true => To::Lines,
            false if stderr().is_terminal() => To::Terminal(bar()),
            false => To::Nowhere,
        };
        Self { plan: plan.clone(), count: count.clone(), functions, started: Instant::now(), total, to }
    }

    /// Shows the state.
    pub fn show(&self) {
        match &self.to {
            To::Terminal(bar) => {
                let done = self.done();
                if let Some(done) = done {
                    bar.set_position((done * 1000.0) as u64);
                }
                bar.set_prefix(done.map_or(String::new(), |done| format!("{:3.0} %", done * 100.0)));
                bar.set_message(self.message(done));
            }
            To::Lines => self.line(false),
            To::Nowhere => {}
        }
    }

    /// The last state, of a query that is done.
    pub fn finish(&self) {
        match &self.to {
            To::Terminal(_) => self.clear(),
            To::Lines => self.line(true),
            To::Nowhere => {}
        }
    }

    /// Leaves the terminal as it was.
    pub fn clear(&self) {
        if let To::Terminal(bar) = &self.to {
            bar.finish_and_clear();
        }
    }

    /// Which part of the input has been read: of the rows where files say how many there are, else of the bytes.
    fn done(&self) -> Option<f64> {
        let part = match self.total.rows {
            Some(rows) if rows > 0 => self.rows() as f64 / rows as f64,
            _ if self.total.bytes > 0 => self.bytes() as f64 / self.total.bytes as f64,
            _ => return None,
        };
        Some(part.min(1.0))
    }

    /// Rows that have been read.
    fn rows(&self) -> usize {
        let mut rows = usize::try_from(self.count.rows()).unwrap_or(usize::MAX);
        leaves(&self.plan, &mut |leaf| rows += leaf.metrics().and_then(|metrics| metrics.output_rows()).unwrap_or(0));
        rows
    }

    /// Bytes that have been read of the total. Parts of files of lines are read to the ends of their last lines, which are also
    /// in the next parts.
    fn bytes(&self) -> u64 {
        match self.total.bytes {
            0 => self.count.bytes(),
            total => self.count.bytes().min(total),
        }
    }

    fn message(&self, done: Option<f64>) -> String {
        let seconds = self.started.elapsed().as_secs_f64();
        let values = self.functions.values();
        let rate = match values {
            0 => format!("{} rows/s", short(self.rows() as f64 / seconds)),
            values => format!("{} values/s", short(values as f64 / seconds)),
        };
        let left = done.filter(|done| *done > 0.01).map(|done| (seconds / done - seconds).ceil() as u64);
        let left = left.map_or(String::new(), |left| format!("  {}:{:02} left", left / 60, left % 60));
        format!("{}  {rate}{left}", HumanBytes(self.bytes()))
    }

    fn line(&self, is_done: bool) {
        let rows = self.total.rows.filter(|rows| *rows > 0).map_or("null".into(), |rows| rows.to_string());
        // Standard error that is closed is no reason to stop.
        let _ = writeln!(
            stderr(),
            "{{\"rows\":{},\"total_rows\":{rows},\"bytes\":{},\"total_bytes\":{},\"values\":{},\"seconds\":{:.3},\"done\":{is_done}}}",
            self.rows(),
            self.bytes(),
            self.total.bytes,
            self.functions.values(),
            self.started.elapsed().as_secs_f64(),
        );
    }
}

impl Total {
    fn add(&mut self, leaf: &dyn ExecutionPlan) {
        // Of files that this program reads by itself, whose extent the tables have.
        if leaf.downcast_ref::<StreamingTableExec>().is_some() {
            return;
        }
        let statistics = StatisticsContext::new().compute(leaf, &StatisticsArgs::new());
        let rows = statistics.map_or(Precision::Absent, |statistics| statistics.num_rows);
        self.rows = match (self.rows, rows) {
            (Some(sum), Precision::Exact(rows) | Precision::Inexact(rows)) => Some(sum + rows),
            _ => None,
        };
        let scan = leaf
            .downcast_ref::<DataSourceExec>()
            .and_then(|source| source.data_source().downcast_ref::<FileScanConfig>());
        for file in scan.into_iter().flat_map(|scan| &scan.file_groups).flat_map(|group| group.files()) {
            self.bytes += match &file.range {
                Some(range) => u64::try_from(range.end - range.start).unwrap_or(0),
                None => file.object_meta.size,
            };
        }
    }
}

/// Calls with the parts of a plan that read.
fn leaves(plan: &Arc<dyn ExecutionPlan>, f: &mut impl FnMut(&dyn ExecutionPlan)) {
    match &plan.children()[..] {
        [] => f(&**plan),
        children => children.iter().for_each(|child| leaves(child, f)),
    }
}

fn bar() -> ProgressBar {
    let style =
        ProgressStyle::with_template("[{bar:20}] {prefix}  {msg}").unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(1000).with_style(style.progress_chars("##-"))
}

/// A number in a few characters: 412 M.
fn short(number: f64) -> String {
    let (scale, unit) =
        [(1e9, " G"), (1e6, " M"), (1e3, " k")].into_iter().find(|(scale, _)| number >= *scale).unwrap_or((1.0, ""));
    format!("{:.0}{unit}", number / scale)
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn numbers_are_short() {
        assert_eq!([0.4, 999.0, 1500.0, 4.12e8, 2e9].map(short), ["0", "999", "2 k", "412 M", "2 G"]);
    }
}
