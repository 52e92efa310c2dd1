//! Sessions with the functions, tables of rows, and results.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch};
use arrow::compute::concat_batches;
use arrow::util::pretty::pretty_format_batches;
use datafusion::common::Result;
use datafusion::execution::SessionStateBuilder;
use datafusion::prelude::{SessionConfig, SessionContext};
use ragged::{CpuOptions, Device, DeviceOptions};
use tokio::runtime::Builder;

/// The CPU and the first GPU adapter, where functions may have steps on the host.
///
/// # Panics
/// Without a GPU adapter, unless `RAGGED_EXPECT_NO_GPU` is 1.
pub fn devices() -> Vec<Device> {
    let gpu = match Device::gpu_with(&DeviceOptions::default().host_steps(true)) {
        Ok(device) => Some(device),
        Err(ragged::Error::NoDevice { .. }) if std::env::var("RAGGED_EXPECT_NO_GPU").is_ok_and(|v| v == "1") => None,
        Err(error) => panic!("{error}"),
    };
    std::iter::once(Device::cpu()).chain(gpu).collect()
}

/// Devices whose counters no other test changes: the CPU and the first GPU adapter.
pub fn own_devices() -> Vec<Device> {
    let gpu = devices().iter().any(|device| !device.is_cpu());
    let gpu = gpu.then(|| Device::gpu_with(&DeviceOptions::default()).expect("it opens twice"));
    std::iter::once(Device::cpu_with(&CpuOptions::default())).chain(gpu).collect()
}

/// Queries, one at a time.
pub struct Session {
    context: SessionContext,
    runtime: tokio::runtime::Runtime,
}

impl Session {
    pub fn new(device: &Device) -> Self {
        Self::with(device, 8192, true)
    }

    /// With batches of so many rows, and with or without the rules that rewrite plans.
    pub fn with(device: &Device, batch_rows: usize, rewrites: bool) -> Self {
        let config = SessionConfig::new().with_batch_size(batch_rows).with_target_partitions(1);
        let mut builder = SessionStateBuilder::new().with_config(config).with_default_features();
        if !rewrites {
            builder = builder.with_optimizer_rules(Vec::new());
        }
        let mut context = SessionContext::new_with_state(builder.build());
        ragged_sql::register(&mut context, device).expect("registers");
        Self { context, runtime: Builder::new_current_thread().build().expect("a runtime") }
    }

    /// A table of these columns, in batches of so many rows.
    pub fn table(&self, name: &str, columns: &[(&str, ArrayRef)], batch_rows: usize) -> &Self {
        let all = RecordBatch::try_from_iter_with_nullable(
            columns.iter().map(|(name, column)| (*name, column.clone(), column.is_nullable())),
        )
        .expect("a batch");
        let starts = (0..all.num_rows()).step_by(batch_rows);
        let batches: Vec<RecordBatch> =
            starts.map(|from| all.slice(from, batch_rows.min(all.num_rows() - from))).collect();
        let table = datafusion::datasource::MemTable::try_new(all.schema(), vec![batches]).expect("a table");
        self.context.register_table(name, Arc::new(table)).expect("registers");
        self
    }

    /// The rows of a query, in one batch.
    pub fn query(&self, sql: &str) -> Result<RecordBatch> {
        self.runtime.block_on(async {
            let state = self.context.state();
            let mut statement = state.sql_to_statement(sql, &state.config().options().sql_parser.dialect)?;
            ragged_sql::complete_arguments(&mut statement)?;
            let plan = state.statement_to_plan(statement).await?;
            let frame = self.context.execute_logical_plan(plan).await?;
            let schema = Arc::new(frame.schema().as_arrow().clone());
            let batches = frame.collect().await?;
            Ok(concat_batches(&schema, &batches)?)
        })
    }

    /// The first column of a query.
    #[track_caller]
    pub fn column(&self, sql: &str) -> ArrayRef {
        self.query(sql).unwrap_or_else(|error| panic!("{sql}: {error}")).column(0).clone()
    }

    /// The plan of a query, as EXPLAIN prints it.
    pub fn plan(&self, sql: &str) -> String {
        let plans = self.query(&format!("EXPLAIN {sql}")).expect("explains");
        pretty_format_batches(&[plans]).expect("prints").to_string()
    }

    pub fn context(&self) -> &SessionContext {
        &self.context
    }
}
