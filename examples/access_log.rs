//! Latencies of a web server from its access log: one text becomes lines, fields, numbers, and a group for each path.
//!
//!     cargo run --example access_log

use ragged::{Device, RaggedTensor, Result, Str, eval, opt};

const LOG: &str = "\
/users 200 13
/cart 200 250
/users 404 2
/users 500 1500
/cart 200 125
";

/// What the log tells of each path, in ascending order of the paths.
pub struct Latencies {
    /// The paths.
    pub paths: RaggedTensor<Str>,
    /// Lines of each path.
    pub requests: RaggedTensor<i64>,
    /// Requests whose status is 500 or above.
    pub failures: RaggedTensor<i64>,
    /// Milliseconds: the median and the 99th percentile.
    pub quantiles: RaggedTensor<f32>,
}

/// Groups the lines of a log, each of a path, a status and a number of milliseconds, by their paths.
///
/// # Errors
/// A field that is missing or no number, when the results are read.
pub fn latencies(log: &RaggedTensor<Str>) -> Result<Latencies> {
    // The text ends with a line break. How many lines there are only the device knows.
    let lines = log.string_split(opt::nonempty("\n"))?.values()?;
    let fields = lines.string_split(" ")?;
    let path = fields.nth(0)?;
    let status = fields.nth(1)?.string_to_number::<i32>()?;
    let time = fields.nth(2)?.string_to_number::<i32>()?.cast::<f32>()?;

    // Both sort by the path, which runs once.
    let (paths, time) = time.group_by_key(&path)?;
    let (_, failed) = status.greater_equal(500)?.group_by_key(&path)?;
    Ok(Latencies {
        paths,
        requests: time.row_lengths(1)?,
        failures: failed.cast::<i64>()?.reduce_sum(1)?,
        quantiles: time.quantile([0.5, 0.99], 1)?,
    })
}

fn main() -> Result<()> {
    let device = Device::best()?;
    let latencies = latencies(&RaggedTensor::from_nested([LOG], &device)?)?;
    // The results share most of their kernels: computed together, each kernel runs once, and no result waits for another.
    eval((&latencies.paths, &latencies.requests, &latencies.failures, &latencies.quantiles))?;
    println!("paths     {}", latencies.paths);
    println!("requests  {}", latencies.requests);
    println!("failures  {}", latencies.failures);
    println!("quantiles {}", latencies.quantiles);
    assert_eq!(latencies.requests.to_vec()?, [2, 3]);
    assert_eq!(latencies.failures.to_vec()?, [0, 1]);
    Ok(())
}
