//! Counts: sizes that a kernel computes.

use std::sync::{Mutex, OnceLock, PoisonError};

use super::recorded::RecordedSize;
use crate::graph::drops::Referents;
use crate::graph::{Node, Size};

/// A size that a kernel computes.
#[derive(Debug)]
pub(crate) struct DeviceCount {
    /// Host-known upper bound, when the count was recorded.
    most: u32,
    /// The upper bound as a size: one that decreases once a count that it contains is host-known.
    bounded_by: Mutex<Option<Size>>,
    /// The array that holds the count, and the index; released once the value is host-known.
    location: Mutex<Option<(Node, Size)>>,
    exact: OnceLock<u32>,
}

fn lock<T>(m: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    m.lock().unwrap_or_else(PoisonError::into_inner)
}

impl DeviceCount {
    /// A count of at most `most` in the array at `location`.
    pub(super) fn new(most: u32, bounded_by: Option<Size>, location: (Node, Size)) -> Self {
        Self { most, bounded_by: Mutex::new(bounded_by), location: Mutex::new(Some(location)), exact: OnceLock::new() }
    }

    /// A count of that value.
    pub(super) fn read(value: u32) -> Self {
        let (bounded_by, location) = (Mutex::default(), Mutex::default());
        Self { most: value, bounded_by, location, exact: OnceLock::from(value) }
    }

    /// The value, once the host knows it.
    pub(crate) fn exact(&self) -> Option<u32> {
        self.exact.get().copied()
    }

    /// An upper bound.
    pub(crate) fn bound(&self) -> u32 {
        let tighter = lock(&self.bounded_by).clone();
        tighter.map_or(self.most, |size| size.capacity().min(self.most))
    }

    /// The upper bound, when the count was recorded.
    pub(super) fn most(&self) -> u32 {
        self.most
    }

    /// The upper bound as a size, if it contains counts of its own.
    pub(crate) fn bounded_by(&self) -> Option<Size> {
        lock(&self.bounded_by).clone()
    }

    /// The array that holds the value, and the index; `None` once the host knows the value.
    pub(crate) fn location(&self) -> Option<(Node, Size)> {
        lock(&self.location).clone()
    }

    /// What a dropped count refers to.
    pub(super) fn referents(&mut self) -> Referents {
        let location = self.location.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        let bound = self.bounded_by.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        (None, (location, bound))
    }

    /// Sets the exact value, and releases the array.
    pub(crate) fn set_exact(&self, value: u32) {
        debug_assert!(value <= self.bound(), "bug: a count of {value} exceeds its bound {}", self.bound());
        let known = *self.exact.get_or_init(|| value.min(self.bound()));
        debug_assert_eq!(known, value, "bug: a count was read twice, with different values");
        let released = (lock(&self.location).take(), lock(&self.bounded_by).take());
        drop(released);
    }
}
