//! Keys of a grouping.

use crate::element::Element;
use crate::error::{Result, here};
use crate::tensor::{RaggedTensor, Tensor};

/// Keys of [`Tensor::group_by_key`]: a reference to a tensor, or several of them in a tuple, an array or a `Vec`.
///
/// `X` is the type that is grouped. Keys of a [`Row`](crate::Row) are rows of the same call; keys of a typed tensor are
/// typed.
///
/// ```
/// use ragged::{Device, RaggedTensor, Tensor};
/// let device = Device::cpu();
/// let year = RaggedTensor::from_nested([1999, 2003, 1999], &device)?.into_erased();
/// let name = RaggedTensor::from_nested(["b", "a", "b"], &device)?.into_erased();
/// let columns: Vec<&Tensor> = vec![&year, &name];
/// let (distinct, groups) = year.group_by_key(columns)?;
/// assert_eq!(distinct[1].to_string(), "tensor([b'b', b'a'], shape=(2,), dtype=str)");
/// assert_eq!(groups.to_string(), "<ragged.RaggedTensor [[1999, 1999], [2003]]>");
/// # Ok::<(), ragged::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no key of groups of `{X}`",
    label = "expected a reference to a tensor, or several in a tuple, an array or a `Vec`",
    note = "keys of a `RaggedTensor<T>` are typed tensors, those of a `Row` are rows of the same call"
)]
pub trait GroupKeys<'a, X = Tensor> {
    /// The distinct keys: one tensor or row for each key.
    type Distinct;

    /// Appends the tensors of the keys of the elements of `of`.
    #[doc(hidden)]
    #[track_caller]
    fn tensors(&self, op: &'static str, of: &X, all: &mut Vec<&'a Tensor>) -> Result<()>;

    /// The distinct keys, of which `found` are the tensors.
    #[doc(hidden)]
    #[track_caller]
    fn distinct(&self, found: &mut std::vec::IntoIter<Tensor>, of: &X) -> Result<Self::Distinct>;
}

/// The next of the tensors, of which there are as many as keys.
pub(in crate::ops) fn next(found: &mut std::vec::IntoIter<Tensor>) -> Tensor {
    found.next().expect("bug: a tensor for each key")
}

impl<'a, K: AsRef<Tensor>> GroupKeys<'a> for &'a K {
    type Distinct = Tensor;
    fn tensors(&self, _: &'static str, _: &Tensor, all: &mut Vec<&'a Tensor>) -> Result<()> {
        all.push((*self).as_ref());
        Ok(())
    }
    fn distinct(&self, found: &mut std::vec::IntoIter<Tensor>, _: &Tensor) -> Result<Tensor> {
        Ok(next(found))
    }
}

impl<'a, T: Element, K: Element> GroupKeys<'a, RaggedTensor<T>> for &'a RaggedTensor<K> {
    type Distinct = RaggedTensor<K>;
    fn tensors(&self, _: &'static str, _: &RaggedTensor<T>, all: &mut Vec<&'a Tensor>) -> Result<()> {
        all.push(self.erased());
        Ok(())
    }
    #[track_caller]
    fn distinct(&self, found: &mut std::vec::IntoIter<Tensor>, _: &RaggedTensor<T>) -> Result<RaggedTensor<K>> {
        next(found).try_into()
    }
}

macro_rules! lists {
    ($($list:ty $(, $n:ident)?;)+) => {$(
        impl<'a, X, K: GroupKeys<'a, X> $(, const $n: usize)?> GroupKeys<'a, X> for $list {
            type Distinct = Vec<K::Distinct>;
            #[track_caller]
            fn tensors(&self, op: &'static str, of: &X, all: &mut Vec<&'a Tensor>) -> Result<()> {
                self.iter().try_for_each(|key| key.tensors(op, of, all)).map_err(here())
            }
            #[track_caller]
            fn distinct(&self, found: &mut std::vec::IntoIter<Tensor>, of: &X) -> Result<Self::Distinct> {
                self.iter().map(|key| key.distinct(found, of)).collect::<Result<_>>().map_err(here())
            }
        }
    )+};
}
lists! {
    Vec<K>;
    [K; N], N;
}

macro_rules! tuples {
    ($(($($k:tt $key:ident),+)),+) => {$(
        impl<'a, X, $($key: GroupKeys<'a, X>),+> GroupKeys<'a, X> for ($($key,)+) {
            type Distinct = ($($key::Distinct,)+);
            #[track_caller]
            fn tensors(&self, op: &'static str, of: &X, all: &mut Vec<&'a Tensor>) -> Result<()> {
                $(self.$k.tensors(op, of, all)?;)+
                Ok(())
            }
            #[track_caller]
            fn distinct(&self, found: &mut std::vec::IntoIter<Tensor>, of: &X) -> Result<Self::Distinct> {
                Ok(($(self.$k.distinct(found, of)?,)+))
            }
        }
    )+};
}
tuples!((0 A, 1 B), (0 A, 1 B, 2 C), (0 A, 1 B, 2 C, 3 D));
