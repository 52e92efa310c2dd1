//! Both directions of rows.

use ragged::operation::named;
use ragged::{Result, Tensor};

use super::recurrent::Recurrent;
use crate::variables::Variables;

/// Two recurrent layers, one of which runs rows from their ends; their outputs side by side.
///
/// The layers are made by a function of the name: `NAME/forward` and `NAME/backward`. Errors begin with the method of this layer,
/// and name the layer of one direction.
///
/// ```
/// use ragged::{Device, RaggedTensor, Seed};
/// use ragged_nn::{Bidirectional, Lstm, Variables};
/// let device = Device::cpu();
/// let v = Variables::new(&device, Seed(7));
/// let x = RaggedTensor::from_nested([vec![[1.0f32], [2.0]], vec![], vec![[3.0]]], &device)?;
/// let both = Bidirectional::new("both", |name| Lstm::new(name, 4));
/// assert_eq!(both.call(&v, &x)?.shape(), [Some(3), Some(8)]);
/// assert_eq!(both.sequences(&v, &x)?.shape(), [Some(3), None, Some(8)]);
/// assert_eq!(v.names()[0], "both/forward/kernel");
/// # Ok::<(), ragged::Error>(())
/// ```
///
/// Source: `keras.layers.Bidirectional`.
#[derive(Debug, Clone, PartialEq)]
pub struct Bidirectional<L> {
    forward: L,
    backward: L,
}

/// Making and calling.
impl<L: Recurrent> Bidirectional<L> {
    /// The layers that `layer` makes of their names.
    pub fn new(name: impl Into<String>, layer: impl Fn(String) -> L) -> Self {
        let name = name.into();
        Self { forward: layer(format!("{name}/forward")), backward: layer(format!("{name}/backward")).backwards() }
    }

    /// The last outputs of both directions: of the last element of each row, and of the first one.
    ///
    /// # Errors
    /// As [`Recurrent::scan`].
    #[track_caller]
    pub fn call(&self, v: &Variables, x: &impl AsRef<Tensor>) -> Result<Tensor> {
        named("Bidirectional::call", || Tensor::concat(&[self.forward.call(v, x)?, self.backward.call(v, x)?], -1))
    }

    /// The outputs of both directions, of all elements.
    ///
    /// # Errors
    /// As [`Recurrent::scan`].
    #[track_caller]
    pub fn sequences(&self, v: &Variables, x: &impl AsRef<Tensor>) -> Result<Tensor> {
        named("Bidirectional::sequences", || {
            Tensor::concat(&[self.forward.sequences(v, x)?, self.backward.sequences(v, x)?], -1)
        })
    }
}
