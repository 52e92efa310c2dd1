//! Tables of compressed files of lines, and the files of faults of lines.

use std::path::PathBuf;
use std::sync::Arc;

use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::error::ArrowError;
use datafusion::catalog::streaming::StreamingTable;
use datafusion::common::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::stream::{RecordBatchReceiverStream, RecordBatchStreamAdapter};
use datafusion::physical_plan::streaming::PartitionStream;
use futures::TryStreamExt;

use crate::inputs::Table;
use crate::text::{self, Text};

/// A compressed file, which is read from its start to its end.
#[derive(Debug)]
struct Compressed {
    path: PathBuf,
    text: Text,
    schema: SchemaRef,
}

/// The table of compressed files.
///
/// # Errors
/// None: the files have the schema.
pub fn table(files: &[PathBuf], text: Text, schema: &SchemaRef) -> Result<StreamingTable> {
    let part = |path: &PathBuf| -> Arc<dyn PartitionStream> {
        Arc::new(Compressed { path: path.clone(), text, schema: schema.clone() })
    };
    StreamingTable::try_new(schema.clone(), files.iter().map(part).collect())
}

impl PartitionStream for Compressed {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, context: Arc<TaskContext>) -> SendableRecordBatchStream {
        let mut stream = RecordBatchReceiverStream::builder(self.schema.clone(), 2);
        let sender = stream.tx();
        let (path, text, schema) = (self.path.clone(), self.text, self.schema.clone());
        let rows = context.session_config().batch_size();
        stream.spawn_blocking(move || {
            for batch in text::batches(&path, text, &schema, rows)? {
                // The query needs no more rows.
                if sender.blocking_send(Ok(batch?)).is_err() {
                    break;
                }
            }
            Ok(())
        });
        stream.build()
    }
}

/// The rows of a query, whose faults of lines have the names of their files.
pub fn with_files(rows: SendableRecordBatchStream, tables: &[Table]) -> SendableRecordBatchStream {
    let files: Vec<(PathBuf, Text, SchemaRef)> = tables
        .iter()
        .filter_map(|table| Some((table, table.text?)))
        .flat_map(|(table, text)| table.files.iter().map(move |file| (file.clone(), text, table.schema.clone())))
        .collect();
    let schema = rows.schema();
    let named = rows.map_err(move |error| {
        let is_of_lines = matches!(
            error.find_root(),
            DataFusionError::ArrowError(of, _) if matches!(
                **of,
                ArrowError::CsvError(_) | ArrowError::JsonError(_) | ArrowError::ParseError(_) | ArrowError::IoError(..)
            )
        );
        // Readers know neither the file nor, of JSON, the line: the files are read again.
        let fault = || files.iter().find_map(|(path, text, schema)| text::fault(path, *text, Some(schema)));
        is_of_lines.then(fault).flatten().map_or(error, DataFusionError::Execution)
    });
    Box::pin(RecordBatchStreamAdapter::new(schema, named))
}
