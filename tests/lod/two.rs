//! Operations on several tensors.

use proptest::prelude::*;
use ragged::{HostTensor, HostValues, LodTensor, RaggedTensor};

use crate::common::random::Random;
use crate::sample::{Row, Sample, Sequences, config, everywhere, host, offsets, same, samples};

/// Few lengths, some of them 0.
fn few(count: usize, random: &mut Random) -> Vec<usize> {
    (0..count).map(|_| random.below(4) as usize).collect()
}

/// The rows of each outermost sequence, with the offsets of the levels below that.
fn outermost(x: &Sample) -> Vec<(Vec<Vec<u32>>, Vec<Row>)> {
    let part = |first: &[u32]| {
        let (mut from, mut to) = (first[0] as usize, first[1] as usize);
        let mut levels = Vec::new();
        for level in &x.lod[1..] {
            levels.push(offsets(level[from..=to].windows(2).map(|pair| (pair[1] - pair[0]) as usize)));
            (from, to) = (level[from] as usize, level[to] as usize);
        }
        (levels, x.rows[from..to].to_vec())
    };
    x.lod[0].windows(2).map(part).collect()
}

/// Appends the sequences of several tensors of the same number of levels.
fn appended(parts: &[(Vec<Vec<u32>>, Vec<Row>)], levels: usize) -> (Vec<Vec<u32>>, Vec<Row>) {
    let lengths = |level: &Vec<u32>| level.windows(2).map(|pair| (pair[1] - pair[0]) as usize).collect::<Vec<_>>();
    let outer = |p: &(Vec<Vec<u32>>, Vec<Row>)| p.0.first().map_or(p.1.len(), |level| level.len() - 1);
    let mut lod = vec![offsets(parts.iter().map(outer))];
    for k in 0..levels - 1 {
        lod.push(offsets(parts.iter().flat_map(|p| lengths(&p.0[k]))));
    }
    (lod, parts.iter().flat_map(|p| p.1.clone()).collect())
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn expansions(x in samples(), seed in any::<u32>(), between in any::<bool>()) {
        let mut random = Random(seed.into());
        let parts = outermost(&x);
        let times = few(parts.len(), &mut random);
        // Another level above or below the one that counts.
        let y = match between {
            true => {
                let below = few(times.iter().sum(), &mut random);
                let rows = below.iter().sum();
                Sample::new(vec![offsets(times.clone()), offsets(below)], rows, 1, seed)
            }
            false => Sample::new(vec![vec![0, parts.len() as u32], offsets(times.clone())], times.iter().sum(), 1, seed),
        };
        let repeated: Vec<_> =
            parts.iter().zip(&times).flat_map(|(part, &n)| std::iter::repeat_n(part.clone(), n)).collect();
        let (lod, rows) = appended(&repeated, x.lod.len());
        let level = if between { 0 } else { -1 };
        let got = everywhere(|device| x.on(device).sequence_expand(&y.on(device), level));
        same(&got, &host(lod, rows.len(), &[x.width], rows.concat()))?;
    }

    #[test]
    fn expansions_of_rows(y in samples(), width in 1..4usize, seed in any::<u32>()) {
        let x = Sample::new(vec![], y.count(), width, seed);
        let repeated: Sequences =
            x.rows.iter().zip(y.lengths()).map(|(row, n)| vec![row.clone(); n]).collect();
        let got = everywhere(|device| x.on(device).sequence_expand_as(&y.on(device)));
        same(&got, &y.with(&repeated, width))?;
        let flat = everywhere(|device| x.on(device).sequence_expand(&y.on(device), -1));
        let rows = repeated.concat();
        same(&flat, &host(vec![], rows.len(), &[width], rows.concat()))?;
    }

    #[test]
    fn concatenations(x in samples(), seed in any::<u32>(), number in 1..4usize) {
        let mut random = Random(seed.into());
        let mut all = vec![x.clone()];
        for k in 1..number {
            let lengths = few(x.count(), &mut random);
            let mut lod = x.above();
            lod.push(offsets(lengths.clone()));
            all.push(Sample::new(lod, lengths.iter().sum(), x.width, seed ^ k as u32));
        }
        let each: Vec<Sequences> = all.iter().map(Sample::sequences).collect();
        let joined: Sequences =
            (0..x.count()).map(|i| each.iter().flat_map(|sequences| sequences[i].clone()).collect()).collect();
        let got = everywhere(|device| {
            let all: Vec<LodTensor> = all.iter().map(|x| x.on(device)).collect();
            LodTensor::sequence_concat(&all)
        });
        same(&got, &x.with(&joined, x.width))?;
    }

    #[test]
    fn scatters(index in samples(), width in 1..9usize, inner in 1..3usize, seed in any::<u32>()) {
        let mut random = Random(seed.into());
        let x = Sample::new(index.above(), index.count(), width * inner, seed);
        let at: Vec<usize> = index.rows.iter().map(|_| random.below(width as u32) as usize).collect();
        let updates = Sample::new(index.lod.clone(), at.len(), inner, seed ^ 1);
        let mut want = x.rows.clone();
        let last = index.lod.last().expect("a level");
        for (row, pair) in want.iter_mut().zip(last.windows(2)) {
            for t in pair[0] as usize..pair[1] as usize {
                for d in 0..inner {
                    row[at[t] * inner + d] += updates.rows[t][d];
                }
            }
        }
        let got = everywhere(|device| {
            let data = host(x.lod.clone(), x.rows.len(), &[width, inner], x.rows.concat()).to_device(device)?;
            let at = HostTensor { values: HostValues::I64(at.iter().map(|&i| i as i64).collect()), ..index.host() };
            let at = HostTensor { inner_shape: vec![index.rows.len(), 1], ..at }.to_device(device)?;
            LodTensor::from(data).sequence_scatter(&at.into(), &updates.on(device))
        });
        same(&got, &host(x.lod.clone(), x.rows.len(), &[width, inner], want.concat()))?;
    }
}

/// Cells without updates are copied, a NaN or a negative zero as well.
#[test]
fn scatters_copy_the_rest() {
    let got = everywhere(|device| {
        let x = RaggedTensor::from_nested([[f32::NAN, -0.0, 1.0]], device)?;
        let index = LodTensor::from_nested([vec![2i64, 2]], device)?;
        let updates = LodTensor::from_nested([vec![0.25f32, 0.5]], device)?;
        LodTensor::from(x).sequence_scatter(&index, &updates)
    });
    let HostValues::F32(v) = got.values else { panic!("floats") };
    assert!(v[0].is_nan() && v[1].to_bits() == (-0.0f32).to_bits() && v[2] == 1.75, "{v:?}");
}
