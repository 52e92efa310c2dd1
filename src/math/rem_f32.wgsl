fn rg_rem_f32(x: f32, y: f32) -> f32 {
    let xb = bitcast<u32>(x);
    let sign = xb & 0x80000000u;
    let a = xb & 0x7fffffffu;
    let b = bitcast<u32>(y) & 0x7fffffffu;
    // NaN for a zero or NaN divisor, and for an infinite or NaN dividend.
    if (b == 0u || b > 0x7f800000u || a >= 0x7f800000u) {
        let nan = 0x7fc00000u | rg_zero();
        return bitcast<f32>(nan);
    }
    if (a < b) {
        return bitcast<f32>(xb);
    }
    let ea = max(a >> 23u, 1u);
    let eb = max(b >> 23u, 1u);
    var r = select((a & 0x7fffffu) | 0x800000u, a, a < 0x800000u);
    let m = select((b & 0x7fffffu) | 0x800000u, b, b < 0x800000u);
    var todo = ea - eb;
    r = r % m;
    while (todo > 0u && r != 0u) {
        let step = min(todo, 8u);
        r = (r << step) % m;
        todo -= step;
    }
    if (r == 0u) {
        return bitcast<f32>(sign);
    }
    // The remainder has the exponent of `y`: normalize it, down to a subnormal.
    let up = min(countLeadingZeros(r) - 8u, eb - 1u);
    r = r << up;
    return bitcast<f32>(sign | (r + ((eb - up - 1u) << 23u)));
}
