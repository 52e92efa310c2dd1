//! Results of the closure of [`Tensor::map_rows`]: one row, or several.

use crate::error::{Result, here};
use crate::ops::Row;
use crate::tensor::Tensor;

/// Results of a function of one row: a [`Row`], or a tuple of up to four results, or a vector of results.
///
/// ```
/// use ragged::{Device, RaggedTensor};
/// let x = RaggedTensor::from_nested([vec![3, 1, 2], vec![], vec![5]], &Device::cpu())?;
/// let (sums, counts): (RaggedTensor<i32>, RaggedTensor<i64>) =
///     x.map_rows(|row| Ok((row.reduce_sum(0)?, row.size()?)))?;
/// assert_eq!(sums.to_vec()?, [6, 0, 5]);
/// assert_eq!(counts.to_vec()?, [3, 0, 1]);
/// let powers: Vec<RaggedTensor<i32>> = x.map_rows(|row| Ok(vec![row.clone(), row.square()?]))?;
/// assert_eq!(powers[1].to_string(), "<ragged.RaggedTensor [[9, 1, 4], [], [25]]>");
/// # Ok::<(), ragged::Error>(())
/// ```
pub trait RowResults: Sized {
    /// The same results for all rows: a [`Tensor`] for each [`Row`].
    type Tensors;

    /// The tensors of all rows. Fails if a row is not of the call of `of`.
    #[doc(hidden)]
    #[track_caller]
    fn into_tensors(self, op: &'static str, of: &Row) -> Result<Self::Tensors>;

    /// The results of the tensors of all rows, in the call of `of`.
    #[doc(hidden)]
    #[track_caller]
    fn of_tensors(tensors: Self::Tensors, of: &Row) -> Result<Self>;

    /// The results of which these are the tensors of the rows of `of`, whose rows `above` has.
    #[doc(hidden)]
    #[track_caller]
    fn of_inner(tensors: Self::Tensors, above: &Tensor, of: &Row) -> Result<Self>;
}

impl RowResults for Row {
    type Tensors = Tensor;

    #[track_caller]
    fn into_tensors(self, op: &'static str, of: &Row) -> Result<Tensor> {
        self.of_same_call(op, of).cloned()
    }

    #[track_caller]
    fn of_tensors(tensors: Tensor, of: &Row) -> Result<Self> {
        Ok(of.with(tensors))
    }

    #[track_caller]
    fn of_inner(tensors: Tensor, above: &Tensor, of: &Row) -> Result<Self> {
        Ok(of.with(above.with_values(&tensors)?))
    }
}

impl<R: RowResults> RowResults for Vec<R> {
    type Tensors = Vec<R::Tensors>;

    #[track_caller]
    fn into_tensors(self, op: &'static str, of: &Row) -> Result<Self::Tensors> {
        self.into_iter().map(|result| result.into_tensors(op, of)).collect::<Result<_>>().map_err(here())
    }

    #[track_caller]
    fn of_tensors(tensors: Self::Tensors, of: &Row) -> Result<Self> {
        tensors.into_iter().map(|tensors| R::of_tensors(tensors, of)).collect::<Result<_>>().map_err(here())
    }

    #[track_caller]
    fn of_inner(tensors: Self::Tensors, above: &Tensor, of: &Row) -> Result<Self> {
        tensors.into_iter().map(|tensors| R::of_inner(tensors, above, of)).collect::<Result<_>>().map_err(here())
    }
}

/// Implements the trait for a tuple.
macro_rules! tuple {
    ($($result:ident $tensors:ident),+) => {
        impl<$($result: RowResults),+> RowResults for ($($result,)+) {
            type Tensors = ($($result::Tensors,)+);

            #[track_caller]
            #[allow(non_snake_case, reason = "a variable is named as its type")]
            fn into_tensors(self, op: &'static str, of: &Row) -> Result<Self::Tensors> {
                let ($($result,)+) = self;
                Ok(($($result.into_tensors(op, of)?,)+))
            }

            #[track_caller]
            fn of_tensors(($($tensors,)+): Self::Tensors, of: &Row) -> Result<Self> {
                Ok(($($result::of_tensors($tensors, of)?,)+))
            }

            #[track_caller]
            fn of_inner(($($tensors,)+): Self::Tensors, above: &Tensor, of: &Row) -> Result<Self> {
                Ok(($($result::of_inner($tensors, above, of)?,)+))
            }
        }
    };
}
tuple!(A a, B b);
tuple!(A a, B b, C c);
tuple!(A a, B b, C c, D d);
