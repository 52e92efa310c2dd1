//! Tables of files of lines that are read from start to end: compressed ones, and CSV with line breaks within quotes.

use std::path::PathBuf;
use std::sync::Arc;

use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::streaming::StreamingTable;
use datafusion::common::Result;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::stream::RecordBatchReceiverStream;
use datafusion::physical_plan::streaming::PartitionStream;

use crate::counted::Count;
use crate::text::{self, Text};

/// A file that is read from its start to its end.
#[derive(Debug)]
struct Streamed {
    path: PathBuf,
    text: Text,
    schema: SchemaRef,
    count: Arc<Count>,
}

/// The table of such files.
///
/// # Errors
/// None: the files have the schema.
pub fn table(files: &[PathBuf], text: Text, schema: &SchemaRef, count: &Arc<Count>) -> Result<StreamingTable> {
    let part = |path: &PathBuf| -> Arc<dyn PartitionStream> {
        Arc::new(Streamed { path: path.clone(), text, schema: schema.clone(), count: count.clone() })
    };
    StreamingTable::try_new(schema.clone(), files.iter().map(part).collect())
}

impl PartitionStream for Streamed {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, context: Arc<TaskContext>) -> SendableRecordBatchStream {
        let mut stream = RecordBatchReceiverStream::builder(self.schema.clone(), 2);
        let sender = stream.tx();
        let (path, text, schema, count) = (self.path.clone(), self.text, self.schema.clone(), self.count.clone());
        let rows = context.session_config().batch_size();
        stream.spawn_blocking(move || {
            let lines = text::open_counted(&path, &count)?;
            for batch in text::batches(lines, text, &schema, rows)? {
                let batch = batch?;
                count.add_rows(batch.num_rows());
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
