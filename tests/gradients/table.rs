//! Entries of the list of operations: one expression of two tensors per form of an operation.

use ragged::operation::Owner;
use ragged::{
    DType, Element, FieldValue, LodTensor, RaggedTensor, Result, Row, SparseTensor, StructuredTensor, Tensor,
};

/// An operation as a function of two tensors of f64 of the same layout.
pub struct Entry {
    pub owner: Owner,
    pub name: &'static str,
    /// The first letters of the layouts: dense, rows, levels, inner.
    pub layouts: &'static str,
    /// The expression.
    pub text: &'static str,
    pub f: fn(&Tensor, &Tensor) -> Result<Vec<Tensor>>,
}

/// All tensors of a result.
pub trait Parts {
    fn parts(self, out: &mut Vec<Tensor>) -> Result<()>;
}

impl Parts for Tensor {
    fn parts(self, out: &mut Vec<Tensor>) -> Result<()> {
        out.push(self);
        Ok(())
    }
}
impl<T: Element> Parts for RaggedTensor<T> {
    fn parts(self, out: &mut Vec<Tensor>) -> Result<()> {
        self.into_erased().parts(out)
    }
}
impl Parts for SparseTensor {
    fn parts(self, out: &mut Vec<Tensor>) -> Result<()> {
        self.values().clone().parts(out)
    }
}
impl Parts for LodTensor {
    fn parts(self, out: &mut Vec<Tensor>) -> Result<()> {
        self.into_tensor().parts(out)
    }
}
impl Parts for StructuredTensor {
    fn parts(self, out: &mut Vec<Tensor>) -> Result<()> {
        self.fields().try_for_each(|(_, value)| value.clone().parts(out))
    }
}
impl Parts for FieldValue {
    fn parts(self, out: &mut Vec<Tensor>) -> Result<()> {
        match self {
            FieldValue::Tensor(tensor) => tensor.parts(out),
            FieldValue::Records(records) => records.parts(out),
            other => panic!("{other:?}"),
        }
    }
}
impl<A: Parts, B: Parts> Parts for (A, B) {
    fn parts(self, out: &mut Vec<Tensor>) -> Result<()> {
        self.0.parts(out)?;
        self.1.parts(out)
    }
}
impl<A: Parts> Parts for Vec<A> {
    fn parts(self, out: &mut Vec<Tensor>) -> Result<()> {
        self.into_iter().try_for_each(|part| part.parts(out))
    }
}

/// The tensors of f64 of a result.
pub fn floats(result: Result<impl Parts>) -> Result<Vec<Tensor>> {
    let mut all = Vec::new();
    result?.parts(&mut all)?;
    all.retain(|part| part.dtype() == DType::F64);
    Ok(all)
}

/// All rows of a result.
pub trait RowParts {
    fn rows(self) -> Vec<Row>;
}
impl RowParts for Row {
    fn rows(self) -> Vec<Row> {
        vec![self]
    }
}
impl RowParts for (Row, Row) {
    fn rows(self) -> Vec<Row> {
        vec![self.0, self.1]
    }
}
impl RowParts for Vec<Row> {
    fn rows(self) -> Vec<Row> {
        self
    }
}

/// The entries of operations of the owners: name, layouts, and the expression, in which `Of` is the owner.
macro_rules! table {
    ($list:ident on [$($owner:ident)+] $body:tt) => {
        pub fn $list() -> Vec<$crate::table::Entry> {
            let mut all = Vec::new();
            $(all.extend($crate::table::table!(@entries $owner $body));)+
            all
        }
    };
    (@entries $owner:ident { $($name:ident $layouts:ident |$x:ident, $y:ident| $value:expr;)+ }) => {
        [$($crate::table::Entry {
            owner: ragged::operation::Owner::$owner,
            name: stringify!($name),
            layouts: stringify!($layouts),
            text: stringify!($value),
            f: $crate::table::table!(@of $owner $x $y $value),
        }),+]
    };
    (@of RaggedTensor $x:ident $y:ident $value:expr) => {{
        #[allow(unused, reason = "an entry uses some of its operands")]
        fn run(x: &ragged::Tensor, y: &ragged::Tensor) -> ragged::Result<Vec<ragged::Tensor>> {
            type Of = ragged::RaggedTensor<f64>;
            let ($x, $y) = (&Of::try_from(x.clone())?, &Of::try_from(y.clone())?);
            $crate::table::floats($value)
        }
        run
    }};
    (@of Row $x:ident $y:ident $value:expr) => {{
        #[allow(unused, reason = "an entry uses some of its operands")]
        fn run(x: &ragged::Tensor, y: &ragged::Tensor) -> ragged::Result<Vec<ragged::Tensor>> {
            fn of_rows($x: &ragged::Row, $y: &ragged::Row) -> ragged::Result<Vec<ragged::Row>> {
                type Of = ragged::Row;
                Ok($crate::table::RowParts::rows($value?))
            }
            $crate::table::floats(ragged::Tensor::map_rows_of(&[x, y], |rows| of_rows(&rows[0], &rows[1])))
        }
        run
    }};
    (@of $owner:ident $x:ident $y:ident $value:expr) => {{
        #[allow(unused, reason = "an entry uses some of its operands")]
        fn run($x: &ragged::Tensor, $y: &ragged::Tensor) -> ragged::Result<Vec<ragged::Tensor>> {
            type Of = ragged::$owner;
            $crate::table::floats($value)
        }
        run
    }};
}
pub(crate) use table;
