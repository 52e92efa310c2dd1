//! Regular expressions over byte strings.

use regex::bytes::{Regex, RegexBuilder};

use crate::element::Str;
use crate::error::{Error, Result, here};
use crate::graph::recorder::Recorder;
use crate::ops::operations;
use crate::record::host_step::{HostFlat, host_strings};
use crate::tensor::{HostValues, Tensor};

operations! {
    /// Regular expressions over byte strings.
    const OPERATIONS: family "Strings" on RaggedTensor<Str>;

    /// Whether the regular expression matches each whole string.
    ///
    /// Bools; the layout stays: empty rows stay empty. The syntax is that of the crate
    /// [`regex`](https://docs.rs/regex), with Unicode classes over bytes that need not be valid UTF-8; it is RE2's but
    /// for details. Polars' `str.contains` matches parts: `(?s).*a+.*` is its `a+`.
    ///
    /// A host step; see [`DeviceOptions::host_steps`](crate::DeviceOptions#structfield.host_steps).
    ///
    /// # Errors
    /// The tensor does not hold strings; an invalid pattern, or one that takes more than 16 MiB; a GPU whose options do
    /// not allow host steps.
    ///
    /// # Cost
    /// A read and an upload, and one wait; time linear in the bytes, on all cores.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec!["So", "long"], vec![]], &Device::cpu())?;
    /// assert_eq!(x.regex_full_match("[a-z]+")?.to_string(), "<ragged.RaggedTensor [[False, True], []]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn regex_full_match(&self, pattern: &str) -> bool;
    alias "match", "fullmatch";
    tensorflow "tf.strings.regex_full_match";
    host "all of it";
    gradient none "it takes strings";
    feature "regex";

    /// Each string with every match of the regular expression replaced by `rewrite`.
    ///
    /// The layout stays: empty rows stay empty. Matches do not overlap, and are found from left to right. In the
    /// replacement `\1` to `\9` are groups, `\0` is the whole match, and `\\` a backslash; Polars writes `${1}`. The
    /// syntax is that of the crate [`regex`](https://docs.rs/regex), with Unicode classes over bytes that need not be
    /// valid UTF-8; it is RE2's but for details.
    ///
    /// A host step; see [`DeviceOptions::host_steps`](crate::DeviceOptions#structfield.host_steps).
    ///
    /// # Errors
    /// The tensor does not hold strings; an invalid pattern, or one that takes more than 16 MiB; a replacement that
    /// names a group that the pattern does not have, or with another character after a backslash; 2^32 - 1 bytes or
    /// more; no host memory for the result; a GPU whose options do not allow host steps.
    ///
    /// # Cost
    /// A read and an upload, and one wait; time linear in the bytes, on all cores.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested(["thanks", "for"], &Device::cpu())?;
    /// let y = x.regex_replace("[aeiou]", r"<\0>")?;
    /// assert_eq!(y.to_string(), "tensor([b'th<a>nks', b'f<o>r'], shape=(2,), dtype=str)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn regex_replace(&self, pattern: &str, rewrite: &str) -> Str;
    alias "sub", "gsub", "replace";
    tensorflow "tf.strings.regex_replace";
    awkward "ak.str.replace_substring_regex";
    polars "str.replace_all";
    host "all of it";
    gradient none "it takes strings";
    feature "regex";

    /// Each string with the first match of the regular expression replaced by `rewrite`.
    ///
    /// The layout stays: empty rows stay empty. In the replacement `\1` to `\9` are groups, `\0` is the whole match,
    /// and `\\` a backslash; Polars writes `${1}`. The syntax is that of the crate [`regex`](https://docs.rs/regex),
    /// with Unicode classes over bytes that need not be valid UTF-8; it is RE2's but for details.
    ///
    /// A host step; see [`DeviceOptions::host_steps`](crate::DeviceOptions#structfield.host_steps).
    ///
    /// # Errors
    /// The tensor does not hold strings; an invalid pattern, or one that takes more than 16 MiB; a replacement that
    /// names a group that the pattern does not have, or with another character after a backslash; 2^32 - 1 bytes or
    /// more; no host memory for the result; a GPU whose options do not allow host steps.
    ///
    /// # Cost
    /// A read and an upload, and one wait; time linear in the bytes, on all cores.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested(["a-b-c"], &Device::cpu())?;
    /// assert_eq!(x.regex_replace_first("-", "+")?.to_string(), "tensor([b'a+b-c'], shape=(1,), dtype=str)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn regex_replace_first(&self, pattern: &str, rewrite: &str) -> Str;
    alias "sub";
    tensorflow "tf.strings.regex_replace(…, replace_global=False)";
    awkward "ak.str.replace_substring_regex(…, max_replacements=1)";
    polars "str.replace";
    host "all of it";
    gradient none "it takes strings";
    feature "regex";
}

#[track_caller]
fn regex_full_match(x: &Tensor, pattern: &str) -> Result<Tensor> {
    const OP: &str = "regex_full_match";
    let rec = x.recorder(OP);
    compiled(OP, pattern, pattern)?;
    let whole = compiled(OP, pattern, &format!(r"\A(?:{pattern})\z"))?;
    host_strings(rec, x, &pattern, |memory, strings| {
        Ok(HostFlat::Numbers(HostValues::Bool(memory.numbers(strings, |_, s| Ok(whole.is_match(s)))?)))
    })
}

#[track_caller]
fn regex_replace(x: &Tensor, pattern: &str, rewrite: &str) -> Result<Tensor> {
    let rec = x.recorder("regex_replace");
    x.matches_replaced(rec, pattern, rewrite, usize::MAX)
}

#[track_caller]
fn regex_replace_first(x: &Tensor, pattern: &str, rewrite: &str) -> Result<Tensor> {
    let rec = x.recorder("regex_replace_first");
    x.matches_replaced(rec, pattern, rewrite, 1)
}

/// Most bytes of a compiled expression.
const MOST: usize = 1 << 24;

/// Compiles `text`, which contains `pattern`.
#[track_caller]
pub(super) fn compiled(op: &'static str, pattern: &str, text: &str) -> Result<Regex> {
    let refused = |e| Error::argument(op, format!("the pattern {pattern:?} is not a regular expression: {e}"));
    RegexBuilder::new(text).size_limit(MOST).build().map_err(refused).map_err(here())
}

/// Part of a replacement.
#[derive(Debug, PartialEq)]
enum Part {
    Text(Vec<u8>),
    Group(usize),
}

/// The parts of a replacement, in which `\1` is group 1, `\0` the whole match, and `\\` a backslash.
///
/// # Errors
/// Another character after a backslash; a group that the pattern does not have.
#[track_caller]
fn parts(rec: Recorder<'_>, rewrite: &str, groups: usize) -> Result<Vec<Part>> {
    let (mut out, mut text) = (Vec::new(), Vec::new());
    let mut bytes = rewrite.bytes();
    while let Some(b) = bytes.next() {
        match (b, bytes.clone().next()) {
            (b'\\', Some(d)) if d.is_ascii_digit() => {
                let group = usize::from(d - b'0');
                if group >= groups {
                    let what =
                        format!("the replacement {rewrite:?} names group {group}, but the pattern has {}", groups - 1);
                    return Err(rec.argument(what));
                }
                out.push(Part::Text(std::mem::take(&mut text)));
                out.push(Part::Group(group));
                bytes.next();
            }
            (b'\\', Some(b'\\')) => {
                text.push(b'\\');
                bytes.next();
            }
            (b'\\', _) => {
                let what = format!("a backslash of the replacement {rewrite:?} needs a digit or a backslash after it");
                return Err(rec.argument(what));
            }
            _ => text.push(b),
        }
    }
    out.push(Part::Text(text));
    out.retain(|part| *part != Part::Text(Vec::new()));
    Ok(out)
}

impl Tensor {
    #[track_caller]
    fn matches_replaced(&self, rec: Recorder<'_>, pattern: &str, rewrite: &str, most: usize) -> Result<Self> {
        let regex = compiled(rec.op, pattern, pattern)?;
        let parts = parts(rec, rewrite, regex.captures_len())?;
        host_strings(rec, self, &(pattern, rewrite), |memory, strings| {
            memory.map(strings, |s, out| {
                let mut end = 0;
                for found in regex.captures_iter(s).take(most) {
                    let whole = found.get(0).map_or(0..0, |m| m.range());
                    out.push(&s[end..whole.start])?;
                    for part in &parts {
                        match part {
                            Part::Text(text) => out.push(text)?,
                            Part::Group(k) => out.push(found.get(*k).map_or(b"", |m| m.as_bytes()))?,
                        }
                    }
                    end = whole.end;
                }
                out.push(&s[end..])
            })
        })
    }
}
