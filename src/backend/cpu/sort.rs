//! stub
pub fn order(keys: &[u32], _bits: u32, out: &mut [u32]) {
    for (i, o) in out.iter_mut().enumerate() {
        *o = i as u32;
    }
    out.sort_by_key(|&i| keys[i as usize]);
}
