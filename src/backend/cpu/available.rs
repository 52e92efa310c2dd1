//! Memory that the system reports as available.
//!
//! A system that overcommits memory (Linux by default) accepts any allocation and kills the process when it runs out of
//! pages. Large allocations therefore query the available memory first.

/// Allocation size in bytes from which on the available memory is queried. The query takes some tens of microseconds.
pub(super) const QUERY_THRESHOLD: u64 = 256 << 20;

/// Bytes available without swapping, or the limit of the process's control group if that is less. `None` where the
/// system does not report them.
#[cfg(target_os = "linux")]
pub(super) fn bytes() -> Option<u64> {
    let read = |path| std::fs::read_to_string(path).ok();
    let of_machine = read("/proc/meminfo").and_then(|text| of_meminfo(&text));
    let of_group = read("/sys/fs/cgroup/memory.max").and_then(|text| text.trim().parse().ok());
    of_machine.into_iter().chain(of_group).min()
}

/// Always `None`: only Linux is queried.
#[cfg(not(target_os = "linux"))]
pub(super) fn bytes() -> Option<u64> {
    None
}

/// Parses the available bytes from the text of Linux's `/proc/meminfo`.
#[cfg(any(target_os = "linux", test))]
fn of_meminfo(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linux_reports_available_memory() {
        assert_eq!(of_meminfo("MemTotal: 24 kB\nMemAvailable:    16 kB\nBuffers: 1 kB\n"), Some(16 << 10));
        assert_eq!(of_meminfo("MemTotal: 24 kB\n"), None);
        assert_eq!(of_meminfo("MemAvailable: many kB"), None);
        assert_eq!(bytes().is_some(), cfg!(target_os = "linux"));
    }
}
