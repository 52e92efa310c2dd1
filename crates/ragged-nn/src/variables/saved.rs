//! Variables in files.

use std::path::Path;

use ragged::{Result, SavedModel};

use super::{Closed, Variable, Variables, described, spec_of};
use crate::fault::argument;

/// Files.
impl Variables {
    /// Adds the variables to a model, beside its programs and tensors: each is the tensor `variables/NAME`, or
    /// `optimizer/NAME` of [`Training::state`](crate::Training::state). They are read when the model is saved.
    ///
    /// ```
    /// use ragged::{DType, Device, Program, RaggedTensor, SavedModel, Seed, TensorSpec};
    /// use ragged_nn::{Dense, Variables};
    /// let v = Variables::new(&Device::cpu(), Seed(7));
    /// let spec = TensorSpec::new(DType::F32, [None, Some(2)]);
    /// let serve = Program::trace(&[spec], |x| Dense::new("out", 1).call(&v, &x[0]))?;
    /// let bytes = v.add_to(SavedModel::new().with_program("serve", &serve)).to_bytes()?;
    ///
    /// let model = SavedModel::from_bytes(bytes)?;
    /// let read = Variables::new(&Device::cpu(), Seed(0));
    /// read.restore(&model)?;
    /// assert_eq!(read.names(), ["out/bias", "out/kernel"]);
    /// assert_eq!(read.get("out/kernel")?.to_string(), v.get("out/kernel")?.to_string());
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[must_use]
    pub fn add_to(&self, model: SavedModel) -> SavedModel {
        let add = |model: SavedModel, x: Variable| model.with_tensor(format!("{}/{}", self.group, x.name), &x.value);
        self.sorted().into_iter().fold(model, add)
    }

    /// Takes the variables of a model. Variables that exist keep their place, and whether they are trainable; the others
    /// are made, in the order of their names. From then on, a layer that asks for another name is an error, so that a misspelt
    /// name does not get random values; [`Self::allow_new`] permits other names. The state of a training step takes the tensors
    /// that it has, and no others; its learning rate is then that of the file. The seed stays that of these variables.
    ///
    /// # Errors
    /// A variable that the model lacks, or that has another dtype or shape there; a variable of the model that is ragged; a call
    /// within the function of a training step; as [`SavedModel::tensor`]. The variables stay as they were.
    ///
    /// # Cost
    /// One upload per variable.
    ///
    /// ```
    /// use ragged::{DType, Device, SavedModel, Seed};
    /// use ragged_nn::{Initializer, Variables};
    /// let v = Variables::new(&Device::cpu(), Seed(7));
    /// v.variable("out/bias", DType::F32, &[2], &Initializer::Zeros)?;
    /// let error = v.restore(&SavedModel::new()).unwrap_err().to_string();
    /// assert!(error.starts_with("Variables::restore: the model has no variable \"out/bias\""));
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn restore(&self, model: &SavedModel) -> Result<()> {
        const OP: &str = "Variables::restore";
        self.check_outside(OP, "the variables are")?;
        let prefix = format!("{}/", self.group);
        let names: Vec<&str> = model.tensors().filter_map(|name| name.strip_prefix(&prefix)).collect();
        if let Some(missing) = self.names().iter().find(|name| !names.contains(&name.as_str())) {
            let has = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            return Err(argument(OP, format!("the model has no variable {missing:?}; its variables: {has}")));
        }
        let mut read = Vec::new();
        let is_of_step = self.state().closed == Some(Closed::State);
        for name in names {
            if is_of_step && self.find(name).is_none() {
                continue;
            }
            let value = model.tensor(&format!("{prefix}{name}"), self.device())?;
            let known = self.find(name);
            let is = described(&value);
            if value.ragged_rank() > 0 {
                return Err(argument(OP, format!("variable {name:?} must be dense, but is {is} in the model")));
            }
            let is_trainable = match &known {
                Some(known) if !spec_of(&known.value).accepts(&value) => {
                    let was = described(&known.value);
                    return Err(argument(OP, format!("variable {name:?} is {was}, but {is} in the model")));
                }
                Some(known) => known.is_trainable,
                None => value.dtype().is_float(),
            };
            read.push(Variable { name: name.to_owned(), value, is_trainable });
        }
        let mut state = self.state();
        read.into_iter().for_each(|variable| state.insert(variable));
        state.closed.get_or_insert(Closed::Restored);
        Ok(())
    }

    /// Lets layers make variables that the restored model lacked, such as a new last layer on a trained model.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, Seed};
    /// use ragged_nn::{Dense, Variables};
    /// let x = RaggedTensor::from_nested([[1.0f32, 2.0]], &Device::cpu())?;
    /// let trained = Variables::new(&Device::cpu(), Seed(7));
    /// Dense::new("hidden", 4).call(&trained, &x)?;
    ///
    /// let v = Variables::new(&Device::cpu(), Seed(8));
    /// v.restore(&trained.add_to(ragged::SavedModel::new()))?;
    /// let error = Dense::new("hiden", 4).call(&v, &x).unwrap_err().to_string();
    /// assert!(error.starts_with("Dense::call: the model that was restored has no variable \"hiden/kernel\""));
    /// v.allow_new();
    /// Dense::new("out", 1).call(&v, &Dense::new("hidden", 4).call(&v, &x)?)?;
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn allow_new(&self) {
        let mut state = self.state();
        state.closed = state.closed.filter(|&closed| closed != Closed::Restored);
    }

    /// Writes the variables alone to a file: [`Self::add_to`] of an empty model.
    ///
    /// # Errors
    /// As [`SavedModel::save`].
    ///
    /// ```
    /// use ragged::{DType, Device, Seed};
    /// use ragged_nn::{Initializer, Variables};
    /// let v = Variables::new(&Device::cpu(), Seed(7));
    /// v.variable("bias", DType::F32, &[2], &Initializer::Ones)?;
    /// let path = std::env::temp_dir().join("bias.safetensors");
    /// v.save(&path)?;
    /// let read = Variables::new(&Device::cpu(), Seed(0));
    /// read.load(&path)?;
    /// assert_eq!(read.names(), ["bias"]);
    /// # std::fs::remove_file(&path).ok();
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        self.add_to(SavedModel::new()).save(path)
    }

    /// Reads the variables of a file: [`Self::restore`].
    ///
    /// # Errors
    /// As [`SavedModel::load`] and [`Self::restore`].
    ///
    /// ```
    /// use ragged::{Device, Seed};
    /// let v = ragged_nn::Variables::new(&Device::cpu(), Seed(7));
    /// assert!(v.load("no/such/file").unwrap_err().to_string().contains("no/such/file"));
    /// ```
    #[track_caller]
    pub fn load(&self, path: impl AsRef<Path>) -> Result<()> {
        self.restore(&SavedModel::load(path)?)
    }
}
