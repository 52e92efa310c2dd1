//! Programs that must not compile: each line with a comment `says: TEXT` is an error whose diagnosis has the text.
//! `compile_errors.rs` compiles the file.

use ragged::opt::keep;
use ragged::{Device, RaggedTensor, Result, Str, StructuredTensor, Tensor, s};

/// A type of a user.
struct Own(Tensor);

impl AsRef<Tensor> for Own {
    fn as_ref(&self) -> &Tensor {
        &self.0
    }
}

fn operands(x: &RaggedTensor<f32>, i: &RaggedTensor<i32>, words: &RaggedTensor<Str>, own: &Own) -> Result<()> {
    x.add(x.reduce_sum(keep(1))?)?; // says: write `&x` for a tensor `x`
    x.add(x.reduce_sum(keep(1)))?; // says: with `?` and `&`
    words.substr(0, words.string_length()? - 2)?; // says: write `&x.reduce_sum(1)?`
    let _ = i + x; // says: cast one of them, `&x.cast::<f32>()? + &y`
    x.add(own)?; // says: is passed as `x.as_ref()`
    words.count_nonzero(1)?; // says: `x.to_hash_bucket_fast(n)`
    Ok(())
}

fn indices(x: &RaggedTensor<f32>) -> Result<()> {
    x.gather(&[0, 2])?; // says: `RaggedTensor::from_nested([0, 2], &x.device())?`
    x.slice(0..2)?; // says: write `x.slice(s![0..2])`
    x.reduce_sum(None)?; // says: `..` for all axes
    x.reduce_sum(1.0)?; // says: axes are an integer
    Ok(())
}

fn text(text: &[u8], device: &Device) -> Result<RaggedTensor<Str>> {
    RaggedTensor::from_nested([text], device) // says: found `Result<RaggedTensor<u8>, Error>`
}

fn records(records: &StructuredTensor, device: &Device) -> Result<()> {
    records.get("name")?; // says: write `records.get(keys![.., "name"])`
    RaggedTensor::from_nested(vec![Some(1), None], device)?; // says: JsonOptions::default().default_nulls(true)
    Ok(())
}

/// What the notes say compiles.
fn notes(x: &RaggedTensor<f32>, i: &RaggedTensor<i32>, words: &RaggedTensor<Str>, own: &Own) -> Result<()> {
    x.add(own.as_ref())?;
    x.add(&x.reduce_sum(keep(1))?)?;
    words.substr(0, &(words.string_length()? - 2)?)?;
    let _ = i.cast::<f32>()? + x;
    words.to_hash_bucket_fast(1000)?.count_nonzero(1)?;
    x.gather(&RaggedTensor::from_nested([0, 2], &x.device())?)?;
    x.slice(s![0..2])?;
    x.reduce_sum(..)?;
    Ok(())
}

fn main() {}
