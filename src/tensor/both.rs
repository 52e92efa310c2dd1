//! Methods that do not depend on the element type: of [`Tensor`](super::Tensor) and of
//! [`RaggedTensor`](super::RaggedTensor), declared once.

/// Declares methods of both tensors: their topic before `impl;`, then each with its documentation.
macro_rules! methods_of_both {
    ($(#[$topic:meta])+ impl; $(
        $(#[$attribute:meta])*
        pub fn $name:ident(&$this:ident $(, $arg:ident: $arg_type:ty)* $(,)?) -> $result:ty $body:block
    )+) => {
        $(#[$topic])+
        impl $crate::tensor::Tensor {$(
            $(#[$attribute])*
            pub fn $name(&$this $(, $arg: $arg_type)*) -> $result $body
        )+}

        $(#[$topic])+
        impl<T: $crate::element::Element> $crate::tensor::RaggedTensor<T> {$(
            // The example is a test of the method above.
            $(#[cfg_attr(not(doctest), $attribute)])*
            pub fn $name(&self $(, $arg: $arg_type)*) -> $result {
                self.erased().$name($($arg),*)
            }
        )+}
    };
}

/// As [`methods_of_both`], of methods that return futures: the type after the arrow is the future's output. A future
/// borrows nothing.
macro_rules! futures_of_both {
    ($(#[$topic:meta])+ impl; $(
        $(#[$attribute:meta])*
        pub fn $name:ident $(<$generic:ident: $bound:ident>)? (&$this:ident $(, $arg:ident: $arg_type:ty)* $(,)?)
            -> $output:ty $body:block
    )+) => {
        $(#[$topic])+
        impl $crate::tensor::Tensor {$(
            $(#[$attribute])*
            pub fn $name $(<$generic: $bound>)? (&$this $(, $arg: $arg_type)*)
                -> impl std::future::Future<Output = $output> + Send + use<$($generic)?> $body
        )+}

        $(#[$topic])+
        impl<T: $crate::element::Element> $crate::tensor::RaggedTensor<T> {$(
            // The example is a test of the method above.
            $(#[cfg_attr(not(doctest), $attribute)])*
            pub fn $name $(<$generic: $bound>)? (&self $(, $arg: $arg_type)*)
                -> impl std::future::Future<Output = $output> + Send + use<T $(, $generic)?>
            {
                self.erased().$name($($arg),*)
            }
        )+}
    };
}

pub(crate) use {futures_of_both, methods_of_both};
