//! Bad input, and the first mistakes of users: what the errors say, and that the tensors stay usable.

use ragged::opt::{Pool, starting_at};
use ragged::{Device, Error, LodTensor, RaggedTensor, Result, Tensor};

use crate::common::devices;

/// Tensors to misuse.
struct Subjects {
    /// Sequences of 3, 0 and 2 rows.
    x: LodTensor,
    /// 2 sequences of 1 and 2 sequences.
    deep: LodTensor,
    ints: LodTensor,
    words: LodTensor,
    dense: LodTensor,
    /// The lengths of `x`, which only the device knows.
    sliced: LodTensor,
    data: Tensor,
    device: Device,
}

impl Subjects {
    fn new(device: &Device) -> Result<Self> {
        let x = LodTensor::from_nested([vec![1.0f32, 2.0, 3.0], vec![], vec![4.0, 5.0]], device)?;
        Ok(Self {
            sliced: x.sequence_slice([0, 0, 0], &RaggedTensor::from_nested([3i64, 0, 2], device)?)?,
            x,
            deep: LodTensor::from_nested([vec![vec![1.0f32, 2.0]], vec![vec![], vec![3.0]]], device)?,
            ints: LodTensor::from_nested([vec![1, 2, 3], vec![], vec![4, 5]], device)?,
            words: LodTensor::from_nested([vec!["a", "b", "c"], vec![], vec!["d", "e"]], device)?,
            dense: LodTensor::from_nested([[1.0f32, 2.0], [3.0, 4.0], [5.0, 6.0]], device)?,
            data: RaggedTensor::from_nested([[1.0f32], [2.0], [3.0], [4.0], [5.0], [6.0]], device)?.into_erased(),
            device: device.clone(),
        })
    }

    fn longs(&self, values: &[i64]) -> Result<Tensor> {
        RaggedTensor::from_nested(values.to_vec(), &self.device).map(RaggedTensor::into_erased)
    }

    fn filter(&self, rows: usize, columns: usize) -> Result<Tensor> {
        Ok(RaggedTensor::dense(vec![1.0f32; rows * columns], &[rows, columns], &self.device)?.into_erased())
    }
}

/// A mistake, and a part of the message that it must give. Device-side conditions are read.
type Mistake = (&'static str, fn(&Subjects) -> Result<LodTensor>);

const MISTAKES: &[Mistake] = &[
    // Levels.
    ("from_lengths: the lengths of level 0 add up to 5 rows, but the data have 6", |s| {
        LodTensor::from_lengths(&s.data, [[2, 3]])
    }),
    ("the lengths of level 0 add up to 4 sequences, but level 1 has 3", |s| {
        LodTensor::from_lengths(&s.data, [vec![2, 2], vec![3, 1, 2]])
    }),
    ("the lengths of level 1 must not be negative, but number 1 is -1", |s| {
        LodTensor::from_lengths(&s.data, [vec![2, 1], vec![3, -1, 4]])
    }),
    ("level 1 has no sequence; a level needs one at least", |s| LodTensor::from_lengths(&s.data, [vec![0], vec![]])),
    // Offsets instead of lengths, and the other way round.
    ("LodTensor::from_lod takes offsets", |s| LodTensor::from_lengths(&s.data, [[0, 2, 6]])),
    ("LodTensor::from_lengths takes lengths", |s| LodTensor::from_lod(&s.data, [[2, 4]])),
    ("the offsets of level 0 must start at 0, but start at 1", |s| LodTensor::from_lod(&s.data, [[1, 2, 6]])),
    ("the offsets of level 0 must not decrease, but number 2 is 1, after 4", |s| {
        LodTensor::from_lod(&s.data, [[0, 4, 1, 6]])
    }),
    ("the offsets of level 0 end at 5 rows, but the data have 6", |s| LodTensor::from_lod(&s.data, [[0, 5]])),
    ("row_lengths must end at the number of values", |s| LodTensor::from_lengths(&s.data, [&s.longs(&[2, 3])?])),
    ("values must have rank 1 or more", |s| LodTensor::from_lengths(&s.data.slice(ragged::s![0, 0])?, [[1]])),
    ("level 2 is out of range for 2 levels (allowed: -2 to 1)", |s| Ok(s.deep.lengths(2)?.into())),
    ("level 0 does not exist: the tensor has no LoD level", |s| Ok(s.dense.offsets(0)?.into())),
    // A dense tensor, for operations on sequences.
    ("sequence_pool: the tensor of shape [3, 2] has no LoD level", |s| s.dense.sequence_pool(Pool::Sum, 0)),
    ("give it levels with LodTensor::from_lengths", |s| s.dense.sequence_reverse()),
    ("sequence_softmax: the tensor of shape", |s| s.dense.sequence_softmax()),
    ("sequence_concat: the tensor of shape", |s| LodTensor::sequence_concat(&[&s.dense])),
    ("sequence_slice: the tensor of shape", |s| s.dense.sequence_slice([0], [1])),
    ("sequence_pad: the tensor of shape", |s| Ok(s.dense.sequence_pad(0, ..)?.0)),
    ("sequence_mask: the tensor of shape", |s| s.dense.sequence_mask(..)),
    ("sequence_conv: the tensor of shape", |s| s.dense.sequence_conv(&s.filter(2, 1)?, 1)),
    ("sequence_enumerate: the tensor of shape", |s| s.dense.sequence_enumerate(2, 0)),
    ("sequence_reshape: the tensor of shape", |s| s.dense.sequence_reshape(1)),
    ("sequence_last_step: the tensor of shape", |s| s.dense.sequence_last_step()),
    ("sequence_expand_as: the tensor of shape", |s| s.dense.sequence_expand_as(&s.dense)),
    ("to_list: the tensor of shape", |s| Ok(s.dense.to_list()?.remove(0).into())),
    ("there must be at least one sequence", |_| LodTensor::from_list(&[] as &[Tensor])),
    // Expansion.
    ("3 sequences cannot be repeated by the lengths of 2", |s| s.x.sequence_expand(&s.deep, 0)),
    ("sequence_expand: level 3 is out of range for 2 levels", |s| s.x.sequence_expand(&s.deep, 3)),
    ("sequence_expand repeats sequences, and data() are the rows without levels", |s| s.x.sequence_expand_as(&s.x)),
    ("there must be as many sequences as the level of y has", |s| {
        let some = s.x.tensor().boolean_mask(&s.x.lengths(0)?.greater(0)?)?;
        LodTensor::from(some).sequence_expand(&s.x, 0)
    }),
    // Dtypes.
    ("sequence_softmax is not defined for i32: it needs floats, cast first", |s| s.ints.sequence_softmax()),
    ("sequence_pool is not defined for i32: Pool::Sqrt needs floats, cast first", |s| {
        s.ints.sequence_pool(Pool::Sqrt, 0)
    }),
    ("sequence_pool is not defined for str", |s| s.words.sequence_pool(Pool::Sum, "")),
    ("sequence_pool: 0.5 is not a value of i32", |s| s.ints.sequence_pool(Pool::Sum, 0.5)),
    ("pad_value must be one number or string, not a tensor", |s| s.x.sequence_pool(Pool::Sum, &s.data)),
    ("sequence_enumerate", |s| s.words.sequence_enumerate(2, 0)),
    ("sequence_pad: dtypes f32 and str differ", |s| Ok(s.x.sequence_pad("", ..)?.0)),
    // Concatenation.
    ("there must be at least one tensor", |_| LodTensor::sequence_concat(&[] as &[LodTensor])),
    ("1 LoD levels cannot be joined with 2", |s| LodTensor::sequence_concat(&[&s.x, &s.deep])),
    ("sequence_concat: dtypes f32 and i32 differ", |s| LodTensor::sequence_concat(&[&s.x, &s.ints])),
    ("sequence_concat: shapes", |s| {
        LodTensor::sequence_concat(&[&s.x, &LodTensor::from_nested([vec![1.0f32]], &s.device)?])
    }),
    // Slices.
    ("offset must not be negative, but offset[2] is -1", |s| s.x.sequence_slice([0, 0, -1], [1, 0, 1])),
    ("length must not be negative, but length[0] is -2", |s| s.x.sequence_slice([0, 0, 0], [-2, 0, 1])),
    ("row 2 has 2 elements, but its slice is 1..3", |s| s.x.sequence_slice([0, 0, 1], [1, 0, 2])),
    ("there are 3 rows, but 2 offset", |s| s.x.sequence_slice([0, 0], [1, 0, 1])),
    ("sequence_slice is not defined for f32: offset must be integers", |s| s.x.sequence_slice(&s.data, [1, 0, 1])),
    ("offset must lie within the rows (first at position 2)", |s| {
        s.x.sequence_slice(&s.longs(&[0, 0, -1])?, &s.longs(&[1, 0, 1])?)
    }),
    ("length must lie within the rows (first at position 0)", |s| {
        s.x.sequence_slice(&s.longs(&[1, 0, 0])?, &s.longs(&[3, 0, 1])?)
    }),
    ("length must lie within the rows (first at position 2)", |s| s.sliced.sequence_slice([0, 0, 0], [3, 0, 3])),
    // Padding.
    ("maxlen 2 is below the 3 rows of sequence 0", |s| Ok(s.x.sequence_pad(0, 2)?.0)),
    ("maxlen must not be negative, but is -1", |s| Ok(s.x.sequence_pad(0, -1)?.0)),
    ("maxlen 2 is below the length of a sequence (first at position 0)", |s| Ok(s.sliced.sequence_pad(0, 2)?.0)),
    ("max_length must not be negative, but is -3", |s| s.x.sequence_mask(-3)),
    ("padded sequences are [n, maxlen, ..], but the shape is [5]", |s| s.x.sequence_unpad([1])),
    ("row 1 has 2 elements, but its slice is 0..3", |s| s.dense.sequence_unpad([2, 3, 0])),
    ("length must not be negative, but length[2] is -1", |s| s.dense.sequence_unpad([2, 1, -1])),
    ("there are 3 rows, but 2 length", |s| s.dense.sequence_unpad([2, 1])),
    ("length must lie within the rows (first at position 1)", |s| s.dense.sequence_unpad(&s.longs(&[1, 5, 0])?)),
    // Convolution.
    ("the filter must be [3, out], a row for each of 3 rows of 1 numbers", |s| s.x.sequence_conv(&s.filter(1, 3)?, 3)),
    ("the size of the window must be at least 1, but is 0", |s| s.x.sequence_conv(&s.filter(0, 3)?, 0)),
    ("sequence_conv: dtypes i32 and f32 differ", |s| s.ints.sequence_conv(&s.filter(3, 1)?, starting_at(3, 0))),
    // Enumeration and reshape.
    ("the size of the window must be at least 1, but is 0", |s| s.x.sequence_enumerate(0, 0)),
    ("the rows must be single values", |s| LodTensor::from_lengths(s.dense.tensor(), [[3]])?.sequence_enumerate(2, 0)),
    ("sequence 0 has 3 numbers, which are no multiple of 2", |s| s.x.sequence_reshape(2)),
    ("no multiple of 2 (first at position 0)", |s| s.sliced.sequence_reshape(2)),
    ("rows of 1 numbers cannot become rows of 0", |s| s.x.sequence_reshape(0)),
    // Scatter.
    ("an index is out of range", |s| {
        let index = LodTensor::from_lengths(&s.longs(&[0, 2, 1])?, [[1, 1, 1]])?;
        s.dense.sequence_scatter(&index, &LodTensor::from_lengths(&s.data.slice(ragged::s![..3])?, [[1, 1, 1]])?)
    }),
    ("row 0 has 1 element on the left, 3 on the right", |s| {
        let index = LodTensor::from_lengths(&s.longs(&[0, 1, 1])?, [[1, 1, 1]])?;
        s.dense.sequence_scatter(&index, &s.x)
    }),
    ("sequence_scatter: dtypes f32 and i32 differ", |s| s.dense.sequence_scatter(&s.ints, &s.ints)),
    ("sequence_scatter is not defined for f32: indices must be integers", |s| s.dense.sequence_scatter(&s.x, &s.x)),
    ("there are 1 rows, but 3 rows of indices", |s| {
        LodTensor::from(s.dense.tensor().slice(ragged::s![..1])?).sequence_scatter(&s.ints, &s.x)
    }),
];

#[test]
fn errors_say_what_is_wrong_and_where() {
    for (name, device) in devices() {
        let s = Subjects::new(&device).expect("valid tensors");
        for (what, mistake) in MISTAKES {
            let error = match mistake(&s).and_then(|x| x.to_host()) {
                Ok(read) => panic!("{name}: no error {what:?}, but {read:?}"),
                Err(error) => error,
            };
            assert!(error.to_string().contains(what), "{name}: {error}\ndoes not contain {what:?}");
            let location = error.location().unwrap_or_else(|| panic!("{name}: no location in {error}"));
            assert!(location.file().ends_with("mistakes.rs"), "{name}: {error}");
        }
        // Nothing is lost.
        let sum = s.x.sequence_pool(Pool::Sum, -1).unwrap();
        assert_eq!(sum.data().unwrap().to_string(), "tensor([6.0, -1.0, 9.0], shape=(3,), dtype=f32)");
        assert_eq!(s.deep.lod().unwrap(), [vec![0, 1, 3], vec![0, 2, 2, 3]]);
    }
}

#[test]
fn other_devices_are_refused() {
    let [cpu, unfused] = [Device::cpu(), Device::cpu_unfused()];
    let x = LodTensor::from_nested([vec![1, 2], vec![3]], &cpu).unwrap();
    let y = LodTensor::from_nested([vec![1, 2], vec![3]], &unfused).unwrap();
    for refused in [x.sequence_expand(&y, 0), LodTensor::sequence_concat(&[&x, &y]), x.sequence_scatter(&y, &y)] {
        assert!(matches!(refused, Err(Error::Devices { .. } | Error::Argument { .. })), "{refused:?}");
    }
}
