//! The macro that makes the call by values of a declared operation.
//!
//! ```text
//! [axis: impl Integer as axis = -1]  ─►  match values.given::<i64>("axis")? { Some(axis) => axis, None => -1 }
//! ```
//!
//! An argument of an `impl` type has a class, which names the type that it is given as; of the others the function of the
//! operation tells the type.

/// The [`Call`](crate::operation::call::Call) of an operation: see the [module](self).
macro_rules! call_by_values {
    (RaggedTensor [] [] $name:ident [$($this:ident)?] [$(($arg:ident, $class:tt, $default:tt))*]) => {
        $crate::operation::call::Call::new(|values| {
            let results = $name(
                $($crate::ops::call_by_values!(@receiver $this values),)?
                $($crate::ops::call_by_values!(@value $class $default values $arg)),*
            );
            results.map($crate::operation::call::IntoTensors::into_tensors)
        })
    };
    (RaggedTensor [hand] [method] $name:ident [$($this:ident)?] [$(($arg:ident, $class:tt, $default:tt))*]) => {
        $crate::operation::call::Call::new(|values| {
            let results = $crate::tensor::Tensor::$name(
                $($crate::ops::call_by_values!(@receiver $this values),)?
                $($crate::ops::call_by_values!(@value $class $default values $arg)),*
            );
            results.map($crate::operation::call::IntoTensors::into_tensors)
        })
    };
    (@receiver $this:ident $values:ident) => { $values.next::<&$crate::tensor::Tensor>("the tensor")? };

    // An argument from the next value. Those of `impl` types have a class, which names the type that they are given as.
    (@value [] [] $values:ident $arg:ident) => { $values.next(stringify!($arg))? };
    (@value [] [$default:expr] $values:ident $arg:ident) => { $values.given(stringify!($arg))?.unwrap_or($default) };
    (@value [axis] $default:tt $values:ident $arg:ident) => {
        $crate::ops::call_by_values!(@value [integer] $default $values $arg)
    };
    (@value [integer] [$default:expr] $values:ident $arg:ident) => {
        match $values.given::<i64>(stringify!($arg))? {
            Some(given) => given,
            None => $crate::integer::Integer::saturating_i64($default),
        }
    };
    (@value [integers] [] $values:ident $arg:ident) => { &$values.next::<Vec<i64>>(stringify!($arg))? };
    (@value [$class:ident] [] $values:ident $arg:ident) => {
        $values.next::<$crate::ops::call_by_values!(@given_as $class)>(stringify!($arg))?
    };
    (@value [$class:ident] [$default:expr] $values:ident $arg:ident) => {
        match $values.given::<$crate::ops::call_by_values!(@given_as $class)>(stringify!($arg))? {
            Some(given) => given,
            None => $default.into(),
        }
    };
    (@given_as integer) => { i64 };
    (@given_as tensor) => { &$crate::tensor::Tensor };
    (@given_as row) => { &$crate::tensor::Tensor };
    (@given_as same) => { &$crate::tensor::Tensor };
    (@given_as tensors) => { &[$crate::tensor::Tensor] };
    (@given_as keys) => { Vec<&$crate::tensor::Tensor> };
    (@given_as operand) => { $crate::record::operand::Operand<'_> };
    (@given_as broadcast) => { $crate::record::operand::Operand<'_> };
    (@given_as value) => { $crate::record::operand::Operand<'_> };
    (@given_as slice) => { Vec<$crate::ops::Index<'_>> };
    (@given_as axes) => { $crate::record::axes::Axes };
    (@given_as reduce_axes) => { $crate::ops::options::ReduceAxes };
    (@given_as scan_axis) => { $crate::ops::options::ScanAxis };
    (@given_as sort_axis) => { $crate::ops::options::SortAxis };
    (@given_as $type:ident) => { $type };

    // Not by values.
    ($owner:ident $tensor:tt $call:tt $name:ident $this:tt $arguments:tt) => { $crate::operation::call::Call::NONE };
}

pub(crate) use call_by_values;
