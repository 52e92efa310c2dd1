//! Items that a thread of their own prepares, and the iterator of a dataset.

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::{Builder, JoinHandle};

use ragged::Result;

use super::{Dataset, Items};
use crate::item::{Call, Item};

/// The items of a dataset.
///
/// Dropping it stops the threads that prepare items, after the item that each is at.
pub struct Iter(pub(super) Items);

impl fmt::Debug for Iter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Iter")
    }
}

impl Iterator for Iter {
    type Item = Result<Item>;

    fn next(&mut self) -> Option<Result<Item>> {
        self.0.next()
    }
}

/// Threads.
impl Dataset {
    /// Prepares the next items in a thread of its own, while the items before are worked on: up to `n` of them (at least
    /// 1), and the one that waits for room. The order stays.
    ///
    /// The thread starts with the first item that is asked for, waits while `n` items are ready, and ends with the
    /// iteration. A panic in it goes on in the thread that iterates.
    ///
    /// # Errors
    /// As the only item: a thread that does not start.
    ///
    /// # Cost
    /// The memory of `n` + 2 items.
    ///
    /// ```
    /// use ragged_data::{dataset::Dataset, item::Item};
    /// let dataset = Dataset::from_items([Item::from(*b"a"), Item::from(*b"b")]).prefetch(2);
    /// assert_eq!(dataset.iter().count(), 2);
    /// ```
    #[track_caller]
    pub fn prefetch(&self, n: usize) -> Self {
        let call = Call::here("Dataset::prefetch");
        self.then(move |items| Prefetch { call, n: n.max(1), state: State::New(items) })
    }
}

/// What the thread sends.
type Sent = std::result::Result<Result<Item>, Box<dyn Any + Send>>;

enum State {
    New(Items),
    Running { received: Receiver<Sent>, thread: Option<JoinHandle<()>> },
    Done,
}

struct Prefetch {
    call: Call,
    n: usize,
    state: State,
}

impl Iterator for Prefetch {
    type Item = Result<Item>;

    fn next(&mut self) -> Option<Result<Item>> {
        if let State::New(_) = self.state {
            let State::New(mut items) = std::mem::replace(&mut self.state, State::Done) else { return None };
            let (sender, received) = sync_channel::<Sent>(self.n);
            let run = move || {
                loop {
                    match catch_unwind(AssertUnwindSafe(|| items.next())) {
                        Ok(None) => break,
                        Ok(Some(item)) => {
                            // Without a receiver, the iterator is dropped.
                            if sender.send(Ok(item)).is_err() {
                                break;
                            }
                        }
                        Err(panic) => {
                            let _ = sender.send(Err(panic));
                            break;
                        }
                    }
                }
            };
            match Builder::new().name("ragged prefetch".into()).spawn(run) {
                Ok(thread) => self.state = State::Running { received, thread: Some(thread) },
                Err(e) => return Some(Err(self.call.io(format!("no thread starts: {e}")))),
            }
        }
        let State::Running { received, .. } = &self.state else { return None };
        match received.recv() {
            Ok(Ok(item)) => Some(item),
            Ok(Err(panic)) => {
                self.state = State::Done;
                resume_unwind(panic)
            }
            Err(_) => {
                self.stop();
                None
            }
        }
    }
}

impl Prefetch {
    /// Stops the thread, and waits for it.
    fn stop(&mut self) {
        if let State::Running { received, thread } = std::mem::replace(&mut self.state, State::Done) {
            drop(received);
            // The thread catches the panics of what it runs.
            thread.map(JoinHandle::join);
        }
    }
}

impl Drop for Prefetch {
    fn drop(&mut self) {
        self.stop();
    }
}
