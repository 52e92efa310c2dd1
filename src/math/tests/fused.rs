//! Compares fused multiply-adds with those of the standard library, bit for bit but for NaN: those of this crate's loops and
//! both libraries of shaders.

use super::super::fma_by_doubles;
use super::{Noise, edges_f32};

/// Triples: some edge cases, numbers at random, sums that cancel, subnormal products, sums at the end of the range, ties of
/// the product and of the sum.
fn operands(count: usize) -> Vec<[u32; 3]> {
    let edges: Vec<u32> = edges_f32().into_iter().step_by(5).chain([0, 1 << 31, 0x7f80_0000, 0x7fc0_0000]).collect();
    let near = |a: u32, b: u32| edges.iter().map(move |&c| [a, b, c]);
    let mut triples: Vec<[u32; 3]> =
        edges.iter().flat_map(|&a| edges.iter().step_by(7).flat_map(move |&b| near(a, b))).collect();
    let mut noise = Noise(11);
    let mut next = || noise.next().expect("noise does not end");
    while triples.len() < count {
        let (r, q) = (next(), next());
        let (a, b, c, k) = (r as u32, (r >> 32) as u32, q as u32, (q >> 32) as u32);
        let with = |bits: u32, exponent: u32| bits & 0x807f_ffff | exponent << 23;
        let exponent = |bits: u32| bits >> 23 & 0xff;
        let product = (f64::from(f32::from_bits(a)) * f64::from(f32::from_bits(b))) as f32;
        let at_end = (exponent(a) + exponent(b) + k % 48).wrapping_sub(151) & 0xff;
        triples.extend([
            [a, b, c],
            [a, b, (-product).to_bits().wrapping_add(k % 5).wrapping_sub(2)],
            [with(a, 60 + k % 20), with(b, 60 + (k >> 8) % 20), c & 0x80ff_ffff],
            [
                a & 0xffff_f000,
                b & 0xffff_f000,
                (product.to_bits() & 0x7f80_0000).wrapping_add((k % 3) << 23) | c & 0x8000_0fff,
            ],
            [with(a, 190 + k % 10), with(b, 190 - (k >> 8) % 10), with(c, 250 + (k >> 16) % 5)],
            [a & 0xfff0_0000 | 0xf << (k % 20), b & 0xffff_f800, with(c & 0x8000_0007, at_end)],
        ]);
    }
    triples
}

/// Finds the first triple with another result than the standard library's.
fn check(name: &str, triples: &[[u32; 3]], found: impl Iterator<Item = u32>) {
    let mut wrong = found.zip(triples).filter_map(|(found, of)| {
        let [a, b, c] = of.map(f32::from_bits);
        let wanted = a.mul_add(b, c);
        let agrees = found == wanted.to_bits() || wanted.is_nan() && f32::from_bits(found).is_nan();
        (!agrees).then(|| format!("{of:x?}: {found:x}, not {:x}", wanted.to_bits()))
    });
    let first = wrong.next();
    assert!(first.is_none(), "{name}: {first:?}, and {} more", wrong.count());
}

/// The number of triples: `RAGGED_TRIPLES` chooses it.
fn count() -> usize {
    std::env::var("RAGGED_TRIPLES").map_or(500_000, |n| n.parse().expect("a number"))
}

#[test]
fn doubles_round_once() {
    let triples = operands(count());
    let found = triples.iter().map(|of| {
        let [a, b, c] = of.map(f32::from_bits);
        fma_by_doubles(a, b, c).to_bits()
    });
    check("doubles", &triples, found);
}

#[cfg(feature = "gpu")]
#[test]
fn shaders_round_once() {
    use super::device::{device, run};

    let libraries = [
        ("words", include_str!("../../../shaders/lib/fma_words.wgsl")),
        ("doubles", include_str!("../../../shaders/lib/fma_doubles.wgsl")),
    ];
    let device = device();
    let has_doubles = device.has_f64() && device.has_int64();
    let triples = operands(count());
    let factors: Vec<[u32; 2]> = triples.iter().map(|[a, b, _]| [*a, *b]).collect();
    let addends: Vec<[u32; 2]> = triples.iter().map(|[.., c]| [*c, 0]).collect();
    for (name, library) in libraries.into_iter().take(if has_doubles { 2 } else { 1 }) {
        let module = format!(
            "@group(0) @binding(0) var<uniform> params: vec4<u32>;
@group(0) @binding(1) var<storage, read> xs: array<vec2<u32>>;
@group(0) @binding(2) var<storage, read> ys: array<vec2<u32>>;
@group(0) @binding(3) var<storage, read_write> out: array<vec2<u32>>;
fn rg_zero() -> u32 {{
    return params.x;
}}
{library}
@compute @workgroup_size(64)
fn main(
    @builtin(workgroup_id) wid: vec3<u32>,
    @builtin(num_workgroups) grid: vec3<u32>,
    @builtin(local_invocation_index) k: u32,
) {{
    let i = (wid.x + wid.y * grid.x) * 64u + k;
    if (i < params.y) {{
        let sum = fma_f32(bitcast<f32>(xs[i].x), bitcast<f32>(xs[i].y), bitcast<f32>(ys[i].x));
        out[i] = vec2<u32>(bitcast<u32>(sum), 0u);
    }}
}}
"
        );
        let (xs, ys) = (bytemuck::cast_slice(&factors), bytemuck::cast_slice(&addends));
        let found = run(&device, &module, triples.len(), xs, ys);
        let found = found.chunks_exact(8).map(|b| u32::from_ne_bytes(b[..4].try_into().expect("four bytes")));
        check(name, &triples, found);
    }
}
