//! Operations on one tensor.

use proptest::prelude::*;
use ragged::opt::{Pool, starting_at};
use ragged::{Device, HostTensor, HostValues, LodTensor, RaggedTensor};

use crate::common;
use crate::sample::{Row, Sample, Sequences, config, everywhere, offsets, same, samples};

/// The number that a column becomes.
type PoolOfColumn = fn(&[f32]) -> f32;

/// One row for each sequence, column by column; `pad` for an empty sequence.
fn pooled(x: &Sample, pad: f32, pool: impl Fn(&[f32]) -> f32) -> Vec<Row> {
    let column = |rows: &[Row], c: usize| rows.iter().map(|row| row[c]).collect::<Vec<f32>>();
    let of_sequence = |rows: &Vec<Row>| match rows.is_empty() {
        true => vec![pad; x.width],
        false => (0..x.width).map(|c| pool(&column(rows, c))).collect(),
    };
    x.sequences().iter().map(of_sequence).collect()
}

fn sum(column: &[f32]) -> f32 {
    column.iter().fold(0.0, |a, b| a + b)
}

/// The rows from `start` on, relative to each row; zeros outside of the sequence.
fn contexts(rows: &[Row], size: i64, start: i64, fill: f32) -> Vec<Row> {
    let width = rows.first().map_or(0, Vec::len);
    let at = |t: i64| usize::try_from(t).ok().and_then(|t| rows.get(t)).cloned().unwrap_or_else(|| vec![fill; width]);
    (0..rows.len() as i64).map(|t| (0..size).flat_map(|j| at(t + start + j)).collect()).collect()
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn pools(x in samples(), pad in -3..4i32) {
        let pad_value = pad as f32;
        let pools: [(Pool, PoolOfColumn); 7] = [
            (Pool::Sum, sum),
            (Pool::Average, |c| sum(c) / c.len() as f32),
            (Pool::Sqrt, |c| sum(c) / (c.len() as f32).sqrt()),
            (Pool::Max, |c| c.iter().copied().fold(f32::MIN, f32::max)),
            (Pool::Min, |c| c.iter().copied().fold(f32::MAX, f32::min)),
            (Pool::First, |c| c[0]),
            (Pool::Last, |c| c[c.len() - 1]),
        ];
        for (pool, naive) in pools {
            let got = everywhere(|device| x.on(device).sequence_pool(pool, pad));
            same(&got, &x.with_rows(&pooled(&x, pad_value, naive), &[x.width]))?;
        }
        let first = everywhere(|device| x.on(device).sequence_first_step());
        same(&first, &x.with_rows(&pooled(&x, 0.0, |c| c[0]), &[x.width]))?;
        let last = everywhere(|device| x.on(device).sequence_last_step());
        same(&last, &x.with_rows(&pooled(&x, 0.0, |c| c[c.len() - 1]), &[x.width]))?;
    }

    #[test]
    fn softmaxes(x in samples()) {
        let got = everywhere(|device| x.on(device).sequence_softmax());
        let HostValues::F32(values) = &got.values else { panic!("floats") };
        prop_assert_eq!((&got.nested_row_splits, &got.inner_shape), (&x.lod, &vec![x.rows.len(), x.width]));
        let mut values = values.iter();
        for rows in x.sequences() {
            let totals: Vec<f64> =
                (0..x.width).map(|c| rows.iter().map(|row| f64::from(row[c]).exp()).sum()).collect();
            for row in &rows {
                for (number, total) in row.iter().zip(&totals) {
                    let (got, want) = (f64::from(*values.next().expect("a value")), f64::from(*number).exp() / total);
                    prop_assert!((got - want).abs() <= 1e-6 * want, "{got}, not {want}");
                }
            }
        }
    }

    #[test]
    fn reversals(x in samples()) {
        let got = everywhere(|device| x.on(device).sequence_reverse());
        let reversed: Sequences = x.sequences().into_iter().map(|rows| rows.into_iter().rev().collect()).collect();
        same(&got, &x.with(&reversed, x.width))?;
        let twice = everywhere(|device| x.on(device).sequence_reverse()?.sequence_reverse());
        same(&twice, &x.host())?;
    }

    #[test]
    fn slices(x in samples(), seed in any::<u32>()) {
        let mut random = common::random::Random(seed.into());
        let offset: Vec<i64> = x.lengths().iter().map(|&n| random.below(n as u32 + 1).into()).collect();
        let most = x.lengths().into_iter().zip(&offset).map(|(n, &o)| n as u32 - o as u32);
        let length: Vec<i64> = most.map(|n| random.below(n + 1).into()).collect();
        let part = |(rows, (&o, &n)): (Vec<Row>, (&i64, &i64))| rows[o as usize..(o + n) as usize].to_vec();
        let parts: Sequences = x.sequences().into_iter().zip(offset.iter().zip(&length)).map(part).collect();
        let want = x.with(&parts, x.width);
        same(&everywhere(|device| x.on(device).sequence_slice(&offset, &length)), &want)?;
        // From the device, as columns of other integer types.
        let got = everywhere(|device| {
            let narrow: Vec<i32> = offset.iter().map(|&o| o as i32).collect();
            let starts = RaggedTensor::from_nested(narrow, device)?.expand_dims(-1)?;
            let length = RaggedTensor::from_nested(length.clone(), device)?;
            x.on(device).sequence_slice(&starts, &length)
        });
        same(&got, &want)?;
    }

    #[test]
    fn padding_and_its_inverse(x in samples(), more in 0..3usize) {
        let longest = x.lengths().into_iter().max().unwrap_or(0);
        let maxlen = longest + more;
        let padded = |rows: Vec<Row>| {
            let pads = std::iter::repeat_n(vec![-1.0; x.width], maxlen - rows.len());
            rows.into_iter().chain(pads).collect::<Vec<_>>().concat()
        };
        let want: Vec<Row> = x.sequences().into_iter().map(padded).collect();
        let want = x.with_rows(&want, &[maxlen, x.width]);
        same(&everywhere(|device| Ok(x.on(device).sequence_pad(-1, maxlen)?.0)), &want)?;
        let lengths = everywhere(|device| Ok(x.on(device).sequence_pad(-1, maxlen)?.1.into()));
        prop_assert_eq!(&lengths.values, &HostValues::I64(x.lengths().iter().map(|&n| n as i64).collect()));
        if more == 0 && x.count() > 0 {
            same(&everywhere(|device| Ok(x.on(device).sequence_pad(-1, ..)?.0)), &want)?;
        }
        let back = everywhere(|device| {
            let (padded, lengths) = x.on(device).sequence_pad(-1, maxlen)?;
            padded.sequence_unpad(&lengths)
        });
        same(&back, &x.host())?;
        let mask = everywhere(|device| x.on(device).sequence_mask(maxlen));
        let bools: Vec<bool> = x.lengths().iter().flat_map(|&n| (0..maxlen).map(move |j| j < n)).collect();
        prop_assert_eq!(mask.values, HostValues::Bool(bools));
        prop_assert_eq!((mask.nested_row_splits, mask.inner_shape), (x.above(), vec![x.count(), maxlen]));
    }

    #[test]
    fn convolutions(x in samples(), size in 1..5i64, start in -5..4i64, filters in 1..3usize, default in any::<bool>()) {
        let weights: Vec<f32> = (0..size as usize * x.width * filters).map(|i| (i * 7 % 5) as f32 - 2.0).collect();
        let got = everywhere(|device| {
            let filter = RaggedTensor::dense(&weights, &[size as usize * x.width, filters], device)?;
            match default {
                true => x.on(device).sequence_conv(&filter, size),
                false => x.on(device).sequence_conv(&filter, starting_at(size, start)),
            }
        });
        let start = if default { -(size / 2) } else { start };
        let product = |row: &Row| -> Row {
            (0..filters).map(|f| row.iter().enumerate().map(|(i, v)| v * weights[i * filters + f]).sum::<f32>() + 0.0)
                .collect()
        };
        let of_sequence = |rows: &Vec<Row>| contexts(rows, size, start, 0.0).iter().map(product).collect();
        let want: Sequences = x.sequences().iter().map(of_sequence).collect();
        same(&got, &x.with(&want, filters))?;
    }

    #[test]
    fn enumerations(x in samples(), size in 1..6i64, pad in -9..9i32) {
        let x = Sample { width: 1, rows: x.rows.into_iter().map(|row| row[..1].to_vec()).collect(), ..x };
        let got = everywhere(|device| x.on(device).sequence_enumerate(size, pad));
        let of_sequence = |rows: &Vec<Row>| contexts(rows, size, 0, pad as f32);
        let want: Sequences = x.sequences().iter().map(of_sequence).collect();
        same(&got, &x.with(&want, size as usize))?;
        // Rows without a dimension of size 1 give the same.
        let got = everywhere(|device| {
            LodTensor::from(x.on(device).tensor().squeeze(-1)?).sequence_enumerate(size, pad)
        });
        same(&got, &x.with(&want, size as usize))?;
    }

    #[test]
    fn windows_at_any_distance(x in samples(), size in 1..6i64, start in prop_oneof![-9..9i64, Just(i64::MIN), Just(i64::MAX)]) {
        let depth = x.lod.len();
        let got = everywhere(|device| {
            x.on(device).tensor().context_windows(starting_at(size, start), 7, depth).map(LodTensor::from)
        });
        let near = start.clamp(-10_000, 10_000);
        let windows = |rows: &Vec<Row>| contexts(rows, size, near, 7.0).concat();
        let want: Row = x.sequences().iter().flat_map(windows).collect();
        prop_assert_eq!(got.values, HostValues::F32(want));
        prop_assert_eq!(got.inner_shape, vec![x.rows.len(), size as usize, x.width]);
    }

    #[test]
    fn reshapes(x in samples(), by in 1..4usize, narrower in any::<bool>()) {
        // Sequences whose numbers divide: rows of `by` times the width, or each row `by` times.
        let (x, new) = match narrower {
            true => {
                let wide = |row: &Row| std::iter::repeat_n(row.clone(), by).flatten().collect();
                (Sample { rows: x.rows.iter().map(wide).collect(), width: x.width * by, ..x.clone() }, x.width)
            }
            false => {
                let repeated = x.rows.iter().flat_map(|row| std::iter::repeat_n(row.clone(), by)).collect();
                let mut lod = x.above();
                lod.push(offsets(x.lengths().iter().map(|n| n * by)));
                (Sample { rows: repeated, lod, width: x.width }, x.width * by)
            }
        };
        let chunks = |rows: Vec<Row>| rows.concat().chunks(new).map(<[f32]>::to_vec).collect::<Vec<Row>>();
        let want: Sequences = x.sequences().into_iter().map(chunks).collect();
        let want = x.with(&want, new);
        same(&everywhere(|device| x.on(device).sequence_reshape(new)), &want)?;
        // Levels that only the device knows: a slice of everything.
        let got = everywhere(|device| {
            let (offset, length) = (vec![0i64; x.count()], x.on(device).lengths(-1)?);
            x.on(device).sequence_slice(&offset, &length)?.sequence_reshape(new)
        });
        same(&got, &want)?;
    }

    #[test]
    fn views_of_the_levels(x in samples()) {
        let wide = |lod: &[Vec<u32>]| lod.iter().map(|l| l.iter().map(|&n| n.into()).collect()).collect::<Vec<Vec<i64>>>();
        let lengths: Vec<Vec<i64>> =
            wide(&x.lod).iter().map(|level| level.windows(2).map(|pair| pair[1] - pair[0]).collect()).collect();
        for (_, device) in common::devices_and_unfused_cpu() {
            let t = x.on(device);
            prop_assert_eq!(t.lod_level(), x.lod.len());
            // Known to the host, and read.
            for t in [t.clone(), t.sequence_reverse().unwrap()] {
                prop_assert_eq!(t.lod().unwrap(), wide(&x.lod));
                prop_assert_eq!(t.recursive_sequence_lengths().unwrap(), lengths.clone());
            }
            let whole = t.sequence_slice(vec![0; x.count()], &t.lengths(-1).unwrap()).unwrap();
            prop_assert_eq!(whole.lod().unwrap(), wide(&x.lod));
            prop_assert_eq!(pollster::block_on(whole.lod_async()).unwrap(), wide(&x.lod));
            prop_assert_eq!(pollster::block_on(whole.recursive_sequence_lengths_async()).unwrap(), lengths.clone());
            for (level, lengths) in lengths.iter().enumerate() {
                prop_assert_eq!(&t.lengths(level).unwrap().to_vec().unwrap(), lengths);
                prop_assert_eq!(&t.offsets(level as i64 - x.lod.len() as i64).unwrap().to_vec().unwrap(), &wide(&x.lod)[level]);
            }
            if lengths.iter().all(|level| !level.is_empty()) {
                let data = t.data().unwrap();
                let made = LodTensor::from_lengths(&data, lengths.clone()).unwrap();
                same(&made.to_host().unwrap(), &x.host())?;
                let made = LodTensor::from_lod(&data, wide(&x.lod)).unwrap();
                same(&made.to_host().unwrap(), &x.host())?;
                // With the levels on the device.
                let levels: Vec<RaggedTensor<i64>> = (0..x.lod.len()).map(|k| t.lengths(k).unwrap()).collect();
                let made = LodTensor::from_lengths(&data, &levels).unwrap();
                same(&made.to_host().unwrap(), &x.host())?;
                let moved = LodTensor::from(data).with_lod(wide(&x.lod)).unwrap();
                same(&moved.to_host().unwrap(), &x.host())?;
            }
        }
    }
}

/// Strings move as numbers do.
#[test]
fn sequences_of_strings() {
    let rows = [vec!["a", "bc", ""], vec![], vec!["def"]];
    let words = |device: &Device| RaggedTensor::<ragged::Str>::from_nested(rows.clone(), device).map(LodTensor::from);
    let strings = |read: HostTensor| match read.values {
        HostValues::Str(all) => all.into_iter().map(|s| String::from_utf8(s).expect("text")).collect::<Vec<_>>(),
        other => panic!("{} where strings belong", other.dtype()),
    };
    assert_eq!(strings(everywhere(|d| words(d)?.sequence_reverse())), ["", "bc", "a", "def"]);
    assert_eq!(strings(everywhere(|d| words(d)?.sequence_first_step())), ["a", "", "def"]);
    assert_eq!(strings(everywhere(|d| words(d)?.sequence_pool(Pool::Last, "none"))), ["", "none", "def"]);
    assert_eq!(strings(everywhere(|d| words(d)?.sequence_slice([1, 0, 0], [2, 0, 1]))), ["bc", "", "def"]);
    let pairs = ["a", "bc", "bc", "", "", "-", "def", "-"];
    assert_eq!(strings(everywhere(|d| words(d)?.sequence_enumerate(2, "-"))), pairs);
    let padded = ["a", "bc", "", "-", "-", "-", "def", "-", "-"];
    assert_eq!(strings(everywhere(|d| Ok(words(d)?.sequence_pad("-", ..)?.0))), padded);
    assert_eq!(
        strings(everywhere(|d| words(d)?.sequence_expand(&words(d)?, 0))),
        ["a", "bc", "", "a", "bc", "", "a", "bc", "", "def"]
    );
}

/// The padding of Paddle's `sequence_pad` is a number, or a tensor of the shape of one row.
#[test]
fn a_padding_has_the_shape_of_a_row() {
    let lod = vec![vec![0u32, 2, 2, 3]];
    for (shape, padding_shape) in
        [(vec![3, 2], vec![2usize]), (vec![3, 1], vec![1]), (vec![3], vec![1]), (vec![3], vec![])]
    {
        let width: usize = shape[1..].iter().product();
        let values: Vec<f32> = (0..3 * width).map(|k| k as f32).collect();
        let padding: Vec<f32> = (0..width).map(|k| -1.0 - k as f32).collect();
        let row = |k: usize| values[k * width..(k + 1) * width].to_vec();
        let want = [row(0), row(1), padding.clone(), padding.clone(), row(2), padding.clone()].concat();
        let got = everywhere(|device| {
            let x = HostTensor {
                nested_row_splits: lod.clone(),
                uniform_row_lengths: vec![None],
                inner_shape: shape.clone(),
                values: HostValues::F32(values.clone()),
            };
            let padding = HostTensor::dense(&padding_shape, HostValues::F32(padding.clone())).to_device(device)?;
            Ok(LodTensor::from(x.to_device(device)?).sequence_pad(&padding, ..)?.0)
        });
        assert_eq!(got.values, HostValues::F32(want), "{shape:?} padded by {padding_shape:?}");
    }
}
