//! Scripts of code points.

use super::script_runs::SCRIPT_RUNS;
use crate::dtype::DType;
use crate::element::IntegerElement;
use crate::error::Result;
use crate::graph::expr::Expr;
use crate::graph::recorder::Recorder;
use crate::ops::indexing::gather::in_range;
use crate::ops::operations;
use crate::tensor::Tensor;

operations! {
    /// Scripts of code points.
    const OPERATIONS: family "Strings" on RaggedTensor<T> where T: IntegerElement;

    /// The script of each code point: the number of ICU's `UScriptCode`, or -1 for numbers that are no code point.
    ///
    /// i32; the layout stays: empty rows stay empty. Integers of any dtype. For example 0 for common characters, 8 for
    /// Cyrillic, 17 for Han, 25 for Latin; of Unicode 15.0.
    ///
    /// # Errors
    /// The tensor does not hold integers.
    ///
    /// # Cost
    /// One map, with a search among 1657 runs of code points. No wait.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![72, 1086], vec![], vec![26085, -5]], &Device::cpu())?;
    /// assert_eq!(x.unicode_script()?.to_string(), "<ragged.RaggedTensor [[25, 8], [], [17, -1]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    fn unicode_script(&self) -> i32;
    tensorflow "tf.strings.unicode_script";
    gradient none "it takes integers";
}

#[track_caller]
fn unicode_script(x: &Tensor) -> Result<Tensor> {
    let (backend, dtype) = (x.backend(), x.dtype());
    let rec = Recorder::new(backend, "unicode_script");
    if !dtype.is_integer() {
        return Err(rec.unsupported(dtype, "code points are integers"));
    }
    let starts: Vec<u32> = SCRIPT_RUNS.iter().map(|&(start, _)| start).chain([0x11_0000]).collect();
    let scripts: Vec<u8> = SCRIPT_RUNS.iter().map(|&(_, script)| script).collect();
    let starts = rec.uploaded(DType::U32, bytemuck::cast_slice(&starts))?;
    let scripts = rec.uploaded(DType::U8, &scripts)?;
    let code = Expr::load(rec.numbers(x)?, Expr::index()).cast(dtype.accumulator());
    let is_code = in_range(&code, Expr::u32(0x11_0000), 0x11_0000);
    let code = is_code.clone().select(code.cast(DType::U32), Expr::u32(0));
    let script = Expr::load(&scripts, Expr::row_of(&starts, code)).cast(DType::I32);
    let script = is_code.select(script, Expr::scalar(-1i32));
    x.with_value_node(rec.map(x.count()?, script, &[]))
}
