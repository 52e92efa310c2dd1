//! Pages of 2 MiB for large memory, where the system gives them on request only.
//!
//! A processor keeps the places of some thousand pages at hand. In pages of 4 KiB that is a few MiB: rows that lie here
//! and there in more than that each wait for a walk through the tables, which reads memory itself, and twice over in a
//! virtual machine. And memory that is new is mapped and cleared page by page as it is first written.

/// Less than this has few whole pages of that size.
#[cfg(any(target_os = "linux", test))]
const WORTHWHILE: usize = 2 * PAGE;

#[cfg(any(target_os = "linux", test))]
const PAGE: usize = 2 << 20;

/// Asks that memory which nobody has written yet be of large pages. Returns whether any of it may be.
#[cfg(target_os = "linux")]
pub(super) fn ask_for(words: &mut [u64]) -> bool {
    let bytes: &mut [u8] = bytemuck::cast_slice_mut(words);
    if bytes.len() < WORTHWHILE {
        return false;
    }
    let before = bytes.as_ptr().align_offset(PAGE);
    let Some(whole) = bytes.get_mut(before..) else { return false };
    let len = whole.len() / PAGE * PAGE;
    // SAFETY: the pages from `whole` on, `len` bytes, are within memory that is borrowed here alone. Which size they
    // have changes nothing of what they hold. They begin at a multiple of `PAGE`, as the call asks; if it fails, for
    // whatever reason, nothing has happened.
    unsafe { libc::madvise(whole.as_mut_ptr().cast(), len, libc::MADV_HUGEPAGE) == 0 }
}

/// Other systems choose themselves.
#[cfg(not(target_os = "linux"))]
pub(super) fn ask_for(_: &mut [u64]) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_memory_may_have_large_pages() {
        let mut words = vec![0u64; WORTHWHILE / 8];
        assert!(!ask_for(&mut words[1..]), "too small");
        let has_them =
            cfg!(target_os = "linux") && std::path::Path::new("/sys/kernel/mm/transparent_hugepage").exists();
        assert!(ask_for(&mut words) || !has_them);
        assert!(words.iter().all(|&word| word == 0));
    }

    /// What the system has noted of the mapping that the memory lies in.
    #[test]
    #[cfg(target_os = "linux")]
    fn the_system_has_noted_it() {
        let pool = std::sync::Arc::new(super::super::pool::Pool::default());
        let memory = pool.take("test", 16 * PAGE / 8).expect("small enough");
        let middle = memory.words.as_ptr() as usize + 8 * PAGE;
        let maps = std::fs::read_to_string("/proc/self/smaps").unwrap_or_default();
        let range = |line: &str| {
            let (start, end) = line.split_once(' ')?.0.split_once('-')?;
            Some(usize::from_str_radix(start, 16).ok()?..usize::from_str_radix(end, 16).ok()?)
        };
        let own = maps.lines().skip_while(|line| range(line).is_none_or(|range| !range.contains(&middle)));
        let flags = own.take_while(|line| range(line).is_none_or(|range| range.contains(&middle)));
        let flags = flags.filter_map(|line| line.strip_prefix("VmFlags:")).next();
        // Not all kernels tell.
        if let Some(flags) = flags
            && std::path::Path::new("/sys/kernel/mm/transparent_hugepage").exists()
        {
            assert!(flags.split_whitespace().any(|flag| flag == "hg"), "{flags}");
        }
    }
}
