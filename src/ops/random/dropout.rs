//! Dropout by a counter-based random generator: Threefry-2x32 with 20 rounds (Salmon, Moraes, Dror and Shaw, "Parallel
//! random numbers: as easy as 1, 2, 3", 2011). The generator needs only additions, rotations and exclusive ors of
//! 32-bit words.

use crate::element::FloatElement;
use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::opcode::BinaryOp;
use crate::ops::operations;
use crate::ops::options::Seed;
use crate::record::elementwise::{Takes, number, parameter, rounded_once};
use crate::tensor::Tensor;

operations! {
    /// Dropout.
    const OPERATIONS: family "Element-wise, one operand" on RaggedTensor<T> where T: FloatElement;

    /// Sets each value to 0 with a given probability, and scales the others so that the expected value stays.
    ///
    /// A value is dropped with probability `rate` and multiplied by `1 / (1 - rate)` otherwise. Shape and dtype stay;
    /// f16 and bf16 round once. A rate of 0 returns the tensor unchanged. Dropped NaNs and infinities become 0.
    ///
    /// The dropped values depend on the seed and on flat positions alone: unlike in TensorFlow, one seed drops the same
    /// values on every device and at every call. The generator is Threefry-2x32 with 20 rounds.
    ///
    /// # Errors
    /// A rate that is not at least 0 and less than 1; a dtype other than floats.
    ///
    /// # Cost
    /// One map of some 100 operations per value. Nothing is read back.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, Seed};
    /// let x = RaggedTensor::from_nested([vec![1.0f32; 900], vec![], vec![1.0; 100]], &Device::cpu())?;
    /// let y = x.dropout(0.5, Seed(7))?.to_vec()?;
    /// assert!(y.iter().all(|&v| v == 0.0 || v == 2.0));
    /// assert!((400..600).contains(&y.iter().filter(|&&v| v == 0.0).count()));
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn dropout(&self, rate: f64, seed: Seed) -> T;
    tensorflow "tf.nn.dropout";
    gradient yes;
    row hand;
}

#[track_caller]
fn dropout(tensor: &Tensor, rate: f64, seed: Seed) -> Result<Tensor> {
    tensor.dropped("dropout", rate, seed, [Expr::index(), Expr::u32(0)])
}

impl Tensor {
    /// Dropout by the random words of the counter, an expression in the value.
    #[track_caller]
    pub(crate) fn dropped(&self, op: &'static str, rate: f64, seed: Seed, counter: [Expr; 2]) -> Result<Self> {
        let rec = self.recorder(op);
        Takes::Floats.check(op, self.dtype())?;
        if !(0.0..1.0).contains(&rate) {
            return Err(rec.argument(format!("the rate must be at least 0 and less than 1, but is {rate}")));
        }
        if rate == 0.0 {
            return Ok(self.clone());
        }
        let [word, _] = threefry(seed.key(), counter);
        // Integers on both sides: the comparison does not round.
        let threshold = (rate * f64::from(1u32 << 31) * 2.0).round().min(f64::from(u32::MAX)) as u32;
        let dropped = word.lt(Expr::number(threshold));
        self.map_numbers(rec, |x| {
            rounded_once([x], |[x]| {
                let zero = number(x.dtype(), 0.0);
                let scale = parameter(x.dtype(), 1.0 / (1.0 - rate));
                dropped.select(zero, x.mul(scale))
            })
        })
    }
}

/// Rotation distance of the second word in each round, in bits; the list repeats.
const ROTATIONS: [u32; 8] = [13, 15, 26, 6, 17, 29, 16, 24];
const ROUNDS: usize = 20;
/// Parity constant of the third key word: an all-zero key does not give an all-zero key schedule.
const PARITY: u32 = 0x1BD1_1BDA;

/// Two random words of a key and a counter, as expressions.
pub(crate) fn threefry(key: [u32; 2], counter: [Expr; 2]) -> [Expr; 2] {
    let keys = [key[0], key[1], PARITY ^ key[0] ^ key[1]];
    let [mut x, mut y] = counter;
    (x, y) = (x.add(Expr::number(keys[0])), y.add(Expr::number(keys[1])));
    for round in 0..ROUNDS {
        let by = ROTATIONS[round % ROTATIONS.len()];
        x = x.add(y.clone());
        let left = y.clone().binary(BinaryOp::Shl, Expr::u32(by));
        let right = y.binary(BinaryOp::Shr, Expr::u32(32 - by));
        y = left.or(right).binary(BinaryOp::Xor, x.clone());
        if round % 4 == 3 {
            let s = round / 4 + 1;
            x = x.add(Expr::number(keys[s % 3]));
            y = y.add(Expr::number(keys[(s + 1) % 3].wrapping_add(s as u32)));
        }
    }
    [x, y]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Device;
    use crate::graph::extent::Extent;
    use crate::graph::recorder::Recorder;

    #[test]
    fn words_are_those_of_the_published_vectors() {
        let device = Device::cpu();
        let rec = Recorder::new(device.backend(), "test");
        let words = |key, counter: [u32; 2]| {
            let nodes = threefry(key, counter.map(|c| Expr::index().add(Expr::u32(c))))
                .map(|w| rec.map(Extent::known(1), w, &[]));
            let read = device.backend().read(&nodes).expect("read");
            [0, 1].map(|k| bytemuck::pod_read_unaligned::<u32>(&read[k]))
        };
        assert_eq!(words([0, 0], [0, 0]), [0x6b20_0159, 0x99ba_4efe]);
        assert_eq!(words([u32::MAX; 2], [u32::MAX; 2]), [0x1cb9_96fc, 0xbb00_2be7]);
        assert_eq!(words([0x1319_8a2e, 0x0370_7344], [0x243f_6a88, 0x85a3_08d3]), [0xc492_3a9c, 0x483d_f7a0]);
    }
}
