//! Sessions of users: visits that follow one another within half an hour, from time stamps alone.
//!
//!     cargo run --example sessions

use ragged::{Device, RaggedTensor, Result, s};

/// Seconds without a visit that end a session.
pub const GAP: i64 = 1800;

/// What is known of each user's sessions.
pub struct Sessions {
    /// Sessions per user.
    pub counts: RaggedTensor<i64>,
    /// Visits per session, sessions of all users in order.
    pub visits: RaggedTensor<i64>,
    /// Seconds from the first to the last visit of each session.
    pub seconds: RaggedTensor<i64>,
}

/// Divides each user's ascending time stamps into sessions.
///
/// # Errors
/// More than the device can hold.
pub fn sessions(times: &RaggedTensor<i64>) -> Result<Sessions> {
    let first = times.slice(s![.., ..1])?;
    let gaps = (&times.slice(s![.., 1..])? - &times.slice(s![.., ..-1])?)?;
    // A session starts with a user's first visit and after each long gap.
    let starts = RaggedTensor::concat(&[&first.ones_like()?.cast()?, &gaps.greater(GAP)?], 1)?;
    let starts = starts.cast::<i64>()?;
    let session = (&starts.flat_values()?.cumsum(0)? - 1)?;
    let by_session = RaggedTensor::from_value_rowids(times.flat_values()?, session.erased(), &times.erased().device())?;
    Ok(Sessions {
        counts: starts.reduce_sum(1)?,
        visits: by_session.row_lengths(1)?,
        seconds: (&by_session.reduce_max(1)? - &by_session.reduce_min(1)?)?,
    })
}

fn main() -> Result<()> {
    let device = Device::best()?;
    let times = vec![vec![100i64, 160, 4000, 4100, 4105], vec![], vec![7], vec![50, 2000]];
    let sessions = sessions(&RaggedTensor::from_nested(times, &device)?)?;
    println!("sessions per user     {}", sessions.counts);
    println!("visits per session    {}", sessions.visits);
    println!("seconds per session   {}", sessions.seconds);
    assert_eq!(sessions.counts.to_vec()?, [2, 0, 1, 2]);
    assert_eq!(sessions.visits.to_vec()?, [2, 3, 1, 1, 1]);
    assert_eq!(sessions.seconds.to_vec()?, [60, 105, 0, 0, 0]);
    Ok(())
}
