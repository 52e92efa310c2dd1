//! What every part of the runtime shares: the device, its queue, its health and the counters.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
    time::Duration,
};

use super::stats::Counters;
use crate::{Error, Result, trace::span};

/// Locks a mutex whose data is valid whatever the thread that held it was doing: all of ours are caches and queues,
/// changed in single steps.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A fault of this crate, found before wgpu sees it.
pub(super) fn bug(label: &str, what: impl std::fmt::Display) -> Error {
    Error::Gpu { label: label.to_owned(), message: format!("bug: {what}") }
}

/// Whether the device still works. Callbacks of wgpu write it, every submission and read asks it.
#[derive(Debug, Default)]
pub(super) struct Health {
    lost: OnceLock<String>,
}

impl Health {
    pub(super) fn lose(&self, reason: String) {
        // Only the first reason is the cause.
        let _ = self.lost.set(reason);
    }

    /// Fails if the device is gone.
    pub(super) fn alive(&self) -> Result<()> {
        match self.lost.get() {
            Some(reason) => Err(Error::DeviceLost { reason: reason.clone() }),
            None => Ok(()),
        }
    }
}

/// The device, its queue, its health and the counters.
#[derive(Debug)]
pub(super) struct Link {
    pub(super) device: wgpu::Device,
    pub(super) queue: wgpu::Queue,
    pub(super) health: Arc<Health>,
    pub(super) counters: Counters,
    /// Whether the device is the user's, whose callbacks are not ours: then nobody tells of a loss.
    is_users: bool,
}

/// How long one wait lasts before the health is looked at again.
const PATIENCE: Duration = Duration::from_secs(5);

impl Link {
    /// Takes over a device of our own: its callbacks are set here.
    pub(super) fn new(device: wgpu::Device, queue: wgpu::Queue) -> Self {
        let health = Arc::new(Health::default());
        let on_lost = Arc::clone(&health);
        device.set_device_lost_callback(move |reason, message| {
            let message = message.trim();
            on_lost.lose(if message.is_empty() { format!("{reason:?}") } else { format!("{reason:?}: {message}") });
        });
        // All calls of this crate run in error scopes, so that an error outside of them is of the program's own wgpu
        // calls (see `Device::as_wgpu`): no call of ours fails for it. Without a handler wgpu panics.
        device.on_uncaptured_error(Arc::new(|error: wgpu::Error| {
            eprintln!("ragged: a wgpu call of the program's own on this device failed: {error}");
        }));
        Self { device, queue, health, counters: Counters::default(), is_users: false }
    }

    /// Shares a device of the user's, whose callbacks stay as they are: wgpu keeps one of each. That the device is lost
    /// is found out when it takes no more commands.
    pub(super) fn of_user(device: wgpu::Device, queue: wgpu::Queue) -> Self {
        Self { device, queue, health: Arc::default(), counters: Counters::default(), is_users: true }
    }

    /// Does to the device what shows whether a user's object is one of its own.
    ///
    /// # Errors
    /// [`Error::Argument`] in the name of `op` with wgpu's words. An object of another wgpu *instance* has a number
    /// that means another object here, or none, for which wgpu panics.
    pub(super) fn try_out(&self, op: &'static str, f: impl FnOnce()) -> Result<()> {
        let what = match catch_unwind(AssertUnwindSafe(|| self.scoped(f))) {
            Ok(Ok(())) => return self.health.alive(),
            Ok(Err(error)) => error.to_string(),
            Err(_) => "an object of another wgpu instance".into(),
        };
        Err(Error::Argument { op, what })
    }

    /// Finds out whether the device is lost, if nobody tells, by giving it a command that does nothing. Waits, and runs
    /// the user's callbacks: not to be called with a lock held.
    pub(super) fn probe(&self) {
        if !self.is_users {
            return;
        }
        let index = self.queue.submit([]);
        // What is found is kept with the health.
        let _ = self.wait_for(&index);
    }

    fn poll(&self, how: wgpu::PollType) -> Result<(), wgpu::PollError> {
        // `Device::poll` panics when the driver reports an error from its wait (a lost device, as a rule): there is no
        // other way to see that error. wgpu's locks do not poison and are released by then.
        match catch_unwind(AssertUnwindSafe(|| self.device.poll(how))) {
            Ok(outcome) => outcome.map(drop),
            Err(panic) => {
                let words = panic.downcast_ref::<String>().cloned();
                self.health.lose(words.unwrap_or_else(|| "waiting for the device failed".into()));
                Ok(())
            }
        }
    }

    /// Runs the callbacks that are due, without waiting.
    pub(super) fn poll_once(&self) {
        // An error can only be a timeout, and there is none.
        let _ = self.poll(wgpu::PollType::Poll);
    }

    /// Waits until a submission has finished and runs the callbacks that are due.
    pub(super) fn wait_for(&self, submission: &wgpu::SubmissionIndex) -> Result<()> {
        let _span = span!("wait");
        loop {
            self.health.alive()?;
            let submission_index = Some(submission.clone());
            match self.poll(wgpu::PollType::Wait { submission_index, timeout: Some(PATIENCE) }) {
                Err(wgpu::PollError::Timeout) => continue,
                Err(wgpu::PollError::WrongSubmissionIndex(..)) => {
                    // On a lost device submissions do not happen. Why it was lost is told in a poll, if at all.
                    self.poll_once();
                    self.health.lose("it takes no more commands".into());
                    return self.health.alive();
                }
                Ok(()) => return self.health.alive(),
            }
        }
    }

    /// Waits until the device is idle, so that all that was released really is free.
    pub(super) fn wait_idle(&self) {
        // A timeout or a loss shows up at whoever uses the device next.
        let _ = self.poll(wgpu::PollType::Wait { submission_index: None, timeout: Some(PATIENCE) });
    }

    /// Runs `f` and returns what it returned, or the first error that wgpu reported on this thread while it ran.
    pub(super) fn scoped<T>(&self, f: impl FnOnce() -> T) -> Result<T, wgpu::Error> {
        let internal = self.device.push_error_scope(wgpu::ErrorFilter::Internal);
        let memory = self.device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
        let validation = self.device.push_error_scope(wgpu::ErrorFilter::Validation);
        let value = f();
        // All three must be popped, in reverse order, whatever they hold. On native devices the futures are ready at
        // once.
        let [validation, memory, internal] =
            [validation, memory, internal].map(|scope| pollster::block_on(scope.pop()));
        // Being out of memory is the cause of whatever else went wrong.
        match memory.or(validation).or(internal) {
            Some(error) => Err(error),
            None => Ok(value),
        }
    }
}
