//! Setters of options that are known at run time only.

/// Declares methods with the names of public fields, which give the options with another value of the field. After
/// `into` stands the type of a field that converts.
macro_rules! setters {
    (impl[$($param:tt)*] $of:ty { $($field:ident: $first:tt $($type:ty)?;)+ }) => {
        /// Options, each set by a method of its name.
        impl<$($param)*> $of {$(
            $crate::setters::setters!(@setter $field [$first $($type)?]);
        )+}
    };
    (@setter $field:ident [into $type:ty]) => {
        #[doc = concat!("Sets [`", stringify!($field), "`](#structfield.", stringify!($field), ").")]
        #[must_use]
        pub fn $field(mut self, $field: impl Into<$type>) -> Self {
            self.$field = $field.into();
            self
        }
    };
    (@setter $field:ident [integer $type:ty]) => {
        #[doc = concat!("Sets [`", stringify!($field), "`](#structfield.", stringify!($field), ").")]
        #[must_use]
        pub fn $field(mut self, $field: impl $crate::integer::Integer) -> Self {
            self.$field = $field.saturating_i64();
            self
        }
    };
    (@setter $field:ident [$type:tt]) => {
        #[doc = concat!("Sets [`", stringify!($field), "`](#structfield.", stringify!($field), ").")]
        #[must_use]
        pub fn $field(mut self, $field: $type) -> Self {
            self.$field = $field;
            self
        }
    };
}

pub(crate) use setters;
