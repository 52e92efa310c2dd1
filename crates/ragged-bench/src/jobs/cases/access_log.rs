//! Latencies from an access log.

use std::collections::BTreeMap;
use std::rc::Rc;

use ragged::{Device, RaggedTensor, Result, to_vecs};

use super::{Case, Job, Random};

#[path = "../../../../../examples/access_log.rs"]
#[allow(dead_code, reason = "an example's main")]
mod access_log_job;

/// Number of different paths.
const PATHS: u64 = 1000;

/// Mean number of bytes of a line.
const LINE: usize = 26;

/// A log of about that many bytes.
pub(super) fn access_log(bytes: usize) -> Case {
    let mut random = Random(7);
    let mut text = String::with_capacity(bytes + LINE);
    for _ in 0..(bytes / LINE).max(10) {
        // Some paths are much more frequent than others.
        let path = random.below(PATHS) * random.below(PATHS) / PATHS;
        let status = [200, 200, 200, 304, 404, 500][random.below(6) as usize];
        let milliseconds = random.below(10_000);
        text.push_str(&format!("/api/items/{path:05} {status} {milliseconds}\n"));
    }
    let (text, values) = (Rc::new(text), bytes);
    let plain = {
        let text = text.clone();
        move || numbers_of(&text)
    };
    let upload = move |device: &Device| -> Result<Job> {
        let log = RaggedTensor::from_nested([text.as_str()], device)?;
        Ok(Box::new(move || {
            let found = access_log_job::latencies(&log)?;
            let together = (&found.paths, &found.requests, &found.failures, &found.quantiles);
            let (paths, requests, failures, quantiles) = to_vecs(together)?;
            let mut all: Vec<f32> = paths.concat().into_iter().map(f32::from).collect();
            for counts in [requests, failures] {
                all.extend(counts.iter().map(|&n| n as f32));
            }
            all.extend(quantiles);
            Ok(all)
        }))
    };
    Case { values, plain: Box::new(plain), upload: Box::new(upload) }
}

/// The bytes of the paths, the number of requests of each, of failures, and two quantiles of the milliseconds.
fn numbers_of(text: &str) -> Vec<f32> {
    let mut paths: BTreeMap<&str, (u32, Vec<f32>)> = BTreeMap::new();
    for line in text.lines() {
        let mut fields = line.split(' ');
        let mut next = || fields.next().expect("three fields");
        let (path, status, milliseconds) = (next(), next(), next());
        let (failed, all) = paths.entry(path).or_default();
        *failed += u32::from(status.parse::<u32>().expect("a number") >= 500);
        all.push(milliseconds.parse().expect("a number"));
    }
    let mut out: Vec<f32> = paths.keys().flat_map(|path| path.bytes()).map(f32::from).collect();
    out.extend(paths.values().map(|(_, all)| all.len() as f32));
    out.extend(paths.values().map(|(failed, _)| *failed as f32));
    for (_, all) in paths.values_mut() {
        all.sort_unstable_by(f32::total_cmp);
        for q in [0.5, 0.99] {
            let at = q * (all.len() - 1) as f64;
            let (low, high) = (all[at.floor() as usize], all[at.ceil() as usize]);
            out.push(low + (high - low) * at.fract() as f32);
        }
    }
    out
}
