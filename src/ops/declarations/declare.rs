//! The macro that declares operations.
//!
//! An operation is declared once. The declaration makes its methods on [`Tensor`](crate::Tensor),
//! [`RaggedTensor`](crate::RaggedTensor) and [`Row`](crate::Row), its row in the [guide](crate::guide::operations) and its
//! [`Operation`](crate::Operation). It is a header; the function of the same name beside it computes the operation:
//!
//! ```text
//! operations! {
//!     /// Heading of the methods in the documentation.
//!     const OPERATIONS: family "Reductions" on RaggedTensor<T> where T: Element;
//!
//!     /// Documentation, with an example.
//!     fn reduce_sum(&self, axis: impl IntoReduceAxes as reduce_axes) -> T where T: Averaged;
//!     alias "sum";
//!     tensorflow "tf.math.reduce_sum";
//!     gradient yes;
//! }
//!
//! fn reduce_sum(x: &Tensor, axis: impl IntoReduceAxes) -> Result<Tensor> { … }
//! ```
//!
//! An argument is a name, a Rust type, and after `as` its class, if a [`Row`](crate::Row) or a typed tensor takes
//! it differently: `axis`, `axes`, `reduce_axes`, `scan_axis` and `sort_axis` count in the row; `row` is another
//! tensor, which has as many rows; `same` is a tensor of the same element type; `broadcast` is an operand that a
//! row meets row by row; `operand` is a tensor or a value, `impl IntoOperandOf<'a, T>` beside typed tensors. The other
//! classes only say what an argument of an `impl` type is [called](crate::Operation::call) with: `integer`, `tensor`,
//! `tensors`, `value`, or the type that it converts to, such as `Separator`. After `=` stands the value that is usual in languages with default arguments; it compiles as the argument.
//!
//! The result is the element type of a tensor; several of them in parentheses or, for a list of tensors, one in brackets;
//! `{dtype}` is the dtype that the argument `dtype` is, has or chooses. Types of several tokens are written in
//! parentheses: `(T::Mean)`, and `(Sparse<T>)` or `(Sparse {dtype})`, `(Lod<T>)` or `(Lod {dtype})` for a sparse tensor
//! and sequences; `Records` are a structured tensor.
//!
//! Beside `on RaggedTensor<…>`, `on SparseTensor` (or another [`Owner`](crate::operation::Owner)) declares operations of
//! that type, whose methods are written by hand; these have no lines `tensor`, `typed` and `row`.
//!
//! Lines after the header, in this order, each optional but for `gradient`:
//!
//! | line | meaning |
//! |---|---|
//! | `alias "sum", "total";` | words that a search of the documentation finds it by |
//! | `tensorflow "tf.math.reduce_sum";` `awkward "ak.sum";` `polars "list.sum";` | names elsewhere |
//! | `waits "where only the device knows …";` | when recording waits for a size |
//! | `host "floats";` | what is computed on the host, since no kernel computes it |
//! | `gradient yes;` or `gradient none "the result holds bools";` | gradient, or why there is none; `first "…";` where its second derivative is missing, and `missing "…";` where the first one is |
//! | `feature "regex";` | the feature that has the operation |
//! | `call none;` | no [value](crate::operation::Value) converts to one of its arguments |
//! | `call method;` | values call the method, which is written by hand |
//! | `tensor hand;` `typed hand;` `row hand;` | the method of that type is written by hand |
//! | `tensor none "…";` `typed none "…";` `row none "the number of rows changes";` | why that type does not have it |
//! | `row vector;` | it is computed along the innermost axis, so that a row that is a scalar is an error |

/// Declares operations: see the [module](self).
macro_rules! operations {
    (
        $(#[doc = $topic:literal])+
        const $list:ident: family $family:literal on $owner:ident $(<$elem:ty>)? $(where $elem_param:ident: $elem_bound:path)?;
        $(
            $(#[doc = $doc:expr])+
            fn $name:ident $(<$lt:lifetime>)? (
                $(&$this:ident)? $(,)?
                $($arg:ident: $arg_type:ty $(as $class:ident)? $(= $default:expr)?),* $(,)?
            ) -> $result:tt $(where $param:ident: $bound:path)?;
            $(alias $($alias:literal),+;)?
            $(tensorflow $tensorflow:expr;)?
            $(awkward $awkward:literal;)?
            $(polars $polars:literal;)?
            $(waits $waits:literal;)?
            $(host $host:literal;)?
            gradient $gradient:ident $($no_gradient:literal)?;
            $(feature $feature:literal;)?
            $(call $call:ident;)?
            $(tensor $tensor:ident $($no_tensor:literal)?;)?
            $(typed $typed:ident $($no_typed:literal)?;)?
            $(row $row:ident $($no_row:literal)?;)?
        )+
    ) => {
        $crate::ops::operations! { @block $owner
            $(#[doc = $topic])+
            impl $crate::tensor::Tensor {$(
                $crate::ops::operations! {
                    @tensor [$($tensor)?] [$($typed)?]
                    [[$($doc),+] [$($($alias)+)?] [$($tensorflow)?] [$($awkward)?] [$($polars)?] [$($waits)?] [$($host)?] [$($feature)?]]
                    $name [$($lt)?] [$($this)?] [$(($arg, $arg_type, [$($class)?]))*] $result
                }
            )+}
        }

        $crate::ops::operations! { @block $owner
            $(#[doc = $topic])+
            impl $(<$elem_param: $elem_bound>)? $crate::tensor::RaggedTensor<$($elem)?> {$(
                $crate::ops::operations! {
                    @typed [$($typed)?]
                    [[$($doc),+] [$($($alias)+)?] [$($tensorflow)?] [$($awkward)?] [$($polars)?] [$($waits)?] [$($host)?] [$($feature)?]]
                    $name [$($lt)?] [$($this)?] [$(($arg, $arg_type, [$($class)?]))*] $result [$($param: $bound)?]
                }
            )+}
        }

        $crate::ops::operations! { @block $owner
            $(#[doc = $topic])+
            impl $crate::ops::Row {$(
                $crate::ops::operations! {
                    @row [$($row)?]
                    [[$($doc),+] [$($($alias)+)?] [$($tensorflow)?] [$($awkward)?] [$($polars)?] [$($waits)?] [$($host)?] [$($feature)?]]
                    $name [$($lt)?] [$(($arg, $arg_type, [$($class)?]))*] $result
                }
            )+}
        }

        $($crate::ops::operations! { @defaults [$($lt)?] $([$arg_type, $($default)?])* })+

        /// The operations of this declaration.
        pub(crate) const $list: &[$crate::operation::Operation] = {
            #[allow(dead_code, reason = "each operation of a family may have a bound of its own")]
            const OF_FAMILY: &[$crate::dtype::DType] = $crate::ops::operations!(@elements [$($elem_bound)?] $($elem)?);
            &[$(
            $(#[cfg(feature = $feature)])?
            $crate::operation::Operation {
                name: stringify!($name),
                family: $family,
                doc: concat!($($doc, "\n"),+),
                tensorflow: $crate::ops::operations!(@option $($tensorflow)?),
                awkward: $crate::ops::operations!(@option $($awkward)?),
                polars: $crate::ops::operations!(@option $($polars)?),
                arguments: &[$(
                    $crate::operation::Argument::new(
                        stringify!($arg),
                        stringify!($arg_type),
                        $crate::ops::operations!(@text $($class)?),
                        $crate::ops::operations!(@text $($default)?),
                    )
                ),*],
                is_method: $crate::ops::operations!(@given $($this)?),
                elements: $crate::ops::operations!(@elements_or OF_FAMILY $($bound)?),
                results: $crate::ops::operations!(@results $result),
                waits: $crate::ops::operations!(@option $($waits)?),
                host_step: $crate::ops::operations!(@option $($host)?),
                gradient: $crate::ops::operations!(@gradient $gradient $($no_gradient)?),
                owners: $crate::ops::operations! {
                    @owners $owner
                    [$($tensor $($no_tensor)?)?] [$($typed $($no_typed)?)?] [$($row $($no_row)?)?]
                },
                feature: $crate::ops::operations!(@option $($feature)?),
                call: $crate::ops::call_by_values! {
                    $owner [$($tensor)?] [$($call)?] $name [$($this)?]
                    [$(($arg, [$($class)?], [$($default)?]))*]
                },
            }
        ),+]
        };
    };

    // Each default compiles as the argument.
    (@defaults $lt:tt) => {};
    (@defaults $lt:tt [$type:ty,] $($others:tt)*) => { $crate::ops::operations! { @defaults $lt $($others)* } };
    (@defaults [$($lt:lifetime)?] [$type:ty, $default:expr] $($others:tt)*) => {
        const _: fn() = || {
            #[allow(clippy::extra_unused_lifetimes, reason = "other arguments of the operation have the lifetime")]
            fn take$(<$lt>)?(_: $type) {}
            take($default)
        };
        $crate::ops::operations! { @defaults [$($lt)?] $($others)* }
    };

    // The methods of the three types of tensors. Methods of other types are written by hand.
    (@block RaggedTensor $($block:tt)*) => { $($block)* };
    (@block $owner:ident $($block:tt)*) => {};

    // A method with its page: documentation under a condition, names elsewhere, waits and host steps.
    (
        @page [$when:meta] [$($lead:literal)?] [$axes:literal]
        [[$($doc:expr),+] [$($alias:literal)*] [$($tensorflow:expr)?] [$($awkward:literal)?] [$($polars:literal)?]
         [$($waits:literal)?] [$($host:literal)?] [$($feature:literal)?]]
        { $($method:tt)+ }
    ) => {
        $(#[doc = $lead])?
        $(#[cfg_attr($when, doc = $doc)])+
        $(#[doc = concat!("\nRecording may wait ", $waits, $axes)])?
        $(#[doc = concat!("\nHost step on a GPU: ", $host, ".")])?
        $(#[doc = concat!("\nTensorFlow: `", $tensorflow, "`.")])?
        $(#[doc = concat!("\nAwkward: `", $awkward, "`.")])?
        $(#[doc = concat!("\nPolars: `", $polars, "`.")])?
        $(#[doc(alias = $alias)])*
        $(#[cfg(feature = $feature)])?
        #[track_caller]
        $($method)+
    };

    // The method of a tensor. The example is a test of the typed method, or of this one if that is written by hand.
    (@tensor [hand] $($rest:tt)*) => {};
    (@tensor [none] $($rest:tt)*) => {};
    (@tensor [] [] $($rest:tt)*) => { $crate::ops::operations! { @tensor [not(doctest)] $($rest)* } };
    (@tensor [] [$typed:ident] $($rest:tt)*) => { $crate::ops::operations! { @tensor [all()] $($rest)* } };
    (
        @tensor $when:tt $page:tt
        $name:ident [$($lt:lifetime)?] [$($this:ident)?] [$(($arg:ident, $arg_type:ty, [$($class:ident)?]))*] $result:tt
    ) => {
        $crate::ops::operations! { @page $when [] ["."] $page {
            pub fn $name $(<$lt>)? (
                $(&$this,)?
                $($arg: $crate::ops::operations!(@tensor_argument [$($class)?] $arg_type)),*
            ) -> $crate::error::Result<$crate::ops::operations!(@erased $result)> {
                $name($($this,)? $($arg),*)
            }
        }}
    };

    // The method of a typed tensor.
    (@typed [hand] $($rest:tt)*) => {};
    (@typed [none] $($rest:tt)*) => {};
    (
        @typed [] $page:tt
        $name:ident [$($lt:lifetime)?] [$($this:ident)?] [$(($arg:ident, $arg_type:ty, [$($class:ident)?]))*] $result:tt
        [$($param:ident: $bound:path)?]
    ) => {
        $crate::ops::operations! { @page [all()] [] ["."] $page {
            pub fn $name $(<$lt>)? (
                $(&$this,)?
                $($arg: $crate::ops::operations!(@typed_argument [$($class)?] $arg_type)),*
            ) -> $crate::error::Result<$crate::ops::operations!(@result $result)>
            $(where $param: $bound)?
            {
                let result = $name(
                    $($this.erased(),)?
                    $($crate::ops::operations!(@typed_value [$($class)?] $name $arg)),*
                );
                $crate::ops::Typed::typed(result?)
            }
        }}
    };

    // The method of a row.
    (@row [hand] $($rest:tt)*) => {};
    (@row [none] $($rest:tt)*) => {};
    (
        @row [] $page:tt
        $name:ident [$lt:lifetime] [($arg:ident, $arg_type:ty, [broadcast])] $result:tt
    ) => {
        $crate::ops::operations! { @page [not(doctest)]
            ["Of each row and its own row of the other operand, which broadcast. The example is one of tensors."]
            ["; axes count in the tensor of all rows."] $page {
            pub fn $name<$lt>(&self, $arg: impl Into<$crate::ops::RowOperand<$lt>>) -> $crate::error::Result<Self> {
                self.meet(stringify!($name), &$arg.into(), |a, b| a.$name(b))
            }
        }}
    };
    (
        @row [$($vector:ident)?] $page:tt
        $name:ident [$($lt:lifetime)?] [$(($arg:ident, $arg_type:ty, [$($class:ident)?]))*] $result:tt
    ) => {
        $crate::ops::operations! { @page [not(doctest)]
            ["Of each row by itself: axes count in the row. The example is one of tensors."] ["; axes count in the tensor of all rows."] $page {
            pub fn $name $(<$lt>)? (
                &self
                $(, $arg: $crate::ops::operations!(@row_argument [$($class)?] $arg_type))*
            ) -> $crate::error::Result<$crate::ops::operations!(@of_row $result)> {
                $($crate::ops::operations!(@is_vector $vector self $name);)?
                let result = $name(
                    self.all()
                    $(, $crate::ops::operations!(@row_value [$($class)?] self $name $arg))*
                );
                $crate::ops::RowResults::of_tensors(result?, self)
            }
        }}
    };

    (@tensor_argument [broadcast] $type:ty) => { impl $crate::ops::IntoOperand<'a> };
    (@tensor_argument [operand] $type:ty) => { impl $crate::ops::IntoOperand<'a> };
    (@tensor_argument [$($class:ident)?] $type:ty) => { $type };

    (@typed_argument [same] $type:ty) => { &Self };
    (@typed_argument [$($class:ident)?] $type:ty) => { $type };

    (@typed_value [broadcast] $name:ident $arg:ident) => { $arg.into().erased(stringify!($name))? };
    (@typed_value [operand] $name:ident $arg:ident) => { $arg.into().erased(stringify!($name))? };
    (@typed_value [$($class:ident)?] $name:ident $arg:ident) => { $arg };

    (@row_argument [operand] $type:ty) => { impl $crate::ops::IntoOperand<'a> };
    (@row_argument [row] $type:ty) => { &$crate::ops::Row };
    (@row_argument [$($class:ident)?] $type:ty) => { $type };

    (@row_value [] $row:ident $name:ident $arg:ident) => { $arg };
    (@row_value [operand] $row:ident $name:ident $arg:ident) => { $arg };
    (@row_value [axis] $row:ident $name:ident $arg:ident) => {
        $row.axis(stringify!($name), $crate::integer::Integer::saturating_i64($arg))?
    };
    (@row_value [axes] $row:ident $name:ident $arg:ident) => { $row.axes(stringify!($name), $arg.into())? };
    (@row_value [reduce_axes] $row:ident $name:ident $arg:ident) => { $row.reduce_axes(stringify!($name), $arg.into())? };
    (@row_value [scan_axis] $row:ident $name:ident $arg:ident) => { $row.scan_axis(stringify!($name), $arg.into())? };
    (@row_value [sort_axis] $row:ident $name:ident $arg:ident) => { $row.sort_axis(stringify!($name), $arg.into())? };
    (@row_value [row] $row:ident $name:ident $arg:ident) => { $arg.vector_of_same_call(stringify!($name), $row)? };
    (@row_value [$class:ident] $row:ident $name:ident $arg:ident) => { $arg };
    (@is_vector vector $row:ident $name:ident) => { $row.axis(stringify!($name), -1)? };

    // The type of a result, from the element types that the declaration names.
    (@erased ($a:tt, $b:tt)) => { ($crate::tensor::Tensor, $crate::tensor::Tensor) };
    (@erased [$a:tt]) => { Vec<$crate::tensor::Tensor> };
    (@erased $a:tt) => { $crate::tensor::Tensor };
    (@result ($a:ty, $b:ty)) => {
        ($crate::ops::operations!(@one $a), $crate::ops::operations!(@one $b))
    };
    (@result ($a:ty)) => { $crate::tensor::RaggedTensor<$a> };
    (@result [$a:ty]) => { Vec<$crate::tensor::RaggedTensor<$a>> };
    (@result {$argument:ident}) => { $crate::tensor::Tensor };
    (@result $a:tt) => { $crate::tensor::RaggedTensor<$a> };
    (@one $a:ty) => { $crate::tensor::RaggedTensor<$a> };
    (@of_row ($a:tt, $b:tt)) => { ($crate::ops::Row, $crate::ops::Row) };
    (@of_row [$a:tt]) => { Vec<$crate::ops::Row> };
    (@of_row $a:tt) => { $crate::ops::Row };

    // Facts of an operation.
    (@option) => { None };
    (@option $text:expr) => { Some($text) };
    (@text) => { None };
    (@text $token:expr) => { Some(stringify!($token)) };
    (@given) => { false };
    (@given $this:ident) => { true };
    (@elements []) => { $crate::operation::elements::dtypes!(with $crate::element::Element) };
    (@elements [] $elem:ty) => { $crate::operation::elements::dtypes!(of $elem) };
    (@elements [$bound:path] $elem:ty) => { $crate::operation::elements::dtypes!(with $bound) };
    (@elements_or $of_family:ident) => { $of_family };
    (@elements_or $of_family:ident $bound:path) => { $crate::operation::elements::dtypes!(with $bound) };
    (@results [$a:tt]) => { $crate::operation::Results::List($crate::ops::operations!(@of $a)) };
    (@results ($a:tt, $b:tt)) => {
        $crate::operation::Results::Two($crate::ops::operations!(@of $a), $crate::ops::operations!(@of $b))
    };
    (@results $a:tt) => { $crate::operation::Results::One($crate::ops::operations!(@of $a)) };
    (@of {$argument:ident}) => { $crate::ops::operations!(@of_argument Tensor $argument) };
    (@of (Sparse {$argument:ident})) => { $crate::ops::operations!(@of_argument SparseTensor $argument) };
    (@of (Lod {$argument:ident})) => { $crate::ops::operations!(@of_argument LodTensor $argument) };
    (@of_argument $kind:ident $argument:ident) => {
        $crate::operation::ResultTensor::of_argument($crate::operation::ResultKind::$kind, stringify!($argument))
    };
    (@of ($a:ty)) => { $crate::operation::ResultTensor::new(stringify!($a)) };
    (@of $a:tt) => { $crate::operation::ResultTensor::new(stringify!($a)) };
    (@gradient yes) => { $crate::operation::HasGradient::Yes };
    (@gradient first $why:literal) => { $crate::operation::HasGradient::FirstOrder($why) };
    (@gradient missing $why:literal) => { $crate::operation::HasGradient::Missing($why) };
    (@gradient none $why:literal) => { $crate::operation::HasGradient::None($why) };
    (@owners RaggedTensor $tensor:tt $typed:tt $row:tt) => {{
        let owners = $crate::operation::Owners::NONE;
        let owners = $crate::ops::operations!(@owner owners Tensor $tensor);
        let owners = $crate::ops::operations!(@owner owners RaggedTensor $typed);
        $crate::ops::operations!(@owner owners Row $row)
    }};
    (@owners $owner:ident [] [] []) => {
        $crate::operation::Owners::NONE.with($crate::operation::Owner::$owner)
    };
    (@owner $owners:ident $owner:ident [none $why:literal]) => {
        $owners.without($crate::operation::Owner::$owner, $why)
    };
    (@owner $owners:ident $owner:ident [$($by:ident)?]) => { $owners.with($crate::operation::Owner::$owner) };
}

pub(crate) use operations;
