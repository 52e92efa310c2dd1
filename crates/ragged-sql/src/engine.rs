//! Expressions compiled to programs, and run on batches of columns.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use arrow::array::{Array, ArrayRef, BooleanArray, UInt64Array, new_empty_array};
use arrow::buffer::NullBuffer;
use arrow::compute::{concat, filter, take};
use arrow::datatypes::DataType;
use datafusion::common::{DataFusionError, Result};
use ragged::operation::named;
use ragged::{Device, Error, Program, Tensor, TensorSpec};
use ragged_data::arrow::{FromArrow, Nulls, ToArrow};

use crate::expression::{Argument, Expression, Inputs, Rows};
use crate::fault;
use crate::tables::Tables;
use crate::{samples, types};

/// Batches of so many values are divided among all threads.
const DIVIDED: usize = 1 << 20;

/// Rows on which expressions are tried.
const SAMPLES: usize = 4;

/// Most items that 32-bit offsets of lists, and bytes that those of texts, count.
const MOST_ITEMS: u64 = i32::MAX as u64;

/// What functions of one registration share: the device, tables of files, compiled expressions.
#[derive(Debug)]
pub(crate) struct Engine {
    device: Device,
    tables: Tables,
    compiled: Mutex<HashMap<Key, Arc<Compiled>>>,
    values: AtomicU64,
}

/// The text of an expression, and the types of its columns.
type Key = (String, Vec<DataType>);

/// A program for columns of certain types.
#[derive(Debug)]
pub(crate) struct Compiled {
    expression: Expression,
    /// `None` if a step is computed on the host, which no program has.
    program: Option<Program>,
    pub(crate) output: DataType,
}

impl Engine {
    pub(crate) fn new(device: &Device) -> Self {
        Self {
            device: device.clone(),
            tables: Tables::new(device),
            compiled: Mutex::default(),
            values: AtomicU64::new(0),
        }
    }

    /// How many values the programs have been given.
    pub(crate) fn values(&self) -> u64 {
        self.values.load(Ordering::Relaxed)
    }

    /// The program of an expression of columns of these types.
    ///
    /// # Errors
    /// What is known before any row: types that are no tensors, the errors of the operations.
    pub(crate) fn compiled(&self, expression: &Expression, types: &[DataType]) -> Result<Arc<Compiled>> {
        let key = (expression.to_string(), types.to_vec());
        let known = || self.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(compiled) = known().get(&key) {
            return Ok(compiled.clone());
        }
        // Others go on meanwhile; of two that compile the same, one is kept.
        let compiled = self.compile(expression, types).map_err(|error| match error {
            Error::Limit { .. } => fault::of_run(&error),
            error => fault::of_plan(fault::message(&error)),
        })?;
        Ok(known().entry(key).or_insert(Arc::new(compiled)).clone())
    }

    fn compile(&self, expression: &Expression, types: &[DataType]) -> ragged::Result<Compiled> {
        if let Some(of) = types.iter().find_map(types::with_a_unit) {
            return Err(fault::argument(format!(
                "a column of {of} has a unit, which tensors do not have: convert it, as in arrow_cast(x, 'Int64')"
            )));
        }
        let empty = |of: &DataType| Tensor::from_arrow(&*new_empty_array(of), &self.device);
        let columns = types.iter().map(empty).collect::<ragged::Result<Vec<_>>>()?;
        let specs: Vec<TensorSpec> = columns.iter().map(TensorSpec::of).collect();
        let evaluate = |columns: &[Tensor]| expression.evaluate(&Inputs { columns, tables: &self.tables, rows: None });
        let program = match Program::trace(&specs, evaluate) {
            Ok(program) => Some(program),
            Err(Error::Traced { .. }) => None,
            Err(error) => return Err(error),
        };
        let output = match &program {
            Some(program) => first(program.run(&columns[..])?)?,
            None => evaluate(&columns)?,
        };
        self.check_rows(expression, types)?;
        let output = output.to_arrow()?.data_type().clone();
        let output = if types.iter().any(types::is_of_bytes) { types::of_bytes(&output) } else { output };
        Ok(Compiled { expression: expression.clone(), program, output })
    }

    /// Tries the expression on a few rows.
    ///
    /// # Errors
    /// A call whose result has another number of rows, or depends on other rows.
    fn check_rows(&self, expression: &Expression, types: &[DataType]) -> ragged::Result<()> {
        let Ok(samples) = types.iter().map(|of| samples::column(of, SAMPLES)).collect::<Result<Vec<_>>>() else {
            return Ok(());
        };
        let columns: Vec<Tensor> =
            samples.iter().map(|column| Tensor::from_arrow(&**column, &self.device)).collect::<ragged::Result<_>>()?;
        let rows = Rows::new(SAMPLES);
        // It may fail for values that are not those of the query.
        let _ = expression.evaluate(&Inputs { columns: &columns, tables: &self.tables, rows: Some(&rows) });
        rows.fault().map_or(Ok(()), Err)?;
        match self.combines_rows(expression, &samples)? {
            Some(name) => Err(fault::argument(format!(
                "{name}: a function computes each row, and its result would depend on other rows of the table: lists are \
                 required, not one value for each row"
            ))),
            None => Ok(()),
        }
    }

    /// The innermost call whose result for a row of the samples differs from that for the row by itself.
    fn combines_rows(&self, expression: &Expression, samples: &[ArrayRef]) -> ragged::Result<Option<String>> {
        let (own, arguments) = match expression {
            Expression::Call(function, arguments) => {
                (function.name.to_owned(), arguments.iter().flat_map(Argument::expressions).collect::<Vec<_>>())
            }
            Expression::Saved(place, inputs) => (place.to_string(), inputs.iter().collect()),
            _ => return Ok(None),
        };
        if !self.differs(expression, samples) {
            return Ok(None);
        }
        for argument in arguments {
            if let Some(name) = self.combines_rows(argument, samples)? {
                return Ok(Some(name));
            }
        }
        Ok(Some(own))
    }

    /// Whether the samples have another result together than each by itself. Faults are those of their values.
    fn differs(&self, expression: &Expression, samples: &[ArrayRef]) -> bool {
        let result = |from: usize, count: usize| -> ragged::Result<ArrayRef> {
            let column = |column: &ArrayRef| Tensor::from_arrow(&*column.slice(from, count), &self.device);
            let columns = samples.iter().map(column).collect::<ragged::Result<Vec<_>>>()?;
            expression.evaluate(&Inputs { columns: &columns, tables: &self.tables, rows: None })?.to_arrow()
        };
        let Ok(together) = result(0, SAMPLES) else { return false };
        (0..SAMPLES).any(|row| result(row, 1).is_ok_and(|alone| *together.slice(row, 1) != *alone))
    }

    /// The result for a batch of rows. A row with a NULL gives NULL, and is not computed.
    ///
    /// # Errors
    /// NULL within a list, with the name of the column; the errors of the operations; another number of rows.
    pub(crate) fn run(
        &self,
        compiled: &Compiled,
        names: &[&str],
        columns: &[ArrayRef],
        rows: usize,
    ) -> Result<ArrayRef> {
        // Of rows with a NULL, those in their lists do not matter.
        let check = |columns: &[ArrayRef]| match columns.iter().position(types::has_null_within) {
            Some(k) => {
                let reader = compiled.expression.reader_of(k).unwrap_or_default();
                let name = names.get(k).copied().unwrap_or("x");
                Err(fault::of_run(&fault::argument(format!(
                    "{reader}: a list of `{name}` contains NULL; array_compact(x) leaves NULL out"
                ))))
            }
            None => Ok(()),
        };
        let nulls = columns
            .iter()
            .fold(None, |nulls, column| NullBuffer::union(nulls.as_ref(), column.logical_nulls().as_ref()));
        let Some(nulls) = nulls.filter(|nulls| nulls.null_count() > 0) else {
            check(columns)?;
            return self.run_valid(compiled, columns, rows);
        };
        let valid = BooleanArray::new(nulls.inner().clone(), None);
        let kept = columns.iter().map(|column| filter(column, &valid)).collect::<Result<Vec<_>, _>>()?;
        check(&kept)?;
        let computed = self.run_valid(compiled, &kept, rows - nulls.null_count())?;
        let mut next = 0..;
        let places: UInt64Array = nulls.iter().map(|is_valid| if is_valid { next.next() } else { None }).collect();
        Ok(take(&computed, &places, None)?)
    }

    /// As [`Self::run_here`], divided among all threads if there are many values, also where a thread computes its batches by
    /// itself.
    fn run_valid(&self, compiled: &Compiled, columns: &[ArrayRef], rows: usize) -> Result<ArrayRef> {
        let values: usize = columns.iter().map(types::innermost_len).sum();
        match many_threads() {
            Some(threads) if values >= DIVIDED => threads.install(|| self.run_here(compiled, columns, rows)),
            _ => self.run_here(compiled, columns, rows),
        }
    }

    /// As [`Self::run`], of rows without NULL. Rows that are too many for one tensor are computed in halves.
    fn run_here(&self, compiled: &Compiled, columns: &[ArrayRef], rows: usize) -> Result<ArrayRef> {
        match self.run_at_once(compiled, columns, rows) {
            Err(Error::Limit { .. }) if rows > 1 => {
                let part = |from: usize, count: usize| {
                    let columns: Vec<ArrayRef> = columns.iter().map(|column| column.slice(from, count)).collect();
                    self.run_here(compiled, &columns, count)
                };
                let halves = [part(0, rows / 2)?, part(rows / 2, rows - rows / 2)?];
                joined(&halves, rows)
            }
            result => result.map_err(|error| fault::of_run(&error)),
        }
    }

    fn run_at_once(&self, compiled: &Compiled, columns: &[ArrayRef], rows: usize) -> ragged::Result<ArrayRef> {
        let tensor = |column: &ArrayRef| Tensor::from_arrow_with(&**column, Nulls::Error, &self.device);
        let tensors = columns.iter().map(tensor).collect::<ragged::Result<Vec<_>>>()?;
        let output = match &compiled.program {
            Some(program) if self.device.is_cpu() => first(program.run(&tensors[..])?)?,
            // Recorded, not run: the read below submits the computation and the copy together.
            _ => compiled.expression.evaluate(&Inputs { columns: &tensors, tables: &self.tables, rows: None })?,
        };
        let values: usize = columns.iter().map(types::innermost_len).sum();
        self.values.fetch_add(values as u64, Ordering::Relaxed);
        let array = output.to_arrow_as(&compiled.output)?;
        if array.len() != rows {
            let count = array.len();
            return Err(named("ragged_program", || -> ragged::Result<()> {
                Err(fault::argument(format!("{count} rows are the result of {rows}; a function computes each row")))
            })
            .expect_err("it is one"));
        }
        Ok(array)
    }
}

/// All threads, if the current one is that of a pool of its own.
fn many_threads() -> Option<&'static rayon::ThreadPool> {
    static THREADS: OnceLock<Option<rayon::ThreadPool>> = OnceLock::new();
    let by_itself = rayon::current_thread_index().is_some() && rayon::current_num_threads() == 1;
    by_itself.then(|| THREADS.get_or_init(|| rayon::ThreadPoolBuilder::new().build().ok()).as_ref()).flatten()
}

/// The results of both halves of so many rows as one array.
///
/// # Errors
/// More items than offsets count, for which `concat` panics.
fn joined(halves: &[ArrayRef; 2], rows: usize) -> Result<ArrayRef> {
    if let Some((count, unit)) = types::beyond_offsets(halves, MOST_ITEMS) {
        return Err(DataFusionError::ResourcesExhausted(format!(
            "the results of {rows} rows of one batch have {count} {unit}, but {MOST_ITEMS} is the limit of the 32-bit offsets \
             of a column: set `datafusion.execution.batch_size` to fewer rows"
        )));
    }
    Ok(concat(&[&*halves[0], &*halves[1]])?)
}

fn first(outputs: Vec<Tensor>) -> ragged::Result<Tensor> {
    outputs.into_iter().next().ok_or_else(|| fault::argument("the program has no output"))
}
