//! The input of the text pipeline.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

/// A text: the concatenation of files.
#[derive(Debug)]
pub struct Text {
    /// The bytes: UTF-8, without the final newline.
    pub bytes: Vec<u8>,
    /// Number of files.
    pub files: usize,
    /// Number of files in folders that were skipped because they are not text.
    pub skipped: usize,
}

impl Text {
    /// The lines, split on the host.
    pub fn lines(&self) -> impl Iterator<Item = &[u8]> {
        self.bytes.split(|&b| b == b'\n')
    }

    fn append(&mut self, text: &[u8]) {
        if !self.bytes.is_empty() && self.bytes.last() != Some(&b'\n') {
            self.bytes.push(b'\n');
        }
        self.bytes.extend_from_slice(text);
        self.files += 1;
    }
}

/// The repository's own text: files and folders, with the extensions to read.
const OWN: [(&str, &[&str]); 9] = [
    ("README.md", &["md"]),
    ("CHANGELOG.md", &["md"]),
    ("docs", &["md"]),
    ("src", &["rs"]),
    ("crates", &["rs", "wgsl"]),
    ("shaders", &["wgsl", "md"]),
    ("tests", &["rs", "md"]),
    ("examples", &["rs"]),
    ("benches", &["rs"]),
];

/// Reads the inputs, by default the repository's own text.
///
/// # Errors
/// A file does not exist or is not UTF-8 text; a folder contains no text.
pub fn read(inputs: &[PathBuf]) -> Result<Text> {
    let mut text = Text { bytes: Vec::new(), files: 0, skipped: 0 };
    if inputs.is_empty() {
        let root = repository()
            .context("this is not the repository, whose texts are the default: give a file or folder with --input")?;
        for (name, endings) in OWN {
            let path = root.join(name);
            if path.exists() {
                read_path(&path, Some(endings), &mut text)?;
            }
        }
    }
    for path in inputs {
        let name = || format!("--input {}", path.display());
        let before = text.files;
        read_path(path, None, &mut text).with_context(name)?;
        if text.files == before {
            bail!("{}: the folder holds no UTF-8 text", name());
        }
    }
    if text.bytes.last() == Some(&b'\n') {
        text.bytes.pop();
    }
    Ok(text)
}

/// The root of this repository: the current folder, cargo's package folder, or an ancestor of them.
fn repository() -> Option<PathBuf> {
    let is_root = |p: &Path| p.join("shaders").is_dir() && p.join("crates/ragged-bench").is_dir();
    let (here, package) = (std::env::current_dir().ok(), std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from));
    let mut above = [&here, &package].into_iter().flatten().flat_map(|folder| folder.ancestors());
    above.find(|p| is_root(p)).map(Path::to_path_buf)
}

/// Appends the file, or the text files below the folder with one of the extensions, sorted by name within a folder.
fn read_path(path: &Path, endings: Option<&[&str]>, text: &mut Text) -> Result<()> {
    if !fs::metadata(path).context("cannot be read")?.is_dir() {
        let bytes = fs::read(path).context("cannot be read")?;
        check_text(&bytes)?;
        text.append(&bytes);
        return Ok(());
    }
    let mut folders = vec![path.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let named = || folder.display().to_string();
        let entries = fs::read_dir(&folder).with_context(named)?;
        let mut entries = entries.collect::<Result<Vec<_>, _>>().with_context(named)?;
        entries.sort_by_key(fs::DirEntry::file_name);
        for entry in entries {
            let (path, kind) = (entry.path(), entry.file_type().with_context(named)?);
            let name = entry.file_name();
            // Links are not followed: they may form cycles.
            if name.as_encoded_bytes().starts_with(b".") || kind.is_symlink() {
                continue;
            }
            if kind.is_dir() {
                // Cargo's build output.
                if !path.join("CACHEDIR.TAG").exists() {
                    folders.push(path);
                }
                continue;
            }
            let ending = path.extension().and_then(|e| e.to_str());
            if endings.is_some_and(|all| !ending.is_some_and(|e| all.contains(&e))) {
                continue;
            }
            let bytes = fs::read(&path).with_context(|| path.display().to_string())?;
            match check_text(&bytes) {
                Ok(()) => text.append(&bytes),
                Err(_) => text.skipped += 1,
            }
        }
    }
    Ok(())
}

/// # Errors
/// Bytes that are not UTF-8, or zero bytes.
fn check_text(bytes: &[u8]) -> Result<()> {
    if let Some(at) = bytes.iter().position(|&b| b == 0) {
        bail!("not text: byte {at} is zero");
    }
    if let Err(e) = std::str::from_utf8(bytes) {
        bail!("not text: byte {} is not UTF-8", e.valid_up_to());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binary_files_are_errors() {
        assert!(check_text("déjà\n".as_bytes()).is_ok());
        assert_eq!(check_text(b"ab\0").unwrap_err().to_string(), "not text: byte 2 is zero");
        assert_eq!(check_text(b"a\xff").unwrap_err().to_string(), "not text: byte 1 is not UTF-8");
    }

    #[test]
    fn files_are_separated_by_newlines() {
        let mut text = Text { bytes: Vec::new(), files: 0, skipped: 0 };
        text.append(b"a b");
        text.append(b"c\n");
        text.append(b"d");
        assert_eq!(text.bytes, b"a b\nc\nd");
        assert_eq!(text.lines().count(), 3);
    }

    #[test]
    fn a_missing_file_is_named() {
        let error = read(&[PathBuf::from("no/such/file")]).unwrap_err();
        assert!(format!("{error:#}").starts_with("--input no/such/file: cannot be read"), "{error:#}");
    }
}
