//! The values of a feature of many examples, as they are parsed.

use ragged::{DType, HostValues};

use super::wire::{Broken, FIXED32, LENGTH, Reader, VARINT};
use crate::item::{Column, Values};

/// Flat values of one kind of list.
#[derive(Debug, Clone)]
pub(crate) enum Flat {
    Ints(Vec<i64>),
    Floats(Vec<f32>),
    Strings { ends: Vec<u32>, bytes: Vec<u8> },
}

/// The values of a feature, and where the values of each example end.
#[derive(Debug, Clone)]
pub(crate) struct Parsed {
    pub(crate) flat: Flat,
    pub(crate) ends: Vec<u32>,
}

/// Why a feature does not fit what is asked.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Misfit {
    Broken(Broken),
    Kind { given: DType },
    TooMany,
}

impl From<Broken> for Misfit {
    fn from(broken: Broken) -> Self {
        Self::Broken(broken)
    }
}

/// The dtype of each kind of list, by the number of its field.
fn kind(field: u64) -> Option<DType> {
    Some(match field {
        1 => DType::Str,
        2 => DType::F32,
        3 => DType::I64,
        _ => return None,
    })
}

impl Flat {
    pub(crate) fn new(dtype: DType) -> Self {
        match dtype {
            DType::I64 => Self::Ints(Vec::new()),
            DType::F32 => Self::Floats(Vec::new()),
            _ => Self::Strings { ends: vec![0], bytes: Vec::new() },
        }
    }

    pub(crate) fn dtype(&self) -> DType {
        match self {
            Self::Ints(_) => DType::I64,
            Self::Floats(_) => DType::F32,
            Self::Strings { .. } => DType::Str,
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Ints(v) => v.len(),
            Self::Floats(v) => v.len(),
            Self::Strings { ends, .. } => ends.len() - 1,
        }
    }

    fn truncate(&mut self, n: usize) {
        match self {
            Self::Ints(v) => v.truncate(n),
            Self::Floats(v) => v.truncate(n),
            Self::Strings { ends, bytes } => {
                ends.truncate(n + 1);
                bytes.truncate(ends[n] as usize);
            }
        }
    }

    /// Appends the list of a feature message; false if it has none.
    pub(crate) fn append(&mut self, mut feature: Reader<'_>) -> Result<bool, Misfit> {
        let (start, own) = (self.len(), self.dtype());
        let mut last = None;
        while !feature.is_at_end() {
            let (field, wire) = feature.tag()?;
            match kind(field) {
                Some(given) if wire == LENGTH => {
                    let list = feature.delimited()?;
                    // Of lists of several kinds the last counts; lists of one kind are joined.
                    if last.replace(given) != Some(given) {
                        self.truncate(start);
                    }
                    if given == own {
                        self.append_list(list)?;
                    }
                }
                _ => feature.skip(wire)?,
            }
        }
        match last {
            Some(given) if given != own => Err(Misfit::Kind { given }),
            last => Ok(last.is_some()),
        }
    }

    fn append_list(&mut self, mut list: Reader<'_>) -> Result<(), Misfit> {
        while !list.is_at_end() {
            match (list.tag()?, &mut *self) {
                ((1, LENGTH), Self::Ints(v)) => append_varints(v, list.delimited()?)?,
                ((1, VARINT), Self::Ints(v)) => v.push(list.varint()? as i64),
                ((1, LENGTH), Self::Floats(v)) => {
                    let packed = list.delimited()?;
                    let (whole, rest) = packed.bytes.as_chunks::<4>();
                    if !rest.is_empty() {
                        return Err(Broken { what: "it ends in a float", at: packed.base + 4 * whole.len() }.into());
                    }
                    v.extend(whole.iter().map(|&b| f32::from_le_bytes(b)));
                }
                ((1, FIXED32), Self::Floats(v)) => {
                    let bytes = list.take(4)?;
                    v.extend(bytes.as_chunks::<4>().0.iter().map(|&b| f32::from_le_bytes(b)));
                }
                ((1, LENGTH), Self::Strings { ends, bytes }) => {
                    let string = list.delimited()?.bytes;
                    let end = bytes.len() as u64 + string.len() as u64;
                    if end >= u64::from(u32::MAX) {
                        return Err(Misfit::TooMany);
                    }
                    bytes.extend_from_slice(string);
                    ends.push(end as u32);
                }
                ((_, wire), _) => list.skip(wire)?,
            }
        }
        Ok(())
    }

    /// Appends values of the same kind.
    fn extend(&mut self, other: &Self) -> Result<(), Misfit> {
        match (self, other) {
            (Self::Ints(to), Self::Ints(from)) => to.extend_from_slice(from),
            (Self::Floats(to), Self::Floats(from)) => to.extend_from_slice(from),
            (Self::Strings { ends, bytes }, Self::Strings { ends: more, bytes: of }) => {
                if bytes.len() as u64 + of.len() as u64 >= u64::from(u32::MAX) {
                    return Err(Misfit::TooMany);
                }
                let base = bytes.len() as u32;
                ends.extend(more[1..].iter().map(|&end| end + base));
                bytes.extend_from_slice(of);
            }
            _ => unreachable!("bug: a feature has one kind"),
        }
        Ok(())
    }

    pub(crate) fn into_values(self) -> Values {
        match self {
            Self::Ints(v) => Values::Numbers(HostValues::I64(v)),
            Self::Floats(v) => Values::Numbers(HostValues::F32(v)),
            Self::Strings { ends, bytes } => Values::Strings { splits: ends, bytes },
        }
    }

    /// The default of a fixed feature: `count` values.
    pub(crate) fn of_default(default: &HostValues, count: usize) -> Option<Self> {
        let n = default.len();
        if n != count && n != 1 {
            return None;
        }
        let at = (0..count).map(|i| if n == 1 { 0 } else { i });
        Some(match default {
            HostValues::I64(v) => Self::Ints(at.map(|i| v[i]).collect()),
            HostValues::F32(v) => Self::Floats(at.map(|i| v[i]).collect()),
            HostValues::Str(v) => {
                let mut ends = vec![0];
                let mut bytes = Vec::new();
                for i in at {
                    bytes.extend_from_slice(&v[i]);
                    ends.push(u32::try_from(bytes.len()).ok()?);
                }
                Self::Strings { ends, bytes }
            }
            _ => return None,
        })
    }
}

/// Appends packed integers.
fn append_varints(out: &mut Vec<i64>, mut packed: Reader<'_>) -> Result<(), Broken> {
    // Integers end where the top bit is clear.
    out.reserve(packed.bytes.iter().filter(|&&b| b < 0x80).count());
    while let Some(&byte) = packed.bytes.first() {
        if byte < 0x80 {
            out.push(byte.into());
            packed = Reader { bytes: &packed.bytes[1..], base: packed.base + 1 };
        } else {
            out.push(packed.varint()? as i64);
        }
    }
    Ok(())
}

impl Parsed {
    pub(crate) fn new(dtype: DType) -> Self {
        Self { flat: Flat::new(dtype), ends: vec![0] }
    }

    /// Ends the values of an example.
    pub(crate) fn end_row(&mut self) -> Result<(), Misfit> {
        match u32::try_from(self.flat.len()) {
            Ok(end) if end < u32::MAX => {
                self.ends.push(end);
                Ok(())
            }
            _ => Err(Misfit::TooMany),
        }
    }

    /// Appends an example without the feature: the default, or no values.
    pub(crate) fn append_default(&mut self, default: Option<&Flat>) -> Result<(), Misfit> {
        default.map_or(Ok(()), |default| self.flat.extend(default))
    }

    /// Joins the parts of a batch.
    pub(crate) fn join(parts: Vec<Self>) -> Result<Self, Misfit> {
        let mut parts = parts.into_iter();
        let mut all = match parts.next() {
            Some(first) => first,
            None => return Ok(Self::new(DType::I64)),
        };
        for part in parts {
            let base = all.flat.len() as u64;
            if base + part.flat.len() as u64 >= u64::from(u32::MAX) {
                return Err(Misfit::TooMany);
            }
            all.flat.extend(&part.flat)?;
            all.ends.extend(part.ends[1..].iter().map(|&end| end + base as u32));
        }
        Ok(all)
    }

    /// A ragged column with a row per example.
    pub(crate) fn into_ragged(self) -> Column {
        let n = self.flat.len();
        Column { splits: vec![self.ends], uniform: vec![None], inner: vec![n], values: self.flat.into_values() }
    }
}
