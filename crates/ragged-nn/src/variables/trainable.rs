//! Which variables training changes.

use ragged::{Result, Tensor};

use super::{Variable, Variables};
use crate::fault::argument;

/// Training or not.
impl Variables {
    /// Whether training changes the variable. Variables of floats are trainable when they are made, others are not.
    ///
    /// # Errors
    /// None of that name.
    ///
    /// ```
    /// use ragged::{DType, Device, Seed};
    /// use ragged_nn::{Initializer, Variables};
    /// let v = Variables::new(&Device::cpu(), Seed(7));
    /// v.variable("words/embeddings", DType::F32, &[10, 2], &Initializer::Zeros)?;
    /// v.set_trainable("words/embeddings", false)?;
    /// assert!(!v.is_trainable("words/embeddings")?);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn is_trainable(&self, name: &str) -> Result<bool> {
        match self.find(name) {
            Some(known) => Ok(known.is_trainable),
            None => Err(self.absent("Variables::is_trainable", name)),
        }
    }

    /// Sets whether training steps that are traced from now on change the variable.
    ///
    /// # Errors
    /// None of that name; a variable that does not hold floats, which has no gradient; a call within the function of a training
    /// step.
    ///
    /// ```
    /// use ragged::{DType, Device, Seed};
    /// use ragged_nn::{Initializer, Variables};
    /// let v = Variables::new(&Device::cpu(), Seed(7));
    /// v.variable("counts", DType::I32, &[10], &Initializer::Zeros)?;
    /// let error = v.set_trainable("counts", true).unwrap_err().to_string();
    /// assert!(error.starts_with("Variables::set_trainable: variable \"counts\" holds i32, which has no gradient"));
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn set_trainable(&self, name: &str, is_trainable: bool) -> Result<()> {
        const OP: &str = "Variables::set_trainable";
        self.check_outside(OP, &format!("variable {name:?} is"))?;
        let Some(known) = self.find(name) else { return Err(self.absent(OP, name)) };
        let dtype = known.value.dtype();
        if is_trainable && !dtype.is_float() {
            return Err(argument(OP, format!("variable {name:?} holds {dtype}, which has no gradient")));
        }
        self.state().insert(Variable { is_trainable, ..known });
        Ok(())
    }

    /// The number of the training step within the function of one, from 0: a scalar of u32. None elsewhere, where layers
    /// such as [`Dropout`](crate::Dropout) give their input.
    ///
    /// ```
    /// use ragged::{Device, Seed};
    /// let v = ragged_nn::Variables::new(&Device::cpu(), Seed(7));
    /// assert!(v.step().is_none());
    /// ```
    pub fn step(&self) -> Option<&Tensor> {
        self.step.as_ref().map(|step| &step.number)
    }
}
