//! The naive twin of a sparse tensor: a list of entries on the host, and loops.

use std::collections::BTreeMap;
use std::fmt::Debug;

use ragged::{Device, HostTensor, HostValues, Result, SparseTensor};

/// A value of a twin.
pub trait Value: Clone + PartialEq + Debug + Default {
    fn host(values: &[Self]) -> HostValues;
    fn of(values: HostValues) -> Vec<Self>;
}

macro_rules! value {
    ($($t:ty => $v:ident),*) => {$(
        impl Value for $t {
            fn host(values: &[Self]) -> HostValues {
                HostValues::$v(values.to_vec())
            }
            fn of(values: HostValues) -> Vec<Self> {
                match values {
                    HostValues::$v(v) => v,
                    other => panic!("{}", other.dtype()),
                }
            }
        }
    )*};
}
value!(bool => Bool, i32 => I32, f32 => F32, Vec<u8> => Str);

/// Entries in order, and the dense shape.
#[derive(Debug, Clone, PartialEq)]
pub struct Twin<V> {
    pub coordinates: Vec<Vec<i64>>,
    pub values: Vec<V>,
    pub shape: Vec<u64>,
}

impl<V: Value> Twin<V> {
    pub fn of(coordinates: &[&[i64]], values: &[V], shape: &[u64]) -> Self {
        let coordinates = coordinates.iter().map(|c| c.to_vec()).collect();
        Self { coordinates, values: values.to_vec(), shape: shape.to_vec() }
    }

    /// The tensor on the device.
    #[track_caller]
    pub fn on(&self, device: &Device) -> SparseTensor {
        let (n, rank) = (self.values.len(), self.shape.len());
        let indices = HostTensor::dense(&[n, rank], HostValues::I64(self.coordinates.concat()));
        let values = HostTensor::dense(&[n], V::host(&self.values));
        let indices = indices.to_device(device).expect("indices");
        SparseTensor::new(&indices, &values.to_device(device).expect("values"), &self.shape).expect("a sparse tensor")
    }

    pub fn read(x: &SparseTensor) -> Result<Self> {
        let mut both = ragged::to_host([x.indices(), x.values()])?;
        let (values, indices) = (both.remove(1), both.remove(0));
        let HostValues::I64(flat) = indices.values else { panic!("indices are i64") };
        let rank = x.dense_shape().len();
        assert_eq!(indices.inner_shape, [values.values.len(), rank]);
        let coordinates = (0..values.values.len()).map(|k| flat[k * rank..][..rank].to_vec()).collect();
        Ok(Self { coordinates, values: V::of(values.values), shape: x.dense_shape().to_vec() })
    }

    pub fn entries(&self) -> impl Iterator<Item = (&Vec<i64>, &V)> {
        self.coordinates.iter().zip(&self.values)
    }

    /// The entries of these positions, with new coordinates, in another dense shape.
    pub fn with(&self, shape: Vec<u64>, entry: impl Fn(&[i64]) -> Option<Vec<i64>>) -> Self {
        let kept = self.entries().filter_map(|(c, v)| Some((entry(c)?, v.clone())));
        let (coordinates, values) = kept.unzip();
        Self { coordinates, values, shape }
    }

    /// The same values at the same coordinates, in row-major order.
    pub fn sorted(&self) -> Self {
        let mut entries: Vec<_> = self.entries().collect();
        entries.sort_by(|a, b| a.0.cmp(b.0));
        let (coordinates, values) = entries.into_iter().map(|(c, v)| (c.clone(), v.clone())).unzip();
        Self { coordinates, values, shape: self.shape.clone() }
    }

    /// The first entry at each coordinate, in the order of the entries.
    pub fn distinct(&self) -> Self {
        let mut seen = std::collections::HashSet::new();
        let kept = self.entries().filter(|(c, _)| seen.insert((*c).clone())).map(|(c, v)| (c.clone(), v.clone()));
        let (coordinates, values) = kept.unzip();
        Self { coordinates, values, shape: self.shape.clone() }
    }

    /// The entries of each coordinate, in row-major order, folded.
    pub fn grouped(&self, fold: impl Fn(&[V]) -> V) -> Self {
        let mut groups: BTreeMap<&Vec<i64>, Vec<V>> = BTreeMap::new();
        self.entries().for_each(|(c, v)| groups.entry(c).or_default().push(v.clone()));
        let (coordinates, values) = groups.into_iter().map(|(c, all)| (c.clone(), fold(&all))).unzip();
        Self { coordinates, values, shape: self.shape.clone() }
    }

    /// The values with those of a tensor of the same shape behind them.
    pub fn followed_by(&self, other: &Self) -> Self {
        Self {
            coordinates: [self.coordinates.clone(), other.coordinates.clone()].concat(),
            values: [self.values.clone(), other.values.clone()].concat(),
            shape: self.shape.clone(),
        }
    }

    /// The same entries with other values.
    pub fn map<W>(&self, f: impl Fn(&V) -> W) -> Twin<W> {
        let values = self.values.iter().map(f).collect();
        Twin { coordinates: self.coordinates.clone(), values, shape: self.shape.clone() }
    }

    /// The sizes of a dense tensor.
    pub fn sizes(&self) -> Vec<usize> {
        self.shape.iter().map(|&d| d as usize).collect()
    }

    /// The dense values in row-major order, with `default` elsewhere; the last of equal coordinates counts.
    pub fn dense(&self, default: &V) -> Vec<V> {
        let mut out = vec![default.clone(); self.shape.iter().product::<u64>() as usize];
        self.entries().for_each(|(c, v)| out[self.position(c)] = v.clone());
        out
    }

    /// The row-major position of the coordinates.
    pub fn position(&self, c: &[i64]) -> usize {
        c.iter().zip(&self.shape).fold(0, |at, (&c, &d)| at * d as usize + c as usize)
    }

    /// The entries whose coordinates are relative to `start`, of a part.
    pub fn part(&self, start: &[u64], size: &[u64]) -> Self {
        let dims = self.shape.iter().zip(start).zip(size);
        let shape: Vec<u64> = dims.map(|((&d, &s), &n)| n.min(d.saturating_sub(s))).collect();
        self.with(shape.clone(), |c| {
            let moved: Vec<i64> = c.iter().zip(start).map(|(&c, &s)| c - s as i64).collect();
            moved.iter().zip(&shape).all(|(&c, &d)| (0..d as i64).contains(&c)).then_some(moved)
        })
    }
}

impl Twin<i32> {
    /// The same tensor of byte strings.
    pub fn words(&self) -> Twin<Vec<u8>> {
        self.map(|v| {
            "word".repeat((v.unsigned_abs() % 4) as usize).into_bytes().into_iter().chain([*v as u8]).collect()
        })
    }
}

/// The wrapping sum.
pub fn sum(all: &[i32]) -> i32 {
    all.iter().fold(0, |a, &b| a.wrapping_add(b))
}

/// The largest number; 0 without numbers.
pub fn most(all: &[i32]) -> i32 {
    all.iter().copied().max().unwrap_or(0)
}
