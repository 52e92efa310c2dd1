//! `ragged inspect`.

mod columns;
mod histogram;
mod tensors;

use std::sync::Arc;

use datafusion::prelude::SessionContext;
use futures::StreamExt;
use ragged::Device;
use ragged_sql::Functions;

use crate::arguments::Inspect;
use crate::exit::Failure;
use crate::located::{Query, with_places};
use crate::{inputs, output};
use columns::Column;

/// Prints what a file contains.
///
/// # Errors
/// A file that cannot be read.
pub async fn inspect(inspect: &Inspect) -> Result<(), Failure> {
    let path = inspect.file.to_string_lossy().into_owned();
    if !inspect.file.exists() {
        return Err(Failure::usage(format!("{path}: there is no such file")));
    }
    if let Some(text) = tensors::describe(&inspect.file)? {
        return output::print(&text);
    }
    let session = SessionContext::new();
    let table = inputs::register(&session, None, std::slice::from_ref(&path), &Arc::default()).await?;
    let mut columns: Vec<Column> = table.schema.fields().iter().flat_map(|field| Column::all(field)).collect();
    let mut rows = 0;
    let frame = session.table(inputs::INPUT).await.map_err(|error| Failure::of_rows(&error))?;
    let batches = frame.execute_stream().await.map_err(|error| Failure::of_rows(&error))?;
    let query = Query {
        session,
        sql: format!("SELECT * FROM {}", inputs::INPUT),
        tables: vec![table],
        functions: Functions::new(&Device::cpu()),
    };
    let mut batches = with_places(batches, &Arc::new(query));
    while let Some(batch) = batches.next().await {
        let batch = batch.map_err(|error| Failure::of_rows(&error))?;
        rows += batch.num_rows();
        for column in &mut columns {
            if let Some(array) = batch.column_by_name(column.field()) {
                column.add(array);
            }
        }
    }
    let size = std::fs::metadata(&inspect.file).map_or(0, |metadata| metadata.len());
    output::print(&format!("{path}: {rows} rows, {}\n{}", indicatif::HumanBytes(size), columns::describe(&columns)))
}
