//! Names, values and descriptions of variables.

use std::fmt;

use ragged::{DType, Device, Seed, Tensor, TensorSpec};

use super::{Variable, Variables};

/// Facts.
impl Variables {
    /// The names, in the order in which the variables were made.
    ///
    /// ```
    /// use ragged::{DType, Device, Seed};
    /// use ragged_nn::{Initializer, Variables};
    /// let v = Variables::new(&Device::cpu(), Seed(7));
    /// v.variable("b", DType::F32, &[1], &Initializer::Zeros)?;
    /// v.variable("a", DType::F32, &[1], &Initializer::Zeros)?;
    /// assert_eq!(v.names(), ["b", "a"]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn names(&self) -> Vec<String> {
        self.state().all.iter().map(|variable| variable.name.clone()).collect()
    }

    /// The device.
    ///
    /// ```
    /// use ragged::{Device, Seed};
    /// assert!(ragged_nn::Variables::new(&Device::cpu(), Seed(7)).device().is_cpu());
    /// ```
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The seed of the first values.
    ///
    /// ```
    /// use ragged::{Device, Seed};
    /// assert_eq!(ragged_nn::Variables::new(&Device::cpu(), Seed(7)).seed(), Seed(7));
    /// ```
    pub fn seed(&self) -> Seed {
        self.seed
    }

    /// All variables in the order of their names.
    pub(crate) fn sorted(&self) -> Vec<Variable> {
        let mut all = self.state().all.clone();
        all.sort_by(|a, b| a.name.cmp(&b.name));
        all
    }

    /// All variables in the order in which they were made.
    pub(crate) fn all(&self) -> Vec<Variable> {
        self.state().all.clone()
    }

    /// Gives a variable that exists a value that fits it.
    pub(crate) fn replace(&self, name: &str, value: Tensor) {
        let mut state = self.state();
        if let Some(&k) = state.positions.get(name) {
            state.all[k].value = value;
        }
    }
}

/// "an f32".
pub(crate) fn with_article(dtype: DType) -> String {
    let name = dtype.to_string();
    let article = if name.starts_with(['f', 'i']) { "an" } else { "a" };
    format!("{article} {name}")
}

/// "an f32 of shape [2, 3]".
pub(crate) fn described(x: &Tensor) -> String {
    let shape: Vec<String> = x.shape().iter().map(|n| n.map_or("None".to_owned(), |n| n.to_string())).collect();
    let rank = match x.ragged_rank() {
        0 => String::new(),
        n => format!(" and ragged rank {n}"),
    };
    format!("{} of shape [{}]{rank}", with_article(x.dtype()), shape.join(", "))
}

/// The specification of tensors with the dtype and the shape of a dense tensor.
pub(crate) fn spec_of(x: &Tensor) -> TensorSpec {
    TensorSpec::new(x.dtype(), x.shape().into_iter().map(|n| n.map(|n| n as u32)))
}

impl fmt::Debug for Variables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.state();
        f.debug_map().entries(state.all.iter().map(|v| (&v.name, described(&v.value)))).finish()
    }
}

/// The dtype in which optimizers, losses, normalizations and recurrences compute: that of the values, or f32 for 16-bit floats,
/// which cannot hold small learning rates, squares and sums of many terms.
pub(crate) fn computed_in(dtype: DType) -> DType {
    if matches!(dtype, DType::F16 | DType::BF16) { DType::F32 } else { dtype }
}
