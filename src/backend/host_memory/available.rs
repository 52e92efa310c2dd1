//! Memory that the system reports as available to this process.
//!
//! A system that overcommits memory (Linux by default) accepts any allocation and kills the process when it runs out of
//! pages. Allocations are therefore counted against the available memory before they are written.

/// Bytes available without swapping: those of the machine, or what is left of the limit of a control group (cgroup v1
/// or v2) that the process belongs to, if that is less. `None` where the system does not report them.
#[cfg(target_os = "linux")]
pub(super) fn bytes() -> Option<u64> {
    let of_machine = read("/proc/meminfo").and_then(|text| of_meminfo(&text));
    of_machine.into_iter().chain(groups().iter().filter_map(Group::available)).min()
}

/// Always `None`: only Linux is queried.
#[cfg(not(target_os = "linux"))]
pub(super) fn bytes() -> Option<u64> {
    None
}

#[cfg(target_os = "linux")]
fn read(path: impl AsRef<std::path::Path>) -> Option<String> {
    std::fs::read_to_string(path).ok()
}

/// Parses the available bytes from the text of Linux's `/proc/meminfo`.
#[cfg(any(target_os = "linux", test))]
fn of_meminfo(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

/// A control group: its folder, and the names of its files.
#[cfg(any(target_os = "linux", test))]
#[derive(Debug, PartialEq, Eq)]
struct Group {
    folder: std::path::PathBuf,
    limit: &'static str,
    usage: &'static str,
    /// Entry of `memory.stat` with the bytes of cached files that the system evicts first.
    evictable: &'static str,
}

#[cfg(any(target_os = "linux", test))]
impl Group {
    /// The groups of a process and their ancestors, from the text of `/proc/self/cgroup`.
    fn of_cgroup(text: &str) -> Vec<Self> {
        let mut out = Vec::new();
        for line in text.lines() {
            let mut fields = line.splitn(3, ':').skip(1);
            let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else { continue };
            let (root, [limit, usage, evictable]) = if controllers.is_empty() {
                ("/sys/fs/cgroup", ["memory.max", "memory.current", "inactive_file"])
            } else if controllers.split(',').any(|name| name == "memory") {
                ("/sys/fs/cgroup/memory", ["memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"])
            } else {
                continue;
            };
            let ancestors = std::path::Path::new(path.trim_start_matches('/')).ancestors();
            out.extend(ancestors.map(|inside| Self {
                folder: std::path::Path::new(root).join(inside),
                limit,
                usage,
                evictable,
            }));
        }
        out
    }

    /// What is left of a limit, from the texts of the group's files. Cached files are evicted before the limit is hit.
    fn left(&self, limit: &str, usage: &str, stat: &str) -> Option<u64> {
        let limit: u64 = limit.trim().parse().ok()?;
        let usage: u64 = usage.trim().parse().ok()?;
        let entry = |line: &str| line.strip_prefix(self.evictable)?.trim().parse().ok();
        let evictable: u64 = stat.lines().find_map(entry).unwrap_or(0);
        Some(limit.saturating_sub(usage.saturating_sub(evictable)))
    }
}

#[cfg(target_os = "linux")]
impl Group {
    fn available(&self) -> Option<u64> {
        let file = |name| read(self.folder.join(name));
        self.left(&file(self.limit)?, &file(self.usage)?, &file("memory.stat").unwrap_or_default())
    }
}

/// The groups that bound this process, found once.
#[cfg(target_os = "linux")]
fn groups() -> &'static [Group] {
    static GROUPS: std::sync::OnceLock<Vec<Group>> = std::sync::OnceLock::new();
    GROUPS.get_or_init(|| {
        let mut groups = Group::of_cgroup(&read("/proc/self/cgroup").unwrap_or_default());
        groups.retain(|group| group.folder.join(group.limit).exists());
        groups
    })
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

    #[test]
    fn groups_and_their_ancestors_are_found() {
        let groups = Group::of_cgroup("5:cpu,memory:/a/b\n3:cpuset:/c\n0::/user.slice\n");
        let folders: Vec<&str> = groups.iter().filter_map(|group| group.folder.to_str()).collect();
        let v1 = ["/sys/fs/cgroup/memory/a/b", "/sys/fs/cgroup/memory/a", "/sys/fs/cgroup/memory/"];
        assert_eq!(folders, [&v1[..], &["/sys/fs/cgroup/user.slice", "/sys/fs/cgroup/"]].concat());
        assert_eq!((groups[0].limit, groups[4].limit), ("memory.limit_in_bytes", "memory.max"));
    }

    #[test]
    fn the_usage_of_a_group_counts() {
        let group = &Group::of_cgroup("0::/")[0];
        assert_eq!(group.left("1000\n", "700\n", "anon 650\ninactive_file 50\n"), Some(350));
        assert_eq!(group.left("1000\n", "1200\n", ""), Some(0));
        assert_eq!(group.left("max\n", "700\n", ""), None);
    }
}
