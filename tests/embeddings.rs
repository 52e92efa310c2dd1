//! Embedding lookups with combiners, compared with loops over nested lists, on every device.

mod common;

use common::devices;
use ragged::opt::{Combiner, LookupIds, or_default, weighted};
use ragged::{Device, Error, HostTensor, HostValues, RaggedTensor, Result, Tensor};

const VOCABULARY: usize = 40;
const WIDTH: usize = 3;

const COMBINERS: [Combiner; 3] = [Combiner::Sum, Combiner::Mean, Combiner::SqrtN];

/// Pseudorandom numbers with a fixed seed.
struct Noise(u64);

impl Noise {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

/// A table, and rows of ids with weights. All are small multiples of powers of 2: sums and products are exact.
struct Data {
    table: Vec<Vec<f32>>,
    rows: Vec<Vec<(i64, f32)>>,
}

impl Data {
    /// Rows of these lengths, with ids from `least` on and weights from `lightest` quarters on.
    fn new(lengths: &[usize], least: i64, lightest: i64) -> Self {
        let mut noise = Noise(lengths.len() as u64);
        let table = (0..VOCABULARY).map(|_| (0..WIDTH).map(|_| noise.below(64) as f32 - 32.0).collect()).collect();
        let mut pair = || {
            let id = least + noise.below((VOCABULARY as i64 - least) as u64) as i64;
            (id, (lightest + noise.below(8) as i64) as f32 * 0.25)
        };
        let rows = lengths.iter().map(|&n| (0..n).map(|_| pair()).collect()).collect();
        Self { table, rows }
    }

    fn on(&self, device: &Device) -> [Tensor; 3] {
        let mut splits = vec![0u32];
        self.rows.iter().for_each(|r| splits.push(splits[splits.len() - 1] + r.len() as u32));
        let pairs = self.rows.concat();
        let rows = |values| HostTensor::from_row_splits(splits.clone(), values);
        let table = HostTensor::dense(&[VOCABULARY, WIDTH], HostValues::F32(self.table.concat()));
        let ids = rows(HostValues::I64(pairs.iter().map(|p| p.0).collect()));
        let weights = rows(HostValues::F32(pairs.iter().map(|p| p.1).collect()));
        [table, ids, weights].map(|t| t.to_device(device).expect("a tensor"))
    }

    /// The expected result of each row, `weighted` or not, `safe` or not.
    fn combined(&self, combiner: Combiner, weighted: bool, safe: bool, default: Option<usize>) -> Vec<Vec<f32>> {
        self.rows.iter().map(|row| self.row(row, combiner, weighted, safe, default)).collect()
    }

    fn row(
        &self,
        row: &[(i64, f32)],
        combiner: Combiner,
        weighted: bool,
        safe: bool,
        default: Option<usize>,
    ) -> Vec<f32> {
        let light = |w: f32| weighted && combiner != Combiner::Sum && w <= 0.0;
        let kept: Vec<_> = row.iter().filter(|(id, w)| !safe || *id >= 0 && !light(*w)).collect();
        if kept.is_empty() {
            return default.filter(|_| safe).map_or(vec![0.0; WIDTH], |id| self.table[id].clone());
        }
        let weight = |w: f32| if weighted { w } else { 1.0 };
        let over = match combiner {
            Combiner::Sum => 1.0,
            Combiner::Mean => kept.iter().map(|p| weight(p.1)).sum::<f32>(),
            Combiner::SqrtN => kept.iter().map(|p| weight(p.1).powi(2)).sum::<f32>().sqrt(),
            other => panic!("{other:?} has no reference"),
        };
        let sum = |d: usize| kept.iter().map(|p| weight(p.1) * self.table[p.0 as usize][d]).sum::<f32>();
        (0..WIDTH).map(|d| if over == 0.0 { 0.0 } else { sum(d) / over }).collect()
    }
}

fn values(t: Result<Tensor>) -> Vec<f32> {
    match t.and_then(|t| t.to_host()).expect("a result").values {
        HostValues::F32(v) => v,
        other => panic!("{} where f32 belongs", other.dtype()),
    }
}

const LENGTHS: [&[usize]; 6] = [
    &[],
    &[0, 0, 0],
    &[0, 1, 2, 0, 31, 32, 33, 0],
    &[3000],
    &[1, 0, 255, 256, 257, 2047, 2048, 2049, 0],
    &[1, 1, 2, 1, 1, 3, 1, 0, 0, 900, 1, 1],
];

#[test]
fn equals_loops() {
    for (name, device) in devices() {
        for lengths in LENGTHS {
            for combiner in COMBINERS {
                let plain = Data::new(lengths, 0, -2);
                let [table, ids, weights] = plain.on(&device);
                let what = format!("{name}, {combiner:?} of rows {lengths:?}");
                let got = values(table.embedding_lookup_sparse(&ids, combiner));
                assert_eq!(got, plain.combined(combiner, false, false, None).concat(), "{what}");
                let got = values(table.embedding_lookup_sparse(weighted(&ids, &weights), combiner));
                assert_eq!(got, plain.combined(combiner, true, false, None).concat(), "weighted, {what}");

                let some = Data::new(lengths, -20, -2);
                let [table, ids, weights] = some.on(&device);
                for default in [None, Some(7)] {
                    let default_id = default.map(|id| id as i64);
                    let of = |weights| LookupIds::from(&ids).weights(weights).default(default_id);
                    let got = values(table.safe_embedding_lookup_sparse(of(None), combiner));
                    assert_eq!(got, some.combined(combiner, false, true, default).concat(), "safe, {what}");
                    let got = values(table.safe_embedding_lookup_sparse(of(Some(&weights)), combiner));
                    assert_eq!(got, some.combined(combiner, true, true, default).concat(), "safe, weighted, {what}");
                }
            }
        }
    }
}

#[test]
fn rows_are_batch_invariant() {
    let mut data = Data::new(LENGTHS[4], 0, 1);
    // Inexact values, whose sums depend on the order.
    data.table.iter_mut().flatten().for_each(|v| *v = (*v + 0.1) * 1.37);
    for (name, device) in devices() {
        for combiner in COMBINERS {
            let [table, ids, weights] = data.on(&device);
            let all = values(table.embedding_lookup_sparse(weighted(&ids, &weights), combiner));
            for (k, row) in data.rows.iter().enumerate() {
                let alone = Data { table: data.table.clone(), rows: vec![row.clone()] };
                let [table, ids, weights] = alone.on(&Device::cpu());
                let alone = values(table.embedding_lookup_sparse(weighted(&ids, &weights), combiner));
                let bits = |v: &[f32]| v.iter().map(|v| v.to_bits()).collect::<Vec<_>>();
                assert_eq!(bits(&alone), bits(&all[k * WIDTH..][..WIDTH]), "{name}, {combiner:?} of row {k}");
            }
        }
    }
}

#[test]
fn invalid_weights_are_errors() {
    for (name, device) in devices() {
        let data = Data::new(&[2, 1], 0, 1);
        let [table, ids, weights] = data.on(&device);
        let other = |splits: Vec<u32>, values| HostTensor {
            inner_shape: vec![3],
            nested_row_splits: vec![splits],
            uniform_row_lengths: vec![None],
            values,
        };
        let lookup = |weights: &HostTensor| {
            let weights = weights.to_device(&device).expect("a tensor");
            table.embedding_lookup_sparse(weighted(&ids, &weights), Combiner::Mean)
        };
        let shifted = lookup(&other(vec![0, 1, 3], HostValues::F32(vec![1.0; 3])));
        assert!(matches!(shifted, Err(Error::Shape { .. })), "{name}: {shifted:?}");
        let integers = lookup(&other(vec![0, 2, 3], HostValues::I32(vec![1; 3])));
        assert!(matches!(integers, Err(Error::Unsupported { .. })), "{name}: {integers:?}");
        let dense = lookup(&HostTensor::dense(&[3], HostValues::F32(vec![1.0; 3])));
        assert!(matches!(dense, Err(Error::Shape { .. })), "{name}: {dense:?}");
        let default = table.safe_embedding_lookup_sparse(or_default(weighted(&ids, &weights), 40), Combiner::Sum);
        assert!(matches!(default, Err(Error::Index { .. })), "{name}: {default:?}");

        // An id out of range is an error of the read, with and without weights.
        let far = other(vec![0, 2, 3], HostValues::I64(vec![0, 40, 1])).to_device(&device).expect("a tensor");
        let far = table.embedding_lookup_sparse(weighted(&far, &weights), Combiner::Mean).and_then(|t| t.to_host());
        assert!(matches!(far, Err(Error::Check { .. })), "{name}: {far:?}");
    }
}

#[test]
fn a_default_row_that_the_table_lacks_is_an_error_before_and_after_a_read() {
    for (name, device) in devices() {
        let rows = RaggedTensor::from_nested([[1.0f32], [2.0], [3.0]], &device).expect("a table");
        let table =
            rows.boolean_mask(&rows.greater(2.5).and_then(|b| b.reduce_any(1)).expect("flags")).expect("a mask");
        let ids = RaggedTensor::from_nested([vec![0i64], vec![]], &device).expect("ids");
        let lookup = |default| {
            let found = table.erased().safe_embedding_lookup_sparse(or_default(&ids, default), Combiner::Sum);
            found.and_then(|x| x.to_host())
        };
        let read = |default| match lookup(default) {
            Err(Error::Check { what, .. }) => assert!(what.contains("the row of the default id"), "{name}: {what}"),
            other => panic!("{name}: {other:?}"),
        };
        read(1);
        assert_eq!(table.to_vec().expect("one row"), [3.0], "{name}");
        read(1);
        assert_eq!(lookup(0).expect("a row").values, HostValues::F32(vec![3.0, 3.0]), "{name}");
    }
}

#[test]
fn device_known_rows() {
    for (name, device) in devices() {
        let data = Data::new(&[3, 0, 2, 40], 0, 1);
        let [table, ids, weights] = data.on(&device);
        let cut = |t: &Tensor, slice: ragged::arguments::Index| t.slice([(..).into(), slice]).expect("a slice");
        // Equal lengths in two separate partitions.
        let (front, back) = (cut(&ids, (..-1).into()), cut(&weights, (1..).into()));
        let got = values(table.embedding_lookup_sparse(weighted(&front, &back), Combiner::Mean));
        let moved = |row: &Vec<(i64, f32)>| row.windows(2).map(|w| (w[0].0, w[1].1)).collect();
        let same = Data { table: data.table.clone(), rows: data.rows.iter().map(moved).collect() };
        assert_eq!(got, same.combined(Combiner::Mean, true, false, None).concat(), "{name}");

        let other = table.embedding_lookup_sparse(weighted(&front, &cut(&weights, (..2).into())), Combiner::Mean);
        let other = other.and_then(|t| t.to_host());
        assert!(matches!(other, Err(Error::Check { .. } | Error::Shape { .. })), "{name}: {other:?}");
    }
}

/// Table rows that are reduced in place give the bits of gathered rows that are stored first.
#[test]
fn fused_lookups_have_the_bits_of_stored_ones() {
    const ROWS: usize = 50;
    let lengths = [0, 1, 7, 63, 64, 65, 0, 127, 128, 129, 511, 512, 513, 1025, 9000, 0, 3];
    let n: usize = lengths.iter().sum();
    for (name, device) in devices() {
        for width in [1, 2, 3, 4, 5, 8, 16, 20] {
            let mut noise = Noise(width as u64);
            let table = (0..ROWS * width).map(|_| 1.0 / (1.0 + noise.below(1000) as f32)).collect();
            let table = HostTensor::dense(&[ROWS, width], HostValues::F32(table)).to_device(&device).expect("a table");
            let mut rows_of = |most: u64| {
                let ids = HostValues::I32((0..n).map(|_| noise.below(most) as i32).collect());
                let splits = std::iter::once(0).chain(lengths.iter().scan(0, |end, &len| {
                    *end += len as u32;
                    Some(*end)
                }));
                HostTensor::from_row_splits(splits.collect(), ids).to_device(&device).expect("rows")
            };
            let looked_up = |ids: &Tensor| table.gather(ids).expect("rows of a table");
            let reduced = |x: &Tensor| {
                [
                    x.reduce_sum(1),
                    x.reduce_min(1),
                    x.reduce_max(1),
                    x.reduce_mean(1),
                    x.reduce_variance(1),
                    x.reduce_logsumexp(1),
                    x.cast(ragged::DType::I32).and_then(|x| x.reduce_sum(1)).and_then(|x| x.cast(ragged::DType::F32)),
                ]
            };
            let ids = rows_of(ROWS as u64);
            // Read before the rows are stored, since equal recordings share their results.
            let fused = reduced(&looked_up(&ids)).map(values);
            let stored = looked_up(&ids).to_host().and_then(|rows| rows.to_device(&device)).expect("stored");
            for (k, (a, b)) in fused.into_iter().zip(reduced(&stored).map(values)).enumerate() {
                let same = a.iter().zip(&b).all(|(a, b)| a.to_bits() == b.to_bits());
                assert!(same && a.len() == lengths.len() * width, "{name}: {width} columns, reduction {k}");
            }
            // The error names the first id out of range, as an element of the array that is not stored.
            let ids = rows_of(ROWS as u64 + 1);
            let HostValues::I32(all) = ids.to_host().expect("there").values else { panic!("ids are i32") };
            let first = all.iter().position(|&id| id == ROWS as i32).expect("one in fifty");
            match looked_up(&ids).reduce_sum(1).and_then(|t| t.to_host()) {
                Err(Error::Check { at, .. }) => assert_eq!(at, (first * width) as u64, "{name}: {width} columns"),
                other => panic!("{name}: {width} columns: {other:?}"),
            }
        }
    }
}

/// Reductions through chains of operations on looked-up rows, of widths with all kinds of column groups.
#[test]
fn chains_of_looked_up_rows_have_the_bits_of_stored_rows() {
    let lengths = [3usize, 0, 1, 17, 65, 64, 0, 130, 700, 2, 16, 33, 9];
    let mut splits = vec![0u32];
    lengths.iter().for_each(|n| splits.push(splits[splits.len() - 1] + *n as u32));
    let mut noise = Noise(7);
    let ids: Vec<i32> = (0..splits[lengths.len()]).map(|_| noise.below(VOCABULARY as u64) as i32).collect();
    let weights: Vec<f32> = ids.iter().map(|_| noise.below(16) as f32 * 0.3 - 2.0).collect();
    type Chain = fn(&Tensor, &Tensor) -> Result<Tensor>;
    let chains: [(&str, Chain); 12] = [
        ("none", |x, _| Ok(x.clone())),
        ("relu(2x - 1)", |x, _| ((x * 2.0)? - 1.0)?.relu()),
        ("min(max(x w + 40, -20), 90) w", |x, w| (((x * w)? + 40.0)?.maximum(-20.0)?.minimum(90.0))? * w),
        ("min(max(x, -0), 0)", |x, _| x.maximum(-0.0)?.minimum(0.0)),
        ("|w - x| / 3", |x, w| (w - x)?.abs()? / 3.0),
        ("min(1 / x, w) w", |x, w| (1.0 / x)?.minimum(w)? * w),
        ("-(x w) + w", |x, w| (x * w)?.negative()? + w),
        ("w / (x + w) - w", |x, w| (w / (x + w)?)? - w),
        ("min(x, 90)", |x, _| x.minimum(90.0)),
        ("max(min(x, 9), -9)", |x, _| x.minimum(9.0)?.maximum(-9.0)),
        ("max(x - 0, 0) w", |x, w| (x - 0.0)?.maximum(0.0)? * w),
        ("max(x w, inf)", |x, w| (x * w)?.maximum(f32::INFINITY)),
    ];
    let results = |x: &Tensor| [x.reduce_sum(1), x.reduce_max(1), x.reduce_variance(1), x.reduce_min(1)];
    for (device_name, device) in devices() {
        for width in [3usize, 16, 31, 130] {
            let mut table: Vec<f32> =
                (0..VOCABULARY * width).map(|_| noise.below(1000) as f32 * 0.37 - 150.0).collect();
            table[0..2].copy_from_slice(&[f32::NAN, -0.0]);
            let table = HostTensor::dense(&[VOCABULARY, width], HostValues::F32(table)).to_device(&device).unwrap();
            let rows = |values| HostTensor::from_row_splits(splits.clone(), values).to_device(&device).unwrap();
            let ids = rows(HostValues::I32(ids.clone()));
            let weights = rows(HostValues::F32(weights.clone())).expand_dims(-1).unwrap();
            let looked_up = table.gather(&ids).unwrap();
            let all = |x: &Tensor| chains.map(|(_, chain)| results(&chain(x, &weights).unwrap()).map(values));
            // Read before the rows are stored.
            let fused = all(&looked_up);
            let stored = looked_up.to_host().unwrap().to_device(&device).unwrap();
            for (((name, _), fused), plain) in chains.iter().zip(fused).zip(all(&stored)) {
                for (k, (fused, plain)) in fused.into_iter().zip(plain).enumerate() {
                    assert_eq!(fused.len(), lengths.len() * width);
                    let same = |(a, b): (&f32, &f32)| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan();
                    assert!(fused.iter().zip(&plain).all(same), "result {k} of {name}, {width} columns, {device_name}");
                }
            }
        }
    }
}

/// The same of other dtypes on the CPU backend, which applies some steps as it reads the rows. Integers are close to both
/// ends of their types, so that offsets wrap.
#[test]
fn chains_of_looked_up_numbers_have_the_bits_of_stored_numbers() {
    const WIDTHS: [usize; 2] = [17, 5];
    let lengths = [3u32, 0, 1, 17, 65, 130, 16, 33];
    let splits: Vec<u32> = (0..=lengths.len()).map(|k| lengths[..k].iter().sum()).collect();
    let mut noise = Noise(3);
    let ids: Vec<i32> = (0..splits[lengths.len()]).map(|_| noise.below(VOCABULARY as u64) as i32).collect();
    type Chain = fn(&Tensor) -> Result<Tensor>;
    let chains: [(&str, Chain); 5] = [
        ("max(2x - 9, 3)", |x| ((x * 2)? - 9)?.maximum(3)),
        ("min(x + 100, 50)", |x| (x + 100)?.minimum(50)),
        ("min(max(x - 100, 7), 40)", |x| (x - 100)?.maximum(7)?.minimum(40)),
        ("max(min(x, 40), 7) + 1", |x| x.minimum(40)?.maximum(7)? + 1),
        ("min(max(x, 40), 7)", |x| x.maximum(40)?.minimum(7)),
    ];
    let results = |x: Tensor| [x.reduce_sum(1), x.reduce_max(1), x.reduce_min(1)].map(|t| format!("{:?}", read(t)));
    fn read(t: Result<Tensor>) -> HostValues {
        t.and_then(|t| t.to_host()).unwrap_or_else(|e| panic!("{e}")).values
    }
    let device = Device::cpu();
    for width in WIDTHS {
        // A hash of the position, with zeros in most of the upper half: small numbers, and all others.
        let bits: Vec<u64> = (0..(VOCABULARY * width) as u64)
            .map(|k| k.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31) >> [0, 0, 58][k as usize % 3])
            .collect();
        let tables = [
            HostValues::I32(bits.iter().map(|&x| x as i32).collect()),
            HostValues::U32(bits.iter().map(|&x| x as u32).collect()),
            HostValues::I64(bits.iter().map(|&x| x as i64).collect()),
            HostValues::U64(bits.clone()),
            HostValues::F64(bits.iter().map(|&x| (x as i64 >> 40) as f64 * 0.37).collect()),
        ];
        for table in tables {
            let dtype = table.dtype();
            let table = HostTensor::dense(&[VOCABULARY, width], table).to_device(&device).unwrap();
            let ids = HostTensor::from_row_splits(splits.clone(), HostValues::I32(ids.clone()));
            let looked_up = table.gather(&ids.to_device(&device).unwrap()).unwrap();
            // Read before the rows are stored.
            let fused = chains.map(|(_, chain)| results(chain(&looked_up).unwrap()));
            let stored = looked_up.to_host().unwrap().to_device(&device).unwrap();
            for ((name, chain), fused) in chains.iter().zip(fused) {
                let plain = results(chain(&stored).unwrap());
                assert_eq!(fused, plain, "{name}, {dtype}, {width} columns");
            }
        }
    }
}
