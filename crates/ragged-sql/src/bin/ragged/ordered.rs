//! Rows in the order of the inputs.
//!
//! DataFusion reads files in several partitions. A partition that is done takes files of others, and the rows are those of
//! whichever partition is first. A query that computes or chooses each row by itself keeps the order of the files if each
//! partition has its own part of one file, and the partitions are read one after the other. So that several threads work at a
//! time, the parts are small, and some are computed in advance.

mod stream;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use datafusion::common::{DataFusionError, Result};
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::physical_plan::{FileGroup, FileScanConfig, FileScanConfigBuilder};
use datafusion::datasource::source::DataSourceExec;
use datafusion::execution::SessionStateBuilder;
use datafusion::physical_plan::coop::CooperativeExec;
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::streaming::StreamingTableExec;
use datafusion::physical_plan::unnest::UnnestExec;
use datafusion::physical_plan::{ExecutionPlan, replace_children_if_necessary};
use datafusion::prelude::DataFrame;
use object_store::local::LocalFileSystem;

use crate::inputs::Table;

pub use stream::stream;

/// Of the files, in bytes: large next to the cost of a partition, small next to what a thread can hold.
const PART_BYTES: u64 = 32 << 20;

/// The plan of a query over one table, whose partitions in turn have the rows in the order of the files; `None` for queries whose
/// rows depend on other rows, such as aggregates.
///
/// # Errors
/// Faults of the query.
pub async fn plan(frame: &DataFrame, table: &Table) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    let bytes: u64 = table.files.iter().filter_map(|file| file.metadata().ok()).map(|found| found.len()).sum();
    let (state, logical) = frame.clone().into_parts();
    let parts = usize::try_from(bytes.div_ceil(PART_BYTES)).unwrap_or(usize::MAX);
    let parts = parts.max(state.config().target_partitions());
    let config = state.config().clone().with_target_partitions(parts).with_round_robin_repartition(false);
    let state = SessionStateBuilder::new_from_existing(state).with_config(config).build();
    let plan = DataFrame::new(state, logical).create_physical_plan().await?;
    let mut places = HashMap::new();
    for (place, file) in table.files.iter().enumerate() {
        // A file that is named twice is read once.
        places.entry(file.clone()).or_insert(place);
    }
    ordered(&plan, &places)
}

/// A plan that computes each row of its only leaf by itself, with the parts of the files in turn.
fn ordered(plan: &Arc<dyn ExecutionPlan>, places: &HashMap<PathBuf, usize>) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    match plan.children()[..] {
        [] => leaf(plan, places),
        [input] => {
            let is_of_rows = plan.downcast_ref::<FilterExec>().is_some()
                || plan.downcast_ref::<ProjectionExec>().is_some()
                || plan.downcast_ref::<UnnestExec>().is_some()
                || plan.downcast_ref::<CooperativeExec>().is_some();
            if !is_of_rows || plan.fetch().is_some() {
                return Ok(None);
            }
            let Some(input) = ordered(input, places)? else { return Ok(None) };
            replace_children_if_necessary(plan.clone(), vec![input]).map(Some)
        }
        _ => Ok(None),
    }
}

/// The files in their order, each partition a part of one file.
fn leaf(plan: &Arc<dyn ExecutionPlan>, places: &HashMap<PathBuf, usize>) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    // Of files that this program reads by itself, in their order.
    if plan.downcast_ref::<StreamingTableExec>().is_some() {
        return Ok(Some(plan.clone()));
    }
    let source = plan.downcast_ref::<DataSourceExec>();
    let Some(scan) = source.and_then(|source| source.data_source().downcast_ref::<FileScanConfig>()) else {
        return Ok(None);
    };
    if scan.limit.is_some() {
        return Ok(None);
    }
    let local = LocalFileSystem::new();
    let mut files = Vec::new();
    for file in scan.file_groups.iter().flat_map(FileGroup::files) {
        let path = local.path_to_filesystem(file.path()).map_err(|error| DataFusionError::External(error.into()))?;
        let Some(place) = places.get(&path) else { return Ok(None) };
        files.push((place, file.clone()));
    }
    files.sort_by_key(|(place, file)| (*place, start(file)));
    let groups = files.into_iter().map(|(_, file)| FileGroup::new(vec![file])).collect();
    let scan = FileScanConfigBuilder::from(scan.clone()).with_file_groups(groups).with_preserve_order(true).build();
    Ok(Some(DataSourceExec::from_data_source(scan)))
}

fn start(file: &PartitionedFile) -> i64 {
    file.range.as_ref().map_or(0, |range| range.start)
}
