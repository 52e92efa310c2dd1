//! Pages of 2 MiB for large memory, where the system gives them on request only.
//!
//! A processor keeps the places of some thousand pages at hand. In pages of 4 KiB that is a few MiB: rows that lie here
//! and there in more than that each wait for a walk through the tables, which reads memory itself, and twice over in a
//! virtual machine. And memory that is new is mapped and cleared page by page as it is first written.
//!
//! The request is for addresses: whatever else the allocator places there later has large pages too, and where memory is
//! in pieces the system may move some together before it gives one. NumPy asks for them as well, from 4 MiB on.

/// Less than this has few whole pages of that size.
#[cfg(any(target_os = "linux", test))]
const WORTHWHILE: usize = 2 * PAGE;

#[cfg(any(target_os = "linux", test))]
const PAGE: usize = 2 << 20;

/// Asks that memory be of large pages, as far as it is not mapped yet: what was written before stays where it is. Returns
/// whether any of it may be.
#[cfg(target_os = "linux")]
pub(super) fn ask_for(words: &mut [u64]) -> bool {
    let bytes: &mut [u8] = bytemuck::cast_slice_mut(words);
    if bytes.len() < WORTHWHILE {
        return false;
    }
    let before = bytes.as_ptr().align_offset(PAGE);
    let Some(whole) = bytes.get_mut(before..) else { return false };
    let len = whole.len() / PAGE * PAGE;
    // SAFETY: the `len` bytes from `whole` on lie within memory that is borrowed here alone, and which size its pages
    // have changes nothing of what they hold. Multiples of `PAGE` are multiples of the system's own page size, as the
    // call asks; where they are not, it fails, and nothing has happened.
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
        if !std::path::Path::new("/sys/kernel/mm/transparent_hugepage").exists() {
            return; // a system that has none
        }
        let pool = std::sync::Arc::new(super::super::pool::Pool::default());
        let memory = pool.take("test", 16 * PAGE / 8).expect("small enough");
        let maps = std::fs::read_to_string("/proc/self/smaps").expect("Linux tells");
        let range = |line: &str| {
            let (start, end) = line.split_once(' ')?.0.split_once('-')?;
            Some(usize::from_str_radix(start, 16).ok()?..usize::from_str_radix(end, 16).ok()?)
        };
        let flags = |at: usize| {
            let own = maps.lines().skip_while(|line| range(line).is_none_or(|range| !range.contains(&at)));
            let mut own = own.take_while(|line| range(line).is_none_or(|range| range.contains(&at)));
            own.find_map(|line| line.strip_prefix("VmFlags:"))
        };
        let start = memory.words.as_ptr() as usize;
        for whole in [1, 8, 14].map(|pages| start + pages * PAGE) {
            let flags = flags(whole).expect("a mapping of this process, with flags");
            assert!(flags.split_whitespace().any(|flag| flag == "hg"), "{flags}");
        }
    }
}
