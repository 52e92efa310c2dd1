//! Lists in files, read into memory of their exact length: a vector that grows by doubling holds up to three times its
//! elements while it is copied, which for lists of short texts is many times the file.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// Counts the elements of a list, all of which are valid.
struct Counting<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Counting<T> {
    type Value = usize;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<usize, A::Error> {
        let mut count = 0;
        while list.next_element::<T>()?.is_some() {
            count += 1;
        }
        Ok(count)
    }
}

/// A list of that length.
struct Sized<T>(usize, PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Sized<T> {
    type Value = Vec<T>;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a list of {}", self.0)
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<T>, A::Error> {
        let mut out = Vec::with_capacity(self.0);
        while let Some(element) = list.next_element()? {
            out.push(element);
        }
        Ok(out)
    }
}

/// The most dimensions of a tensor in a file.
pub(crate) const MAX_RANK: usize = 64;

/// Reads a list from JSON text. Its elements are read twice: first to check and to count them.
pub(crate) fn deserialize<'de, D: Deserializer<'de>, T: Deserialize<'de>, L: From<Vec<T>>>(
    from: D,
) -> Result<L, D::Error> {
    of_at_most(from, usize::MAX)
}

/// Reads a list of the sizes of a tensor's dimensions.
pub(crate) fn short<'de, D: Deserializer<'de>, T: Deserialize<'de>, L: From<Vec<T>>>(from: D) -> Result<L, D::Error> {
    of_at_most(from, MAX_RANK)
}

fn of_at_most<'de, D: Deserializer<'de>, T: Deserialize<'de>, L: From<Vec<T>>>(
    from: D,
    most: usize,
) -> Result<L, D::Error> {
    let text = <&'de RawValue>::deserialize(from)?.get();
    let list = || serde_json::Deserializer::from_str(text);
    let count = list().deserialize_seq(Counting::<T>(PhantomData)).map_err(D::Error::custom)?;
    if count > most {
        return Err(D::Error::custom(format!("a tensor of {count} dimensions; files have up to {most}")));
    }
    list().deserialize_seq(Sized(count, PhantomData)).map(L::from).map_err(D::Error::custom)
}
