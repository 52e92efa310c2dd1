//! Pairs of operations on one source: the first is recorded, explained, evaluated, read, printed or dropped, then the second one
//! must give what it gives on a device that has seen nothing else.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use ragged::{DType, Device, HostTensor, Result, Tensor};

use super::judges::{differs, fresh};
use super::material::{LENGTHS, Leaves, Lengths, Material};
use super::outcome::Outcome;
use super::source::{SOURCES, Source};
use super::step::{Step, steps};
use super::twin::Twin;

/// What happens to the first result before the second operation is recorded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Event {
    Recorded,
    Explained,
    Evaluated,
    Read,
    Printed,
    /// Its last row is read.
    RowRead,
    ShapeRead,
    Checked,
    EvaluatedAndDropped,
    ReadAndDropped,
    RowReadAndDropped,
    Dropped,
}

const EVENTS: [Event; 12] = [
    Event::Recorded,
    Event::Explained,
    Event::Evaluated,
    Event::Read,
    Event::Printed,
    Event::RowRead,
    Event::ShapeRead,
    Event::Checked,
    Event::EvaluatedAndDropped,
    Event::ReadAndDropped,
    Event::RowReadAndDropped,
    Event::Dropped,
];

impl Event {
    /// Does it to a tensor, which is dropped or not.
    fn happen(self, x: Tensor) -> Option<Tensor> {
        // Errors are compared by the reads that follow.
        match self {
            Self::Recorded | Self::Dropped => {}
            Self::Explained => drop(x.explain()),
            Self::Evaluated | Self::EvaluatedAndDropped => drop(x.eval()),
            Self::Read | Self::ReadAndDropped => drop(x.to_host()),
            Self::Printed => drop(x.to_string()),
            Self::RowRead | Self::RowReadAndDropped => drop(x.row_to_host(0)),
            Self::ShapeRead => drop((x.shape(), x.shape_text())),
            Self::Checked => drop(x.check()),
        }
        let drops = [Self::EvaluatedAndDropped, Self::ReadAndDropped, Self::RowReadAndDropped, Self::Dropped];
        (!drops.contains(&self)).then_some(x)
    }
}

/// A pair of operations.
#[derive(Clone, Copy)]
pub struct Pair {
    pub material: Material,
    pub source: &'static Source,
    pub first: &'static Step,
    pub event: Event,
    /// Whether the source is recorded again for the second operation.
    pub again: bool,
    pub second: &'static Step,
}

impl std::fmt::Debug for Pair {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let source = if self.again { "recorded again" } else { "shared" };
        write!(
            f,
            "{:?}, source `{}`, first `{}` {:?}, source {source}, second `{}`",
            self.material, self.source.name, self.first.name, self.event, self.second.name
        )
    }
}

/// Reference outcomes, and the device whose history is varied.
pub struct Pairs {
    pub device: Device,
    /// Whether the device is of the reference's kind, whose shapes know the same sizes.
    pub knows_all: bool,
    references: HashMap<(String, &'static str, &'static str), Outcome>,
    dtypes: HashMap<(String, &'static str), DType>,
    /// Faults that do not need a history.
    pub faults: Vec<String>,
}

impl Pairs {
    pub fn new(device: Device) -> Self {
        let knows_all = device.is_cpu();
        Self { device, knows_all, references: HashMap::new(), dtypes: HashMap::new(), faults: Vec::new() }
    }

    /// The pair of a number: numbers from 0 to `count` give all pairs once.
    pub fn pair(&mut self, number: u64, materials: &[Material]) -> Pair {
        let mut left = number;
        let mut digit = |n: usize| {
            let out = left % n as u64;
            left /= n as u64;
            out as usize
        };
        let (material, source) = (materials[digit(materials.len())], &SOURCES[digit(SOURCES.len())]);
        let (event, again) = (EVENTS[digit(EVENTS.len())], digit(2) == 1);
        let dtype = *self
            .dtypes
            .entry((format!("{material:?}"), source.name))
            .or_insert_with(|| (source.build)(&Leaves::new(material, &fresh())).expect("a source is recorded").dtype());
        let all = steps(dtype);
        let (first, second) = (all[digit(MOST_STEPS) % all.len()], all[digit(MOST_STEPS) % all.len()]);
        Pair { material, source, first, event, again, second }
    }

    /// What an operation gives on a device that has seen nothing else. Compared with the naive twin and with the same
    /// operation on a source that was uploaded.
    pub fn reference(&mut self, pair: &Pair, step: &'static Step) -> Outcome {
        let key = (format!("{:?}", pair.material), pair.source.name, step.name);
        if let Some(found) = self.references.get(&key) {
            return found.clone();
        }
        let run = || -> (Outcome, Option<HostTensor>) {
            let x = (pair.source.build)(&Leaves::new(pair.material, &fresh())).expect("a source is recorded");
            match (step.run)(&x, &x) {
                Ok(y) => {
                    let host = y.to_host();
                    (Outcome::of_read(&y, host.as_ref()), host.ok())
                }
                Err(e) => (Outcome::Refused(e), None),
            }
        };
        let name = format!("{:?}: `{}` of `{}`", pair.material, step.name, pair.source.name);
        let (outcome, host) = match catch_unwind(AssertUnwindSafe(run)) {
            Ok(found) => found,
            Err(_) => {
                self.faults.push(format!("[panic] {name} on a fresh device"));
                (Outcome::Absent, None)
            }
        };
        let twin = (pair.source.twin)(&pair.material);
        let want = twin.and_then(|twin| (step.twin)(&twin, &twin));
        if let (Some(want), Some(host)) = (want, &host)
            && Twin::of(host).is_some_and(|got| got != want)
        {
            self.faults.push(format!("[naive twin] {name}: {outcome}, not the naive {want:.60?}"));
        }
        if let Some(text) = isolated(pair, step).and_then(|isolated| differs(&isolated, &outcome)) {
            self.faults.push(format!("{name}: {text}"));
        }
        self.references.insert(key, outcome.clone());
        outcome
    }

    /// Runs a pair: the text of what is wrong.
    pub fn run(&mut self, pair: &Pair) -> Option<String> {
        let wants = [self.reference(pair, pair.first), self.reference(pair, pair.second)];
        let (device, knows_all) = (&self.device, self.knows_all);
        let got = catch_unwind(AssertUnwindSafe(|| -> Result<Option<String>> {
            let leaves = Leaves::new(pair.material, device);
            let x = (pair.source.build)(&leaves)?;
            let first = match (pair.first.run)(&x, &x) {
                Ok(first) => pair.event.happen(first),
                Err(_) => None,
            };
            let x = if pair.again { (pair.source.build)(&leaves)? } else { x };
            let got = Outcome::of((pair.second.run)(&x, &x));
            if let Some(fault) = got.fault(&wants[1], knows_all) {
                return Ok(Some(format!("second {fault}")));
            }
            let Some(first) = first else { return Ok(None) };
            let got = Outcome::of(Ok(first));
            Ok(got.fault(&wants[0], knows_all).map(|fault| format!("first {fault}")))
        }));
        match got {
            Ok(Ok(text)) => text,
            Ok(Err(e)) => Some(format!("[success] the source is refused: {e}")),
            Err(_) => Some("[panic]".to_owned()),
        }
    }
}

/// At least the number of steps of a dtype, and a prime.
const MOST_STEPS: usize = 97;

/// The number of pairs of the materials.
pub fn count(materials: &[Material]) -> u64 {
    (materials.len() * SOURCES.len() * EVENTS.len() * 2 * MOST_STEPS * MOST_STEPS) as u64
}

/// The operation on a source that was uploaded.
fn isolated(pair: &Pair, step: &Step) -> Option<Outcome> {
    let run = || {
        let x = (pair.source.build)(&Leaves::new(pair.material, &fresh()))?.to_host()?.to_device(&fresh())?;
        Ok::<_, ragged::Error>(Outcome::of((step.run)(&x, &x)))
    };
    catch_unwind(AssertUnwindSafe(run)).ok()?.ok()
}

/// Materials of a size, with each kind of row lengths.
pub fn materials(size: usize, kinds: usize) -> Vec<Material> {
    LENGTHS[..kinds]
        .iter()
        .zip(0..)
        .map(|(&lengths, k)| Material { size, lengths, seed: size as u64 * 100 + k })
        .collect()
}

/// Nine values in rows of 3, 2 and 1.
pub fn tiny() -> Material {
    Material { size: 9, lengths: Lengths::Descending, seed: 1 }
}

/// Pairs that were once wrong: source, first operation, event, whether the source is recorded again, second operation.
const ONCE_WRONG: [(&str, &str, Event, bool, &str); 19] = [
    ("lines", "itself", Event::Printed, true, "unicode_decode"),
    ("lines", "itself", Event::Printed, true, "string_upper"),
    ("ranges", "tails less heads", Event::Read, true, "tails less heads"),
    ("ranges", "tails 1..", Event::Evaluated, false, "heads ..-1"),
    ("groups", "heads ..-7", Event::Printed, false, "tails 7.."),
    ("groups", "heads ..-7", Event::EvaluatedAndDropped, false, "tails 7.."),
    ("groups", "heads ..-1", Event::Printed, false, "tails less heads"),
    ("masked rows", "indices of the top 2", Event::RowRead, false, "top 2"),
    ("masked rows", "segment_max of the top's indices", Event::Recorded, false, "itself"),
    ("codes of lines", "runs", Event::Recorded, true, "tails 7.."),
    ("codes of lines", "heads ..-7", Event::Recorded, false, "sum of windows of 8"),
    ("pairs of positions", "itself", Event::Printed, false, "transpose_rows"),
    ("pairs of positions", "itself", Event::Read, false, "transpose"),
    ("masked vector", "itself", Event::Read, false, "squeeze"),
    ("masked vector", "itself", Event::Read, false, "broadcast_to"),
    ("masked vector", "itself", Event::Read, false, "unzip"),
    ("masked values", "itself", Event::Recorded, false, "transpose_rows twice"),
    ("ranges", "itself", Event::Recorded, false, "sum of columns"),
    ("no rows", "itself", Event::Read, false, "bounding_shape of pairs"),
];

/// The pairs that were once wrong, for a material.
pub fn once_wrong(material: Material) -> Vec<Pair> {
    let all: Vec<_> = steps(DType::Str).into_iter().chain(steps(DType::I32)).collect();
    let step = |name: &str| *all.iter().find(|step| step.name == name).expect("a step has the name");
    let source = |name: &str| SOURCES.iter().find(|source| source.name == name).expect("a source has the name");
    let pair = |&(from, first, event, again, second): &(_, _, Event, bool, _)| {
        let (source, first, second) = (source(from), step(first), step(second));
        Pair { material, source, first, event, again, second }
    };
    ONCE_WRONG.iter().map(pair).collect()
}
