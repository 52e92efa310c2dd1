//! Submissions that may still be running.

use std::{collections::VecDeque, sync::Mutex};

use super::shared::lock;

/// A submission.
#[derive(Debug, Clone)]
pub(super) struct Submitted {
    pub(super) index: wgpu::SubmissionIndex,
    /// Sequence number, in the order in which submissions were recorded.
    pub(super) number: u64,
    /// Number of the last submission recorded before this one was submitted.
    pub(super) after: u64,
}

impl Submitted {
    /// Whether the end of `other` implies the end of this submission. Concurrent submissions may be recorded in any
    /// order.
    fn ends_with(&self, other: &Self) -> bool {
        self.number <= other.after || self.number == other.number
    }
}

/// The submissions that may still be running, oldest first.
#[derive(Debug, Default)]
pub(super) struct InFlight(Mutex<VecDeque<Submitted>>);

/// Maximum number of submissions in flight. Bounds the memory of command buffers and staging buffers.
const MAX_IN_FLIGHT: usize = 64;

impl InFlight {
    pub(super) fn push(&self, submitted: Submitted) {
        lock(&self.0).push_back(submitted);
    }

    /// Removes the oldest submission if too many are in flight.
    pub(super) fn overdue(&self) -> Option<Submitted> {
        let mut queue = lock(&self.0);
        if queue.len() < MAX_IN_FLIGHT { None } else { queue.pop_front() }
    }

    /// The latest recorded submission whose number is at most `most`.
    pub(super) fn last(&self, most: u64) -> Option<Submitted> {
        lock(&self.0).iter().rev().find(|submitted| submitted.number <= most).cloned()
    }

    /// Removes all submissions that have ended, given that `last` has.
    pub(super) fn ended(&self, last: &Submitted) {
        lock(&self.0).retain(|submitted| !submitted.ends_with(last));
    }
}
