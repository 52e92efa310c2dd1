//! Training on every device: the values of Keras, equal bits, one plan, files, and errors.

mod attention;
mod devices;
mod embeddings;
mod errors;
mod files;
mod keras;
mod layers;
mod lazy_adam;
mod models;
mod options;
mod plans;
mod recurrent;
mod sentences;
mod state;
mod text;
