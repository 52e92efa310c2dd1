//! The header of a safetensors file: where its arrays are, and its metadata.
//!
//! The crate `safetensors` reads headers into memory of many times their length. Here the arrays are counted before they
//! are read, and their ranks are limited.

use std::fmt;
use std::ops::Range;

use safetensors::Dtype;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess, Visitor};

use crate::graph::saved_list::short;

/// The bytes before the header, which hold its length.
const PREFIX: usize = 8;

/// The key of the metadata.
const METADATA: &str = "__metadata__";

/// An array of the file.
#[derive(Debug, Deserialize)]
struct Info {
    dtype: Dtype,
    #[serde(deserialize_with = "short")]
    shape: Box<[usize]>,
    data_offsets: (usize, usize),
}

/// An array by its name, with the place of its bytes in the file.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) name: Box<str>,
    pub(super) dtype: Dtype,
    pub(super) shape: Box<[usize]>,
    pub(super) bytes: Range<usize>,
}

/// The header of a file.
#[derive(Debug)]
pub(super) struct Header {
    /// The arrays, in the order of their names.
    pub(super) entries: Vec<Entry>,
    /// The value of the metadata that was looked for.
    pub(super) value: Option<String>,
}

impl Header {
    /// Reads the header of a file, with the value of the metadata that `is_wanted` accepts by its key and text.
    ///
    /// # Errors
    /// No safetensors file; arrays that do not fill the file without gaps, or not their shapes.
    pub(super) fn read(file: &[u8], is_wanted: impl Fn(&str, &str) -> bool) -> Result<Self, String> {
        let json = |e: serde_json::Error| format!("its header: {}", cut(e));
        let (length, rest) = file.split_first_chunk::<PREFIX>().ok_or("it is too short")?;
        let length = usize::try_from(u64::from_le_bytes(*length)).ok().filter(|&n| n <= rest.len());
        let (header, data) = rest.split_at(length.ok_or("its header is longer than the file")?);
        let header = std::str::from_utf8(header).map_err(|e| format!("its header: {e}"))?;
        let Counted(count) = serde_json::from_str(header).map_err(json)?;
        let mut out = Self { entries: Vec::with_capacity(count), value: None };
        let mut reader = serde_json::Deserializer::from_str(header);
        Reading { out: &mut out, is_wanted }.deserialize(&mut reader).and_then(|()| reader.end()).map_err(json)?;
        out.check_bytes(data.len())?;
        for entry in &mut out.entries {
            let start = PREFIX + header.len();
            entry.bytes = start + entry.bytes.start..start + entry.bytes.end;
        }
        out.entries.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        match out.entries.windows(2).find(|pair| pair[0].name == pair[1].name) {
            Some(pair) => Err(format!("two arrays are called {:?}", pair[0].name)),
            None => Ok(out),
        }
    }

    /// Checks that the arrays have the bytes of their shapes, one after another.
    fn check_bytes(&mut self, bytes: usize) -> Result<(), String> {
        self.entries.sort_unstable_by_key(|entry| (entry.bytes.start, entry.bytes.end));
        let mut end = 0;
        for Entry { name, dtype, shape, bytes } in &self.entries {
            let bits = shape.iter().try_fold(dtype.bitsize(), |n, &size| n.checked_mul(size));
            let fits = bytes.start == end
                && bytes.end.checked_sub(bytes.start).and_then(|n| n.checked_mul(8)).is_some_and(|n| Some(n) == bits);
            if !fits {
                return Err(format!("array {name:?} has other bytes than those of its shape {shape:?}"));
            }
            end = bytes.end;
        }
        if end == bytes { Ok(()) } else { Err(format!("its arrays have {end} bytes, not {bytes}")) }
    }
}

/// The beginning of the message, which may have a text of the file of any length.
pub(super) fn cut(e: impl ToString) -> String {
    const LONGEST: usize = 300;
    let mut text = e.to_string();
    if text.len() > LONGEST {
        let end = (0..=LONGEST).rev().find(|&end| text.is_char_boundary(end));
        text = format!("{}…", &text[..end.unwrap_or_default()]);
    }
    text
}

/// The number of arrays of a header, all of which are valid.
struct Counted(usize);

impl<'de> Deserialize<'de> for Counted {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Counting;
        impl<'de> Visitor<'de> for Counting {
            type Value = Counted;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a header")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Counted, A::Error> {
                let mut count = 0;
                while let Some(name) = map.next_key::<Box<str>>()? {
                    if &*name == METADATA {
                        map.next_value::<IgnoredAny>()?;
                    } else {
                        map.next_value::<Info>()?;
                        count += 1;
                    }
                }
                Ok(Counted(count))
            }
        }
        from.deserialize_map(Counting)
    }
}

/// Reads the entries of a header.
struct Reading<'a, F> {
    out: &'a mut Header,
    is_wanted: F,
}

impl<'de, F: Fn(&str, &str) -> bool> DeserializeSeed<'de> for Reading<'_, F> {
    type Value = ();
    fn deserialize<D: serde::Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de, F: Fn(&str, &str) -> bool> Visitor<'de> for Reading<'_, F> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a header")
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut has_metadata = false;
        while let Some(name) = map.next_key::<Box<str>>()? {
            if &*name == METADATA {
                if std::mem::replace(&mut has_metadata, true) {
                    return Err(A::Error::duplicate_field(METADATA));
                }
                map.next_value_seed(Metadata { value: &mut self.out.value, is_wanted: &self.is_wanted })?;
                continue;
            }
            let Info { dtype, shape, data_offsets: (start, end) } = map.next_value()?;
            self.out.entries.push(Entry { name, dtype, shape, bytes: start..end });
        }
        Ok(())
    }
}

/// Reads the metadata.
struct Metadata<'a, F> {
    value: &'a mut Option<String>,
    is_wanted: &'a F,
}

impl<'de, F: Fn(&str, &str) -> bool> DeserializeSeed<'de> for Metadata<'_, F> {
    type Value = ();
    fn deserialize<D: serde::Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de, F: Fn(&str, &str) -> bool> Visitor<'de> for Metadata<'_, F> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("metadata")
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some((key, value)) = map.next_entry::<Box<str>, String>()? {
            if self.value.is_none() && (self.is_wanted)(&key, &value) {
                *self.value = Some(value);
            }
        }
        Ok(())
    }
}
