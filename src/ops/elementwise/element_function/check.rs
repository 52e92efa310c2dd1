//! Comparison of the two sides of an element function.

use super::{ElementFunction, ElementSignature, record};
use crate::device::Device;
use crate::dtype::DType;
use crate::error::{Error, Result, caller};
use crate::graph::expr::Expr;
use crate::graph::extent::Extent;
use crate::graph::function::Function;
use crate::graph::node::Node;
use crate::ops::Operand;
use crate::ops::random::dropout::threefry;
use crate::tensor::{HostTensor, HostValues, Tensor, Values};

const OP: &str = "ElementFunction::check";

/// Number of pseudo-random lists of arguments.
const RANDOM: usize = 1 << 16;
/// Maximum number of lists of special values.
const SPECIAL: f64 = 65536.0;
const SEED: [u32; 2] = [0x656c_656d, 0x656e_7473];

/// Check of both definitions.
impl<S: ElementSignature> ElementFunction<S> {
    /// Compares the WGSL function, run on a GPU, with the Rust function.
    ///
    /// Both are evaluated for combinations of special values (zeros of both signs, subnormal numbers, infinities, NaN,
    /// the largest and least numbers, powers of two and their neighbours) and for 65536 pseudo-random lists of arguments of
    /// any bits and of small numbers, the same in every call. Results must have equal bits; NaNs are equal. Where the
    /// device flushes subnormal numbers ([`Device::numerics`]), lists that contain such numbers are left out, and results
    /// of which each is subnormal or zero are equal.
    ///
    /// A passed check shows nothing about other arguments or devices. Check in a test, on the devices that matter:
    ///
    /// ```no_run
    /// use ragged::{Device, ElementFunction};
    /// let text = "fn scaled(x: f32, by: i32) -> f32 { return x * f32(by); }";
    /// let scaled = ElementFunction::new("scaled", text, |x: f32, by: i32| x * by as f32)?;
    /// for device in Device::all()?.iter().filter(|device| !device.is_cpu()) {
    ///     scaled.check(device)?;
    /// }
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Mismatch`] with the first arguments for which the results differ, and both results; [`Error::Function`] with
    /// the first arguments for which the Rust function panics; [`Error::Argument`] for a CPU device, which cannot run
    /// WGSL; errors of the device.
    ///
    /// # Cost
    /// At most 131072 calls on each side, and one wait.
    #[track_caller]
    pub fn check(&self, device: &Device) -> Result<()> {
        if device.is_cpu() {
            return Err(Error::argument(OP, "cpu runs the Rust function only; it needs a GPU device"));
        }
        let f = &self.function;
        let numerics = device.numerics()?.f32;
        let flushes = numerics.flushes_inputs || numerics.flushes_outputs;
        let columns = arguments(f.parameters(), flushes)?;
        let n = columns[0].len();
        let mut tensors = Vec::with_capacity(columns.len());
        for (words, &dtype) in columns.iter().zip(f.parameters()) {
            tensors.push(HostTensor::dense(&[n], of_words(dtype, words)).to_device(device)?);
        }
        let operands: Vec<Operand<'_>> = tensors.iter().map(Operand::from).collect();
        let on_device = words_of(record(OP, f, &operands)?.to_host()?.values);
        let in_rust = in_rust(f, &columns, n)?;
        let is_equal = |k: &usize| equal(f.result(), on_device[*k], in_rust[*k], flushes);
        match (0..n).find(|k| !is_equal(k)) {
            None => Ok(()),
            Some(k) => Err(Error::Mismatch {
                function: f.name().to_owned(),
                arguments: shown_list(f, &columns, k),
                wgsl: shown(f.result(), on_device[k]).into(),
                rust: shown(f.result(), in_rust[k]).into(),
                device: device.name().to_owned(),
                location: caller(),
            }),
        }
    }
}

/// The results of the Rust function.
///
/// # Errors
/// A panic, with the first arguments that cause it.
#[track_caller]
fn in_rust(f: &Function, columns: &[Vec<u32>], n: usize) -> Result<Vec<u32>> {
    let mut results = vec![0; n];
    let all: Vec<&[u32]> = columns.iter().map(Vec::as_slice).collect();
    if f.apply(&all, &mut results).is_ok() {
        return Ok(results);
    }
    for (k, result) in results.chunks_mut(1).enumerate() {
        let one: Vec<&[u32]> = columns.iter().map(|c| &c[k..=k]).collect();
        if let Err(Error::Function { function, what, .. }) = f.apply(&one, result) {
            let what = format!("for ({}), {what}", shown_list(f, columns, k));
            return Err(Error::Function { function, what, location: caller() });
        }
    }
    Ok(results)
}

/// Whether two results count as equal.
fn equal(dtype: DType, a: u32, b: u32, flushes: bool) -> bool {
    let (x, y) = (f32::from_bits(a), f32::from_bits(b));
    let is_flushed = |x: f32| x == 0.0 || x.is_subnormal();
    a == b || dtype == DType::F32 && (x.is_nan() && y.is_nan() || flushes && is_flushed(x) && is_flushed(y))
}

/// One column of words per argument.
#[track_caller]
fn arguments(dtypes: &[DType], flushes: bool) -> Result<Vec<Vec<u32>>> {
    let mut columns = special_lists(dtypes);
    for (k, (column, &dtype)) in columns.iter_mut().zip(dtypes).enumerate() {
        let [bits, kinds] = random_words(k as u32)?;
        column.extend(bits.into_iter().zip(kinds).map(|(bits, kind)| random(dtype, bits, kind)));
    }
    if flushes {
        let is_subnormal = |dtype, word| dtype == DType::F32 && f32::from_bits(word).is_subnormal();
        let n = columns[0].len();
        let keeps: Vec<bool> =
            (0..n).map(|k| !columns.iter().zip(dtypes).any(|(c, &dtype)| is_subnormal(dtype, c[k]))).collect();
        for column in &mut columns {
            let mut keeps = keeps.iter();
            column.retain(|_| keeps.next().is_some_and(|&keeps| keeps));
        }
    }
    Ok(columns)
}

/// Combinations of special values: all of them, or as many of each argument's first ones as [`SPECIAL`] allows.
fn special_lists(dtypes: &[DType]) -> Vec<Vec<u32>> {
    let most = SPECIAL.powf(1.0 / dtypes.len() as f64) as usize;
    let values: Vec<Vec<u32>> = dtypes.iter().map(|&d| special(d).into_iter().take(most).collect()).collect();
    let n: usize = values.iter().map(Vec::len).product();
    let mut every = 1;
    let column = |values: &Vec<u32>| {
        let step = every;
        every *= values.len();
        (0..n).map(|k| values[k / step % values.len()]).collect()
    };
    values.iter().map(column).collect()
}

/// Special values of a dtype, the most important ones first.
fn special(dtype: DType) -> Vec<u32> {
    match dtype {
        DType::F32 => {
            let magnitudes = [
                0.0,
                1.0,
                f32::INFINITY,
                f32::MAX,
                f32::MIN_POSITIVE,
                f32::from_bits(1),
                0.5,
                3.0,
                f32::from_bits(0x007f_ffff),
                1.0 + f32::EPSILON,
                16_777_216.0,
                2_147_483_648.0,
                4_294_967_296.0,
                std::f32::consts::PI,
                0.1,
                1e-20,
                1e20,
                8_388_607.5,
                88.0,
            ];
            let both = magnitudes.into_iter().flat_map(|x: f32| [x.to_bits(), (-x).to_bits()]);
            let mut words: Vec<u32> = both.collect();
            words.insert(6, f32::NAN.to_bits());
            words
        }
        DType::I32 => {
            let values = [0, 1, -1, i32::MIN, i32::MAX, 2, -2, 31, 32, 33, -3, 7, 255, 256, i32::MIN + 1, i32::MAX - 1];
            let more = [-31, -32, 65535, 65536, -65536, 1 << 24, (1 << 24) + 1, 46341, -46341, 1_000_000_007];
            values.into_iter().chain(more).map(i32::cast_unsigned).collect()
        }
        DType::U32 => {
            let values = [0, 1, u32::MAX, 2, 1 << 31, (1 << 31) - 1, 31, 32, 33, 3, 7, 255, 256, u32::MAX - 1, 65535];
            let more = [65536, 65537, 1 << 24, (1 << 24) + 1, 46341, 1_000_000_007, 0x5555_5555, 0xaaaa_aaaa];
            values.into_iter().chain(more).collect()
        }
        _ => vec![0, 1],
    }
}

/// Two pseudo-random words per list, for argument `k`.
#[track_caller]
fn random_words(k: u32) -> Result<[Vec<u32>; 2]> {
    let cpu = Device::cpu();
    let count = Extent::known(RANDOM as u32);
    let words = threefry(SEED, [Expr::index(), Expr::u32(k)]).map(|word| {
        let node = Node::map(cpu.backend(), OP, count.clone(), word, &[]);
        let tensor = Tensor::new(cpu.backend(), Vec::new(), Some(count.clone()), [], Values::Numbers(node));
        Ok(words_of(tensor?.to_host()?.values))
    });
    let [bits, kinds] = words;
    Ok([bits?, kinds?])
}

/// A pseudo-random value from two words: any bits, or a small number.
fn random(dtype: DType, bits: u32, kind: u32) -> u32 {
    match (dtype, kind % 4) {
        (DType::Bool, _) => bits & 1,
        (DType::F32, 0) => bits,
        // Multiples of 2^-24 in [-8, 8), of 1 in [-128, 128), and of any exponent in the middle of the range.
        (DType::F32, 1) => (bits.cast_signed() as f32 / 268_435_456.0).to_bits(),
        (DType::F32, 2) => ((bits.cast_signed() >> 24) as f32).to_bits(),
        (DType::F32, _) => (bits & 0x8fff_ffff) + (56 << 23),
        (_, 0) => bits,
        (_, 1) => (bits.cast_signed() >> 25).cast_unsigned(),
        (_, 2) => bits >> ((kind >> 2) % 32),
        _ => bits & 63,
    }
}

/// Values of a dtype from their words.
fn of_words(dtype: DType, words: &[u32]) -> HostValues {
    let words = words.iter().copied();
    match dtype {
        DType::F32 => HostValues::F32(words.map(f32::from_bits).collect()),
        DType::I32 => HostValues::I32(words.map(u32::cast_signed).collect()),
        DType::U32 => HostValues::U32(words.collect()),
        _ => HostValues::Bool(words.map(|w| w != 0).collect()),
    }
}

/// The words of values of 32 bits, or of bools.
fn words_of(values: HostValues) -> Vec<u32> {
    match values {
        HostValues::F32(v) => v.into_iter().map(f32::to_bits).collect(),
        HostValues::I32(v) => v.into_iter().map(i32::cast_unsigned).collect(),
        HostValues::U32(v) => v,
        HostValues::Bool(v) => v.into_iter().map(u32::from).collect(),
        other => unreachable!("bug: a result of {}", other.dtype()),
    }
}

/// A value as text; floats with their bits.
fn shown(dtype: DType, word: u32) -> String {
    match dtype {
        DType::F32 => format!("{:?} (0x{word:08x})", f32::from_bits(word)),
        DType::I32 => word.cast_signed().to_string(),
        DType::U32 => word.to_string(),
        _ => (word != 0).to_string(),
    }
}

/// The arguments of list `k`, as text.
fn shown_list(f: &Function, columns: &[Vec<u32>], k: usize) -> String {
    let texts: Vec<String> = columns.iter().zip(f.parameters()).map(|(c, &dtype)| shown(dtype, c[k])).collect();
    texts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_combination_of_the_first_special_values_occurs() {
        let dtypes = [DType::F32, DType::Bool, DType::U32];
        let columns = special_lists(&dtypes);
        let n = columns[0].len();
        assert!(columns.iter().all(|c| c.len() == n) && n <= 65536);
        let lists: std::collections::HashSet<Vec<u32>> =
            (0..n).map(|k| columns.iter().map(|c| c[k]).collect()).collect();
        assert_eq!(lists.len(), n);
        assert!(lists.contains(&vec![f32::NAN.to_bits(), 1, u32::MAX]));
        assert!(lists.contains(&vec![1 << 31, 0, 0]), "-0");
        let four = special_lists(&[DType::F32; 4]);
        assert_eq!(four[0].len(), 16usize.pow(4));
        assert!(four[3].contains(&f32::NAN.to_bits()) && four[3].contains(&f32::MIN_POSITIVE.to_bits()));
    }

    #[test]
    fn subnormal_arguments_are_left_out_where_they_are_flushed() {
        let count = |flushes| {
            let columns = arguments(&[DType::F32, DType::F32], flushes).expect("made");
            let is_subnormal = |w: &u32| f32::from_bits(*w).is_subnormal();
            (columns[0].len(), columns.concat().iter().filter(|w| is_subnormal(w)).count())
        };
        let ((all, subnormal), (kept, none)) = (count(false), count(true));
        assert!(subnormal > 100 && none == 0 && kept < all && kept > RANDOM);
    }
}
