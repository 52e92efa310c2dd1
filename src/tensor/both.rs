//! Methods that do not depend on the element type: of [`Tensor`](super::Tensor) and of
//! [`RaggedTensor`](super::RaggedTensor), declared once.

/// Declares methods of both tensors, with their documentation.
macro_rules! methods_of_both {
    ($(
        $(#[$attribute:meta])*
        pub fn $name:ident(&$this:ident $(, $arg:ident: $arg_type:ty)* $(,)?) -> $result:ty $body:block
    )+) => {
        impl $crate::tensor::Tensor {$(
            $(#[$attribute])*
            pub fn $name(&$this $(, $arg: $arg_type)*) -> $result $body
        )+}

        impl<T: $crate::element::Element> $crate::tensor::RaggedTensor<T> {$(
            // The example is a test of the method above.
            $(#[cfg_attr(not(doctest), $attribute)])*
            pub fn $name(&self $(, $arg: $arg_type)*) -> $result {
                self.erased().$name($($arg),*)
            }
        )+}
    };
}

/// Declares methods of both tensors that return futures, with their documentation: the type after the arrow is the
/// future's output. A future borrows nothing.
macro_rules! futures_of_both {
    ($(
        $(#[$attribute:meta])*
        pub fn $name:ident $(<$generic:ident: $bound:ident>)? (&$this:ident $(, $arg:ident: $arg_type:ty)* $(,)?)
            -> $output:ty $body:block
    )+) => {
        impl $crate::tensor::Tensor {$(
            $(#[$attribute])*
            pub fn $name $(<$generic: $bound>)? (&$this $(, $arg: $arg_type)*)
                -> impl std::future::Future<Output = $output> + Send + use<$($generic)?> $body
        )+}

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
