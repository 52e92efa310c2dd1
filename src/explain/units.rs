//! Numbers with their units.

use std::fmt;
use std::time::Duration;

/// A number of bytes, in the largest unit in which it is at least 1.
pub(super) struct Bytes(pub(super) u64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = ["B", "KiB", "MiB", "GiB", "TiB"];
        let unit = (self.0.max(1).ilog2() / 10).min(4);
        let value = self.0 as f64 / (1u64 << (10 * unit)) as f64;
        if unit == 0 { write!(f, "{} B", self.0) } else { write!(f, "{value:.1} {}", units[unit as usize]) }
    }
}

/// A time, in the largest unit in which it is at least 1.
pub(super) struct Time(pub(super) Duration);

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let us = self.0.as_secs_f64() * 1e6;
        match us {
            ..1e3 => write!(f, "{us:.1} us"),
            ..1e6 => write!(f, "{:.2} ms", us / 1e3),
            _ => write!(f, "{:.2} s", us / 1e6),
        }
    }
}

/// A count with its noun.
pub(super) struct Count(pub(super) u64, pub(super) &'static str);

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.0 == 1 {
            ""
        } else if self.1.ends_with("ch") {
            "es"
        } else {
            "s"
        };
        write!(f, "{} {}{plural}", self.0, self.1)
    }
}
