fn rg_rem_f64(x: f64, y: f64) -> f64 {
    let xb = bitcast<u64>(x);
    let sign = xb & 0x8000000000000000lu;
    let a = xb & 0x7ffffffffffffffflu;
    let b = bitcast<u64>(y) & 0x7ffffffffffffffflu;
    // NaN for a zero or NaN divisor, and for an infinite or NaN dividend.
    if (b == 0lu || b > 0x7ff0000000000000lu || a >= 0x7ff0000000000000lu) {
        let nan = 0x7ff8000000000000lu | u64(rg_zero());
        return bitcast<f64>(nan);
    }
    if (a < b) {
        return bitcast<f64>(xb);
    }
    let ea = max(u32(a >> 52u), 1u);
    let eb = max(u32(b >> 52u), 1u);
    var r = select((a & 0xffffffffffffflu) | 0x10000000000000lu, a, a < 0x10000000000000lu);
    let m = select((b & 0xffffffffffffflu) | 0x10000000000000lu, b, b < 0x10000000000000lu);
    var todo = ea - eb;
    r = r % m;
    while (todo > 0u && r != 0lu) {
        let step = min(todo, 11u);
        r = (r << step) % m;
        todo -= step;
    }
    if (r == 0lu) {
        return bitcast<f64>(sign);
    }
    // The remainder has the exponent of `y`: normalize it, down to a subnormal.
    let high = u32(r >> 32u);
    let zeros = select(countLeadingZeros(high), 32u + countLeadingZeros(u32(r & 0xfffffffflu)), high == 0u);
    let up = min(zeros - 11u, eb - 1u);
    r = r << up;
    return bitcast<f64>(sign | (r + (u64(eb - up - 1u) << 52u)));
}
