//! Sessions of users: visits that follow one another within half an hour, from time stamps alone.
//!
//!     cargo run --example sessions

use ragged::{Device, RaggedTensor, Result};

/// Seconds without a visit that end a session.
pub const GAP: i64 = 1800;

/// What is known of each user's sessions.
pub struct Sessions {
    /// Sessions per user.
    pub counts: RaggedTensor<i64>,
    /// Visits per session, a row per user.
    pub visits: RaggedTensor<i64>,
    /// Seconds from the first to the last visit of each session, a row per user.
    pub seconds: RaggedTensor<i64>,
}

/// Divides each user's ascending time stamps into sessions.
///
/// # Errors
/// More than the device can hold.
pub fn sessions(times: &RaggedTensor<i64>) -> Result<Sessions> {
    let gaps = (times - &times.shift(1, 0, 1)?)?;
    // Shape [users, (sessions), (visits)]. A user's first visit begins a session whatever its gap.
    let sessions = times.split_where(&gaps.greater(GAP)?)?;
    Ok(Sessions {
        counts: sessions.row_lengths(1)?,
        visits: sessions.row_lengths(2)?,
        seconds: (&sessions.reduce_max(2)? - &sessions.reduce_min(2)?)?,
    })
}

fn main() -> Result<()> {
    let device = Device::best()?;
    let times = vec![vec![100, 160, 4000, 4100, 4105], vec![], vec![7], vec![50, 2000]];
    let sessions = sessions(&RaggedTensor::from_nested(times, &device)?)?;
    println!("sessions per user     {}", sessions.counts);
    println!("visits per session    {}", sessions.visits);
    println!("seconds per session   {}", sessions.seconds);
    assert_eq!(sessions.counts.to_vec()?, [2, 0, 1, 2]);
    assert_eq!(sessions.visits.to_vec()?, [2, 3, 1, 1, 1]);
    assert_eq!(sessions.seconds.to_vec()?, [60, 105, 0, 0, 0]);
    Ok(())
}
