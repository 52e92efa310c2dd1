//! Scopes of differentiation: which nodes keep their recipes once they are evaluated, and until when.
//!
//! A scope is open while a function is differentiated. Its inputs are [leaves](super::Node::leaf); what is computed from
//! them belongs to the scope and keeps its recipe, so that values that the function reads are differentiated too. So do
//! the other nodes that this thread evaluates meanwhile, and those that it records again although they were evaluated
//! before: how rows and positions were computed decides in which order a gradient adds. At the end the scope is closed,
//! and evaluated nodes drop their recipes. A function that is differentiated within another one shares its scope.

use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::{Node, WeakNode};

thread_local! {
    static OPEN: RefCell<Option<Scope>> = const { RefCell::new(None) };
}

/// A scope of differentiation.
#[derive(Debug, Clone)]
pub(crate) struct Scope(Arc<ScopeData>);

#[derive(Debug)]
struct ScopeData {
    is_open: AtomicBool,
    /// The nodes that were evaluated and keep their recipes.
    evaluated: Mutex<Vec<WeakNode>>,
}

/// Closes a scope at the end of the outermost function.
#[derive(Debug)]
pub(crate) struct Entered {
    pub(crate) scope: Scope,
    is_outermost: bool,
}

impl Scope {
    /// The scope of the function that this thread differentiates, or a new one.
    pub(crate) fn enter() -> Entered {
        OPEN.with_borrow_mut(|open| {
            let is_outermost = open.is_none();
            let new = || Self(Arc::new(ScopeData { is_open: AtomicBool::new(true), evaluated: Mutex::default() }));
            Entered { scope: open.get_or_insert_with(new).clone(), is_outermost }
        })
    }

    /// The scope of the function that this thread differentiates.
    pub(in crate::graph) fn current() -> Option<Self> {
        OPEN.with_borrow(Clone::clone)
    }

    pub(in crate::graph) fn is_open(&self) -> bool {
        self.0.is_open.load(Ordering::Acquire)
    }

    /// Notes that the node keeps its recipe.
    pub(in crate::graph) fn keep(&self, node: &Node) {
        self.0.evaluated.lock().unwrap_or_else(PoisonError::into_inner).push(node.downgrade());
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        if !self.is_outermost {
            return;
        }
        OPEN.with_borrow_mut(|open| *open = None);
        let Scope(data) = &self.scope;
        data.is_open.store(false, Ordering::Release);
        let evaluated = std::mem::take(&mut *data.evaluated.lock().unwrap_or_else(PoisonError::into_inner));
        evaluated.iter().filter_map(WeakNode::upgrade).for_each(|node| node.drop_recipe());
    }
}
