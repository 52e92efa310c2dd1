//! `ragged-bench report`: measurements as one self-contained HTML file.

mod heat;
mod measurement;
mod page;
mod rivals;
mod roofline;
mod style;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use crate::output_file::OutputFile;
use measurement::Measurement;

/// Draws the measurements of the input files.
///
/// # Errors
/// An input cannot be read, or is not a list of measurements; the output cannot be written.
pub fn run(input: &[PathBuf], output: &Path, out: &mut impl Write) -> Result<()> {
    let context = || output.display().to_string();
    let same = |path: &PathBuf| matches!((path.canonicalize(), output.canonicalize()), (Ok(a), Ok(b)) if a == b);
    ensure!(!input.iter().any(same), "{}: the output is also an input", context());
    let mut all = Vec::new();
    for (file, path) in input.iter().enumerate() {
        let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
        all.extend(measurement::parse(&text, file).with_context(|| path.display().to_string())?);
    }
    let target = OutputFile::new(output).with_context(context)?;
    let page = draw(&all)?;
    target.replace(|file| file.write_all(page.as_bytes())).with_context(context)?;
    writeln!(out, "{} measurements drawn in {}", all.len(), output.display())?;
    Ok(())
}

/// The whole page.
fn draw(all: &[Measurement]) -> Result<String> {
    let mut page = page::Page::default();
    for (device, of_device) in measurement::by(all, Measurement::device_name) {
        roofline::draw(&mut page, &device, &of_device)?;
        heat::draw(&mut page, &device, &of_device)?;
    }
    rivals::draw(&mut page, all)?;
    Ok(page.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEASURED: &str = r#"[
        {"peer":"ragged-cpu","device":"cpu","dist":"uniform","op":"sum","values":64,"rows":4,"ms":0.5,"gpu_ms":null,
         "dispatches":1,"submissions":0,"waits":1,"bytes":300,"least_bytes":280,"copy_gb_s":2.0},
        {"peer":"ragged-cpu","device":"cpu","dist":"mean 2 skew 1","op":"sum","values":64,"rows":30,"ms":0.5,
         "gpu_ms":null,"bytes":300,"least_bytes":280,"copy_gb_s":2.0,"sweep":{"mean":2,"skew":1.0}}
    ]"#;
    const OTHERS: &str = r#"{"peer":"a<b","dist":"uniform","op":"sum","values":64,"rows":4,"ms":2.0,"equal":false}"#;

    #[test]
    fn a_page_shows_all_parts_and_needs_no_other_file() -> Result<()> {
        let mut all = measurement::parse(MEASURED, 0)?;
        all.extend(measurement::parse(OTHERS, 1)?);
        let page = draw(&all)?;
        for part in ["Throughput relative to a copy", "Row lengths", "Other libraries", "a&lt;b", "4.0", "differs"] {
            assert!(page.contains(part), "{part}: {page}");
        }
        assert!(!page.contains("a<b") && !page.contains("NaN"));
        assert_eq!(page.matches("<svg").count(), 3);
        assert_eq!(page.matches("<svg").count(), page.matches("</svg>").count());
        for link in ["src=", "href=", "@import", "url("] {
            assert!(!page.contains(link), "{link}");
        }
        Ok(())
    }

    #[test]
    fn measurements_are_parsed_and_invalid_ones_are_errors() -> Result<()> {
        let all = measurement::parse(MEASURED, 0)?;
        assert_eq!(all.len(), 2);
        for (text, why) in [
            ("[1]", "not a measurement"),
            ("{\"peer\": 3}", "not a measurement"),
            ("{\"peer\": \"a\", \"dist\": \"b\"}", "missing field `op`"),
            ("nothing", "expected"),
            ("[]", "no measurements"),
            ("", "no measurements"),
        ] {
            let error = measurement::parse(text, 0).expect_err(text);
            assert!(format!("{error:#}").contains(why), "{text}: {error:#}");
        }
        Ok(())
    }

    #[test]
    fn inputs_are_not_overwritten() {
        let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"));
        let before = fs::read_to_string(&path).expect("there");
        let error = run(std::slice::from_ref(&path), &path, &mut Vec::new()).expect_err("the same file");
        assert!(error.to_string().contains("also an input"), "{error}");
        assert_eq!(fs::read_to_string(&path).expect("there"), before);
    }
}
