//! The session of a query: functions, memory, threads.

use std::sync::Arc;

use datafusion::execution::SessionStateBuilder;
use datafusion::execution::memory_pool::FairSpillPool;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::prelude::{SessionConfig, SessionContext};
use ragged::{CpuOptions, Device, DeviceOptions};
use ragged_sql::Functions;

use crate::arguments::Run;
use crate::exit::{Failure, message};
use crate::short_names;

/// Rows of a batch: twice DataFusion's default. Measured on a mean of ten values a row, next to one batch of 8,192 rows: 0.9 of
/// the time; with 32,768 rows the same.
const BATCH_ROWS: usize = 16_384;

/// A session of one query, and its functions.
pub fn session(run: &Run) -> Result<(SessionContext, Functions), Failure> {
    let device = device(&run.device, run.memory)?;
    let mut config = SessionConfig::new().with_information_schema(false).with_batch_size(BATCH_ROWS);
    config.options_mut().sql_parser.collect_spans = true;
    if let Some(memory) = run.memory {
        // What a sort reserves for its last pass must leave it room before.
        let reserved = &mut config.options_mut().execution.sort_spill_reservation_bytes;
        *reserved = (*reserved).min(usize::try_from(memory / 8).unwrap_or(usize::MAX));
    }
    if let Some(threads) = run.threads {
        config = config.with_target_partitions(threads.get());
    }
    let mut runtime = RuntimeEnvBuilder::new();
    if let Some(memory) = run.memory {
        let memory = usize::try_from(memory).unwrap_or(usize::MAX);
        runtime = runtime.with_memory_pool(Arc::new(FairSpillPool::new(memory)));
    }
    let runtime = runtime.build_arc().map_err(|error| Failure::data(message(&error)))?;
    let state =
        SessionStateBuilder::new().with_config(config).with_runtime_env(runtime).with_default_features().build();
    let session = SessionContext::new_with_state(state);
    let functions = Functions::new(&device);
    let taken = short_names::taken(&session);
    for function in functions.all() {
        session.register_udf(short_names::with_short_names(function, &taken));
    }
    Ok((session, functions))
}

fn device(name: &str, memory: Option<u64>) -> Result<Device, Failure> {
    let cpu = || match memory {
        Some(memory) => Device::cpu_with(&CpuOptions::default().max_memory(memory)),
        None => Device::cpu(),
    };
    let options = || {
        let options = DeviceOptions::default().host_steps(true);
        match memory {
            Some(memory) => options.max_memory(memory),
            None => options,
        }
    };
    let found = match name.trim().to_lowercase().as_str() {
        "cpu" => Ok(cpu()),
        "gpu" => Device::gpu_with(&options()),
        "best" => Device::best().and_then(|best| match best.is_cpu() {
            true => Ok(cpu()),
            false => Device::gpu_with(&options().adapter(best.name())),
        }),
        "" => Device::named(name),
        part => Device::gpu_with(&options().adapter(part)),
    };
    found.map_err(|error| Failure::usage(format!("--device {name}: {}", ragged_sql::message(&error))))
}
