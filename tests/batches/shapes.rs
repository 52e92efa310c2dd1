//! Batches of other shapes and sizes after one another: each gets its own results.

use crate::batch::{Batch, long, short};
use crate::programs::{PROGRAMS, Program, run, wanted};
use crate::{common, exclusive};

/// Runs the program over the batches in order, on a new device, and compares each result with the CPU backend.
fn one_after_the_other(program: &Program, batches: &[(&str, &Batch)]) {
    for (label, device) in common::gpus() {
        for (k, (name, batch)) in batches.iter().enumerate() {
            let got = run(program, &batch.upload(&device).expect("uploaded"));
            assert_eq!(got, wanted(program, batch), "{label} {}: batch {k}, {name}", program.0);
        }
    }
}

#[test]
fn batches_of_other_shapes_and_sizes_get_their_own_results() {
    let _guard = exclusive();
    let first = Batch::new(&short(), 1);
    let lengths = |f: &dyn Fn(&mut Vec<usize>)| {
        let mut all = short();
        f(&mut all);
        Batch::new(&all, 2)
    };
    let more_rows = lengths(&|all| all.extend([0, 0, 0]));
    let more_values = lengths(&|all| all[0] += 2000);
    let no_values = lengths(&|all| all.fill(0));
    let one_row = Batch::new(&[40], 3);
    let none = Batch::new(&[], 4);
    // As many rows and values, but with rows of several blocks, which need more kernels.
    let long = Batch::new(&long(), 5);
    let scaled = Batch { scale: -0.25, ..first.clone() };
    let unscaled = Batch { scale: 0.0, ..first.clone() };
    let batches = [
        ("the first", &first),
        ("long rows", &long),
        ("the first again", &first),
        ("more rows", &more_rows),
        ("more values", &more_values),
        ("no values", &no_values),
        ("another number", &scaled),
        ("zero", &unscaled),
        ("one row", &one_row),
        ("no rows", &none),
        ("long rows again", &long),
        ("the first once more", &first),
    ];
    for program in &PROGRAMS {
        one_after_the_other(program, &batches);
    }
}

#[test]
fn rows_around_the_longest_of_one_block_get_their_own_results() {
    let _guard = exclusive();
    let program = |name: &str| PROGRAMS.iter().find(|p| p.0 == name).expect("a program");
    // Lengths around one block of one column, of eight columns, and of a sort, with equal numbers of rows and values.
    let names = ["sum", "standardised", "softmax", "wide", "embed_mean", "normed", "sort"];
    for edge in [64, 128, 256, 512, 896] {
        let of = |longest: usize, number| Batch::new(&[longest, 1000 - longest, 0, 2], number);
        let batches = [of(edge.max(500), 1), of(edge.max(500) + 1, 2), of(edge, 3), of(999, 4), of(edge.max(500), 5)];
        let named: Vec<(&str, &Batch)> = batches.iter().map(|b| ("at an edge", b)).collect();
        names.iter().for_each(|name| one_after_the_other(program(name), &named));
        let of = |longest: usize, number| {
            let mut lengths = vec![edge; 20];
            (lengths[0], lengths[1]) = (longest, 2 * edge - longest);
            Batch::new(&lengths, number)
        };
        let batches = [of(edge, 1), of(edge + 1, 2), of(edge, 3), of(edge + 1, 4)];
        let named: Vec<(&str, &Batch)> = batches.iter().map(|b| ("about an edge", b)).collect();
        names.iter().for_each(|name| one_after_the_other(program(name), &named));
    }
}
