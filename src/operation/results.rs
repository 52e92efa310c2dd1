//! Results of a declared operation.

use crate::dtype::DType;

/// The results of an [`Operation`](super::Operation).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Results {
    /// One tensor.
    One(ResultTensor),
    /// Two tensors.
    Two(ResultTensor, ResultTensor),
    /// A list of tensors, whose number depends on the call.
    List(ResultTensor),
}

/// Each result.
impl Results {
    /// What each result is: two entries for two results, one for any other number.
    ///
    /// ```
    /// use ragged::{DType, operation::ResultDType};
    /// let top_k = ragged::operations().find(|operation| operation.name == "top_k").unwrap();
    /// let dtypes: Vec<_> = top_k.results.iter().map(|result| result.dtype).collect();
    /// assert_eq!(dtypes, [ResultDType::Element, ResultDType::Fixed(DType::I64)]);
    /// ```
    pub fn iter(self) -> impl Iterator<Item = ResultTensor> {
        let (first, second) = match self {
            Self::One(result) | Self::List(result) => (result, None),
            Self::Two(first, second) => (first, Some(second)),
        };
        std::iter::once(first).chain(second)
    }
}

/// One of the results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResultTensor {
    /// The type that it is.
    pub kind: ResultKind,
    /// Its dtype.
    pub dtype: ResultDType,
}

/// The type of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ResultKind {
    /// A [`Tensor`](crate::Tensor), [`RaggedTensor`](crate::RaggedTensor) or [`Row`](crate::Row), as the type that has the
    /// operation.
    Tensor,
    /// A [`SparseTensor`](crate::SparseTensor).
    SparseTensor,
    /// A [`StructuredTensor`](crate::StructuredTensor).
    StructuredTensor,
    /// A [`LodTensor`](crate::LodTensor).
    LodTensor,
    /// A [`FieldValue`](crate::FieldValue): a tensor or records.
    FieldValue,
}

/// The dtype of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ResultDType {
    /// The element type: that of the tensor, or of the tensors or values that a function takes.
    Element,
    /// Always this one.
    Fixed(DType),
    /// The float type of means, roots and quotients of the elements: floats keep their dtype, integers of 8 and 16 bits
    /// give f32, wider ones f64.
    Float,
    /// Those of the fields of records.
    OfFields,
    /// That of the argument of this name: the dtype that it is, the dtype of the tensor, the value or the result of the
    /// function that it is, or the dtype that a choice such as [`Pool`](crate::opt::Pool) makes of the elements.
    OfArgument(&'static str),
}

/// Dtypes of results.
impl ResultDType {
    /// The dtype of the result for elements of a dtype; `None` where an argument or the fields of records determine it,
    /// and where elements of the dtype have no float type.
    ///
    /// ```
    /// use ragged::{DType, operations};
    /// let mean = operations().find(|operation| operation.name == "reduce_mean").unwrap();
    /// let of = |elements| mean.results.iter().next().unwrap().dtype.of(elements);
    /// assert_eq!([of(DType::U8), of(DType::I64), of(DType::F16)], [DType::F32, DType::F64, DType::F16].map(Some));
    /// ```
    pub const fn of(self, elements: DType) -> Option<DType> {
        match self {
            Self::Element => Some(elements),
            Self::Fixed(dtype) => Some(dtype),
            Self::Float => elements.quotient(),
            Self::OfFields | Self::OfArgument(_) => None,
        }
    }
}

impl ResultTensor {
    /// A result whose dtype is that of an argument.
    pub(crate) const fn of_argument(kind: ResultKind, name: &'static str) -> Self {
        Self { kind, dtype: ResultDType::OfArgument(name) }
    }

    /// A result of the element type that a declaration names.
    pub(crate) const fn new(element: &'static str) -> Self {
        let (kind, dtype) = match element.as_bytes() {
            [b'S', b'p', b'a', b'r', b's', b'e', b'<', inner @ .., b'>'] => (ResultKind::SparseTensor, named(inner)),
            [b'L', b'o', b'd', b'<', inner @ .., b'>'] => (ResultKind::LodTensor, named(inner)),
            b"Records" => (ResultKind::StructuredTensor, ResultDType::OfFields),
            b"Field" => (ResultKind::Tensor, ResultDType::OfFields),
            b"FieldValue" => (ResultKind::FieldValue, ResultDType::OfFields),
            all => (ResultKind::Tensor, named(all)),
        };
        Self { kind, dtype }
    }
}

/// The dtype of an element type that a declaration names.
const fn named(element: &[u8]) -> ResultDType {
    ResultDType::Fixed(match element {
        b"T" => return ResultDType::Element,
        b"T::Mean" | b"T::Quotient" => return ResultDType::Float,
        b"bool" => DType::Bool,
        b"u8" => DType::U8,
        b"i32" => DType::I32,
        b"u32" => DType::U32,
        b"i64" => DType::I64,
        b"u64" => DType::U64,
        b"f32" => DType::F32,
        b"f64" => DType::F64,
        b"Str" => DType::Str,
        _ => panic!("an element type that src/operation/results.rs does not know"),
    })
}
