//! Shuffles, samples, transposed rows, and zipped tensors.

use proptest::prelude::*;
use ragged::{RaggedTensor, Seed};

use crate::lists::{Groups, Rows, config, devices, each, nested, on, rows};

proptest! {
    #![proptest_config(config())]

    #[test]
    fn shuffles(x in rows(300), seed in any::<u64>(), k in 0..9usize) {
        let mut of_all: Option<(Rows<i32>, Rows<i32>)> = None;
        for device in devices() {
            let t = on(x.clone(), device);
            let shuffled: Rows<i32> = nested(t.shuffle(Seed(seed), 1));
            let sampled: Rows<i32> = nested(t.sample(k, Seed(seed), 1));
            let sort = |rows: &Rows<i32>| each(rows, |r| { let mut r = r.to_vec(); r.sort_unstable(); r });
            prop_assert_eq!(sort(&shuffled), sort(&x));
            prop_assert_eq!(&sampled, &each(&shuffled, |r| r[..r.len().min(k)].to_vec()));
            let same = of_all.get_or_insert_with(|| (shuffled.clone(), sampled.clone()));
            prop_assert_eq!(same, &(shuffled, sampled));
        }
    }

    #[test]
    fn transposed(x in rows(300)) {
        let columns = x.iter().map(Vec::len).max().unwrap_or(0);
        let want: Rows<i32> = (0..columns).map(|c| x.iter().filter_map(|r| r.get(c).copied()).collect()).collect();
        for device in devices() {
            prop_assert_eq!(&nested::<_, Rows<i32>>(on(x.clone(), device).transpose_rows()), &want);
        }
    }

    #[test]
    fn zipped_and_back(x in rows(300)) {
        for device in devices() {
            let a = on(x.clone(), device);
            let b = (&a * 2).unwrap();
            let zipped = RaggedTensor::<i32>::zip(&[&a, &b, &a]).unwrap();
            let want: Groups<i32> = each(&x, |r| r.iter().map(|&v| vec![v, 2 * v, v]).collect());
            prop_assert_eq!(&nested::<_, Groups<i32>>(Ok(zipped.clone())), &want);
            let back = zipped.unzip().unwrap();
            prop_assert_eq!(back.len(), 3);
            prop_assert_eq!(&nested::<_, Rows<i32>>(Ok(back[0].clone())), &x);
            prop_assert_eq!(&nested::<_, Rows<i32>>(Ok(back[1].clone())), &nested::<_, Rows<i32>>(Ok(b)));
        }
    }
}
