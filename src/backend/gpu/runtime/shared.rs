//! State shared by all parts of the runtime: the device, its queue, its health and the counters.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};

use super::stats::Counters;
use crate::{Error, Result, trace::span};

/// Locks a mutex and ignores poisoning. Data under all mutexes of this runtime is valid between single operations, so
/// that a panic of the holder leaves it valid.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The error for a bug of this crate, detected before the call of wgpu.
pub(super) fn bug(label: &str, what: impl std::fmt::Display) -> Error {
    Error::Gpu { label: label.to_owned(), message: format!("bug: {what}"), location: crate::error::caller() }
}

/// Whether the device still works. Set by wgpu's callbacks, checked by every submission and read.
#[derive(Debug, Default)]
pub(super) struct Health {
    lost: OnceLock<String>,
}

impl Health {
    pub(super) fn lose(&self, reason: String) {
        // Keeps the first reason, which is the cause.
        let _ = self.lost.set(reason);
    }

    /// Fails if the device is lost.
    pub(super) fn alive(&self) -> Result<()> {
        match self.lost.get() {
            Some(reason) => Err(Error::DeviceLost { reason: reason.clone(), location: crate::error::caller() }),
            None => Ok(()),
        }
    }
}

/// The device, its queue, its health and the counters.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) device: wgpu::Device,
    pub(super) queue: wgpu::Queue,
    pub(super) health: Arc<Health>,
    pub(super) counters: Counters,
}

impl Shared {
    /// Wraps a device that this crate opened, and sets its callbacks.
    pub(super) fn new(device: wgpu::Device, queue: wgpu::Queue) -> Self {
        let health = Arc::new(Health::default());
        let on_lost = Arc::clone(&health);
        device.set_device_lost_callback(move |reason, message| {
            let message = message.trim();
            on_lost.lose(if message.is_empty() { format!("{reason:?}") } else { format!("{reason:?}: {message}") });
        });
        // All wgpu calls of this crate run in error scopes. An error outside of them comes from the user's wgpu calls
        // (see `Device::as_wgpu`), and fails no call of this crate. Without a handler wgpu panics.
        device.on_uncaptured_error(Arc::new(|error: wgpu::Error| {
            eprintln!("ragged: a wgpu call of the program's own on this device failed: {error}");
        }));
        Self { device, queue, health, counters: Counters::default() }
    }

    /// Wraps a user's device. Leaves its callbacks unchanged, since wgpu keeps one of each kind. A loss is detected
    /// when the device accepts no more commands.
    pub(super) fn of_user(device: wgpu::Device, queue: wgpu::Queue) -> Self {
        Self { device, queue, health: Arc::default(), counters: Counters::default() }
    }

    /// Runs `f`, whose wgpu calls fail if a user's object does not belong to this device.
    ///
    /// # Errors
    /// [`Error::Argument`] of `op` with wgpu's message. For an object of another wgpu *instance* wgpu may panic, since
    /// its id is unknown to this instance.
    pub(super) fn check_user_object(&self, op: &'static str, f: impl FnOnce()) -> Result<()> {
        let what = match catch_unwind(AssertUnwindSafe(|| self.scoped(f))) {
            Ok(Ok(())) => return self.health.alive(),
            Ok(Err(error)) => {
                self.probe()?;
                error.to_string()
            }
            Err(_) => "the object belongs to another wgpu instance; pass one made on the same wgpu device".into(),
        };
        Err(Error::Argument { op, what, location: crate::error::caller() })
    }

    /// Copies a word on the queue, and reads it on the device: only the device's own queue copies it, and the queue of
    /// another device reports its errors to that one.
    ///
    /// # Errors
    /// [`Error::Argument`] of `op` if the queue belongs to another device; [`Error::DeviceLost`].
    pub(super) fn check_queue(&self, op: &'static str) -> Result<()> {
        const WORD: [u8; 4] = [1, 2, 3, 4];
        let wrong = |what: String| Error::Argument { op, what, location: crate::error::caller() };
        let foreign = || wrong("the queue belongs to another device; pass the one that came with this device".into());
        let buffer = |usage, mapped_at_creation| {
            let size = WORD.len() as u64;
            self.device.create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation })
        };
        let copied = || {
            let from = buffer(wgpu::BufferUsages::COPY_SRC | wgpu::BufferUsages::MAP_WRITE, true);
            let to = buffer(wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ, false);
            // A lost device maps nothing.
            from.get_mapped_range_mut(..).ok()?.copy_from_slice(&WORD);
            from.unmap();
            let mut encoder = self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
            encoder.copy_buffer_to_buffer(&from, 0, &to, 0, WORD.len() as u64);
            self.queue.submit([encoder.finish()]);
            Some(to)
        };
        let to = match catch_unwind(AssertUnwindSafe(|| self.scoped(copied))) {
            Ok(Ok(to)) => to,
            Ok(Err(error)) => return Err(wrong(error.to_string())),
            // wgpu panics for an error of another device without a handler, and for objects of another instance.
            Err(_) => return Err(foreign()),
        };
        let (is_mapped, mapped) = (Arc::new(OnceLock::new()), to.as_ref());
        if let Some(to) = mapped {
            let outcome = Arc::clone(&is_mapped);
            // An error is in the outcome too.
            let _ =
                self.scoped(|| to.map_async(wgpu::MapMode::Read, .., move |mapped| _ = outcome.set(mapped.is_ok())));
            self.wait_idle();
        }
        let word = mapped.filter(|_| is_mapped.get() == Some(&true)).and_then(|to| to.get_mapped_range(..).ok());
        match word {
            Some(word) if *word == WORD => Ok(()),
            Some(_) => Err(foreign()),
            None => {
                self.health.lose("the device accepts no more commands".into());
                self.health.alive()
            }
        }
    }

    /// Detects a loss that no callback has reported: that of a user's device, and a destruction while nothing polls the
    /// device. Waits, and runs the user's callbacks: must not be called with a lock held.
    ///
    /// # Errors
    /// [`Error::DeviceLost`].
    pub(super) fn probe(&self) -> Result<()> {
        self.health.alive()?;
        // Reports the reason of a loss, if nothing is in flight.
        self.poll_once();
        self.health.alive()?;
        // A lost device drops submissions, and a wait for a dropped one fails at once.
        match self.scoped(|| self.queue.submit([])) {
            Ok(index) => self.wait_for(&index),
            Err(_) => self.health.alive(),
        }
    }

    fn poll(&self, how: wgpu::PollType) -> Result<(), wgpu::PollError> {
        // `Device::poll` panics if the driver's wait fails, usually because the device is lost. No other interface
        // reports the error. wgpu's locks do not poison and are released by then.
        match catch_unwind(AssertUnwindSafe(|| self.device.poll(how))) {
            Ok(outcome) => outcome.map(drop),
            Err(panic) => {
                let words = panic.downcast_ref::<String>().cloned();
                self.health.lose(words.unwrap_or_else(|| "waiting for the device failed".into()));
                Ok(())
            }
        }
    }

    /// Runs pending callbacks, without waiting.
    pub(super) fn poll_once(&self) {
        // The only error is a timeout, which a poll without waiting cannot have.
        let _ = self.poll(wgpu::PollType::Poll);
    }

    /// Waits until a submission has finished, and runs pending callbacks.
    ///
    /// # Why no timeout
    /// wgpu-core 30 asserts that a wait which finds the queue empty has seen its submission finish. A wait that times out
    /// reads the device's progress first and the list of submissions afterwards; if another thread's poll retires the
    /// submission in between, the assertion fails, and the panic loses the callbacks of finished reads. A wait without a
    /// timeout ends only once its submission has finished, or with an error if the device is lost.
    pub(super) fn wait_for(&self, submission: &wgpu::SubmissionIndex) -> Result<()> {
        let _span = span!("wait");
        self.health.alive()?;
        let submission_index = Some(submission.clone());
        if let Err(wgpu::PollError::WrongSubmissionIndex(..)) =
            self.poll(wgpu::PollType::Wait { submission_index, timeout: None })
        {
            // A lost device drops submissions. The reason, if any, is reported by a poll.
            self.poll_once();
            self.health.lose("the device accepts no more commands".into());
        }
        self.health.alive()
    }

    /// Waits until the device is idle, so that released memory is free.
    pub(super) fn wait_idle(&self) {
        // A loss surfaces at the next use of the device. Without a timeout: see `wait_for`.
        let _ = self.poll(wgpu::PollType::Wait { submission_index: None, timeout: None });
    }

    /// Binds the buffer to nothing: a wgpu error if it is destroyed, or belongs to another device.
    pub(super) fn bind(&self, buffer: &wgpu::Buffer) {
        let entry = wgpu::BindGroupLayoutEntry {
            binding: 0,
            visibility: wgpu::ShaderStages::COMPUTE,
            ty: wgpu::BindingType::Buffer {
                ty: wgpu::BufferBindingType::Storage { read_only: true },
                has_dynamic_offset: false,
                min_binding_size: None,
            },
            count: None,
        };
        let layout = wgpu::BindGroupLayoutDescriptor { label: None, entries: &[entry] };
        let layout = self.device.create_bind_group_layout(&layout);
        let size = wgpu::BufferSize::new(4);
        let resource = wgpu::BindingResource::Buffer(wgpu::BufferBinding { buffer, offset: 0, size });
        let entry = wgpu::BindGroupEntry { binding: 0, resource };
        drop(self.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: None,
            layout: &layout,
            entries: &[entry],
        }));
    }

    /// Runs `f` and returns its value, or the first error that wgpu reported on this thread meanwhile.
    pub(super) fn scoped<T>(&self, f: impl FnOnce() -> T) -> Result<T, wgpu::Error> {
        let internal = self.device.push_error_scope(wgpu::ErrorFilter::Internal);
        let memory = self.device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
        let validation = self.device.push_error_scope(wgpu::ErrorFilter::Validation);
        let value = f();
        // All three scopes must be popped, in reverse order. On native devices the futures are immediately ready.
        let [validation, memory, internal] =
            [validation, memory, internal].map(|scope| pollster::block_on(scope.pop()));
        // Out of memory takes precedence: it causes any other errors.
        match memory.or(validation).or(internal) {
            Some(error) => Err(error),
            None => Ok(value),
        }
    }
}
