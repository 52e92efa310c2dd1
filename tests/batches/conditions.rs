//! Failed conditions: the error of one batch only, with the line of its caller.

use ragged::Device;

use crate::batch::{Batch, short};
use crate::common::naive;
use crate::programs::{PROGRAMS, run, wanted};
use crate::{common, exclusive};

#[test]
fn a_failed_condition_belongs_to_its_batch_and_caller() {
    let _guard = exclusive();
    let program = PROGRAMS.iter().find(|p| p.0 == "conditions").expect("a program");
    let good = Batch::new(&short(), 1);
    let mut bad = Batch::new(&short(), 2);
    bad.tokens[17] = 100_000;
    for (label, device) in common::gpus() {
        let run = |batch: &Batch| run(program, &batch.upload(&device).expect("uploaded"));
        assert_eq!(run(&good), wanted(program, &good), "{label}");
        let error = run(&bad);
        assert!(error[0].contains("programs.rs"), "{label}: {error:?}");
        assert_eq!(error, wanted(program, &bad), "{label}");
        assert_eq!(run(&good), wanted(program, &good), "{label}: an error is none of the next batch");
        // The same operations, recorded at another line, report that line.
        let i = bad.upload(&device).expect("uploaded");
        let (here, read) = (line!(), i.weights.gather(&i.tokens).and_then(|t| t.to_host()));
        let there = line!() + 1;
        let again = i.weights.gather(&i.tokens).and_then(|t| t.to_host());
        for (line, read) in [(here, read), (there, again)] {
            let error = read.expect_err("100000 is no row").to_string();
            assert!(error.contains(&format!("conditions.rs:{line}")), "{label} line {line}: {error}");
        }
    }
}

/// The error of rows of other lengths, which only the device knows, and the line of the operation.
fn mismatch(device: &Device, rows: usize, second_line: bool) -> (String, u32) {
    let lengths = |of_row_1: usize| (0..rows).map(move |r| if r == 1 { of_row_1 } else { r % 4 });
    let tensor = |of_row_1| {
        let rows: Vec<Vec<f32>> = lengths(of_row_1).map(|n| vec![1.0; n]).collect();
        naive::host::<f32>(&rows).to_device(device).expect("uploaded")
    };
    let (x, y) = (tensor(2), tensor(3));
    let kept = x.boolean_mask(&x.greater(0f32).expect("compared")).expect("recorded");
    let first = || (line!(), (&kept + &y).and_then(|z| z.to_host()));
    let second = || (line!(), (&kept + &y).and_then(|z| z.to_host()));
    let (line, read) = if second_line { second() } else { first() };
    (read.expect_err("row 1 has other lengths").to_string(), line)
}

#[test]
fn batches_that_fail_share_a_plan_and_report_their_own_shapes_and_lines() {
    let _guard = exclusive();
    for (label, device) in common::devices() {
        let mut before = device.stats();
        for (k, rows) in [6, 9, 6, 40].into_iter().enumerate() {
            let (error, line) = mismatch(&device, rows, k % 2 == 1);
            assert!(error.contains(&format!("conditions.rs:{line}")), "{label} {rows} rows, line {line}: {error}");
            assert!(error.contains(&format!("[{rows}, ")), "{label} {rows} rows: {error}");
            if k == 0 {
                // One plan for the operands and the sum, one for the numbers that the error names.
                before = device.stats();
            }
            assert_eq!((device.stats() - before).plans, 0, "{label} {rows} rows: {error}");
        }
    }
}
