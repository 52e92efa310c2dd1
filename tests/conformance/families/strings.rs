//! The `strings` family.

use ragged::opt::{
    Ngrams, NumberFormat, Pad, Separator, keep, keep_short, max_splits, pad_width, padded_with, white_space,
};
use ragged::{DType, Device, Result, Tensor};
use serde_json::Value as Json;

use crate::case::{Case, cannot_be_written};
use crate::got::Got;

/// Whether every case must pass.
pub const CLAIMED: bool = true;

/// Whether the case's operation runs on the host.
pub fn is_host_step(case: &Case) -> bool {
    match case.op.as_str() {
        "strings.regex_full_match" | "strings.regex_replace" | "strings.format" => true,
        "strings.upper_utf8" | "strings.lower_utf8" => true,
        "strings.to_number" => matches!(case.attr_dtype("out_type"), Some(DType::F32 | DType::F64)),
        "strings.as_string" | "strings.as_string_prec" => case.uses(DType::F32),
        _ => false,
    }
}

pub fn run(case: &Case, device: &Device) -> Result<Got> {
    let x = case.tensor(0, device)?;
    let by_char = case.attr_str("unit") == Some("UTF8_CHAR");
    let separator = case.attr_str("separator").or(case.attr_str("sep")).unwrap_or_default();
    let int = |key: &str| case.attr_i64(key).expect("an integer");
    Ok(Got::from(match case.op.as_str() {
        "strings.length" if by_char => x.string_length_chars()?,
        "strings.length" => x.string_length()?,
        "strings.substr" if by_char => x.substr_chars(int("pos"), int("len"))?,
        "strings.substr" => x.substr(int("pos"), int("len"))?,
        "strings.substr_tensors" => x.substr(&case.tensor(1, device)?, &case.tensor(2, device)?)?,
        "strings.upper" => x.string_upper()?,
        "strings.lower" => x.string_lower()?,
        "strings.upper_utf8" => x.string_upper_utf8()?,
        "strings.lower_utf8" => x.string_lower_utf8()?,
        "strings.strip" => x.string_strip()?,
        "strings.bytes_split" => x.bytes_split()?,
        "strings.split" => x.string_split(separator_of(case))?,
        "strings.join" => Tensor::string_join(&case.tensors(device)?, separator)?,
        "strings.ngrams" => {
            let separator = case.attr_str("sep").unwrap_or(" ");
            x.string_ngrams(ngrams_of(case), separator)?
        }
        "strings.reduce_join" => {
            let keeps = case.attr_bool("keepdims");
            match (case.attr_ints("axis"), keeps) {
                (None, false) => x.reduce_join(.., separator)?,
                (None, true) => x.reduce_join(keep(..), separator)?,
                (Some(axes), false) => x.reduce_join(&axes, separator)?,
                (Some(axes), true) => x.reduce_join(keep(&axes), separator)?,
            }
        }
        "strings.unsorted_segment_join" => x.unsorted_segment_join(&case.tensor(1, device)?, int("num"), separator)?,
        "strings.to_number" => x.string_to_number(case.attr_dtype("out_type").expect("a dtype"))?,
        "strings.as_string" => x.as_string()?,
        "strings.as_string_prec" => x.as_string_with(&NumberFormat::default().precision(int("precision") as u16))?,
        "strings.as_string_width" => {
            let format = NumberFormat::default().width(int("width") as u16);
            x.as_string_with(&match case.attr_str("fill") {
                Some("0") => format.pad(Pad::Zeros),
                other => return cannot_be_written("as_string", &format!("the fill {other:?}")),
            })?
        }
        "strings.regex_full_match" => x.regex_full_match(case.attr_str("pattern").expect("a pattern"))?,
        "strings.regex_replace" => {
            let [pattern, rewrite] = ["pattern", "rewrite"].map(|key| case.attr_str(key).expect("a string"));
            if case.attr_bool("replace_global") {
                x.regex_replace(pattern, rewrite)?
            } else {
                x.regex_replace_first(pattern, rewrite)?
            }
        }
        "strings.format" => x.string_format("{}")?,
        _ => return super::unicode::run(case, device),
    }))
}

/// TensorFlow takes an empty separator for white space, and a limit below 1 for none.
fn separator_of(case: &Case) -> Separator {
    let by = match case.attr_str("sep") {
        None | Some("") => white_space(),
        Some(s) => Separator::from(s),
    };
    match case.attr_i64("maxsplit") {
        Some(n) if n > 0 => max_splits(by, n),
        _ => by,
    }
}

fn ngrams_of(case: &Case) -> Ngrams {
    let mut ngrams = Ngrams::from(case.attr_ints("n").expect("widths"));
    let text = |v: &Json| v.as_str().expect("a string").to_owned();
    ngrams = match case.attr("pad") {
        None => ngrams,
        Some(Json::Array(both)) => padded_with(ngrams, text(&both[0]), text(&both[1])),
        Some(one) => padded_with(ngrams, text(one), text(one)),
    };
    if let Some(width) = case.attr_i64("pad_width") {
        ngrams = pad_width(ngrams, width);
    }
    if case.attr_bool("short") { keep_short(ngrams) } else { ngrams }
}
