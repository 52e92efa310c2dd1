//! The lock file of this workspace has the versions of the engine's.

/// The versions of a crate in a lock file.
fn versions<'l>(lock: &'l str, name: &str) -> Vec<&'l str> {
    let start = format!("name = \"{name}\"\nversion = \"");
    lock.split(&start).skip(1).filter_map(|rest| rest.split('"').next()).collect()
}

#[test]
fn arrow_and_datafusion_are_those_of_the_crates() {
    let own = include_str!("../../Cargo.lock");
    let of_crates = include_str!("../../../../Cargo.lock");
    for name in ["arrow-array", "parquet", "datafusion"] {
        let found = versions(own, name);
        assert_eq!(found.len(), 1, "{name}");
        assert_eq!(found, versions(of_crates, name), "{name}");
    }
    assert_eq!(versions(own, "ballista-core").len(), 1);
}
