//! Files of Arrow IPC as a table.

use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::array::{RecordBatch, RecordBatchOptions};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::{Expr, TableType};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::stream::RecordBatchReceiverStream;
use datafusion::physical_plan::streaming::{PartitionStream, StreamingTableExec};

use super::{Batches, Contents, open};
use crate::counted::Count;
use crate::exit::Failure;
use crate::text::name;

/// Files of one schema.
#[derive(Debug)]
pub struct Table {
    files: Vec<(PathBuf, Arc<Contents>)>,
    schema: SchemaRef,
    count: Arc<Count>,
}

/// The table of files.
///
/// # Errors
/// A fault of a file, with its name and place; other columns.
pub fn table(files: &[PathBuf], count: &Arc<Count>) -> Result<Table, Failure> {
    let open = |path: &PathBuf| match open(path) {
        Ok(contents) => Ok((path.clone(), Arc::new(contents))),
        Err(why) => Err(Failure::data(format!("{}: {why}", name(path)))),
    };
    let files = files.iter().map(open).collect::<Result<Vec<_>, _>>()?;
    let columns = |schema: &Schema| -> Vec<(String, DataType)> {
        schema.fields().iter().map(|field| (field.name().clone(), field.data_type().clone())).collect()
    };
    let Some((first, contents)) = files.first() else { return Err(Failure::usage("no file matches")) };
    let other = files.iter().find(|(_, other)| columns(&other.schema) != columns(&contents.schema));
    if let Some((path, _)) = other {
        return Err(Failure::usage(format!("{} and {} have other columns", name(first), name(path))));
    }
    let field = |k: usize| {
        let is_nullable = files.iter().any(|(_, contents)| contents.schema.field(k).is_nullable());
        contents.schema.field(k).clone().with_nullable(is_nullable)
    };
    let fields: Vec<Field> = (0..contents.schema.fields().len()).map(field).collect();
    Ok(Table { schema: Arc::new(Schema::new(fields)), files, count: count.clone() })
}

impl Table {
    /// Rows of all files.
    pub fn rows(&self) -> u64 {
        self.files.iter().map(|(_, contents)| contents.rows()).sum()
    }

    /// Bytes of all files.
    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|(_, contents)| contents.bytes).sum()
    }

    /// So many parts of about as many messages each, of the files in their order.
    fn parts(&self, count: usize) -> Vec<(&Path, &Arc<Contents>, Range<usize>)> {
        let all: usize = self.files.iter().map(|(_, contents)| contents.messages.len()).sum();
        let most = all.div_ceil(count.max(1)).max(1);
        let mut parts = Vec::new();
        for (path, contents) in &self.files {
            let messages = contents.messages.len();
            let step = if contents.is_divisible() { most } else { messages.max(1) };
            // A file without batches is a part as well.
            let starts = (0..messages.max(1)).step_by(step);
            parts.extend(starts.map(|from| (path.as_path(), contents, from..(from + step).min(messages))));
        }
        parts
    }
}

#[async_trait]
impl TableProvider for Table {
    fn schema(&self) -> SchemaRef {
        self.schema.clone()
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    async fn scan(
        &self,
        state: &dyn Session,
        columns: Option<&Vec<usize>>,
        _: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let schema = match columns {
            Some(columns) => Arc::new(self.schema.project(columns)?),
            None => self.schema.clone(),
        };
        let part = |(path, contents, messages): (&Path, &Arc<Contents>, Range<usize>)| -> Arc<dyn PartitionStream> {
            Arc::new(Part {
                path: path.to_owned(),
                contents: contents.clone(),
                messages,
                columns: columns.cloned(),
                schema: schema.clone(),
                count: self.count.clone(),
            })
        };
        let parts = self.parts(state.config().target_partitions()).into_iter().map(part).collect();
        Ok(Arc::new(StreamingTableExec::try_new(schema.clone(), parts, None, [], false, limit)?))
    }
}

/// Some batches of a file.
#[derive(Debug)]
struct Part {
    path: PathBuf,
    contents: Arc<Contents>,
    messages: Range<usize>,
    columns: Option<Vec<usize>>,
    schema: SchemaRef,
    count: Arc<Count>,
}

impl PartitionStream for Part {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, _: Arc<TaskContext>) -> SendableRecordBatchStream {
        let mut stream = RecordBatchReceiverStream::builder(self.schema.clone(), 2);
        let sender = stream.tx();
        let (path, contents, messages) = (self.path.clone(), self.contents.clone(), self.messages.clone());
        let (columns, schema, count) = (self.columns.clone(), self.schema.clone(), self.count.clone());
        stream.spawn_blocking(move || {
            let failed = |why: String| DataFusionError::Execution(format!("{}: {why}", name(&path)));
            let file = File::open(&path).map_err(|error| failed(error.to_string()))?;
            let mut batches = Batches::new(file, &contents, messages, columns.as_deref());
            while let Some(batch) = batches.next() {
                count.add(batches.take_bytes());
                let batch = batch.map_err(failed)?;
                count.add_rows(batch.num_rows());
                // Metadata of the schema may differ between files.
                let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
                let batch = RecordBatch::try_new_with_options(schema.clone(), batch.columns().to_vec(), &options)?;
                // The query needs no more rows.
                if sender.blocking_send(Ok(batch)).is_err() {
                    break;
                }
            }
            Ok(())
        });
        stream.build()
    }
}
