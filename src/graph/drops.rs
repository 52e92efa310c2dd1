//! Drops of recordings, without recursion: a node or a count that is dropped may hold the last references to a chain of
//! any length.

use std::cell::RefCell;
use std::sync::Arc;

use super::primitive::Recipe;
use super::{Extent, Node, Size};

/// What a dropped node refers to.
type OfNode = (Option<Arc<Recipe>>, Box<[Node]>, Extent);

/// What a dropped count refers to: its array and its index there, and its upper bound.
type OfCount = (Option<(Node, Size)>, Option<Size>);

/// What something dropped refers to.
pub(super) type Referents = (Option<OfNode>, OfCount);

thread_local! {
    /// The referents that wait for their own drop; `None` while nothing is being dropped.
    static WAITING: RefCell<Option<Vec<Referents>>> = const { RefCell::new(None) };
}

/// Drops the referents of a node or a count. Inside of the drop of another one they wait until that returns, so that the
/// stack does not grow with the length of a chain.
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
