//! Where in its inputs a query failed: the file, and the row, line, or column of a row group.

use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::error::ArrowError;
use datafusion::common::DataFusionError;
use datafusion::datasource::MemTable;
use datafusion::execution::{SendableRecordBatchStream, SessionStateBuilder};
use datafusion::parquet::arrow::ProjectionMask;
use datafusion::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::prelude::SessionContext;
use futures::{StreamExt, TryStreamExt};

use ragged_sql::Functions;

use crate::exit::message;
use crate::guarded::{guarded, of_panic};
use crate::inputs::{self, Table};
use crate::plan::planned;
use crate::text::{self, name};

/// What is needed to run a query again.
pub struct Query {
    pub session: SessionContext,
    pub sql: String,
    pub tables: Vec<Table>,
    pub functions: Functions,
}

/// The rows of a query, whose faults have places.
pub fn with_places(rows: SendableRecordBatchStream, query: &Arc<Query>) -> SendableRecordBatchStream {
    let (schema, query) = (rows.schema(), query.clone());
    // The readers of some formats panic on damaged files.
    let caught = AssertUnwindSafe(rows).catch_unwind().map(|row| match row {
        Ok(row) => row,
        Err(panic) => Err(DataFusionError::Execution(of_panic(&*panic))),
    });
    let placed = caught.or_else(move |error| {
        let query = query.clone();
        async move { Err(query.placed(error).await) }
    });
    // A panic ends the rows.
    let placed = futures::stream::unfold(Some(Box::pin(placed)), |rows| async move {
        let mut rows = rows?;
        let row = rows.next().await?;
        let is_last = row.is_err();
        Some((row, (!is_last).then_some(rows)))
    });
    Box::pin(RecordBatchStreamAdapter::new(schema, placed))
}

impl Query {
    /// The error with its place, or the inputs if it has none.
    async fn placed(&self, error: DataFusionError) -> DataFusionError {
        // Limits have exit codes of their own.
        if matches!(error.find_root(), DataFusionError::ResourcesExhausted(_)) {
            return error;
        }
        let why = message(error.find_root());
        let files = || self.tables.iter().flat_map(|table| &table.files);
        if files().any(|file| why.starts_with(&format!("{}: ", name(file)))) {
            return error;
        }
        let placed = match self.of_files(&error) {
            Some(place) => place,
            None => match self.of_row().await {
                Some(place) => place,
                None => {
                    let tables: Vec<String> = self.tables.iter().map(Table::description).collect();
                    format!("{}: {why}", tables.join(", "))
                }
            },
        };
        DataFusionError::Execution(placed)
    }

    /// The first fault of a file, if the error is one of reading. The files are read again.
    fn of_files(&self, error: &DataFusionError) -> Option<String> {
        let is_of_lines = matches!(
            error.find_root(),
            DataFusionError::ArrowError(of, _) if matches!(
                **of,
                ArrowError::CsvError(_) | ArrowError::JsonError(_) | ArrowError::ParseError(_) | ArrowError::IoError(..)
            )
        );
        self.tables.iter().find_map(|table| {
            table.files.iter().find_map(|file| match table.text {
                Some(text) => is_of_lines.then(|| text::fault(file, text, Some(&table.schema))).flatten(),
                None if is_parquet(file) && is_of_pages(error) => {
                    of_parquet(file).map(|why| format!("{}: {why}", name(file)))
                }
                None => None,
            })
        })
    }

    /// The first row for which the query fails, if its input is one table.
    async fn of_row(&self) -> Option<String> {
        let [table] = &self.tables[..] else { return None };
        let config = self.session.copied_config().with_target_partitions(1);
        let state = SessionStateBuilder::new_from_existing(self.session.state()).with_config(config).build();
        let session = SessionContext::new_with_state(state);
        let table_name = table.name.as_deref().unwrap_or(inputs::INPUT);
        for file in &table.files {
            let path = file.to_string_lossy().into_owned();
            session.deregister_table(table_name).ok()?;
            inputs::register(&session, table.name.as_deref(), &[path], &Arc::default()).await.ok()?;
            let mut rows = session.table(table_name).await.ok()?.execute_stream().await.ok()?;
            let mut before = 0;
            while let Some(batch) = rows.next().await {
                let batch = batch.ok()?;
                if let Some(found) = self.fault(&session, table_name, &batch).await {
                    let (mut from, mut to, mut found) = (0, batch.num_rows(), found);
                    while to - from > 1 {
                        let middle = from + (to - from) / 2;
                        match self.fault(&session, table_name, &batch.slice(from, middle - from)).await {
                            Some(fault) => (to, found) = (middle, fault),
                            None => from = middle,
                        }
                    }
                    return Some(format!("{}: row {} (the first is 0): {found}", name(file), before + from));
                }
                before += batch.num_rows();
            }
        }
        None
    }

    /// Why the query fails for some rows of its table, if it does.
    async fn fault(&self, session: &SessionContext, table: &str, rows: &RecordBatch) -> Option<String> {
        let of_rows = MemTable::try_new(rows.schema(), vec![vec![rows.clone()]]).ok()?;
        session.deregister_table(table).ok()?;
        session.register_table(table, Arc::new(of_rows)).ok()?;
        let frame = planned(session, &self.sql, &self.tables, &self.functions).await.ok()?;
        frame.collect().await.err().map(|error| message(error.find_root()))
    }
}

fn is_parquet(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("parquet"))
}

/// Whether an error may be one of Parquet's pages: panics are among them.
fn is_of_pages(error: &DataFusionError) -> bool {
    match error.find_root() {
        DataFusionError::ParquetError(_)
        | DataFusionError::External(_)
        | DataFusionError::ExecutionJoin(_)
        | DataFusionError::ObjectStore(_) => true,
        DataFusionError::ArrowError(error, _) => {
            !matches!(**error, ArrowError::CastError(_) | ArrowError::ComputeError(_))
        }
        DataFusionError::Execution(why) => why.starts_with("damaged: "),
        _ => false,
    }
}

/// The first column of a row group that cannot be read.
fn of_parquet(path: &Path) -> Option<String> {
    let open = || {
        let file = std::fs::File::open(path).map_err(|error| error.to_string())?;
        ParquetRecordBatchReaderBuilder::try_new(file).map_err(|error| error.to_string())
    };
    let metadata = match guarded(open).and_then(|opened| opened) {
        Ok(opened) => opened.metadata().clone(),
        Err(why) => return Some(why),
    };
    let columns = metadata.file_metadata().schema_descr();
    for group in 0..metadata.num_row_groups() {
        for column in 0..columns.num_columns() {
            let read = || {
                let builder = open()?;
                let mask = ProjectionMask::leaves(builder.parquet_schema(), [column]);
                let mut rows = builder
                    .with_row_groups(vec![group])
                    .with_projection(mask)
                    .build()
                    .map_err(|error| error.to_string())?;
                rows.try_for_each(|batch| batch.map(drop).map_err(|error| error.to_string()))
            };
            if let Err(why) = guarded(read).and_then(|read| read) {
                let column = columns.column(column);
                return Some(format!("row group {group}, column {}: {why}", column.path().parts().join(".")));
            }
        }
    }
    None
}
