//! Arithmetic of 8-bit and 16-bit integers.

use ragged::{Element, Result, Tensor};

use crate::common::fused_and_not as backends;
use crate::numbers::{dense, read};

/// Tests an 8-bit or 16-bit integer type against Rust's arithmetic.
macro_rules! integers {
    ($name:ident, $t:ident, $values:expr) => {
        #[test]
        fn $name() {
            let all: Vec<$t> = $values;
            let pairs = all.iter().flat_map(|&a| all.iter().map(move |&b| (a, b)));
            let (a, b): (Vec<$t>, Vec<$t>) = pairs.unzip();
            let both = |f: fn($t, $t) -> $t| a.iter().zip(&b).map(|(&a, &b)| f(a, b)).collect::<Vec<_>>();
            for (name, device) in backends() {
                let (x, y) = (dense::<$t>(&a, device), dense::<$t>(&b, device));
                let get = |t: Result<Tensor>| read::<$t>(t);
                assert_eq!(get(x.add(&y)), both($t::wrapping_add), "+ on {name}");
                assert_eq!(get(x.subtract(&y)), both($t::wrapping_sub), "- on {name}");
                assert_eq!(get(x.multiply(&y)), both($t::wrapping_mul), "* on {name}");
                assert_eq!(get(x.minimum(&y)), both($t::min), "minimum on {name}");
                assert_eq!(get(x.maximum(&y)), both($t::max), "maximum on {name}");
                assert_eq!(get(x.bitwise_and(&y)), both(|a, b| a & b), "& on {name}");
                assert_eq!(get(x.bitwise_or(&y)), both(|a, b| a | b), "| on {name}");
                assert_eq!(get(x.bitwise_xor(&y)), both(|a, b| a ^ b), "^ on {name}");
                assert_eq!(get(x.bitwise_invert()), both(|a, _| !a), "! on {name}");
                assert_eq!(get(x.negative()), both(|a, _| a.wrapping_neg()), "negative on {name}");
                // A shift by the width or more, or by a negative number, leaves the sign only.
                let left = both(|a, b| u32::try_from(b).ok().and_then(|b| a.checked_shl(b)).unwrap_or(0));
                assert_eq!(get(x.left_shift(&y)), left, "<< on {name}");
                #[allow(unused_comparisons, reason = "one macro for signed and unsigned types")]
                let right = both(|a, b| match u32::try_from(b).ok().and_then(|b| a.checked_shr(b)) {
                    Some(shifted) => shifted,
                    None if a < 0 => !0,
                    None => 0,
                });
                assert_eq!(get(x.right_shift(&y)), right, ">> on {name}");
                let nonzero =
                    y.equal(0 as $t).and_then(|z| z.cast($t::DTYPE)).and_then(|z| y.add(&z)).expect("recorded");
                let quotients = get(x.truncatediv(&nonzero));
                let floors = get(x.floordiv(&nonzero));
                let rests = get(x.floormod(&nonzero));
                for (k, (&a, &b)) in a.iter().zip(&b).enumerate() {
                    let (a, b) = (i64::from(a), if b == 0 { 1 } else { i64::from(b) });
                    assert_eq!(quotients[k], (a / b) as $t, "{a} / {b} on {name}");
                    let floor = a.div_euclid(b) - i64::from(b < 0 && a.rem_euclid(b) != 0);
                    assert_eq!(floors[k], floor as $t, "{a} // {b} on {name}");
                    assert_eq!(rests[k], (a - floor * b) as $t, "{a} mod {b} on {name}");
                }
                let powers = get(x.pow(3 as $t));
                assert_eq!(powers, both(|a, _| a.wrapping_mul(a).wrapping_mul(a)), "cube on {name}");
                let less: Vec<bool> = a.iter().zip(&b).map(|(a, b)| a < b).collect();
                assert_eq!(read::<bool>(x.less(&y)), less, "< on {name}");
                let quotients: Vec<f32> = a.iter().zip(&b).map(|(&a, &b)| f32::from(a) / f32::from(b)).collect();
                let got = read::<f32>(x.truediv(&y));
                assert!(got.iter().zip(&quotients).all(|(g, w)| g == w || g.is_nan() && w.is_nan()), "/ on {name}");
            }
        }
    };
}
integers!(all_pairs_of_i8, i8, (i8::MIN..=i8::MAX).collect());
integers!(i16_at_its_edges, i16, edges().map(|v| v as i16).collect());
integers!(u16_at_its_edges, u16, edges().map(|v| v as u16).collect());

/// Numbers of 16 bits around powers of two, with both signs.
fn edges() -> impl Iterator<Item = i32> {
    let powers = (0..16).flat_map(|k| [(1 << k) - 1, 1 << k, (1 << k) + 1]);
    powers.flat_map(|v| [v, -v]).chain([1000, -777, 0x5555])
}
