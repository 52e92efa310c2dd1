//! Recurrences along rows: from the nodes that a step records to the stages of a [`ScanRows`], and back.
//!
//! ```text
//! step of the user, on all elements at once     states are placeholders: maps of registers
//!     │ Step::of        what depends on no state stays as it is: it is computed for all elements beforehand
//!     ▼
//! stages of a recurrence                        registers of one element
//!     │ flat            with the states before each element as an array
//!     ▼
//! nodes of all elements at once                 outputs, and what is differentiated
//! ```

mod flat;
mod step;
mod stored;

use std::sync::atomic::{AtomicU32, Ordering};

pub(crate) use flat::{Known, flat};
pub(crate) use step::{MOST_NUMBERS, Step, numbers_per_element};
pub(crate) use stored::{StoredNumbers, read_states};

use crate::dtype::DType;
use crate::error::Result;
use crate::graph::expr::{Expr, Register};
use crate::graph::extent::Extent;
use crate::graph::node::Node;
use crate::graph::recorder::Recorder;

/// States of a step that is recorded.
#[derive(Debug, Clone)]
pub(crate) struct Placeholders {
    /// Identity of the recurrence.
    scan: u32,
    /// The states of all elements, as arrays that have values in the step only.
    pub(crate) nodes: Vec<Node>,
}

impl Placeholders {
    /// States of `widths` numbers of each element.
    pub(crate) fn new(rec: Recorder<'_>, dtype: DType, elements: &Extent, widths: &[u32]) -> Result<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(1);
        let scan = NEXT.fetch_add(1, Ordering::Relaxed).max(1);
        let state = |(number, &width): (u32, &u32)| {
            let value = Expr::register(Register { scan, number }, dtype, Expr::index());
            Ok(rec.map(rec.times(elements, width)?, value, &[]))
        };
        Ok(Self { scan, nodes: (0..).zip(widths).map(state).collect::<Result<_>>()? })
    }
}
