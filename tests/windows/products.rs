//! Matrix products of arrays of many windows.

use ragged::opt::Factor;
use ragged::{DType, Device, HostTensor, HostValues, Result, Tensor};

use crate::common;
use crate::common::outcome::{bits, outcome};
use crate::inputs::{scrambled, smallest};

/// The outcome of a product of two tensors, each transposed or not.
fn product_of((a, left): (&Tensor, bool), (b, right): (&Tensor, bool)) -> String {
    let product = Factor::from(a).transposed(left).matmul(Factor::from(b).transposed(right));
    outcome(&product.and_then(|t| t.to_host()), bits)
}

/// Matrices of dozens of windows, with infinities that are multiplied by zeros only in the expected elements.
#[test]
fn products_of_large_matrices() {
    let Some(device) = smallest(8192) else { return };
    let value = |k: u32| match k % 9973 {
        17 => f32::INFINITY,
        _ if k.is_multiple_of(3) => 0.0,
        _ => scrambled(k) as f32 / 1e6 - 16.0,
    };
    let matrix = |rows: usize, columns: usize, on: &Device| {
        let values = HostValues::F32((0..(rows * columns) as u32).map(value).collect());
        HostTensor::dense(&[rows, columns], values).to_device(on).expect("valid")
    };
    // Results, terms, results; the sums of the last take two dispatches where the driver ends loops early.
    for (m, k, n) in [(150, 130, 110), (300, 9, 301), (3, 5000, 4)] {
        for (left, right) in [(false, false), (true, false), (false, true)] {
            let product = |on: &Device| {
                let a = if left { matrix(k, m, on) } else { matrix(m, k, on) };
                let b = if right { matrix(n, k, on) } else { matrix(k, n, on) };
                product_of((&a, left), (&b, right))
            };
            let (want, got) = (product(&Device::cpu()), product(&device));
            assert!(want == got, "{m} x {k} x {n}, {left} {right}: {got:.300}\n    not {want:.300}");
        }
    }
}

/// Matrices of various heights, some of them empty, in arrays of at least six windows. A matrix may cross several
/// windows.
#[test]
fn products_of_matrices_of_many_heights() {
    const WIDTH: usize = 12;
    let Some(device) = smallest(8192) else { return };
    let heights: Vec<u32> = (0..90).map(|b| if b == 40 { 150 } else { b * b % 31 * u32::from(b % 4 != 0) }).collect();
    let matrices = |seed: u32, on: &Device| {
        let splits = common::random::splits(&heights);
        let rows = splits[heights.len()] as usize;
        let values = (0..(rows * WIDTH) as u32).map(|k| scrambled(k + seed) as f32 / 1e6 - 16.0).collect();
        let host = HostTensor {
            nested_row_splits: vec![splits],
            uniform_row_lengths: vec![None],
            inner_shape: vec![rows, WIDTH],
            values: HostValues::F32(values),
        };
        host.to_device(on).expect("valid")
    };
    for (left, right) in [(false, true), (true, false)] {
        let product = |on: &Device| {
            let (a, b) = (matrices(0, on), matrices(7, on));
            product_of((&a, left), (&b, right))
        };
        let (want, got) = (product(&Device::cpu()), product(&device));
        assert!(want == got, "{left} {right}: {got:.300}\n    not {want:.300}");
    }
}

/// So many small matrices that their sizes and starts exceed the available bindings and are bound in parts. The sizes
/// are equal, or various, and some matrices are empty.
#[test]
fn products_of_hundreds_of_matrices() {
    let Some(device) = smallest(8192) else { return };
    const MATRICES: u32 = 2050;
    let rows_of = |seed: u32| (0..MATRICES).map(|b| scrambled(b + seed) % 3).collect::<Vec<u32>>();
    // Matrices of those heights, and of one width or of such widths.
    let matrices = |heights: &[u32], width: usize, on: &Device| {
        let splits = common::random::splits(heights);
        let rows = splits[heights.len()] as usize;
        let values = (0..(rows * width) as u32).map(|k| scrambled(k) as f32 / 1e6 - 16.0).collect();
        let inner_shape = if width == 1 { vec![rows] } else { vec![rows, width] };
        let (nested_row_splits, uniform_row_lengths) = (vec![splits], vec![None]);
        let host = HostTensor { nested_row_splits, uniform_row_lengths, inner_shape, values: HostValues::F32(values) };
        host.to_device(on).expect("valid")
    };
    let dense = |rows: u32, columns: u32, on: &Device| {
        let shape = [MATRICES, rows, columns].map(|n| n as usize);
        let values = (0..MATRICES * rows * columns).map(|k| scrambled(k) as f32 / 1e6 - 16.0).collect();
        HostTensor::dense(&shape, HostValues::F32(values)).to_device(on).expect("valid")
    };
    // Three windows per array, so that no kernel can bind all of them.
    let long = |on: &Device| Ok([dense(1, 1, on).cast(DType::I64)?, dense(1, 1, on).add(0.5f32)?.cast(DType::I64)?]);
    type Product<'a> = (&'a str, &'a dyn Fn(&Device) -> Result<Tensor>);
    let products: [Product<'_>; 4] = [
        ("of many heights, by ones of one size", &|on| matrices(&rows_of(0), 2, on).matmul(&dense(2, 1, on))),
        ("of many heights, by their transposes", &|on| {
            let a = matrices(&rows_of(3), 2, on);
            a.matmul(matrices(&rows_of(9), 2, on).t())
        }),
        ("of as many as a mask keeps", &|on| {
            let keep = HostValues::Bool((0..MATRICES).map(|b| b % 5 != 3).collect());
            let keep = HostTensor::dense(&[MATRICES as usize], keep).to_device(on)?;
            let [a, b] = long(on)?;
            a.boolean_mask(&keep)?.matmul(b.boolean_mask(&keep)?.t())
        }),
        ("of one size", &|on| {
            let [a, b] = long(on)?;
            a.matmul(&b)
        }),
    ];
    for (what, product) in products {
        let [want, got] = [&Device::cpu(), &device].map(|on| product(on).and_then(|t| t.to_host()).expect(what));
        assert_eq!(bits(&want), bits(&got), "{what}");
    }
}
