//! Inputs of the programs: small, and the same in every run.

use ragged::{Device, HostTensor, HostValues, Result, Tensor};

/// Embedding table: rows, and numbers per row.
const TABLE: [usize; 2] = [50, 8];

/// Inputs on a device. Tensors of rows have equal row lengths unless stated otherwise.
pub struct Sample {
    /// Numbers, of shape `[rows, (values)]`.
    pub x: Tensor,
    /// Numbers in the partition of `x`.
    pub y: Tensor,
    /// As many rows as `x`, of other lengths.
    pub other: Tensor,
    /// Integers from 0 to 49, in the partition of `x`.
    pub ids: Tensor,
    /// 64-bit integers, in the partition of `x`.
    pub long: Tensor,
    /// Vectors of 3 numbers, in the partition of `x`.
    pub wide: Tensor,
    /// Numbers, of shape `[groups, (rows), (values)]`.
    pub nested: Tensor,
    /// Strings, in the partition of `x`.
    pub words: Tensor,
    /// One number per row, of shape `[rows, 1]`.
    pub column: Tensor,
    /// A permutation of the rows.
    pub order: Tensor,
    /// One segment number from 0 to 3 per row, in ascending order.
    pub segments: Tensor,
    /// A table of 50 vectors of 8 numbers.
    pub table: Tensor,
    /// A matrix of 12 rows of 5 numbers.
    pub matrix: Tensor,
}

/// Row lengths around those at which kernels switch algorithms, empty rows, and one row of several blocks.
fn lengths(copies: usize) -> Vec<usize> {
    let short = [3, 0, 5, 1, 12].repeat(6);
    [vec![0, 0, 31, 60, 1], short, vec![16, 17, 0, 700, 0]].concat().repeat(copies)
}

fn splits(lengths: &[usize]) -> Vec<u32> {
    let ends = lengths.iter().scan(0, |end, &n| {
        *end += n as u32;
        Some(*end)
    });
    std::iter::once(0).chain(ends).collect()
}

/// Numbers below 64, from -8.0 in steps of a quarter.
fn number(k: usize, seed: usize) -> f32 {
    ((k * 37 + seed * 11) % 64) as f32 * 0.25 - 8.0
}

fn floats(n: usize, seed: usize) -> HostValues {
    HostValues::F32((0..n).map(|k| number(k, seed)).collect())
}

impl Sample {
    /// A sample of 40 rows, `copies` times.
    pub fn new(device: &Device, copies: usize) -> Result<Self> {
        let lengths = lengths(copies);
        let (rows, n) = (lengths.len(), lengths.iter().sum());
        let dense = |shape: &[usize], values| HostTensor::dense(shape, values).to_device(device);
        let ragged = |lengths: &[usize], values| HostTensor::from_row_splits(splits(lengths), values).to_device(device);
        let x = ragged(&lengths, floats(n, 1))?;
        let of_x = |shape: &[usize], values| Tensor::from_row_partitions(&dense(shape, values)?, x.partitions());
        let nested = HostTensor {
            nested_row_splits: vec![splits(&[rows / 4, 0, rows - rows / 4]), splits(&lengths)],
            uniform_row_lengths: vec![None; 2],
            inner_shape: vec![n],
            values: floats(n, 5),
        };
        let reversed: Vec<usize> = lengths.iter().rev().copied().collect();
        let word = |k: usize| ["a bc", "", "def", "Ghi j", "kl"][k * 7 % 5].as_bytes().to_vec();
        let sample = Self {
            y: of_x(&[n], floats(n, 2))?,
            other: ragged(&reversed, floats(n, 3))?,
            ids: of_x(&[n], HostValues::I32((0..n).map(|k| (k * 31 % TABLE[0]) as i32).collect()))?,
            long: of_x(&[n], HostValues::I64((0..n).map(|k| (k * 13 % 97) as i64 - 40).collect()))?,
            wide: of_x(&[n, 3], floats(3 * n, 4))?,
            nested: nested.to_device(device)?,
            words: of_x(&[n], HostValues::Str((0..n).map(word).collect()))?,
            column: dense(&[rows, 1], floats(rows, 6))?,
            order: dense(&[rows], HostValues::I64((0..rows).map(|r| (r * 7 % rows) as i64).collect()))?,
            segments: dense(&[rows], HostValues::I32((0..rows).map(|r| (r * 4 / rows) as i32).collect()))?,
            table: dense(&TABLE, floats(TABLE[0] * TABLE[1], 7))?,
            matrix: dense(&[12, 5], floats(60, 8))?,
            x,
        };
        ragged::eval(sample.all())?;
        Ok(sample)
    }

    fn all(&self) -> Vec<&Tensor> {
        let Self { x, y, other, ids, long, wide, nested, words, column, order, segments, table, matrix } = self;
        vec![x, y, other, ids, long, wide, nested, words, column, order, segments, table, matrix]
    }

    /// The sample without the values of `x` that are not positive: only the device knows the numbers of values.
    pub fn masked(self) -> Result<Self> {
        let flags = self.x.greater(0f32)?;
        let masked = |t: &Tensor| t.boolean_mask(&flags);
        Ok(Self {
            x: masked(&self.x)?,
            y: masked(&self.y)?,
            other: self.other.boolean_mask(&self.other.greater(0f32)?)?,
            ids: masked(&self.ids)?,
            long: masked(&self.long)?,
            wide: masked(&self.wide)?,
            nested: self.nested.boolean_mask(&self.nested.greater(0f32)?)?,
            words: masked(&self.words)?,
            ..self
        })
    }
}
