//! Failures on single devices, which do not stop the other devices.

use anyhow::{Result, bail};

/// Counts the reported failures.
#[derive(Debug, Default)]
pub struct Failures(usize);

impl Failures {
    /// Reports a failure on one line of standard error.
    pub fn report(&mut self, error: &anyhow::Error) {
        self.0 += 1;
        eprintln!("error: {}", one_line(&format!("{error:#}")));
    }

    /// The outcome of the run.
    ///
    /// # Errors
    /// A failure was reported.
    pub fn outcome(&self) -> Result<()> {
        match self.0 {
            0 => Ok(()),
            1 => bail!("one failure, reported above"),
            n => bail!("{n} failures, reported above"),
        }
    }

    /// Number of reported failures.
    pub fn count(&self) -> usize {
        self.0
    }
}

/// Joins a text into one line, since the messages of drivers and shader compilers have several.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_paragraph_becomes_a_line() {
        assert_eq!(one_line("the GPU refused\n  map: no\r\n"), "the GPU refused map: no");
    }
}
