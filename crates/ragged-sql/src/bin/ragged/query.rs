//! The query of a command.

use datafusion::prelude::SessionContext;
use ragged::Device;

use crate::arguments::Run;
use crate::exit::Failure;
use crate::{inputs, output};

/// The table of the short form.
const INPUT: &str = "input";

pub async fn run(run: &Run) -> Result<(), Failure> {
    let device = device(&run.device)?;
    let mut session = SessionContext::new();
    ragged_sql::register(&mut session, &device).map_err(|error| Failure::of(&error))?;
    let sql = match &run.sql {
        Some(sql) => {
            for table in &run.tables {
                let Some((name, path)) = table.split_once('=') else {
                    return Err(Failure::usage(format!("--table {table}: it must be NAME=FILE")));
                };
                inputs::register(&session, name, path).await?;
            }
            sql.clone()
        }
        None => {
            let [path] = &run.inputs[..] else {
                return Err(Failure::usage("one input is required: a file or a pattern"));
            };
            inputs::register(&session, INPUT, path).await?;
            let select = run.select.as_deref().unwrap_or("*");
            let condition = run.condition.as_ref().map_or(String::new(), |condition| format!(" WHERE {condition}"));
            format!("SELECT {select} FROM {INPUT}{condition}")
        }
    };
    let sql = if run.explain { format!("EXPLAIN {sql}") } else { sql };
    let frame = session.sql(&sql).await.map_err(|error| Failure::of(&error))?;
    let rows = frame.execute_stream().await.map_err(|error| Failure::of(&error))?;
    output::write(rows, if run.explain { "-" } else { &run.output }).await
}

fn device(name: &str) -> Result<Device, Failure> {
    let found = match name {
        "cpu" => return Ok(Device::cpu()),
        "gpu" => Device::gpu(),
        name => Device::by_name(name),
    };
    found.map_err(|error| Failure::usage(error.to_string()))
}
