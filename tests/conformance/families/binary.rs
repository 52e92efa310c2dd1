//! The `binary` family.

use ragged::arguments::Operand;
use ragged::{Device, Result, Tensor};

use crate::case::Case;
use crate::got::Got;

/// Whether every case must pass.
pub const CLAIMED: bool = true;

/// Calls the method that the case names.
macro_rules! by_name {
    ($op:expr, $x:expr, $y:expr; $($name:ident)+) => {
        match $op {
            $(stringify!($name) => $x.$name($y).map(Got::from),)+
            other => Got::unsupported(other),
        }
    };
}

pub fn run(case: &Case, device: &Device) -> Result<Got> {
    let all = case.tensors(device)?;
    if case.op == "add_n" {
        return Tensor::add_n(&all.iter().collect::<Vec<_>>()).map(Got::from);
    }
    let [x, y] = &all[..] else { panic!("{} inputs", all.len()) };
    if case.op == "operator" {
        return operator(case.attr_str("op").expect("an operator"), x, y);
    }
    // Of floats, TensorFlow has two names of one operation.
    let name = if case.op == "realdiv" { "truediv" } else { case.op.as_str() };
    by_name!(name, x, y;
        add subtract multiply truediv floordiv floormod truncatediv truncatemod pow maximum minimum
        squared_difference divide_no_nan multiply_no_nan atan2 xlogy xlog1py xdivy
        equal not_equal less less_equal greater greater_equal logical_and logical_or logical_xor
        bitwise_and bitwise_or bitwise_xor left_shift right_shift
    )
}

/// Python's operator in Rust.
fn operator(op: &str, x: &Tensor, y: &Tensor) -> Result<Got> {
    let answer = match op {
        "+" => x + y,
        "-" => x - y,
        "*" => x * y,
        "/" => x / y,
        "%" => x % y,
        "&" => x & y,
        "|" => x | y,
        "^" => x ^ y,
        "//" => x.floordiv(y),
        "**" => x.pow(y),
        "==" => Operand::from(x).equal(y.into()),
        "!=" => x.not_equal(y),
        "<" => x.less(y),
        "<=" => x.less_equal(y),
        ">" => x.greater(y),
        ">=" => x.greater_equal(y),
        other => return Got::unsupported(other),
    };
    answer.map(Got::from)
}
