//! Models that are trained on ragged data, on the tensors, programs and gradients of [`ragged`].
//!
//! ```
//! use ragged::opt::white_space;
//! use ragged::{DType, Device, Program, RaggedTensor, Result, Seed, Tensor, TensorSpec};
//! use ragged_nn::{Activation, Dense, Embedding, RmsProp, Training, Variables, binary_cross_entropy_with_logits};
//!
//! /// The logit of each text: the mean of the vectors of its words, through two dense layers.
//! fn model(v: &Variables, texts: &Tensor) -> Result<Tensor> {
//!     let words = texts.string_split(white_space())?.to_hash_bucket_fast(100)?;
//!     let mean = Embedding::new("words", 100, 16).call(v, &words)?.reduce_mean(1)?;
//!     let hidden = Dense::new("hidden", 32).activation(Activation::Relu).call(v, &mean)?;
//!     Dense::new("out", 1).call(v, &hidden)
//! }
//!
//! let device = Device::cpu();
//! let texts = RaggedTensor::from_nested(["so long", "and thanks for", "all the fish"], &device)?.into_erased();
//! let labels = RaggedTensor::from_nested([[0.0f32], [1.0], [1.0]], &device)?.into_erased();
//!
//! let mut v = Variables::new(&device, Seed(7));
//! let mut step = Training::trace(&mut v, [&texts, &labels], RmsProp::default(), |v, [texts, labels]| {
//!     binary_cross_entropy_with_logits(&model(v, texts)?, labels)
//! })?;
//! for _ in 0..20 {
//!     step.run(&mut v, [&texts, &labels])?;
//! }
//! let loss = step.run(&mut v, [&texts, &labels])?;
//! println!("{loss}");
//!
//! // The program that serves the model has the variables as constants.
//! let serve = Program::trace(&[TensorSpec::new(DType::Str, [None])], |x| model(&v, &x[0])?.sigmoid())?;
//! assert_eq!(serve.run(&texts)?[0].shape(), [Some(3), Some(1)]);
//! # Ok::<(), ragged::Error>(())
//! ```
//!
//! # The shape of it
//!
//! - A *model* is a function `fn(&Variables, &Tensor) -> Result<Tensor>`; there is no graph of layers and no class of
//!   models. Loops, conditions on shapes and shared layers are Rust.
//! - [`Variables`] are named tensors of one device, with a seed. A layer asks for its variables by name and shape at each
//!   call; the first call makes them, as the widths of inputs are known then.
//! - A *layer* is a small struct of options with `call(&self, v: &Variables, x) -> Result<Tensor>`: [`Dense`],
//!   [`Embedding`], [`LayerNorm`], [`Dropout`], [`Lstm`], [`Gru`], [`Bidirectional`], [`MultiHeadAttention`]. It holds no
//!   tensors. A layer of layers, such as one of both directions of a sequence, gives its parts names below its own
//!   (`name/forward`).
//! - A *loss* is a function of predictions and labels whose result is one number: [`binary_cross_entropy`],
//!   [`binary_cross_entropy_with_logits`], [`categorical_cross_entropy_with_logits`],
//!   [`sparse_categorical_cross_entropy_with_logits`], [`mean_squared_error`]. The elements of ragged rows count equally, as the
//!   elements of padded rows under a mask do.
//! - An [`Optimizer`] records the new value of one variable, and of its *slots*: [`Sgd`], [`RmsProp`], [`Adagrad`],
//!   [`Adam`], [`LazyAdam`], with gradients that are [`Clipped`]. The formulas are those of Keras 3; lazy Adam is that of TensorFlow
//!   Addons.
//! - [`Training`] is one traced [`Program`](ragged::Program): variables, slots, learning rate, number of the step and batch
//!   are its inputs; loss, variables and slots its outputs. It runs on batches of any sizes, by one plan, and waits for
//!   nothing (with attention: by a few, and for the number of scores).
//! - Files are [`ragged::SavedModel`]s: [`Variables::add_to`] adds variables by name beside programs and tensors.
//!
//! # Other libraries
//!
//! A tensor of another library becomes a variable by [`Variables::set`], from flat values
//! ([`RaggedTensor::dense`](ragged::RaggedTensor::dense)). A part of a model in another library is trained together with one
//! here: it takes the values that this part computes ([`RaggedTensor::to_vec`](ragged::RaggedTensor::to_vec)), and the
//! derivative of its loss by them is an input of a step whose loss is `sum(values * derivative)`.
//! `examples/exchange` of the repository does both with candle and burn.
//!
//! Results have the same bits on every device: initial values, losses, and variables after any number of steps.
//!
//! Errors are values of [`ragged::Error`]. Those of layers, variables, losses and steps begin with the function that was called,
//! and name the variable or the layer; those of an operation within a model begin with the operation.

mod activation;
mod fault;
mod initializer;
mod layers;
mod losses;
mod optimizers;
mod random;
mod training;
mod variables;

pub use activation::Activation;
pub use initializer::Initializer;
pub use layers::{Bidirectional, Dense, Dropout, Embedding, Gru, LayerNorm, Lstm, MultiHeadAttention, Recurrent};
pub use losses::{
    binary_cross_entropy, binary_cross_entropy_with_logits, categorical_cross_entropy_with_logits, mean_squared_error,
    sparse_categorical_cross_entropy_with_logits,
};
pub use optimizers::{Adagrad, Adam, Clip, Clipped, LazyAdam, Optimizer, RmsProp, Sgd, Slot, Update};
pub use training::{Outcome, Training};
pub use variables::Variables;

/// The example of the README compiles.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
