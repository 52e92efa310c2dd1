//! Files as tables.

use std::path::Path;

use datafusion::datasource::file_format::options::ArrowReadOptions;
use datafusion::prelude::{CsvReadOptions, JsonReadOptions, ParquetReadOptions, SessionContext};

use crate::exit::Failure;

/// Makes files a table of that name: those of a folder, a pattern or one path.
pub async fn register(session: &SessionContext, name: &str, path: &str) -> Result<(), Failure> {
    let is_missing = !path.contains(['*', '?', '[']) && !path.contains("://") && !Path::new(path).exists();
    if is_missing {
        return Err(Failure::usage(format!("{path}: there is no such file")));
    }
    let extension = path.rsplit_once('.').map_or("", |(_, extension)| extension);
    let registered = match extension {
        "parquet" => session.register_parquet(name, path, ParquetReadOptions::default()).await,
        "csv" => session.register_csv(name, path, CsvReadOptions::default()).await,
        "jsonl" | "ndjson" | "json" => {
            let extension = format!(".{extension}");
            session.register_json(name, path, JsonReadOptions::default().file_extension(&extension)).await
        }
        "arrow" | "ipc" | "feather" => session.register_arrow(name, path, ArrowReadOptions::default()).await,
        _ => {
            return Err(Failure::usage(format!(
                "{path}: files must be .parquet, .arrow, .csv or .jsonl"
            )));
        }
    };
    registered.map_err(|error| Failure::of(&error))
}
