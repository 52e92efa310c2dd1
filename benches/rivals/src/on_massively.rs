//! `massively`, used as in its documentation: lazy expressions are fused into the kernels that consume them, and
//! reusable preparations for the same rows (`Segmentation`) are not timed.

mod operators;

use anyhow::Result;
use cubecl::wgpu::{AutoGraphicsApi, RuntimeOptions, WgpuDevice, WgpuRuntime, init_setup};
use massively::seg::{Executable, Filter, ForEachSegment, Reduce, SegmentIterator, Segmentation, Sort, Take};
use massively::vector::{copy_where, exclusive_scan, flat_map, gather, map, reduce, sort};
use massively::{DeviceSlice, DeviceVec, Executor, MStorage, lazy, zip2, zip3, zip4};

use crate::{Contender, Data, Read, inputs, rows};
use operators::*;

const PEER: &str = "massively";

type Floats = DeviceVec<WgpuRuntime, f32>;
type Words = DeviceVec<WgpuRuntime, u32>;

/// The library on the adapter that it chooses.
pub struct Library {
    pub exec: Executor<WgpuRuntime>,
    pub adapter: String,
}

/// Inputs on its device.
pub struct Uploaded {
    segments: Segmentation<WgpuRuntime>,
    rows: u32,
    x: Floats,
    row: Floats,
    ids: Words,
    tokens: Words,
    /// The table of embeddings, column by column.
    columns: Vec<Floats>,
}

impl Library {
    /// # Errors
    /// There is no adapter.
    pub fn new() -> Result<Self> {
        let open = || Ok(init_setup::<AutoGraphicsApi>(&WgpuDevice::DefaultDevice, RuntimeOptions::default()));
        let adapter = crate::catch(open)?.adapter.get_info().name;
        Ok(Self { exec: Executor::new(WgpuDevice::DefaultDevice), adapter })
    }

    pub(crate) fn upload(&self, data: &Data) -> Result<Uploaded> {
        let exec = &self.exec;
        let n = data.lengths.len();
        let words = |v: Vec<u32>| exec.to_device(&v);
        let splits = words(data.splits.clone());
        let table = inputs::embeddings(1024, 16);
        let column = |c: usize| exec.to_device(&table.iter().skip(c).step_by(16).copied().collect::<Vec<f32>>());
        let uploaded = Uploaded {
            segments: Segmentation::from_offsets(exec, splits.slice(..))?,
            rows: n as u32,
            x: exec.to_device(&data.x),
            row: exec.to_device(&rows::flat_values(n)),
            ids: words(inputs::row_ids(n).into_iter().map(|i| i as u32).collect()),
            tokens: words(inputs::tokens(&data.x).into_iter().map(|t| t as u32).collect()),
            columns: (0..16).map(column).collect(),
        };
        exec.sync()?;
        Ok(uploaded)
    }

    /// An operation: runs and waits.
    fn contender<'a, T: 'a>(
        &'a self,
        op: &'static str,
        run: impl Fn() -> Result<T, massively::Error> + 'a,
        read: fn(&Executor<WgpuRuntime>, T) -> Result<Vec<f32>, massively::Error>,
    ) -> Contender<'a> {
        let run = move || -> Result<Read<'a>> {
            let result = run()?;
            self.exec.sync()?;
            Ok(Box::new(move || Ok(read(&self.exec, result)?)))
        };
        Contender { peer: PEER, op, run: Box::new(run) }
    }
}

impl Uploaded {
    /// Where each row starts, and where it ends.
    fn bounds(&self) -> (DeviceSlice<WgpuRuntime, u32>, DeviceSlice<WgpuRuntime, u32>) {
        let offsets = self.segments.offsets();
        (offsets.slice(..self.rows), offsets.slice(1..))
    }
}

fn floats(exec: &Executor<WgpuRuntime>, v: Floats) -> Result<Vec<f32>, massively::Error> {
    exec.to_host(&v)
}

fn words(exec: &Executor<WgpuRuntime>, v: Words) -> Result<Vec<f32>, massively::Error> {
    Ok(exec.to_host(&v)?.into_iter().map(|v| v as f32).collect())
}

/// The operations on rows.
pub fn rows<'a>(library: &'a Library, on: &'a Uploaded) -> Vec<Contender<'a>> {
    let exec = &library.exec;
    let x = move || on.x.slice(..);
    let sum = move || ForEachSegment(Reduce(Add, 0f32)).run(exec, on.segments.segments(x())?);
    let max = move || ForEachSegment(Reduce(Max, f32::MIN)).run(exec, on.segments.segments(x())?);
    // The values of `x` at these positions.
    let taken = move |places: Words| gather(exec, x(), places.slice(..));
    vec![
        library.contender("sum", sum, floats),
        library.contender("max", max, floats),
        library.contender(
            "mean",
            move || {
                let (sum, (starts, ends)) = (sum()?, on.bounds());
                map(exec, zip3(sum.slice(..), starts, ends), Mean)
            },
            floats,
        ),
        library.contender(
            "affine_sum",
            move || ForEachSegment(Reduce(Add, 0f32)).run(exec, on.segments.segments(lazy::map(x(), Affine))?),
            floats,
        ),
        library.contender(
            "row_add",
            move || {
                let ids = on.segments.segment_ids(exec)?;
                map(exec, zip2(x(), lazy::permute(on.row.slice(..), ids.slice(..))), AddPair)
            },
            floats,
        ),
        library.contender(
            "slice_head",
            move || Ok(ForEachSegment(Take(8)).run(exec, on.segments.segments(x())?)?.into_parts().0),
            floats,
        ),
        library.contender(
            "slice_tail",
            move || {
                let (starts, ends) = on.bounds();
                taken(flat_map(exec, zip2(starts, ends), LastEight)?)
            },
            floats,
        ),
        library.contender(
            "gather_rows",
            move || {
                let (starts, ends) = on.bounds();
                let of = |bounds| lazy::permute(bounds, on.ids.slice(..));
                taken(flat_map(exec, zip2(of(starts), of(ends)), Whole)?)
            },
            floats,
        ),
        library.contender(
            "concat_axis1",
            move || {
                let (starts, ends) = on.bounds();
                taken(flat_map(exec, zip2(starts, ends), Twice)?)
            },
            floats,
        ),
        library.contender(
            "to_padded",
            move || {
                let (starts, ends) = on.bounds();
                let columns = lazy::tile(lazy::counting(0).take(64), on.rows);
                let places = zip3(lazy::repeat_each(starts, 64), lazy::repeat_each(ends, 64), columns);
                let values = lazy::permute(x(), lazy::map(places.clone(), PlaceOrFirst));
                map(exec, zip2(values, lazy::map(places, IsInside)), ValueOrZero)
            },
            floats,
        ),
        library.contender(
            "softmax",
            move || {
                let ids = on.segments.segment_ids(exec)?;
                let max = max()?;
                let shifted = zip2(x(), lazy::permute(max.slice(..), ids.slice(..)));
                let exps = map(exec, shifted, ExpOfDifference)?;
                let sum = ForEachSegment(Reduce(Add, 0f32)).run(exec, on.segments.segments(exps.slice(..))?)?;
                map(exec, zip2(exps.slice(..), lazy::permute(sum.slice(..), ids.slice(..))), Quotient)
            },
            floats,
        ),
        library.contender(
            "mask_gt_half",
            move || Ok(ForEachSegment(Filter(AboveHalf)).run(exec, on.segments.segments(x())?)?.into_parts().0),
            floats,
        ),
        library.contender(
            "sort",
            move || Ok(ForEachSegment(Sort(Less)).run(exec, on.segments.segments(x())?)?.into_parts().0),
            floats,
        ),
        library.contender(
            "embed_mean",
            move || {
                // The library has no inner dimensions: four columns at a time.
                let mut means = Vec::new();
                for c in on.columns.chunks_exact(4) {
                    let at = |k: usize| lazy::permute(c[k].slice(..), on.tokens.slice(..));
                    let rows = SegmentIterator::new(zip4(at(0), at(1), at(2), at(3)), on.segments.clone());
                    let sums = ForEachSegment(Reduce(AddFour, (0f32, 0f32, 0f32, 0f32))).run(exec, rows)?;
                    let (a, b, c, d) = MStorage::into_columns(sums);
                    for sum in [a, b, c, d] {
                        let (starts, ends) = on.bounds();
                        means.push(map(exec, zip3(sum.slice(..), starts, ends), Mean)?);
                    }
                }
                Ok(means)
            },
            |exec, means| {
                let columns: Vec<Vec<f32>> = means.iter().map(|m| exec.to_host(m)).collect::<Result<_, _>>()?;
                Ok((0..columns[0].len()).flat_map(|r| columns.iter().map(move |c| c[r])).collect())
            },
        ),
    ]
}

/// The operations on one long list of unsigned numbers.
pub fn flat<'a>(library: &'a Library, x: &'a Words) -> Vec<Contender<'a>> {
    let exec = &library.exec;
    vec![
        library.contender("flat_sum", move || reduce(exec, x.slice(..), 0u32, AddWords), |_, sum| Ok(vec![sum as f32])),
        library.contender("flat_scan", move || exclusive_scan(exec, x.slice(..), 0u32, AddWords), words),
        library.contender(
            "flat_select",
            move || copy_where(exec, x.slice(..), lazy::map(x.slice(..), Above511)),
            words,
        ),
        library.contender("flat_sort", move || sort(exec, x.slice(..), LessWords), words),
    ]
}
