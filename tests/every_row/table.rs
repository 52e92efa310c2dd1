//! Entries of the tables: one expression that is a function of rows and of tensors.

use ragged::{Result, Row, Tensor};

use crate::inputs::Kind;

/// A function of a row, another of the same shape, a scalar, and a tensor that is the same for all rows.
type Of<T> = fn(&T, &T, &T, &Tensor) -> Result<Vec<T>>;

/// An operation as a function of rows, and of tensors.
pub struct Law {
    pub name: &'static str,
    pub kind: Kind,
    /// The expression of tensors, as it is written.
    pub text: &'static str,
    pub row: Of<Row>,
    pub tensor: Of<Tensor>,
}

/// Results of one or several rows or tensors, as a list.
pub trait Many<T> {
    fn many(self) -> Result<Vec<T>>;
}
impl<T> Many<T> for Result<T> {
    fn many(self) -> Result<Vec<T>> {
        self.map(|t| vec![t])
    }
}
impl<T> Many<T> for Result<(T, T)> {
    fn many(self) -> Result<Vec<T>> {
        self.map(|(a, b)| vec![a, b])
    }
}
impl<T> Many<T> for Result<Vec<T>> {
    fn many(self) -> Result<Vec<T>> {
        self
    }
}

/// The entries of operations: name, kind of the numbers, and the expression, in which `Of` is `Row` or `Tensor`. A second
/// expression is that of tensors, where it differs.
macro_rules! laws {
    ($($name:ident $kind:ident |$x:ident, $y:ident, $k:ident, $t:ident| $row:expr $(, alone $tensor:expr)?;)+) => {
        pub fn laws() -> Vec<$crate::table::Law> {
            vec![$($crate::table::laws!(one $name $kind |$x, $y, $k, $t| $row; $($tensor,)? $row)),+]
        }
    };
    (one $name:ident $kind:ident |$x:ident, $y:ident, $k:ident, $t:ident| $row:expr; $tensor:expr $(, $same:expr)?) => {
        $crate::table::Law {
            name: stringify!($name),
            kind: $crate::inputs::Kind::$kind,
            text: stringify!($tensor),
            row: $crate::table::laws!(of Row |$x, $y, $k, $t| $row),
            tensor: $crate::table::laws!(of Tensor |$x, $y, $k, $t| $tensor),
        }
    };
    (of $type:ident |$x:ident, $y:ident, $k:ident, $t:ident| $body:expr) => {{
        #[allow(unused, reason = "an entry uses some of its operands")]
        fn run(
            $x: &ragged::$type,
            $y: &ragged::$type,
            $k: &ragged::$type,
            $t: &ragged::Tensor,
        ) -> ragged::Result<Vec<ragged::$type>> {
            type Of = ragged::$type;
            $crate::table::Many::many($body)
        }
        run
    }};
}
pub(crate) use laws;
