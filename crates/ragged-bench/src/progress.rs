//! Progress bars.

use indicatif::{ProgressBar, ProgressStyle};

/// A progress bar on standard error, if that is a terminal.
pub fn progress(steps: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} {msg}");
    let bar = ProgressBar::new(steps);
    match style {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}
