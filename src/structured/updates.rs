//! Replacement, addition and removal of fields.

use std::fmt;
use std::sync::Arc;

use super::agreement::Wanted;
use super::from_fields::check_name;
use super::{FieldPath, FieldValue, StructuredTensor};
use crate::error::{Error, Result, here, on_behalf};

const OP: &str = "with_updates";

/// A function of a field.
type FieldFn<'a> = dyn FnOnce(FieldValue) -> Result<FieldValue> + 'a;

/// The new value of a field.
enum Action<'a> {
    Set(FieldValue),
    Apply(Box<FieldFn<'a>>),
    Remove,
}

/// An update of one field: see [`StructuredTensor::with_updates`].
pub struct Update<'a> {
    path: FieldPath,
    action: Action<'a>,
}

/// Kinds of updates.
impl<'a> Update<'a> {
    /// Sets a field, which may be new: the value takes the place of what the field was.
    ///
    /// The value is a tensor or records, whose first dimensions are those of the records.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, StructuredTensor, Update};
    /// let x = RaggedTensor::from_nested([1, 2], &Device::cpu())?;
    /// let records = StructuredTensor::from_fields_and_rank([("x", &x)], 1)?;
    /// let records = records.with_updates([Update::set("y", &(&x * 10)?)])?;
    /// assert_eq!(records.field_value("y")?.to_string(), "tensor([10, 20], shape=(2,), dtype=i32)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn set(path: impl Into<FieldPath>, value: impl Into<FieldValue>) -> Self {
        Self { path: path.into(), action: Action::Set(value.into()) }
    }

    /// Replaces a field, which must exist, by a function of it.
    ///
    /// The function runs once, when [`StructuredTensor::with_updates`] is called, which returns its error.
    ///
    /// ```
    /// use ragged::{Device, FieldValue, RaggedTensor, StructuredTensor, Update};
    /// let x = RaggedTensor::from_nested([1, 2], &Device::cpu())?;
    /// let records = StructuredTensor::from_fields_and_rank([("x", &x)], 1)?;
    /// let records = records.with_updates([Update::apply("x", |x: FieldValue| x.tensor()? + 1)])?;
    /// assert_eq!(records.field_value("x")?.to_string(), "tensor([2, 3], shape=(2,), dtype=i32)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn apply<V: Into<FieldValue>>(
        path: impl Into<FieldPath>,
        function: impl FnOnce(FieldValue) -> Result<V> + 'a,
    ) -> Self {
        Self { path: path.into(), action: Action::Apply(Box::new(|field| Ok(function(field)?.into()))) }
    }

    /// Removes a field, which must exist; records without fields keep their shape.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, StructuredTensor, Update};
    /// let x = RaggedTensor::from_nested([1, 2], &Device::cpu())?;
    /// let records = StructuredTensor::from_fields_and_rank([("x", &x)], 1)?.with_updates([Update::remove("x")])?;
    /// assert_eq!((records.field_names().len(), records.shape()), (0, vec![Some(2)]));
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn remove(path: impl Into<FieldPath>) -> Self {
        Self { path: path.into(), action: Action::Remove }
    }
}

impl fmt::Debug for Update<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let action = match self.action {
            Action::Set(_) => "set",
            Action::Apply(_) => "apply",
            Action::Remove => "remove",
        };
        write!(f, "Update({action} {})", self.path)
    }
}

/// Updates of fields.
impl StructuredTensor {
    /// The records with updated fields: set, computed from the old value, or removed. Fields without an update are
    /// kept. Updated fields stay where they are, and new ones follow. The shape of the records stays; the shapes of nested
    /// records may change.
    ///
    /// A new field may be added to records that exist. Records of a new nested field are set as a whole. Values must
    /// have the rows of their records, which is a condition where only the device knows them.
    ///
    /// TensorFlow: `StructuredTensor.with_updates`.
    ///
    /// # Errors
    /// An empty path or name; two updates of one field, or of a field and of another one below it; a path whose parent
    /// does not exist or is no record; removal, or a function, of a field that does not exist; a value of other rows
    /// than its records, on another device; an error of a function, which is returned; records nested too deeply.
    ///
    /// # Cost
    /// No pass, besides those of the functions. Never waits.
    ///
    /// ```
    /// use ragged::{Device, FieldValue, RaggedTensor, StructuredTensor, Update};
    /// let device = Device::cpu();
    /// let age = RaggedTensor::from_nested([12, 82], &device)?;
    /// let people = StructuredTensor::from_fields_and_rank([("age", &age)], 1)?;
    /// let older = people.with_updates([
    ///     Update::apply("age", |age: FieldValue| age.tensor()? + 1),
    ///     Update::set("id", &RaggedTensor::from_nested([7, 8], &device)?),
    /// ])?;
    /// assert_eq!(older.field_value("age")?.tensor()?.to_string(), "tensor([13, 83], shape=(2,), dtype=i32)");
    /// assert_eq!(older.with_updates([Update::remove("age")])?.field_names().collect::<Vec<_>>(), ["id"]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[track_caller]
    pub fn with_updates<'a>(&self, updates: impl IntoIterator<Item = Update<'a>>) -> Result<Self> {
        let updates: Vec<Update<'a>> = updates.into_iter().collect();
        let mut paths: Vec<&FieldPath> = updates.iter().map(|update| &update.path).collect();
        // A path is directly before the paths below it.
        paths.sort();
        for pair in paths.windows(2) {
            let (above, path) = (pair[0], pair[1]);
            if path == above {
                return Err(Error::argument(OP, format!("the field {path} is updated twice")));
            }
            if path.names().starts_with(above.names()) {
                return Err(Error::argument(OP, format!("both {above} and {path} below it are updated; update one")));
            }
        }
        let update = |out: Self, Update { path, action }: Update<'a>| out.updated(path.names(), &path, action);
        on_behalf(|| updates.into_iter().try_fold(self.clone(), update))?.of_limited_depth(OP)
    }

    /// The records with the value at a path set.
    #[track_caller]
    pub(super) fn with_field(&self, path: &FieldPath, value: FieldValue) -> Result<Self> {
        self.updated(path.names(), path, Action::Set(value)).map_err(here())?.of_limited_depth(OP)
    }

    /// The records with one update, at the rest `below` of the path `whole`.
    #[track_caller]
    fn updated(&self, below: &[Arc<str>], whole: &FieldPath, action: Action<'_>) -> Result<Self> {
        let Some((name, below)) = below.split_first() else {
            return Err(Error::argument(OP, "a path needs at least one name, but is empty"));
        };
        let mut fields = self.fields.clone();
        let value = match (fields.get(name).cloned(), below) {
            (None, [_, ..]) => {
                return Err(Error::argument(OP, format!("{whole} has no records to be in: {}", self.no_field(name))));
            }
            (Some(FieldValue::Tensor(_)), [_, ..]) => {
                return Err(Error::argument(OP, format!("{whole} has no records to be in: {name:?} is a tensor")));
            }
            (Some(FieldValue::Records(records)), [_, ..]) => Some(records.updated(below, whole, action)?.into()),
            (old, []) => match (action, old) {
                (Action::Set(value), _) => Some(value),
                (Action::Apply(function), Some(old)) => Some(function(old)?),
                (Action::Remove, Some(_)) => None,
                (Action::Apply(_), None) => {
                    let what = format!("a function cannot update {whole}: {}", self.no_field(name));
                    return Err(Error::argument(OP, what));
                }
                (Action::Remove, None) => {
                    return Err(Error::argument(OP, format!("{whole} cannot be removed: {}", self.no_field(name))));
                }
            },
        };
        if let Some(value) = value {
            check_name(OP, name)?;
            let bound = Wanted { op: OP, shape: &self.shape }.bind(name, &value)?;
            fields.insert(name.clone(), bound);
        } else {
            fields.remove(name);
        }
        Ok(Self { shape: self.shape.clone(), fields })
    }
}
