//! A stream of small batches of different sizes: one plan serves all of them.
//!
//!     cargo run --example stream

use ragged::{Device, RaggedTensor, Result, opt};

/// Each row's values relative to the row's mean, and of these the largest per row.
///
/// # Errors
/// More than the device can hold.
pub fn peaks(rows: &RaggedTensor<f32>) -> Result<RaggedTensor<f32>> {
    let mean = rows.reduce_mean(opt::keep(1))?;
    (&(rows - &mean)? / &mean)?.reduce_max(1)
}

fn main() -> Result<()> {
    let device = Device::best()?;
    let before = device.stats();
    let mut rows = 0;
    for batch in 0..100usize {
        let lengths = (0..batch % 7 * 10).map(|row| 1 + (row * 31 + batch) % 50);
        let batch: Vec<Vec<f32>> = lengths.map(|len| (0..len).map(|k| (k % 5 + 1) as f32).collect()).collect();
        let peaks = peaks(&RaggedTensor::from_nested(batch, &device)?)?.to_vec()?;
        assert!(peaks.iter().all(|peak| (0.0..4.0).contains(peak)));
        rows += peaks.len();
    }
    let stats = device.stats() - before;
    println!("100 batches, {rows} rows: {} plans, {} dispatches, {} waits", stats.plans, stats.dispatches, stats.waits);
    assert!(stats.plans <= 8);
    Ok(())
}
