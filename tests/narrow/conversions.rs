//! Conversions of integers, saturation, and bitcasts.

use ragged::{DType, Element, HostTensor, HostValues, bf16, f16};

use crate::common::{self, fused_and_not as backends};
use crate::numbers::{dense, read, same};

#[test]
fn integer_conversions_equal_rusts() {
    macro_rules! between {
        ($device:expr, $from:ident => $($to:ident)*) => {{
            let edges = [0i64, 1, -1, 127, 128, 255, 256, 32_767, 32_768, 65_535, 65_536, 1 << 31, -129, -40_000];
            let values: Vec<$from> =
                edges.into_iter().flat_map(|v| [v as $from, v.wrapping_neg() as $from]).collect();
            let x = dense::<$from>(&values, $device);
            $(
                let want: Vec<$to> = values.iter().map(|&v| v as $to).collect();
                assert_eq!(read::<$to>(x.cast($to::DTYPE)), want, "{} to {}", $from::DTYPE, $to::DTYPE);
                let want: Vec<$to> = values.iter()
                    .map(|&v| (v as i128).clamp($to::MIN as i128, $to::MAX as i128) as $to).collect();
                let got = read::<$to>(x.saturate_cast($to::DTYPE));
                assert_eq!(got, want, "{} to {} within its range", $from::DTYPE, $to::DTYPE);
            )*
        }};
    }
    for (_, device) in backends() {
        between!(device, u8 => i8 u16 i16);
        between!(device, i8 => u8 u16 i16 i32 u32);
        between!(device, u16 => u8 i8 i16 i32 u32);
        between!(device, i16 => u8 i8 u16 i32 u32);
        between!(device, i32 => i8 u16 i16);
        between!(device, u32 => i8 u16 i16);
        if common::has(device, DType::I64) {
            between!(device, i8 => i64 u64);
            between!(device, u16 => i64 u64);
            between!(device, i16 => i64 u64);
            between!(device, i64 => i8 u16 i16);
            between!(device, u64 => i8 u16 i16);
        }
    }
}

#[test]
fn floats_saturate() {
    for (name, device) in backends() {
        let x = [f32::MAX, f32::MIN, f32::INFINITY, 65_519.0, 65_520.0, -1e9, 1.5, f32::NAN];
        let t = dense::<f32>(&x, device);
        let want = [f16::MAX, f16::MIN, f16::MAX, f16::MAX, f16::MAX, f16::MIN, f16::from_f32(1.5), f16::NAN];
        same(name, want, read::<f16>(t.saturate_cast(DType::F16)));
        let infinite = f16::INFINITY;
        let want = [infinite, -infinite, infinite, f16::MAX, infinite, -infinite, f16::from_f32(1.5), f16::NAN];
        same(name, want, read::<f16>(t.cast(DType::F16)));
        let want = [127, -128, 127, 127, 127, -128, 1, 0];
        assert_eq!(read::<i8>(t.cast(DType::I8)), want, "{name}");
        assert_eq!(read::<u16>(t.cast(DType::U16)), [65_535, 0, 65_535, 65_519, 65_520, 0, 1, 0], "{name}");
        let brains = dense::<bf16>(&[bf16::MAX, bf16::MIN, bf16::from_f32(2.5)], device);
        let want = [f16::MAX, f16::MIN, f16::from_f32(2.5)];
        same(name, want, read::<f16>(brains.saturate_cast(DType::F16)));
        same(
            name,
            [f16::MAX, f16::MIN],
            read::<f16>(dense::<i32>(&[100_000, -70_000], device).saturate_cast(DType::F16)),
        );
        same(
            name,
            [f16::MAX, f16::from_f32(9.0)],
            read::<f16>(dense::<u16>(&[65_535, 9], device).saturate_cast(DType::F16)),
        );
    }
}

#[test]
fn bitcasts_join_and_split_elements() {
    for (name, device) in backends() {
        let words = dense::<u32>(&[0x3c00_bf80, 0x8001_7fff], device);
        let halves = words.bitcast(DType::I16).expect("recorded");
        assert_eq!(halves.shape(), [Some(2), Some(2)]);
        assert_eq!(read::<i16>(Ok(halves.clone())), [-0x4080, 0x3c00, 0x7fff, -0x7fff], "{name}");
        assert_eq!(
            read::<u32>(halves.bitcast(DType::F32).and_then(|x| x.bitcast(DType::U32))),
            [0x3c00_bf80, 0x8001_7fff]
        );
        let floats = read::<f16>(words.bitcast(DType::F16));
        assert_eq!(floats[1], f16::ONE, "{name}");
        let brains = read::<bf16>(words.bitcast(DType::BF16));
        assert_eq!(brains[0], -bf16::ONE, "{name}");
        let bytes = read::<i8>(words.bitcast(DType::I8));
        assert_eq!(bytes, [-128, -65, 0, 60, -1, 127, 1, -128], "{name}");
        let two = HostTensor::dense(&[1, 2], HostValues::I8(vec![0, 0x3c])).to_device(device).expect("fits");
        assert_eq!(read::<f16>(two.bitcast(DType::F16)), [f16::ONE], "{name}");
        let one = dense::<f16>(&[f16::ONE, -f16::ONE], device);
        same(name, [bf16::from_bits(0x3c00), bf16::from_bits(0xbc00)], read::<bf16>(one.bitcast(DType::BF16)));
    }
}
