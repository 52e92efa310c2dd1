//! The entries of all operations that have a gradient.

mod elements;
mod joins;
mod operands;
mod places;
mod records;
mod recurrences;
mod reductions;
mod rows;
mod sequences;
mod sparse;

pub use elements::elements;

use crate::table::Entry;

/// All entries.
pub fn entries() -> Vec<Entry> {
    let lists = [
        elements(),
        elements::operands(),
        elements::of_rows::operands(),
        elements::erased(),
        elements::typed(),
        reductions::reductions(),
        reductions::segments(),
        reductions::erased(),
        reductions::typed(),
        joins::joins(),
        joins::partitions(),
        places::places(),
        places::erased(),
        places::typed(),
        rows::rows(),
        sparse::sparse(),
        sparse::of_tensors(),
        records::records(),
        recurrences::recurrences(),
        recurrences::typed(),
        sequences::sequences(),
    ];
    lists.into_iter().flatten().collect()
}
