//! Progress of reads, and the thread that polls the device for futures.

use std::{
    sync::{Arc, Condvar, Mutex, OnceLock, PoisonError, mpsc},
    task::Waker,
    time::Duration,
};

use super::{
    in_flight::Submitted,
    shared::{Shared, lock},
};

/// Progress of mapping the buffers of a read.
#[derive(Debug, Default)]
pub(super) struct Progress {
    pub(super) state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) left: usize,
    failed: bool,
    pub(super) waker: Option<Waker>,
}

impl Progress {
    pub(super) fn step(&self, ok: bool) {
        let waker = {
            let mut state = lock(&self.state);
            state.left = state.left.saturating_sub(1);
            state.failed |= !ok;
            if state.left == 0 || state.failed { state.waker.take() } else { None }
        };
        self.changed.notify_all();
        // Outside of the lock: the waker may poll immediately.
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// `Some(true)` once all buffers are mapped, `Some(false)` if one failed, `None` while pending.
    pub(super) fn outcome(state: &State) -> Option<bool> {
        if state.failed { Some(false) } else { (state.left == 0).then_some(true) }
    }

    /// Waits briefly for the outcome. Callbacks run in the polling thread, and may be pending there although the
    /// submission has ended.
    pub(super) fn wait(&self) -> Option<bool> {
        let state = lock(&self.state);
        let pause = Duration::from_millis(20);
        let waited = self.changed.wait_timeout_while(state, pause, |state| Self::outcome(state).is_none());
        let (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        Self::outcome(&state)
    }
}

/// Reports the outcome of one mapping on drop: exactly once, even if wgpu drops the callback without calling it.
pub(super) struct Report {
    pub(super) progress: Arc<Progress>,
    pub(super) ok: bool,
}

impl Drop for Report {
    fn drop(&mut self) {
        self.progress.step(self.ok);
    }
}

/// A submission that the polling thread waits for, and the progress to notify if the wait fails.
type Job = (wgpu::SubmissionIndex, Arc<Progress>);

/// The polling thread. Starts with the first asynchronous read and ends with the runtime.
#[derive(Debug, Default)]
pub(super) struct Poller(OnceLock<Option<mpsc::Sender<Job>>>);

impl Poller {
    fn start(shared: &Arc<Shared>) -> Option<mpsc::Sender<Job>> {
        let (jobs, queue) = mpsc::channel::<Job>();
        let shared = Arc::clone(shared);
        let body = move || {
            for (submission, progress) in queue {
                if shared.wait_for(&submission).is_err() {
                    progress.step(false);
                }
            }
        };
        std::thread::Builder::new().name("ragged-poll".into()).spawn(body).ok().map(|_| jobs)
    }

    /// Waits for a submission in the polling thread, or in the calling thread if no thread can be started.
    pub(super) fn watch(&self, shared: &Arc<Shared>, submitted: &Submitted, progress: &Arc<Progress>) {
        let jobs = self.0.get_or_init(|| Self::start(shared));
        let job = (submitted.index.clone(), Arc::clone(progress));
        let sent = jobs.as_ref().is_some_and(|jobs| jobs.send(job).is_ok());
        if !sent && shared.wait_for(&submitted.index).is_err() {
            progress.step(false);
        }
    }
}
