//! Variants of enums, by their names.

use crate::operation::Value;
use crate::operation::call::{FromValue, Given};
use crate::ops::{Base64, Combiner, Encoding, InvalidText, ShardStrategy, TextEncoding};

/// The variant whose name is given, in lower case or as in Rust.
fn chosen<T: Copy>(given: &Given<'_>, variants: &[(&str, T)]) -> Result<T, String> {
    let of_name = |name: &[u8]| variants.iter().find(|(known, _)| name.eq_ignore_ascii_case(known.as_bytes()));
    let found = if let Value::Text(name) = given.value { of_name(name) } else { None };
    found.map(|(_, variant)| *variant).ok_or_else(|| {
        let names: Vec<String> = variants.iter().map(|(name, _)| format!("{name:?}")).collect();
        given.other(&format!("one of {}", names.join(", ")))
    })
}

impl FromValue<'_> for Combiner {
    fn from_value(given: &mut Given<'_>) -> Result<Self, String> {
        chosen(given, &[("sum", Self::Sum), ("mean", Self::Mean), ("sqrtn", Self::SqrtN)])
    }
}

impl FromValue<'_> for ShardStrategy {
    fn from_value(given: &mut Given<'_>) -> Result<Self, String> {
        chosen(given, &[("mod", Self::Mod), ("div", Self::Div)])
    }
}

impl FromValue<'_> for Base64 {
    fn from_value(given: &mut Given<'_>) -> Result<Self, String> {
        chosen(given, &[("unpadded", Self::Unpadded), ("padded", Self::Padded)])
    }
}

impl FromValue<'_> for Encoding {
    fn from_value(given: &mut Given<'_>) -> Result<Self, String> {
        let names = [("utf-8", Self::Utf8), ("utf-16-be", Self::Utf16Be), ("utf-32-be", Self::Utf32Be)];
        chosen(given, &names)
    }
}

impl FromValue<'_> for TextEncoding {
    fn from_value(given: &mut Given<'_>) -> Result<Self, String> {
        let mut encoding = Self::from(<Encoding as FromValue>::from_value(given)?);
        encoding.replace_controls = given.flag("replace_controls")?;
        encoding.invalid = given.option("invalid")?.unwrap_or(encoding.invalid);
        Ok(encoding)
    }
}

impl FromValue<'_> for InvalidText {
    fn from_value(given: &mut Given<'_>) -> Result<Self, String> {
        let named = chosen(given, &[("strict", Self::Strict), ("ignore", Self::Ignore)]);
        let text: Result<&str, String> = FromValue::from_value(given);
        let character = text.ok().and_then(|text| {
            let mut characters = text.chars();
            characters.next().filter(|_| characters.next().is_none())
        });
        match (named, character) {
            (Ok(named), _) => Ok(named),
            (_, Some(character)) => Ok(Self::Replace(character)),
            _ => Err(given.other("\"strict\", \"ignore\", or the character that replaces invalid ones")),
        }
    }
}
