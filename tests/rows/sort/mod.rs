//! Sorts along every axis, `top_k`, `unique` and quantiles, compared with nested lists.

mod axes;
mod dense;
mod errors;
mod quantiles;
mod reference;
mod rows;
mod selection;
