//! The licence and the source of every crate of the workspace, on all platforms. `deny.toml` has the same rules.

use serde_json::Value;

use crate::cargo;

/// Licences of dependencies, as SPDX identifiers: permissive ones that the dependencies need.
const ALLOWED: [&str; 5] = ["MIT", "Apache-2.0", "ISC", "Zlib", "Unicode-3.0"];

/// Other licences of single crates: crate, licence, reason.
const EXCEPTIONS: [(&str, &str, &str); 8] = [
    ("alloc-no-stdlib", "BSD-3-Clause", "as brotli"),
    ("alloc-stdlib", "BSD-3-Clause", "as brotli"),
    ("brotli", "BSD-3-Clause AND MIT", "a compression of Parquet files, which DataFusion reads"),
    ("snap", "BSD-3-Clause", "Snappy, the usual compression of Parquet files"),
    (
        "tiny-keccak",
        "CC0-1.0",
        "a procedural macro of ahash, of the crates of Arrow, uses it on targets without random numbers",
    ),
    ("zstd", "BSD-3-Clause", "Zstandard, the compression of Parquet files of Polars"),
    ("zstd-safe", "BSD-3-Clause", "as zstd"),
    ("zstd-sys", "BSD-3-Clause AND BSD-2-Clause", "as zstd"),
];

/// The registry of all dependencies.
const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// Whether an SPDX expression can be satisfied with allowed licences. A slash is the old form of `OR`.
fn is_allowed(expression: &str) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let mut tokens = spaced.split_whitespace().peekable();
    let allowed = any(&mut tokens);
    allowed && tokens.next().is_none()
}

type Tokens<'a> = std::iter::Peekable<std::str::SplitWhitespace<'a>>;

/// Alternatives: `AND` binds tighter than `OR`.
fn any(tokens: &mut Tokens<'_>) -> bool {
    let mut allowed = all(tokens);
    while tokens.next_if_eq(&"OR").is_some() {
        allowed |= all(tokens);
    }
    allowed
}

fn all(tokens: &mut Tokens<'_>) -> bool {
    let mut allowed = one(tokens);
    while tokens.next_if_eq(&"AND").is_some() {
        allowed &= one(tokens);
    }
    allowed
}

fn one(tokens: &mut Tokens<'_>) -> bool {
    let allowed = match tokens.next() {
        Some("(") => {
            let allowed = any(tokens);
            tokens.next() == Some(")") && allowed
        }
        Some(licence) => ALLOWED.contains(&licence),
        None => false,
    };
    // An exception permits more than the licence.
    let has_exception = tokens.next_if_eq(&"WITH").is_some();
    allowed && (!has_exception || tokens.next().is_some())
}

#[test]
fn every_crate_has_a_permissive_licence_and_comes_from_the_registry() {
    let metadata = cargo(&["metadata", "--format-version", "1", "--all-features"]);
    let metadata: Value = serde_json::from_str(&metadata).expect("JSON");
    let packages = metadata["packages"].as_array().expect("a list of packages");
    let members = metadata["workspace_members"].as_array().expect("a list of members");
    assert!(packages.len() > 50, "{} packages", packages.len());
    let mut faults = Vec::new();
    for package in packages {
        let name = format!("{} {}", package["name"], package["version"]);
        match package["license"].as_str() {
            Some(expression) if is_allowed(expression) => {}
            Some(expression)
                if EXCEPTIONS.iter().any(|(of, licence, _)| package["name"] == **of && *licence == expression) => {}
            other => faults.push(format!("{name}: licence {other:?}")),
        }
        let source = package["source"].as_str();
        if source != Some(CRATES_IO) && !(source.is_none() && members.contains(&package["id"])) {
            faults.push(format!("{name}: source {source:?}"));
        }
    }
    assert!(faults.is_empty(), "allowed: {ALLOWED:?} from {CRATES_IO}\n{}", faults.join("\n"));
    for (name, _, _) in EXCEPTIONS {
        assert!(packages.iter().any(|package| package["name"] == name), "the exception for {name} is no longer needed");
    }
}

/// Tensors, files, SQL and Python exchange arrays of one version.
#[test]
fn there_is_one_arrow() {
    let lock = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.lock")).expect("a lock file");
    for name in ["arrow-array", "arrow-buffer", "arrow-data", "arrow-schema", "parquet"] {
        assert_eq!(lock.matches(&format!("name = \"{name}\"\n")).count(), 1, "{name}");
    }
}

#[test]
fn expressions_are_satisfied_with_allowed_licences_only() {
    for allowed in [
        "MIT",
        "MIT/Apache-2.0",
        "MIT OR GPL-3.0-only",
        "(MIT OR GPL-3.0-only) AND Unicode-3.0",
        "Apache-2.0 WITH LLVM-exception",
        "GPL-3.0-only AND MIT OR ISC",
    ] {
        assert!(is_allowed(allowed), "{allowed}");
    }
    for refused in [
        "",
        "GPL-3.0-only",
        "MIT AND GPL-3.0-only",
        "(MIT OR ISC) AND MPL-2.0",
        "(MIT",
        "MIT ISC",
        "MIT WITH",
        "MIT OR ISC)",
    ] {
        assert!(!is_allowed(refused), "{refused}");
    }
}
