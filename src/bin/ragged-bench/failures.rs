//! What went wrong on one device while the others go on.

use anyhow::{Result, bail};

/// Counts the failures that were reported.
#[derive(Debug, Default)]
pub struct Failures(usize);

impl Failures {
    /// Says on one line of standard error what went wrong.
    pub fn report(&mut self, error: &anyhow::Error) {
        self.0 += 1;
        eprintln!("error: {}", one_line(&format!("{error:#}")));
    }

    /// Itself as the outcome of a run.
    ///
    /// # Errors
    /// Something was reported.
    pub fn outcome(&self) -> Result<()> {
        match self.0 {
            0 => Ok(()),
            1 => bail!("one failure, reported above"),
            n => bail!("{n} failures, reported above"),
        }
    }

    /// How many were reported.
    pub fn count(&self) -> usize {
        self.0
    }
}

/// Drivers and shader compilers answer in paragraphs.
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
