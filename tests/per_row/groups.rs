//! Runs of values, and groups of equal keys.

use std::collections::BTreeMap;

use proptest::prelude::*;

use crate::lists::{Groups, Rows, config, devices, each, nested, on, rows};

fn runs<T: Clone>(row: &[T], begins: impl Fn(usize) -> bool) -> Vec<Vec<T>> {
    let mut out: Vec<Vec<T>> = Vec::new();
    for (i, v) in row.iter().enumerate() {
        if i == 0 || begins(i) {
            out.push(Vec::new());
        }
        out.last_mut().expect("begun").push(v.clone());
    }
    out
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn runs_of_rows(x in rows(300)) {
        let groups: Groups<i32> = each(&x, |r| runs(r, |i| r[i] > r[i - 1] + 1));
        let equal: Groups<i32> = each(&x, |r| runs(r, |i| r[i] != r[i - 1]));
        for device in devices() {
            let t = on(x.clone(), device);
            let gaps = (&t - &t.shift(1, 0, 1).unwrap()).unwrap().greater(1).unwrap();
            prop_assert_eq!(&nested::<_, Groups<i32>>(t.split_where(&gaps)), &groups);
            let (values, lengths) = t.run_lengths().unwrap();
            let want: Rows<i32> = equal.iter().map(|r| r.iter().map(|run| run[0]).collect()).collect();
            prop_assert_eq!(&nested::<_, Rows<i32>>(Ok(values)), &want);
            let want: Rows<i64> = equal.iter().map(|r| r.iter().map(|run| run.len() as i64).collect()).collect();
            prop_assert_eq!(&nested::<_, Rows<i64>>(Ok(lengths)), &want);
        }
    }

    #[test]
    fn groups_by_key(x in rows(300)) {
        let numbered = each(&x, |r| (0..r.len() as i32).collect());
        let grouped: Vec<BTreeMap<i32, Vec<i32>>> = x.iter().zip(&numbered).map(|(keys, values)| {
            let mut out = BTreeMap::<i32, Vec<i32>>::new();
            keys.iter().zip(values).for_each(|(&k, &v)| out.entry(k).or_default().push(v));
            out
        }).collect();
        for device in devices() {
            let (keys, groups) = on(numbered.clone(), device).group_by_key(&on(x.clone(), device)).unwrap();
            let want: Rows<i32> = grouped.iter().map(|m| m.keys().copied().collect()).collect();
            prop_assert_eq!(&nested::<_, Rows<i32>>(Ok(keys)), &want);
            let want: Groups<i32> = grouped.iter().map(|m| m.values().cloned().collect()).collect();
            prop_assert_eq!(&nested::<_, Groups<i32>>(Ok(groups)), &want);
        }
    }

    #[test]
    fn groups_by_several_keys(x in rows(300)) {
        let numbered: Rows<i32> = each(&x, |r| (0..r.len() as i32).collect());
        let grouped: Vec<BTreeMap<(i32, i32), Vec<i32>>> = x.iter().zip(&numbered).map(|(keys, values)| {
            let mut out = BTreeMap::<(i32, i32), Vec<i32>>::new();
            keys.iter().zip(values).for_each(|(&k, &v)| out.entry((v % 3, k)).or_default().push(v));
            out
        }).collect();
        for device in devices() {
            let (a, b) = (on(each(&numbered, |r| r.iter().map(|v| v % 3).collect()), device), on(x.clone(), device));
            let values = on(numbered.clone(), device);
            let ((first, second), groups) = values.group_by_key((&a, &b)).unwrap();
            let want: Rows<i32> = grouped.iter().map(|m| m.keys().map(|k| k.0).collect()).collect();
            prop_assert_eq!(&nested::<_, Rows<i32>>(Ok(first)), &want);
            let want: Rows<i32> = grouped.iter().map(|m| m.keys().map(|k| k.1).collect()).collect();
            prop_assert_eq!(&nested::<_, Rows<i32>>(Ok(second)), &want);
            let want: Groups<i32> = grouped.iter().map(|m| m.values().cloned().collect()).collect();
            prop_assert_eq!(&nested::<_, Groups<i32>>(Ok(groups)), &want);
            let (listed, _) = values.erased().group_by_key(vec![&a, &b, &a]).unwrap();
            prop_assert_eq!(listed.len(), 3);
            prop_assert_eq!(listed[2].to_string(), listed[0].to_string());
        }
    }
}
