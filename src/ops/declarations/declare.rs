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
//!     gradient later;
//! }
//!
//! fn reduce_sum(x: &Tensor, axis: impl IntoReduceAxes) -> Result<Tensor> { … }
//! ```
//!
//! An argument is a name, a Rust type, and after `as` its class, if a [`Row`](crate::Row) or a typed tensor takes it
//! differently: `axis`, `axes`, `reduce_axes`, `scan_axis` and `sort_axis` count in the row; `row` is another tensor,
//! which has as many rows; `same` is a tensor of the same element type; `broadcast` is an operand that a row meets row by row; `operand` is a tensor or a value, `impl IntoOperandOf<'a, T>` beside typed tensors. After `=`
//! stands the value that is usual in languages with default arguments.
//!
//! The result is the element type of a tensor; several of them in parentheses or, for a list of tensors, one in brackets;
//! `Tensor` is a tensor whose dtype the call determines. A path is written in parentheses: `(T::Mean)`.
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
//! | `gradient later;` or `gradient none "integers";` | gradient, or why there is none |
//! | `feature "regex";` | the feature that has the operation |
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
                $($arg:ident: $arg_type:ty $(as $class:ident)? $(= $default:literal)?),* $(,)?
            ) -> $result:tt $(where $param:ident: $bound:path)?;
            $(alias $($alias:literal),+;)?
            $(tensorflow $tensorflow:expr;)?
            $(awkward $awkward:literal;)?
            $(polars $polars:literal;)?
            $(waits $waits:literal;)?
            $(host $host:literal;)?
            gradient $gradient:ident $($no_gradient:literal)?;
            $(feature $feature:literal;)?
            $(tensor $tensor:ident $($no_tensor:literal)?;)?
            $(typed $typed:ident $($no_typed:literal)?;)?
            $(row $row:ident $($no_row:literal)?;)?
        )+
    ) => {
        $crate::ops::operations! { @block $owner
            $(#[doc = $topic])+
            impl $crate::tensor::Tensor {$(
                $crate::ops::operations! {
                    @tensor [$($tensor)?] [$($doc),+] [$($($alias)+)?] [$($tensorflow)?] [$($awkward)?] [$($polars)?] [$($feature)?]
                    $name [$($lt)?] [$($this)?] [$(($arg, $arg_type, [$($class)?]))*] $result
                }
            )+}
        }

        $crate::ops::operations! { @block $owner
            $(#[doc = $topic])+
            impl $(<$elem_param: $elem_bound>)? $crate::tensor::RaggedTensor<$($elem)?> {$(
                $crate::ops::operations! {
                    @typed [$($typed)?] [$($doc),+] [$($($alias)+)?] [$($tensorflow)?] [$($awkward)?] [$($polars)?] [$($feature)?]
                    $name [$($lt)?] [$($this)?] [$(($arg, $arg_type, [$($class)?]))*] $result [$($param: $bound)?]
                }
            )+}
        }

        $crate::ops::operations! { @block $owner
            $(#[doc = $topic])+
            impl $crate::ops::Row {$(
                $crate::ops::operations! {
                    @row [$($row)?] [$($doc),+] [$($($alias)+)?] [$($tensorflow)?] [$($awkward)?] [$($polars)?] [$($feature)?]
                    $name [$($lt)?] [$(($arg, $arg_type, [$($class)?]))*] $result
                }
            )+}
        }

        /// The operations of this declaration.
        pub(crate) const $list: &[$crate::operation::Operation] = {
            #[allow(dead_code, reason = "each operation of a family may have a bound of its own")]
            const OF_FAMILY: &str = $crate::ops::operations!(@elements_of_family [$($elem_bound)?] $($elem)?);
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
                elements: $crate::ops::operations!(@elements [$($bound)?] OF_FAMILY),
                result: stringify!($result),
                waits: $crate::ops::operations!(@option $($waits)?),
                host_step: $crate::ops::operations!(@option $($host)?),
                gradient: $crate::ops::operations!(@gradient $gradient $($no_gradient)?),
                owners: $crate::ops::operations! {
                    @owners $owner
                    [$($tensor $($no_tensor)?)?] [$($typed $($no_typed)?)?] [$($row $($no_row)?)?]
                },
                feature: $crate::ops::operations!(@option $($feature)?),
            }
        ),+]
        };
    };

    // The methods of the three types of tensors. Methods of other types are written by hand.
    (@block RaggedTensor $($block:tt)*) => { $($block)* };
    (@block $owner:ident $($block:tt)*) => {};

    // The method of a tensor.
    (@tensor [hand] $($rest:tt)*) => {};
    (@tensor [none] $($rest:tt)*) => {};
    (
        @tensor [] [$($doc:expr),+] [$($alias:literal)*] [$($tensorflow:expr)?] [$($awkward:literal)?]
        [$($polars:literal)?] [$($feature:literal)?]
        $name:ident [$($lt:lifetime)?] [$($this:ident)?] [$(($arg:ident, $arg_type:ty, [$($class:ident)?]))*] $result:tt
    ) => {
        // The example is a test of the typed method.
        $(#[cfg_attr(not(doctest), doc = $doc)])+
        $(#[doc = concat!("\nTensorFlow: `", $tensorflow, "`.")])?
        $(#[doc = concat!("\nAwkward: `", $awkward, "`.")])?
        $(#[doc = concat!("\nPolars: `", $polars, "`.")])?
        $(#[doc(alias = $alias)])*
        $(#[cfg(feature = $feature)])?
        #[track_caller]
        pub fn $name $(<$lt>)? (
            $(&$this,)?
            $($arg: $crate::ops::operations!(@tensor_argument [$($class)?] $arg_type)),*
        ) -> $crate::error::Result<$crate::ops::operations!(@erased $result)> {
            $name($($this,)? $($arg),*)
        }
    };

    // The method of a typed tensor.
    (@typed [hand] $($rest:tt)*) => {};
    (@typed [none] $($rest:tt)*) => {};
    (
        @typed [] [$($doc:expr),+] [$($alias:literal)*] [$($tensorflow:expr)?] [$($awkward:literal)?]
        [$($polars:literal)?] [$($feature:literal)?]
        $name:ident [$($lt:lifetime)?] [$($this:ident)?] [$(($arg:ident, $arg_type:ty, [$($class:ident)?]))*] $result:tt
        [$($param:ident: $bound:path)?]
    ) => {
        $(#[doc = $doc])+
        $(#[doc = concat!("\nTensorFlow: `", $tensorflow, "`.")])?
        $(#[doc = concat!("\nAwkward: `", $awkward, "`.")])?
        $(#[doc = concat!("\nPolars: `", $polars, "`.")])?
        $(#[doc(alias = $alias)])*
        $(#[cfg(feature = $feature)])?
        #[track_caller]
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
    };

    // The method of a row.
    (@row [hand] $($rest:tt)*) => {};
    (@row [none] $($rest:tt)*) => {};
    (
        @row [] [$($doc:expr),+] [$($alias:literal)*] [$($tensorflow:expr)?] [$($awkward:literal)?]
        [$($polars:literal)?] [$($feature:literal)?]
        $name:ident [$lt:lifetime] [($arg:ident, $arg_type:ty, [broadcast])] $result:tt
    ) => {
        $(#[cfg_attr(not(doctest), doc = $doc)])+
        ///
        /// Each row meets its own row of the other operand, and broadcasts with it.
        $(#[doc = concat!("\nTensorFlow: `", $tensorflow, "`.")])?
        $(#[doc = concat!("\nAwkward: `", $awkward, "`.")])?
        $(#[doc = concat!("\nPolars: `", $polars, "`.")])?
        $(#[doc(alias = $alias)])*
        #[track_caller]
        pub fn $name<$lt>(&self, $arg: impl Into<$crate::ops::RowOperand<$lt>>) -> $crate::error::Result<Self> {
            self.meet(stringify!($name), &$arg.into(), |a, b| a.$name(b))
        }
    };
    (
        @row [$($vector:ident)?] [$($doc:expr),+] [$($alias:literal)*] [$($tensorflow:expr)?] [$($awkward:literal)?]
        [$($polars:literal)?] [$($feature:literal)?]
        $name:ident [$($lt:lifetime)?] [$(($arg:ident, $arg_type:ty, [$($class:ident)?]))*] $result:tt
    ) => {
        $(#[cfg_attr(not(doctest), doc = $doc)])+
        ///
        /// Of each row by itself: axes are counted in the row.
        $(#[doc = concat!("\nTensorFlow: `", $tensorflow, "`.")])?
        $(#[doc = concat!("\nAwkward: `", $awkward, "`.")])?
        $(#[doc = concat!("\nPolars: `", $polars, "`.")])?
        $(#[doc(alias = $alias)])*
        $(#[cfg(feature = $feature)])?
        #[track_caller]
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
    (@is_vector vector $row:ident $name:ident) => { $row.axis(stringify!($name), -1)? };

    // The type of a result, from the element types that the declaration names.
    (@erased ($a:ty, $b:ty)) => { ($crate::tensor::Tensor, $crate::tensor::Tensor) };
    (@erased [$a:ty]) => { Vec<$crate::tensor::Tensor> };
    (@erased $a:tt) => { $crate::tensor::Tensor };
    (@result ($a:ty, $b:ty)) => {
        ($crate::ops::operations!(@one $a), $crate::ops::operations!(@one $b))
    };
    (@result ($a:ty)) => { $crate::tensor::RaggedTensor<$a> };
    (@result [$a:ty]) => { Vec<$crate::tensor::RaggedTensor<$a>> };
    (@result Tensor) => { $crate::tensor::Tensor };
    (@result $a:tt) => { $crate::tensor::RaggedTensor<$a> };
    (@one $a:ty) => { $crate::tensor::RaggedTensor<$a> };
    (@of_row ($a:ty, $b:ty)) => { ($crate::ops::Row, $crate::ops::Row) };
    (@of_row [$a:ty]) => { Vec<$crate::ops::Row> };
    (@of_row $a:tt) => { $crate::ops::Row };

    // Facts of an operation.
    (@option) => { None };
    (@option $text:expr) => { Some($text) };
    (@text) => { None };
    (@text $token:tt) => { Some(stringify!($token)) };
    (@given) => { false };
    (@given $this:ident) => { true };
    (@elements [$bound:path] $of_family:ident) => { stringify!($bound) };
    (@elements [] $of_family:ident) => { $of_family };
    (@elements_of_family [$bound:path] $elem:ty) => { stringify!($bound) };
    (@elements_of_family []) => { "Element" };
    (@elements_of_family [] $elem:ty) => { stringify!($elem) };
    (@gradient later) => { $crate::operation::Gradient::Later };
    (@gradient none $why:literal) => { $crate::operation::Gradient::None($why) };
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
