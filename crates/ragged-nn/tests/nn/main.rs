//! Training on every device: the values of Keras, equal bits, one plan, files, and errors.

#![allow(clippy::duplicate_mod, reason = "the examples that `models` tests share a module")]

mod attention;
mod devices;
mod embeddings;
mod errors;
mod files;
mod keras;
mod keras_recurrent;
mod layers;
mod lazy_adam;
mod models;
mod options;
mod plans;
mod recurrent;
mod sentences;
mod state;
mod text;
