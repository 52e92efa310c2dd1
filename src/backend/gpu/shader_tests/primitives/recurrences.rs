//! Recurrences along rows, against loops over single rows.

use super::super::twins::gpus;
use super::*;
use crate::graph::expr::Register;
use crate::graph::primitive::{RowDomain, ScanRows, Stage, StageValue};

/// A number of a recurrence.
trait Number: bytemuck::Pod + PartialEq + std::fmt::Debug {}
impl<T: bytemuck::Pod + PartialEq + std::fmt::Debug> Number for T {}

/// Rows, and what a recurrence computes of them.
struct Case<'a, T> {
    name: String,
    dtype: DType,
    lengths: &'a [u32],
    uniform: Option<u32>,
    reversed: bool,
    states: Vec<u32>,
    /// The states before the first element of each row.
    initial: Vec<T>,
    next: Vec<u32>,
    /// Registers that are kept, and the numbers of all.
    kept: (Vec<u32>, u32),
    /// The stages on a backend.
    stages: &'a dyn Fn(&BackendRef) -> Vec<Stage>,
    /// The states after an element and what is kept, from the states before it.
    step: &'a dyn Fn(&[T], usize) -> Vec<T>,
}

impl<T: Number> Case<'_, T> {
    fn expected(&self) -> Vec<T> {
        let (all, inner) = (splits(self.lengths), self.states.iter().sum::<u32>() as usize);
        let total = *all.last().expect("a split") as usize;
        let stored = inner + self.kept.1 as usize;
        let mut out = vec![T::zeroed(); total * stored];
        for (row, ends) in all.windows(2).enumerate() {
            let mut states = self.initial[row * inner..][..inner].to_vec();
            let mut elements: Vec<usize> = (ends[0] as usize..ends[1] as usize).collect();
            if self.reversed {
                elements.reverse();
            }
            for e in elements {
                let numbers = (self.step)(&states, e);
                out[e * stored..][..stored].copy_from_slice(&numbers);
                states = numbers[..inner].to_vec();
            }
        }
        out
    }

    fn node(&self, backend: &BackendRef) -> Node {
        let all = splits(self.lengths);
        let rows = match self.uniform {
            Some(len) => Rows::Uniform(len.into()),
            None => Rows::Splits(words(backend, &all)),
        };
        let (nrows, nvals) = (self.lengths.len() as u32, all[self.lengths.len()]);
        let initial = array(backend, self.dtype, bytemuck::cast_slice(&self.initial));
        let inner = self.states.iter().sum::<u32>() + self.kept.1;
        let scan = ScanRows {
            on: RowDomain { rows, nrows: Extent::known(nrows), nvals: Extent::known(nvals), inner },
            reversed: self.reversed,
            initial: Expr::load(&initial, Expr::index()),
            states: self.states.clone().into(),
            stages: (self.stages)(backend).into(),
            next: self.next.clone().into(),
            kept: self.kept.0.clone().into(),
        };
        Recorder::new(backend, "recurrence").scan_rows(scan, &[]).expect("small")
    }

    fn check(&self) {
        let expected = self.expected();
        for (name, gpu) in gpus() {
            let node = self.node(gpu);
            let read = gpu.read(&[node]).unwrap_or_else(|e| panic!("{} on {name}: {e}", self.name));
            let got: Vec<T> = bytemuck::pod_collect_to_vec(&read[0]);
            assert_eq!(got.len(), expected.len(), "{} on {name}", self.name);
            let differs = |k: &usize| bytemuck::bytes_of(&got[*k]) != bytemuck::bytes_of(&expected[*k]);
            let first = (0..got.len()).find(differs);
            if let Some(k) = first {
                panic!("{} on {name}: number {k} is {:?}, not {:?}", self.name, got[k], expected[k]);
            }
        }
    }
}

/// Number `at` of a register.
pub(super) fn register(number: u32, dtype: DType, at: Expr) -> Expr {
    Expr::register(Register { scan: 0, number }, dtype, at)
}

pub(super) fn own(number: u32, dtype: DType) -> Expr {
    register(number, dtype, Expr::index())
}

pub(super) fn map(width: u32, e: Expr) -> Stage {
    Stage { width, value: StageValue::Map(e) }
}

pub(super) fn product(width: u32, left: Expr, right: Expr, terms: u32, transposed: bool) -> Stage {
    Stage { width, value: StageValue::Product { left, right, terms, transposed } }
}

/// Small floats whose sums are inexact.
fn floats(n: usize, seed: u64) -> Vec<f32> {
    let mut random = Random(seed);
    (0..n).map(|_| (random.below(2001) as f32 - 1000.0) / 3000.0).collect()
}

fn load(backend: &BackendRef, dtype: DType, of: &[impl bytemuck::Pod]) -> Expr {
    Expr::load(&array(backend, dtype, bytemuck::cast_slice(of)), Expr::index())
}

/// The product of a vector and a column: at most 256 terms in one sum, others by runs of 16, blocks of 256 and sections
/// of 4096 terms.
fn dot(left: &[f32], right: impl Fn(usize) -> f32) -> f32 {
    let terms: Vec<(f32, f32)> = left.iter().enumerate().map(|(l, &x)| (x, right(l))).collect();
    let of_run = |of: &[(f32, f32)]| of.iter().fold(0.0f32, |sum, &(x, y)| x.mul_add(y, sum));
    let sum = |of: &[f32]| of.iter().fold(0.0, |sum, &x| sum + x);
    if terms.len() <= 256 {
        return sum(&[of_run(&terms)]);
    }
    let by = |of: Vec<f32>| of.chunks(16).map(sum).collect::<Vec<f32>>();
    sum(&by(by(terms.chunks(16).map(of_run).collect())))
}

const MIXED: [u32; 12] = [0, 1, 2, 300, 0, 7, 31, 1, 0, 64, 2, 0];

/// A cell of `h` units with gates, from a product of the states and from inputs.
fn gated(h: u32, lengths: &[u32], uniform: Option<u32>, reversed: bool) {
    gated_of(h, lengths, uniform, reversed, false);
    gated_of(h, lengths, uniform, reversed, true);
}

/// As [`gated`]; the product, the states before each element and a state after it are kept, if `keeps`.
fn gated_of(h: u32, lengths: &[u32], uniform: Option<u32>, reversed: bool, keeps: bool) {
    let n = lengths.iter().sum::<u32>() as usize;
    let units = h as usize;
    let (x, u) = (floats(n * 4 * units, 1), floats(4 * units * units, 2));
    let scale = 1.0 / h as f32;
    let (f, four) = (DType::F32, 4 * h);
    let column = move |k: u32| {
        Expr::index().div(Expr::u32(h)).mul(Expr::u32(4 * h)).add(Expr::index().rem(Expr::u32(h))).add(Expr::u32(k * h))
    };
    Case {
        name: format!("{h} units, rows {uniform:?}, reversed {reversed}, keeps {keeps}"),
        dtype: f,
        lengths,
        uniform,
        reversed,
        states: vec![h, h],
        initial: floats(lengths.len() * 2 * units, 3),
        next: vec![5, 4],
        kept: if keeps { (vec![1, 2, 0, 4, 2], 11 * h) } else { (Vec::new(), 0) },
        stages: &|backend| {
            let gate = |k| register(3, f, column(k));
            vec![
                product(four, own(0, f), load(backend, f, &u), h, false),
                map(four, own(2, f).mul(Expr::scalar(scale)).add(load(backend, f, &x))),
                map(h, own(1, f).mul(gate(0)).add(gate(1).mul(gate(2)))),
                map(h, own(4, f).mul(gate(3))),
            ]
        },
        step: &|states, e| {
            let products: Vec<f32> = (0..4 * units).map(|c| dot(&states[..units], |l| u[l * 4 * units + c])).collect();
            let gates: Vec<f32> = products.iter().zip(&x[e * 4 * units..]).map(|(p, x)| p * scale + x).collect();
            let cell = |j: usize| states[units + j] * gates[j] + gates[units + j] * gates[2 * units + j];
            let hidden = (0..units).map(|j| cell(j) * gates[3 * units + j]);
            let cells: Vec<f32> = (0..units).map(cell).collect();
            let mut numbers: Vec<f32> = hidden.chain(cells.iter().copied()).collect();
            if keeps {
                let (before, cell_before) = states.split_at(units);
                numbers.extend([cell_before, &products, before, &cells, &products].concat());
            }
            numbers
        },
    }
    .check();
}

#[test]
fn gated_cells() {
    for h in [1, 3, 32, 100] {
        for reversed in [false, true] {
            gated(h, &MIXED, None, reversed);
        }
    }
    gated(3, &[9; 40], Some(9), false);
    gated(3, &[9; 40], Some(9), true);
    gated(2, &[0, 1, 2, 1000, 3], None, false);
    gated(5, &[], None, false);
}

#[test]
fn many_rows_of_narrow_states() {
    gated(1, &adversarial(3, 20_000), None, true);
}

/// States of `terms` numbers, from their product with a matrix.
fn products(terms: u32, width: u32, lengths: &[u32]) {
    let n = lengths.iter().sum::<u32>() as usize;
    let (t, w) = (terms as usize, width as usize);
    let (x, m) = (floats(n * t, 4), floats(t * w, 5));
    let f = DType::F32;
    for transposed in [false, true] {
        let at = Expr::index().div(Expr::u32(terms)).mul(Expr::u32(width));
        let at = at.add(Expr::index().rem(Expr::u32(terms)).rem(Expr::u32(width)));
        let entry = |l: usize, c: usize| if transposed { m[c * t + l] } else { m[l * w + c] };
        Case {
            name: format!("{terms} terms to {width}, transposed {transposed}"),
            dtype: f,
            lengths,
            uniform: None,
            reversed: false,
            states: vec![terms],
            initial: floats(lengths.len() * t, 6),
            next: vec![2],
            kept: (Vec::new(), 0),
            stages: &|backend| {
                vec![
                    product(width, own(0, f).add(load(backend, f, &x)), load(backend, f, &m), terms, transposed),
                    map(terms, register(1, f, at.clone()).mul(Expr::scalar(0.125f32)).add(load(backend, f, &x))),
                ]
            },
            step: &|states, e| {
                let left: Vec<f32> = states.iter().zip(&x[e * t..]).map(|(s, x)| s + x).collect();
                let sums: Vec<f32> = (0..w).map(|c| dot(&left, |l| entry(l, c))).collect();
                (0..t).map(|j| sums[j % w] * 0.125 + x[e * t + j]).collect()
            },
        }
        .check();
    }
}

#[test]
fn products_of_few_and_many_terms() {
    for (terms, width) in [(1, 1), (1, 5), (255, 3), (256, 2), (257, 3), (600, 1), (5000, 1)] {
        products(terms, width, &[0, 3, 1, 5, 0, 2]);
    }
}

#[test]
fn registers_beyond_workgroup_memory() {
    products(1600, 33, &[2, 0, 3, 1]);
    products(3000, 260, &[1, 2]);
}

/// Two states that swap, one of which adds.
fn swapped<T: Number>(dtype: DType, of: impl Fn(u32) -> T, add: impl Fn(T, T, T) -> T, three: Expr) {
    for (width, reversed) in [(1u32, false), (3, true), (70, false)] {
        let lengths = [4, 0, 1, 130, 2];
        let w = width as usize;
        let numbers = |n: usize| (0..n as u32).map(|k| of(k.wrapping_mul(0x9E37_79B9))).collect::<Vec<T>>();
        let x = numbers(137 * w);
        Case {
            name: format!("{dtype} of {width}, reversed {reversed}"),
            dtype,
            lengths: &lengths,
            uniform: None,
            reversed,
            states: vec![width, width],
            initial: numbers(5 * 2 * w),
            next: vec![1, 2],
            kept: (Vec::new(), 0),
            stages: &|backend| {
                let value = own(0, dtype).mul(three.clone()).add(own(1, dtype)).add(load(backend, dtype, &x));
                vec![map(width, value)]
            },
            step: &|states, e| {
                let sums = (0..w).map(|c| add(states[c], states[w + c], x[e * w + c]));
                states[w..].iter().copied().chain(sums).collect()
            },
        }
        .check();
    }
}

#[test]
fn states_of_every_number() {
    let three = |d| Expr::scalar(3u32).cast(d);
    swapped(DType::U32, |v| v, |a: u32, b, x| a.wrapping_mul(3).wrapping_add(b).wrapping_add(x), three(DType::U32));
    swapped(
        DType::I32,
        |v| v as i32,
        |a: i32, b, x| a.wrapping_mul(3).wrapping_add(b).wrapping_add(x),
        three(DType::I32),
    );
    swapped(
        DType::U64,
        |v| u64::from(v) << 20,
        |a: u64, b, x| a.wrapping_mul(3).wrapping_add(b).wrapping_add(x),
        three(DType::U64),
    );
    swapped(
        DType::I64,
        |v| i64::from(v) - (1 << 31),
        |a: i64, b, x| a.wrapping_mul(3).wrapping_add(b).wrapping_add(x),
        three(DType::I64),
    );
    let half = |v: u32| f64::from(v) / 3e12;
    swapped(DType::F64, half, |a: f64, b, x| a * 3.0 + b + x, three(DType::F64));
}

#[test]
fn rows_longer_than_a_loop() {
    let lengths = [3, 140_000, 1];
    let x: Vec<u32> = (0..140_004u32).map(|k| k.wrapping_mul(0x9E37_79B9)).collect();
    Case {
        name: "a long row".into(),
        dtype: DType::U32,
        lengths: &lengths,
        uniform: None,
        reversed: true,
        states: vec![1],
        initial: vec![1u32, 2, 3],
        next: vec![1],
        kept: (Vec::new(), 0),
        stages: &|backend| {
            let rotated = own(0, DType::U32).mul(Expr::u32(3));
            vec![map(1, rotated.add(load(backend, DType::U32, &x)))]
        },
        step: &|states, e| vec![states[0].wrapping_mul(3).wrapping_add(x[e])],
    }
    .check();
}

/// Registers of several types, a value of the row, and a choice.
#[test]
fn registers_of_other_types() {
    let lengths = MIXED;
    let n = lengths.iter().sum::<u32>() as usize;
    let x = floats(n * 3, 8);
    let of_rows = floats(lengths.len(), 9);
    let all = splits(&lengths);
    let row_of = |e: usize| all.partition_point(|&s| s as usize <= e) - 1;
    let f = DType::F32;
    Case {
        name: "several types".into(),
        dtype: f,
        lengths: &lengths,
        uniform: None,
        reversed: false,
        states: vec![3],
        initial: floats(lengths.len() * 3, 10),
        next: vec![3],
        kept: (Vec::new(), 0),
        stages: &|backend| {
            let s = words(backend, &all);
            let row = Expr::row_of(&s, Expr::index().div(Expr::u32(3)));
            let bound = Expr::load(&array(backend, f, bytemuck::cast_slice(&of_rows)), row);
            // The last column of the state decides for all.
            let last = Expr::index().div(Expr::u32(3)).mul(Expr::u32(3)).add(Expr::u32(2));
            vec![
                map(1, register(0, f, Expr::index().mul(Expr::u32(3)).add(Expr::u32(2))).lt(Expr::scalar(0f32))),
                map(3, register(0, f, last).add(load(backend, f, &x)).cast(DType::F16)),
                map(
                    3,
                    Expr::select(
                        register(1, DType::Bool, Expr::index().div(Expr::u32(3))),
                        own(2, DType::F16).cast(f),
                        own(0, f).mul(Expr::scalar(0.5f32)).add(bound),
                    ),
                ),
            ]
        },
        step: &|states, e| {
            let of = |c: usize| match states[2] < 0.0 {
                true => half::f16::from_f32(states[2] + x[e * 3 + c]).to_f32(),
                false => states[c] * 0.5 + of_rows[row_of(e)],
            };
            (0..3).map(of).collect()
        },
    }
    .check();
}

/// The index of a register lies within the element, whatever it is: a loaded program is not trusted.
#[test]
fn indices_beyond_an_element() {
    let d = DType::U32;
    Case {
        name: "wild indices".into(),
        dtype: d,
        lengths: &[3, 0, 2],
        uniform: None,
        reversed: false,
        states: vec![2],
        initial: vec![1u32, 2, 3, 4, 5, 6],
        next: vec![1],
        kept: (Vec::new(), 0),
        stages: &|_| {
            vec![map(2, register(0, d, Expr::index().mul(Expr::u32(1 << 20)).add(Expr::u32(5))).add(Expr::u32(1)))]
        },
        step: &|states, _| vec![states[1] + 1; 2],
    }
    .check();
}
