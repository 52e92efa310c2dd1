//! Conversion from and to nested lists whose depth and type are known at compile time: `Vec<Vec<T>>`.

use super::constant::of_parts;
use super::read_strings::check_utf8;
use super::{Assembly, HostTensor, RaggedTensor};
use crate::backend::host_memory::{counted_allocations, counted_vec};
use crate::device::Device;
use crate::element::{Element, Number, Str};
use crate::error::{Error, Result, caller, here};
use crate::graph::extent::Extent;
use crate::graph::size::RecordedSize;

/// A value, or nested lists of values of one depth: `T`, `Vec<T>`, `&[Vec<T>]`, `[[T; 2]; 3]`, ...; `&str` and `String`
/// for byte strings, while `&[u8]`, `Vec<u8>` and `b"…"` are lists of u8 (see
/// [`from_bytes`](RaggedTensor::from_bytes)). Arrays whose elements are values or such arrays are uniform dimensions.
/// With the feature `ndarray`, arrays of that crate are lists of values: `Vec<Array1<T>>` gives rows, `Vec<Array2<T>>`
/// rows of vectors of one length.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no nested list of values of type `{T}`",
    label = "expected vectors, slices and arrays of numbers or of strings, all nested to one depth",
    note = "values that may be missing: `FieldValue::from_serialize_with(&values, &JsonOptions::default().default_nulls(true), …)`",
    note = "lists whose depth or types are known at run time only: `Nested` and `Tensor::constant`"
)]
pub trait IntoNested<T: Element> {
    /// Nesting depth: the number of lists around a value.
    const DEPTH: usize;
    /// The lengths of all lists, if the type fixes them: those of arrays down to the values.
    fn uniform() -> Option<Vec<usize>>;
    /// The lengths of the innermost lists that the type fixes, except for that of the outermost list.
    fn inner_shape() -> Vec<usize>;
    /// Finds the lengths that the values, not their type, fix of the innermost lists. The error is the lengths of a
    /// value that has others.
    #[doc(hidden)]
    fn find_inner(&self, _found: &mut Option<Vec<usize>>) -> std::result::Result<(), Vec<usize>> {
        Ok(())
    }
    /// Whether values have lengths for [`find_inner`](Self::find_inner).
    #[doc(hidden)]
    const HAS_INNER: bool = false;
    /// Appends the values, and the row ends to `splits[k]` for the lists `k + 1` levels down.
    fn flatten(&self, splits: &mut [Vec<u64>], values: &mut Vec<T::Host>);
    /// Number of elements of the list; 1 for a value.
    fn size(&self) -> usize;
    /// Number of values, and the bytes that flattening takes besides them.
    #[doc(hidden)]
    fn measure(&self) -> (u64, u64) {
        (0, 0)
    }
    /// The values of a list of such elements, if they lie in memory one after another as the tensor holds them.
    #[doc(hidden)]
    fn values_of(_: &[Self]) -> Option<&[T::Host]>
    where
        Self: Sized,
    {
        None
    }
    /// The values of this list, if it is one of values that lie in memory one after another.
    #[doc(hidden)]
    fn flat(&self) -> Option<&[T::Host]> {
        None
    }
}

// One implementation for all numbers, so that the element type of a literal is known from its use.
impl<T: Number + Element<Host = T>> IntoNested<T> for T {
    const DEPTH: usize = 0;
    fn uniform() -> Option<Vec<usize>> {
        Some(Vec::new())
    }
    fn inner_shape() -> Vec<usize> {
        Vec::new()
    }
    fn flatten(&self, _: &mut [Vec<u64>], values: &mut Vec<T>) {
        values.push(*self);
    }
    fn size(&self) -> usize {
        1
    }
    fn measure(&self) -> (u64, u64) {
        (1, 0)
    }
    fn values_of(list: &[T]) -> Option<&[T]> {
        Some(list)
    }
}

macro_rules! string {
    ($($t:ty),*) => {$(
        impl IntoNested<Str> for $t {
            const DEPTH: usize = 0;
            fn uniform() -> Option<Vec<usize>> {
                Some(Vec::new())
            }
            fn inner_shape() -> Vec<usize> {
                Vec::new()
            }
            fn flatten(&self, _: &mut [Vec<u64>], values: &mut Vec<Vec<u8>>) {
                values.push(self.as_bytes().to_vec());
            }
            fn size(&self) -> usize {
                1
            }
            fn measure(&self) -> (u64, u64) {
                (1, self.len() as u64 + 16)
            }
        }
    )*};
}
string!(&str, String, &String);

/// Appends the elements of a list.
fn flatten_list<T: Element, N: IntoNested<T>>(list: &[N], splits: &mut [Vec<u64>], values: &mut Vec<T::Host>) {
    if let Some(list) = N::values_of(list) {
        values.extend_from_slice(list);
        return;
    }
    let (own, below) = splits.split_first_mut().map_or((None, [].as_mut_slice()), |(own, below)| (Some(own), below));
    let mut ends = Vec::new();
    for element in list {
        if own.is_some() {
            ends.push(element.size() as u64);
        }
        element.flatten(below, values);
    }
    if let Some(own) = own {
        for size in ends {
            own.push(own.last().copied().unwrap_or(0) + size);
        }
    }
}

/// Bytes per list of its split, as it is flattened.
const LIST_BYTES: u64 = 32;

/// The measure of a list.
fn measure_list<T: Element, N: IntoNested<T>>(list: &[N]) -> (u64, u64) {
    if let Some(list) = N::values_of(list) {
        return (list.len() as u64, 0);
    }
    let splits = if N::DEPTH == 0 { 0 } else { LIST_BYTES * list.len() as u64 };
    list.iter().map(N::measure).fold((0, splits), |(n, bytes), (more, further)| (n + more, bytes + further))
}

/// The lengths that the type fixes of the innermost lists in a list of `N`.
fn shape_below<T: Element, N: IntoNested<T>>() -> Vec<usize> {
    N::uniform().unwrap_or_else(N::inner_shape)
}

/// The lengths that the elements of a list fix of the innermost lists.
fn inner_of_list<T: Element, N: IntoNested<T>>(
    list: &[N],
    found: &mut Option<Vec<usize>>,
) -> std::result::Result<(), Vec<usize>> {
    if N::HAS_INNER { list.iter().try_for_each(|element| element.find_inner(found)) } else { Ok(()) }
}

/// Lists whose lengths are values.
macro_rules! list {
    ($($t:ty),*) => {$(
        impl<T: Element, N: IntoNested<T>> IntoNested<T> for $t {
            const DEPTH: usize = N::DEPTH + 1;
            const HAS_INNER: bool = N::HAS_INNER;
            fn find_inner(&self, found: &mut Option<Vec<usize>>) -> std::result::Result<(), Vec<usize>> {
                inner_of_list(self, found)
            }
            fn uniform() -> Option<Vec<usize>> {
                None
            }
            fn inner_shape() -> Vec<usize> {
                shape_below::<T, N>()
            }
            fn flatten(&self, splits: &mut [Vec<u64>], values: &mut Vec<T::Host>) {
                flatten_list(self, splits, values);
            }
            fn size(&self) -> usize {
                self.len()
            }
            fn measure(&self) -> (u64, u64) {
                measure_list(self)
            }
            fn flat(&self) -> Option<&[T::Host]> {
                N::values_of(self)
            }
        }
    )*};
}
list!(&[N], Vec<N>, &Vec<N>);

/// Lists whose lengths are part of the type.
macro_rules! array {
    ($($t:ty),*) => {$(
        impl<T: Element, N: IntoNested<T>, const M: usize> IntoNested<T> for $t {
            const DEPTH: usize = N::DEPTH + 1;
            const HAS_INNER: bool = N::HAS_INNER;
            fn find_inner(&self, found: &mut Option<Vec<usize>>) -> std::result::Result<(), Vec<usize>> {
                inner_of_list(self.as_slice(), found)
            }
            fn uniform() -> Option<Vec<usize>> {
                N::uniform().map(|below| [vec![M], below].concat())
            }
            fn inner_shape() -> Vec<usize> {
                shape_below::<T, N>()
            }
            fn flatten(&self, splits: &mut [Vec<u64>], values: &mut Vec<T::Host>) {
                flatten_list(self.as_slice(), splits, values);
            }
            fn size(&self) -> usize {
                M
            }
            fn measure(&self) -> (u64, u64) {
                measure_list(self.as_slice())
            }
            fn flat(&self) -> Option<&[T::Host]> {
                N::values_of(self.as_slice())
            }
        }
    )*};
}
array!([N; M], &[N; M]);

/// Targets of a read as nested lists of one depth: `T::Host`, `Vec<T::Host>`, `Vec<Vec<T::Host>>`, ...; `String` in
/// place of `Vec<u8>` for text in UTF-8.
pub trait FromNested<T: Element>: Sized {
    /// Nesting depth: the number of lists around a value.
    const DEPTH: usize;
    /// Whether the values must be valid UTF-8.
    #[doc(hidden)]
    const IS_TEXT: bool = false;
    /// Builds the element at position `at` of dimension `dim - 1`.
    #[doc(hidden)]
    fn build(t: &HostTensor, values: &[T::Host], dim: usize, at: usize) -> Self;
}

impl<T: Number + Element<Host = T>> FromNested<T> for T {
    const DEPTH: usize = 0;
    fn build(_: &HostTensor, values: &[T], _: usize, at: usize) -> Self {
        values[at]
    }
}
impl FromNested<Str> for Vec<u8> {
    const DEPTH: usize = 0;
    fn build(_: &HostTensor, values: &[Self], _: usize, at: usize) -> Self {
        values[at].clone()
    }
}
impl FromNested<Str> for String {
    const DEPTH: usize = 0;
    const IS_TEXT: bool = true;
    fn build(_: &HostTensor, values: &[Vec<u8>], _: usize, at: usize) -> Self {
        Self::from_utf8_lossy(&values[at]).into_owned()
    }
}
impl<T: Element, N: FromNested<T>> FromNested<T> for Vec<N> {
    const DEPTH: usize = N::DEPTH + 1;
    const IS_TEXT: bool = N::IS_TEXT;
    fn build(t: &HostTensor, values: &[T::Host], dim: usize, at: usize) -> Self {
        t.children(dim, at).map(|child| N::build(t, values, dim + 1, child)).collect()
    }
}

/// Nested values.
impl<T: Element> RaggedTensor<T> {
    /// Builds a tensor from nested lists, given or borrowed. The typed counterpart of `tf.ragged.constant`. See also
    /// [`ragged!`](crate::ragged).
    ///
    /// Each level of vectors below the outermost list is a ragged dimension. Arrays of values are uniform dimensions,
    /// and so are arrays of such arrays: `[[f32; 3]; 2]` gives a dense tensor of shape `[2, 3]`, `Vec<Vec<[f32; 3]>>` a
    /// ragged tensor of points. Empty lists are empty rows.
    ///
    /// `&str` and `String` are byte strings. Lists of bytes (`&[u8]`, `Vec<u8>`, `b"…"`) are rows of u8, with one more
    /// dimension; [`from_bytes`](RaggedTensor::from_bytes) makes byte strings of them.
    ///
    /// # Errors
    /// More than the device can hold; no host memory for the flat values; arrays of the crate ndarray that differ in
    /// other lengths than the first.
    ///
    /// # Cost
    /// A pass over the lists on the host, an upload of the flat values and one of each list of splits.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let device = Device::cpu();
    /// let rows = vec![vec![1, 2], vec![], vec![3]];
    /// let x = RaggedTensor::from_nested(&rows, &device)?;
    /// assert_eq!(x.to_string(), "<ragged.RaggedTensor [[1, 2], [], [3]]>");
    /// let matrix = RaggedTensor::from_nested([[1, 2], [3, 4]], &device)?;
    /// assert_eq!(matrix.to_string(), "tensor([[1, 2], [3, 4]], shape=(2, 2), dtype=i32)");
    /// let words = RaggedTensor::from_nested(["to", "be"], &device)?;
    /// let bytes = RaggedTensor::from_nested([b"to", b"be"], &device)?;
    /// assert_eq!((words.rank(), bytes.rank()), (1, 2));
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn from_nested<N: IntoNested<T>>(rows: N, device: &Device) -> Result<Self> {
        const OP: &str = "from_nested";
        let mut found = None;
        if let Err(other) = rows.find_inner(&mut found) {
            let first = found.unwrap_or_default();
            let what = format!("elements of arrays must have one shape, but some have {first:?} and some {other:?}");
            return Err(Error::argument(OP, what));
        }
        let inner = found.unwrap_or_else(N::inner_shape);
        let mut splits = vec![vec![0]; N::DEPTH.saturating_sub(1 + inner.len())];
        let (n, further) = rows.measure();
        let n = Extent::known_u64(OP, n)?.capacity() as usize;
        let (mut values, _counted) = counted_vec(device.backend(), OP, n)?;
        let _further = counted_allocations(device.backend(), OP, further)?;
        rows.flatten(&mut splits, &mut values);
        let mut shape = Vec::new();
        if N::DEPTH > 0 {
            let lists = splits.last().and_then(|splits| splits.last()).map_or(rows.size(), |&n| n as usize);
            shape.push(lists);
            shape.extend(inner);
        }
        of_parts(OP, splits, &shape, &T::wrap(values), device)?.try_into()
    }

    /// Reads the tensor as nested vectors, as deep as its rank. Waits like [`Tensor::to_host`](crate::Tensor::to_host).
    ///
    /// Byte strings are read as `Vec<u8>`, or as `String` if they are valid UTF-8.
    ///
    /// # Errors
    /// A depth other than the rank; text that is not valid UTF-8, with its position; the first failed device-side
    /// check; a lost device; more memory than is available.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor};
    /// let x = RaggedTensor::from_nested([vec![1, 2], vec![]], &Device::cpu())?;
    /// let rows: Vec<Vec<i32>> = x.to_nested_vec()?;
    /// assert_eq!(rows, [vec![1, 2], vec![]]);
    /// assert!(x.to_nested_vec::<Vec<i32>>().is_err());
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn to_nested_vec<N: FromNested<T>>(&self) -> Result<N> {
        Self::nests::<N>(self)?;
        self.nested_vec_from(&self.to_host()?).map_err(here())
    }

    /// Fails unless the tensor's rank equals the depth of the vectors.
    #[track_caller]
    pub(super) fn nests<N: FromNested<T>>(&self) -> Result<()> {
        let rank = self.rank();
        if N::DEPTH == rank {
            return Ok(());
        }
        let what = format!("a tensor of rank {rank} does not fit vectors nested {} deep", N::DEPTH);
        Err(Error::Nesting { op: "to_nested_vec", what, location: caller() })
    }

    /// Converts the tensor's read to nested vectors, whose memory is counted first.
    #[track_caller]
    pub(super) fn nested_vec_from<N: FromNested<T>>(&self, host: &HostTensor) -> Result<N> {
        let values = T::values(&host.values).expect("bug: a tensor of another dtype than its type says");
        if N::IS_TEXT {
            check_utf8("to_nested_vec", &host.values).map_err(here())?;
        }
        let mut assembly = Assembly::new(self.erased().recorder("to_nested_vec"));
        let lists = host.lists().saturating_mul(size_of::<Vec<T::Host>>() as u64);
        assembly
            .reserve_allocations(lists.saturating_add(size_of_val(values) as u64).saturating_add(host.text_bytes()))?;
        Ok(N::build(host, values, 0, 0))
    }
}

/// Builds a ragged tensor from a literal, on [`Device::best`](crate::Device::best): `ragged![[1, 2], [], [3]]`, nested
/// to any depth. A literal of uneven depth does not compile.
///
/// ```
/// use ragged::ragged;
/// let x = ragged![[1, 2], [], [3]]?;
/// assert_eq!(x.to_string(), "<ragged.RaggedTensor [[1, 2], [], [3]]>");
/// let words = ragged![[["a", "b"], []], [["c"]]]?;
/// assert_eq!(words.erased().ragged_rank(), 2);
/// # Ok::<(), ragged::Error>(())
/// ```
///
/// ```compile_fail
/// let uneven = ragged::ragged![[1], 2];
/// ```
#[macro_export]
macro_rules! ragged {
    ($($rows:tt)*) => {
        $crate::Device::best()
            .and_then(|device| $crate::RaggedTensor::from_nested($crate::__nested!($($rows)*), &device))
    };
}

/// Nested vectors of a literal.
#[doc(hidden)]
#[macro_export]
macro_rules! __nested {
    ($([$($row:tt)*]),* $(,)?) => {
        ::std::vec![$($crate::__nested!($($row)*)),*]
    };
    ($($value:expr),* $(,)?) => {
        ::std::vec![$($value),*]
    };
}
