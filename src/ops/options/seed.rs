//! Seed of a random operation.

/// Seed of a random operation. One seed gives the same numbers at every call and on every device.
///
/// ```
/// use ragged::{Device, RaggedTensor, Seed};
/// let x = RaggedTensor::from_nested([vec![1, 3, 2], vec![4, 5]], &Device::cpu())?;
/// assert_eq!(x.shuffle(Seed(7), 1)?.to_vec()?, x.shuffle(Seed(7), 1)?.to_vec()?);
/// # Ok::<(), ragged::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Seed(pub u64);

impl Seed {
    /// The two words of the generator's key.
    pub(crate) fn key(self) -> [u32; 2] {
        [self.0 as u32, (self.0 >> 32) as u32]
    }
}
