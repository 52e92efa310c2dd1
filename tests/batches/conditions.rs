//! Failed conditions: the error of one batch only, with the line of its caller.

use crate::batch::{Batch, short};
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
