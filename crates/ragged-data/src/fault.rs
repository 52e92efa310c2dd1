//! Errors of this crate: values of `ragged::Error`, made inside [`named`](ragged::operation::named), which gives them the name
//! of the function and the line of the user's call.

use std::panic::Location;

use ragged::Error;

/// Most values of one level of a tensor.
pub const MAX_VALUES: usize = u32::MAX as usize - 1;

/// The name until `named` replaces it.
const UNNAMED: &str = "ragged-data";

/// An argument that the function does not accept, or data that it cannot represent.
pub(crate) fn argument(what: impl Into<String>) -> Error {
    Error::Argument { op: UNNAMED, what: what.into(), location: Location::caller() }
}

/// More values than a tensor has, in words that follow "one tensor".
pub(crate) fn too_many(remedy: impl std::fmt::Display, requested: u64, unit: &'static str) -> Error {
    limit(requested, unit, MAX_VALUES as u64, format!("one tensor{remedy}"))
}

/// A size beyond a limit and its owner. `named` says what needs it.
pub(crate) fn limit(requested: u64, unit: &'static str, limit: u64, whose: impl Into<String>) -> Error {
    Error::Limit { what: UNNAMED.into(), requested, unit, limit, whose: whose.into(), location: Location::caller() }
}

/// The error of a function that the call of `op` at a line is computed by, as one of that call.
#[cfg(feature = "parquet")]
pub(crate) fn own(op: &'static str, line: &'static Location<'static>, mut error: Error) -> Error {
    match &mut error {
        Error::Argument { op: name, location, .. }
        | Error::Partition { op: name, location, .. }
        | Error::Shape { op: name, location, .. }
        | Error::Io { op: name, location, .. }
        | Error::Unsupported { op: name, location, .. } => (*name, *location) = (op, line),
        Error::Limit { what, location, .. } => {
            // What is in parentheses says where.
            let place = what.find(" (").map_or("", |at| &what[at..]);
            (*what, *location) = (format!("{op}{place}"), line);
        }
        _ => {}
    }
    error
}

/// Memory for a use that the allocator refuses.
pub(crate) fn no_memory(what: &str, bytes: u64) -> Error {
    limit(bytes, "bytes", isize::MAX as u64, format!("the allocator, which has no memory for {what} now"))
}

/// The names that exist, in words, with the one that resembles `name` first.
pub(crate) fn those_that_exist<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.collect();
    let near = names.iter().map(|other| (distance(name, other), *other)).min();
    let meant = near.filter(|(distance, other)| *distance <= 2.max(other.len() / 3) && *distance < name.len());
    let meant = meant.map_or_else(String::new, |(_, other)| format!("did you mean {other:?}? "));
    if names.is_empty() { "there are none".into() } else { format!("{meant}there are {}", names.join(", ")) }
}

/// The number of characters to insert, remove or replace. Names beyond 64 characters do not resemble others.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().take(65).collect(), b.chars().take(65).collect());
    if a.len() > 64 || b.len() > 64 {
        return usize::MAX;
    }
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_resemble_are_proposed() {
        let of = |name| those_that_exist(name, ["tokens", "id", "words"].into_iter());
        assert_eq!(of("token"), "did you mean \"tokens\"? there are tokens, id, words");
        assert_eq!(of("x"), "there are tokens, id, words");
        assert_eq!(those_that_exist("x", std::iter::empty()), "there are none");
        assert_eq!((distance("kitten", "sitting"), distance("", "abc")), (3, 3));
    }
}
