//! Tensors from nested lists: inference of depth, splits and dtype.

use super::{HostValues, Nested, Tensor, Values};
use crate::backend::host_memory::{counted_allocations, counted_vec};
use crate::device::Device;
use crate::dtype::DType;
use crate::error::{Error, Result, caller, here};
use crate::graph::extent::Extent;
use crate::graph::recorder::Recorder;
use crate::graph::size::RecordedSize;
use crate::math::narrow::{bf16_of_f32, f16_of_f32, f32_of_integer_to_odd, f32_to_odd};
use crate::setters::setters;
use crate::shape::RowPartition;

/// Options of [`Tensor::constant`]; unset ones are inferred from the values.
///
/// A setter takes the value, or an `Option` of it:
///
/// ```
/// use ragged::DType;
/// use ragged::opt::ConstantOptions;
/// let options = ConstantOptions::default().dtype(DType::F64).ragged_rank(None);
/// assert_eq!((options.dtype, options.ragged_rank), (Some(DType::F64), None));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConstantOptions {
    /// The dtype. Unset: i32 for integers, i64 where one does not fit, f32 for floats and for no values, bool, str.
    pub dtype: Option<DType>,
    /// The number of ragged dimensions. Unset: all but the outermost and the inner ones.
    pub ragged_rank: Option<usize>,
    /// The shape of the inner dimensions; of a result without ragged dimensions, of all. Lists without scalars take any
    /// shape without values.
    pub inner_shape: Option<Vec<usize>>,
}

setters! {
    impl[] ConstantOptions {
        dtype: into Option<DType>;
        ragged_rank: into Option<usize>;
        inner_shape: into Option<Vec<usize>>;
    }
}

const OP: &str = "constant";

#[track_caller]
fn uneven(what: impl Into<String>) -> Error {
    Error::Nesting { op: OP, what: what.into(), location: caller() }
}

impl Nested {
    fn list(&self) -> Option<&[Self]> {
        match self {
            Self::List(all) => Some(all),
            _ => None,
        }
    }

    /// The depth of the scalars (none without any), and the depth of the deepest list.
    #[track_caller]
    fn depths(&self) -> Result<(Option<usize>, usize)> {
        let (mut scalars, mut lists) = (None, 0);
        let mut stack = vec![(self, 0)];
        while let Some((value, depth)) = stack.pop() {
            match value.list() {
                Some(all) => {
                    lists = lists.max(depth + 1);
                    stack.extend(all.iter().map(|v| (v, depth + 1)));
                }
                None if scalars.is_some_and(|d| d != depth) => {
                    let other = scalars.unwrap_or_default();
                    return Err(uneven(format!("scalars are at depth {depth} and at depth {other}")));
                }
                None => scalars = Some(depth),
            }
        }
        Ok((scalars, lists.max(scalars.unwrap_or(0))))
    }

    /// The shape along the first element of each list.
    fn leading_shape(&self) -> Vec<usize> {
        let mut shape = Vec::new();
        let mut at = self;
        while let Some(all) = at.list() {
            shape.push(all.len());
            match all.first() {
                Some(first) => at = first,
                None => break,
            }
        }
        shape
    }

    /// Appends the scalars, if the value has the given shape throughout.
    #[track_caller]
    fn flatten_as<'a>(&'a self, shape: &[usize], out: &mut Vec<&'a Self>) -> Result<()> {
        let mut stack = vec![(self, shape)];
        while let Some((value, shape)) = stack.pop() {
            match (value.list(), shape) {
                (None, []) => out.push(value),
                (Some(all), [len, rest @ ..]) if all.len() == *len => stack.extend(all.iter().rev().map(|v| (v, rest))),
                (Some(all), [len, ..]) => {
                    return Err(uneven(format!("inner lists have {len} and {} elements", all.len())));
                }
                (Some(_), []) | (None, _) => return Err(uneven("inner values are nested to different depths")),
            }
        }
        Ok(())
    }
}

/// Infers the dtype of Python values.
#[track_caller]
fn inferred(scalars: &[&Nested]) -> Result<DType> {
    let mut dtype = None;
    for s in scalars {
        let own = match s {
            Nested::Bool(_) => DType::Bool,
            Nested::Int(v) if i32::try_from(*v).is_ok() => DType::I32,
            Nested::Int(v) if i64::try_from(*v).is_ok() => DType::I64,
            Nested::Int(_) => DType::U64,
            Nested::Float32(_) | Nested::Float(_) => DType::F32,
            Nested::Str(_) => DType::Str,
            Nested::List(_) => return Err(uneven("a list stands among scalars")),
        };
        dtype = Some(match (dtype, own) {
            (None, own) => own,
            (Some(a), b) if a == b => a,
            (Some(DType::F32), b) if b.is_integer() => DType::F32,
            (Some(a), DType::F32) if a.is_integer() => DType::F32,
            (Some(a), b) if a.is_integer() && b.is_integer() => a.max(b),
            (Some(a), b) => return Err(uneven(format!("values of mixed types, {a} and {b}"))),
        });
    }
    Ok(dtype.unwrap_or(DType::F32))
}

/// Converts the scalars to a dtype.
#[track_caller]
fn typed(scalars: &[&Nested], dtype: DType) -> Result<HostValues> {
    #[track_caller]
    fn each<T>(scalars: &[&Nested], dtype: DType, one: impl Fn(&Nested) -> Option<T>) -> Result<Vec<T>> {
        let convert = |s: &&Nested| one(s).ok_or_else(|| uneven(format!("{s} is no {dtype}")));
        scalars.iter().map(convert).collect::<Result<_>>().map_err(here())
    }
    /// Converts integers that fit the type or its signed counterpart, reinterpreted in two's complement.
    macro_rules! int {
        ($t:ty, $other:ty) => {
            each(scalars, dtype, |s| match s {
                Nested::Int(v) => <$t>::try_from(*v).ok().or_else(|| <$other>::try_from(*v).ok().map(|v| v as $t)),
                _ => None,
            })?
        };
    }
    /// Converts integers that fit the signed type.
    macro_rules! signed {
        ($t:ty) => {
            each(scalars, dtype, |s| match s {
                Nested::Int(v) => <$t>::try_from(*v).ok(),
                _ => None,
            })?
        };
    }
    /// Converts to f32, rounding to odd, so that the conversion to a 16-bit float rounds once.
    fn single(s: &Nested) -> Option<f32> {
        match s {
            Nested::Int(v) => Some(f32_of_integer_to_odd(*v)),
            Nested::Float32(v) => Some(*v),
            Nested::Float(v) => Some(f32_to_odd(*v)),
            _ => None,
        }
    }
    Ok(match dtype {
        DType::Bool => HostValues::Bool(each(scalars, dtype, |s| match s {
            Nested::Bool(v) => Some(*v),
            _ => None,
        })?),
        DType::U8 => HostValues::U8(int!(u8, i8)),
        DType::I8 => HostValues::I8(signed!(i8)),
        DType::U16 => HostValues::U16(int!(u16, i16)),
        DType::I16 => HostValues::I16(signed!(i16)),
        DType::I32 => HostValues::I32(signed!(i32)),
        DType::U32 => HostValues::U32(int!(u32, i32)),
        DType::I64 => HostValues::I64(signed!(i64)),
        DType::U64 => HostValues::U64(int!(u64, i64)),
        DType::F16 => HostValues::F16(each(scalars, dtype, |s| single(s).map(f16_of_f32))?),
        DType::BF16 => HostValues::BF16(each(scalars, dtype, |s| single(s).map(bf16_of_f32))?),
        DType::F32 => HostValues::F32(each(scalars, dtype, |s| match s {
            Nested::Int(v) => Some(*v as f32),
            Nested::Float32(v) => Some(*v),
            Nested::Float(v) => Some(*v as f32),
            _ => None,
        })?),
        DType::F64 => HostValues::F64(each(scalars, dtype, |s| match s {
            Nested::Int(v) => Some(*v as f64),
            Nested::Float32(v) => Some(f64::from(*v)),
            Nested::Float(v) => Some(*v),
            _ => None,
        })?),
        DType::Str => HostValues::Str(each(scalars, dtype, |s| match s {
            Nested::Str(v) => Some(v.clone()),
            _ => None,
        })?),
    })
}

/// A nested value split into row splits and scalars, by its depth and the options.
#[derive(Default)]
struct Parts<'a> {
    /// The splits of the ragged dimensions, outermost first.
    nested_row_splits: Vec<Vec<u64>>,
    /// The shape of the flat values.
    shape: Vec<usize>,
    scalars: Vec<&'a Nested>,
}

/// The shape itself, of lists without scalars.
///
/// # Errors
/// A shape that has values.
#[track_caller]
fn without_values(shape: &[usize]) -> Result<&[usize]> {
    if shape.contains(&0) {
        return Ok(shape);
    }
    Err(uneven(format!("the lists have no values, but the shape {shape:?} has")))
}

#[track_caller]
fn parts<'a>(value: &'a Nested, options: &ConstantOptions) -> Result<Parts<'a>> {
    let (scalar_depth, max_depth) = value.depths()?;
    let inner = options.inner_shape.as_deref();
    if value.list().is_none() {
        if options.ragged_rank.is_some_and(|r| r > 0) || inner.is_some_and(|s| !s.is_empty()) {
            return Err(uneven("a scalar has neither ragged nor inner dimensions"));
        }
        return Ok(Parts { scalars: vec![value], ..Parts::default() });
    }
    if let Some(scalars) = scalar_depth {
        if max_depth > scalars {
            return Err(uneven(format!("an empty list is at depth {}, below scalars at {scalars}", max_depth - 1)));
        }
        if options.ragged_rank.is_some_and(|r| r >= scalars) {
            let r = options.ragged_rank.unwrap_or_default();
            return Err(uneven(format!(
                "scalars are at depth {scalars}, but a ragged rank of {r} needs more than {r}"
            )));
        }
    }
    if let (Some(r), Some(inner)) = (options.ragged_rank, inner) {
        let expected = r + inner.len() + 1;
        if scalar_depth.map_or(expected < max_depth, |d| d != expected) {
            let what = format!("values are nested {max_depth} deep, but ragged rank and inner shape say {expected}");
            return Err(uneven(what));
        }
    }
    let inner_rank = inner.map_or(0, <[usize]>::len);
    let dense = match options.ragged_rank {
        Some(r) => r == 0,
        None => max_depth < 2 || (inner.is_some() && max_depth < 2 + inner_rank),
    };
    if dense {
        let own = value.leading_shape();
        let mut scalars = Vec::new();
        value.flatten_as(&own, &mut scalars)?;
        let shape = match inner {
            Some(given) if scalar_depth.is_none() => without_values(given)?.to_vec(),
            Some(given) if given != own => {
                return Err(uneven(format!("the values have shape {own:?}, not {given:?}")));
            }
            _ => own,
        };
        return Ok(Parts { nested_row_splits: Vec::new(), shape, scalars });
    }
    let ragged_rank = options.ragged_rank.unwrap_or_else(|| match scalar_depth {
        None => max_depth.saturating_sub(1).max(1),
        Some(d) => d.saturating_sub(1 + inner_rank).max(1),
    });
    let mut rows: Vec<&Nested> = value.list().unwrap_or_default().iter().collect();
    let mut nested_row_splits = Vec::new();
    for level in 0..ragged_rank {
        let (mut splits, mut below) = (vec![0u64], Vec::new());
        for row in rows {
            let Some(row) = row.list() else {
                return Err(uneven(format!("scalars are at depth {}, above ragged rank {ragged_rank}", level + 1)));
            };
            below.extend(row);
            splits.push(below.len() as u64);
        }
        nested_row_splits.push(splits);
        rows = below;
    }
    let own = || rows.first().map_or_else(Vec::new, |first| first.leading_shape());
    let inner_of_rows = match inner {
        Some(given) if scalar_depth.is_some() => given.to_vec(),
        None if options.ragged_rank.is_none() => Vec::new(),
        _ => own(),
    };
    let mut scalars = Vec::new();
    for row in &rows {
        row.flatten_as(&inner_of_rows, &mut scalars)?;
    }
    let mut shape = vec![rows.len()];
    match inner {
        Some(given) if scalar_depth.is_none() => {
            shape.extend(given);
            without_values(&shape)?;
        }
        _ => shape.extend(inner_of_rows),
    }
    Ok(Parts { nested_row_splits, shape, scalars })
}

/// Tensors of nested values.
impl Tensor {
    /// Builds a tensor from a nested list. TensorFlow: `tf.ragged.constant`.
    ///
    /// All dimensions but the outermost are ragged unless the options say otherwise. A list without nested lists gives
    /// a dense tensor, a scalar gives a scalar. For the dtype see [`ConstantOptions::dtype`].
    ///
    /// Empty lists are empty rows. NaN and infinities stay.
    ///
    /// # Errors
    /// Scalars at different depths; an empty list below the depth of the scalars; values of mixed types, or that the
    /// dtype cannot hold; inner values that are not uniform.
    ///
    /// # Cost
    /// Two passes over the lists on the host, and an upload of the flat values and of each list of row splits. Never
    /// waits. [`RaggedTensor::from_nested`](crate::RaggedTensor::from_nested) takes typed lists without a value per
    /// element.
    ///
    /// ```
    /// use ragged::opt::ConstantOptions;
    /// use ragged::{Device, Tensor};
    /// let rows = vec![vec![vec![1, 2], vec![3, 4]], vec![vec![5, 6]]].into();
    /// let x = Tensor::constant(&rows, &ConstantOptions::default(), &Device::cpu())?;
    /// assert_eq!(x.shape(), [Some(2), None, None]);
    /// let options = ConstantOptions::default().ragged_rank(1);
    /// assert_eq!(Tensor::constant(&rows, &options, &Device::cpu())?.shape(), [Some(2), None, Some(2)]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn constant(value: &Nested, options: &ConstantOptions, device: &Device) -> Result<Self> {
        let Parts { nested_row_splits, shape, scalars } = parts(value, options)?;
        let dtype = match options.dtype {
            Some(d) => d,
            None => inferred(&scalars)?,
        };
        let text = |s: &&Nested| if let Nested::Str(s) = s { s.len() as u64 + 16 } else { 0 };
        let item = if dtype == DType::Str { size_of::<Vec<u8>>() } else { dtype.size() };
        let bytes = (scalars.len() * item) as u64 + scalars.iter().map(text).sum::<u64>();
        let _counted = counted_allocations(device.backend(), OP, bytes)?;
        of_parts(OP, nested_row_splits, &shape, &typed(&scalars, dtype)?, device)
    }
}

/// Uploads a tensor whose splits are valid by construction.
#[track_caller]
pub(crate) fn of_parts(
    op: &'static str,
    nested: Vec<Vec<u64>>,
    shape: &[usize],
    values: &HostValues,
    device: &Device,
) -> Result<Tensor> {
    let backend = device.backend();
    let rec = Recorder::new(backend, op);
    let mut partitions = Vec::with_capacity(nested.len());
    for splits in nested {
        Extent::known_u64(op, splits.len() as u64)?;
        Extent::known_u64(op, splits.last().copied().unwrap_or(0))?;
        let (mut narrow, _counted) = counted_vec(backend, op, splits.len())?;
        narrow.extend(splits.into_iter().map(|s| s as u32));
        partitions.push(RowPartition::from_host_splits(rec, narrow)?);
    }
    let dims = shape
        .iter()
        .map(|&d| Ok(Extent::known_u64(op, d as u64)?.capacity()))
        .collect::<Result<Vec<u32>>>()
        .map_err(here())?;
    let values: Values = values.upload(op, device)?;
    let outer = dims.first().map(|&d| values.rows(partitions.len(), d));
    rec.tensor(partitions, outer, dims.into_iter().skip(1).collect::<Vec<u32>>(), values)
}
