//! Options, tables, memory of the process, sums in the canonical order and equality of results, for the benchmarks that
//! compare the engine with a plain loop.
#![allow(dead_code, reason = "each benchmark uses a part of it")]

pub mod sums;

use std::fmt::Display;
use std::process::exit;
use std::str::FromStr;
use std::{env, fs};

use ragged::{Device, HostTensor, HostValues};

/// Options of the command line.
pub struct Args {
    usage: &'static str,
    /// Each option with its values.
    options: Vec<(String, Vec<String>)>,
    /// Filters (words before the first option): a benchmark runs if its name contains one of them.
    filters: Vec<String>,
    /// Whether this is a test run: everything once, on small inputs.
    pub is_test: bool,
}

impl Args {
    /// Parses the command line; prints `usage` and exits for `--help` and for options that are not in `known`.
    ///
    /// As with criterion, `--test` or the absence of `--bench`, which `cargo bench` passes, selects a test run.
    pub fn parse(usage: &'static str, known: &[&str]) -> Self {
        let mut args = Self { usage, options: Vec::new(), filters: Vec::new(), is_test: false };
        let mut is_bench = false;
        for word in env::args().skip(1) {
            match word.as_str() {
                "--test" => args.is_test = true,
                "--bench" => is_bench = true,
                "--help" | "-h" => {
                    println!("{usage}");
                    exit(0);
                }
                _ if word.starts_with("--") => {
                    if !known.contains(&word.as_str()) {
                        args.refuse(&format!("unknown option {word}"));
                    }
                    args.options.push((word, Vec::new()));
                }
                _ => match args.options.last_mut() {
                    Some((_, values)) => values.push(word),
                    None => args.filters.push(word),
                },
            }
        }
        args.is_test |= !is_bench;
        args
    }

    /// Prints the error and the usage, and exits.
    fn refuse(&self, error: &str) -> ! {
        eprintln!("error: {error}\n\n{}", self.usage);
        exit(2);
    }

    /// Whether the filters select the benchmark `name`.
    pub fn selects(&self, name: &str) -> bool {
        self.filters.is_empty() || self.filters.iter().any(|filter| name.contains(filter.as_str()))
    }

    /// All values of the option, in order.
    pub fn values(&self, option: &str) -> Vec<&str> {
        let given = self.options.iter().filter(|(name, _)| name == option);
        given.flat_map(|(_, values)| values.iter().map(String::as_str)).collect()
    }

    /// The positive number of an option; `None` if the option is absent.
    pub fn number(&self, option: &str) -> Option<usize> {
        let values = self.values(option);
        if !self.options.iter().any(|(name, _)| name == option) {
            return None;
        }
        match values[..] {
            [value] => match usize::from_str(value) {
                Ok(number) if number > 0 => Some(number),
                _ => self.refuse(&format!("{option} requires a number from 1, not {value:?}")),
            },
            _ => self.refuse(&format!("{option} requires one number")),
        }
    }

    /// The devices of `--device`; none if the option is absent.
    pub fn devices(&self) -> Vec<Device> {
        let open = |name: &str| Device::named(name).unwrap_or_else(|e| self.refuse(&e.to_string()));
        self.values("--device").into_iter().map(open).collect()
    }
}

/// The median; NaN of no numbers.
pub fn median(mut all: Vec<f64>) -> f64 {
    all.sort_by(f64::total_cmp);
    let n = all.len();
    if n == 0 { f64::NAN } else { (all[(n - 1) / 2] + all[n / 2]) / 2.0 }
}

/// Prints a table whose first column is aligned left, and the others right.
pub fn print_table(header: &[&str], rows: &[Vec<String>]) {
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.chain([header[column].chars().count()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..header.len()).map(width).collect();
    let line = |cells: &[&str]| {
        let cells = cells.iter().zip(&widths).enumerate();
        let cells = cells.map(|(k, (cell, &width))| match k {
            0 => format!("{cell:<width$}"),
            _ => format!("{cell:>width$}"),
        });
        cells.collect::<Vec<_>>().join("  ")
    };
    println!("{}", line(header));
    println!("{}", "-".repeat(widths.iter().sum::<usize>() + 2 * widths.len().saturating_sub(1)));
    for row in rows {
        println!("{}", line(&row.iter().map(String::as_str).collect::<Vec<_>>()));
    }
}

/// The value, or a dash if it is unknown.
pub fn or_dash(value: Option<impl Display>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| value.to_string())
}

/// A number of bytes in MiB.
pub fn mib(bytes: u64) -> String {
    format!("{:.1}", bytes as f64 / f64::from(1 << 20))
}

/// A field of `/proc/self/status` in bytes; `None` on systems without it.
fn status_bytes(field: &str) -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'))?;
    line.split_whitespace().next()?.parse::<u64>().ok().map(|kib| kib << 10)
}

/// Current resident memory of the process.
pub fn resident() -> Option<u64> {
    status_bytes("VmRSS")
}

/// The largest resident memory since the process started, or since [`reset_peak_resident`] succeeded.
pub fn peak_resident() -> Option<u64> {
    status_bytes("VmHWM")
}

/// Resets the peak of resident memory to the current value. Returns whether the system supports this.
pub fn reset_peak_resident() -> bool {
    fs::write("/proc/self/clear_refs", "5").is_ok()
}

/// The f32 values of a host tensor.
///
/// # Panics
/// The values have another dtype.
pub fn floats(read: HostTensor) -> Vec<f32> {
    match read.values {
        HostValues::F32(values) => values,
        other => panic!("the result has dtype {:?} instead of f32", other.dtype()),
    }
}

/// Asserts that both results have the same bits, where all NaNs are equal.
///
/// # Panics
/// The results differ.
pub fn assert_same_bits(what: &str, engine: &[f32], plain: &[f32]) {
    assert_eq!(engine.len(), plain.len(), "{what}: number of values, engine and loop");
    let is_same = |a: f32, b: f32| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
    if let Some(at) = engine.iter().zip(plain).position(|(&a, &b)| !is_same(a, b)) {
        panic!("{what}: value {at} is {:e} from the engine and {:e} from the loop", engine[at], plain[at]);
    }
}
