//! Drops of recordings, without recursion: a node that is dropped may hold the last references to a chain of any length.

use std::cell::RefCell;
use std::sync::Arc;

use super::{Extent, Node, Recipe};

/// What a dropped node refers to.
pub(super) type Referents = (Option<Arc<Recipe>>, Box<[Node]>, Extent);

thread_local! {
    /// The referents of dropped nodes that wait for their own drop; `None` while no node is being dropped.
    static WAITING: RefCell<Option<Vec<Referents>>> = const { RefCell::new(None) };
}

/// Drops the referents of a node. Inside of the drop of another node they wait until that returns, so that the stack
/// does not grow with the length of a chain of nodes.
pub(super) fn drop_later(referents: Referents) {
    // At the end of a thread, its queue may be gone already.
    let first = WAITING.try_with(|waiting| {
        let mut waiting = waiting.borrow_mut();
        match &mut *waiting {
            Some(queue) => {
                queue.push(referents);
                None
            }
            None => {
                *waiting = Some(Vec::new());
                Some(referents)
            }
        }
    });
    let mut next = first.unwrap_or_default();
    while let Some(referents) = next {
        drop(referents);
        next = WAITING
            .try_with(|waiting| {
                let mut waiting = waiting.borrow_mut();
                let popped = waiting.as_mut().and_then(Vec::pop);
                if popped.is_none() {
                    *waiting = None;
                }
                popped
            })
            .unwrap_or_default();
    }
}
