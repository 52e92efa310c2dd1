//! Failed conditions on data: errors of the reads that depend on them.

use ragged::{Error, HostValues, Tensor};

use crate::common;
use crate::operations::ints;

#[test]
fn a_condition_is_reported_by_the_reads_that_depend_on_it() {
    for (name, device) in common::devices() {
        let x = ints((0..3000).collect()).to_device(&device).expect("uploads");
        let mut divisors = vec![1; 3000];
        (divisors[1234], divisors[2345]) = (0, 0);
        let y = ints(divisors).to_device(&device).expect("uploads");
        let line = line!() + 1;
        let bad = x.truncatediv(&y).expect("only the device can see it");
        let fine = x.add(&y).expect("recorded");
        let below = bad.add(&fine).and_then(|z| z.reduce_sum(0)).expect("recorded");
        // Evaluated together, reported separately.
        bad.eval().expect("does not look");
        below.eval().expect("does not look");
        assert_eq!(fine.to_host().expect("nothing is wrong here").values.len(), 3000, "{name}");
        for tensor in [&bad, &below, &bad] {
            match tensor.to_host() {
                Err(Error::Check { op, at, location, .. }) => {
                    assert_eq!((op, at), ("truncatediv", 1234), "{name}");
                    assert!(
                        location.file().ends_with("conditions.rs") && location.line() == line,
                        "{name}: {location}"
                    );
                }
                other => panic!("{name}: {other:?}"),
            }
        }
        assert_eq!(x.to_host().expect("as before").values, HostValues::I32((0..3000).collect()), "{name}");
        assert!(fine.add(&x).and_then(|z| z.to_host()).is_ok(), "{name}");
    }
}

#[test]
fn two_failed_conditions_are_distinguished() {
    for (name, device) in common::devices() {
        let x = ints(vec![5, 6, 7, 8]).to_device(&device).expect("uploads");
        let zero = |at: usize| {
            let mut v = vec![1; 4];
            v[at] = 0;
            ints(v).to_device(&device).expect("uploads")
        };
        let (a, b) = (x.truncatediv(&zero(2)).expect("recorded"), x.floormod(&zero(3)).expect("recorded"));
        let found = |t: &Tensor| match t.to_host() {
            Err(Error::Check { op, at, .. }) => (op, at),
            other => panic!("{name}: {other:?}"),
        };
        assert_eq!(found(&a), ("truncatediv", 2), "{name}");
        assert_eq!(found(&b), ("floormod", 3), "{name}");
        let both = Tensor::stack(&[&a, &b], 0).expect("recorded");
        assert!(["truncatediv", "floormod"].contains(&found(&both).0), "{name}");
    }
}
