//! Records as structs.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, StructArray};
use arrow_schema::{DataType, Field, FieldRef, Fields};
use ragged::{DType, FieldValue, Result, StructuredTensor};

use super::{encode_at, levels, lists, named, refused};
use crate::fault::{argument, those_that_exist};

/// Records of one or more dimensions: structs, or lists of structs.
pub(super) fn records(path: &str, records: &StructuredTensor, data_type: Option<&DataType>) -> Result<ArrayRef> {
    let rank = records.rank();
    if rank == 0 {
        let what = format!("{}a single record has no rows; give it a dimension by expand_dims(0)", named(path));
        return Err(argument(what));
    }
    // The rows of the records, and their number.
    let skeleton = records.ones_like(DType::U8)?.to_shared()?;
    let flat = if rank > 1 { records.merge_dims(0, rank - 1)? } else { records.clone() };
    let leaf = |path: &str, data_type: Option<&DataType>| structs(path, &flat, skeleton.values.len(), data_type);
    lists::nested(path, &levels(&skeleton), &leaf, data_type)
}

/// `n` records as structs, with the fields of the type in its order.
fn structs(path: &str, records: &StructuredTensor, n: usize, data_type: Option<&DataType>) -> Result<ArrayRef> {
    let field_at = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    let (fields, columns): (Fields, Vec<ArrayRef>) = match data_type {
        None => {
            let column = |(name, value): (&str, &FieldValue)| {
                let array = encode_at(&field_at(name), value, None)?;
                Ok((Arc::new(Field::new(name, array.data_type().clone(), true)), array))
            };
            let columns = records.fields().map(column).collect::<Result<Vec<(FieldRef, ArrayRef)>>>()?;
            let (fields, columns): (Vec<FieldRef>, _) = columns.into_iter().unzip();
            (fields.into(), columns)
        }
        Some(DataType::Struct(fields)) => {
            let left_out = records.field_names().find(|name| !fields.iter().any(|field| field.name() == name));
            if let Some(name) = left_out {
                let has = those_that_exist(name, fields.iter().map(|field| field.name().as_str()));
                let what = format!("{}the type has no field {name:?} of the records; {has}", named(path));
                return Err(argument(what));
            }
            let column = |field: &FieldRef| {
                let Some((name, value)) = records.fields().find(|(name, _)| name == field.name()) else {
                    let has = those_that_exist(field.name(), records.field_names());
                    return Err(argument(format!("{}there is no field {:?}; {has}", named(path), field.name())));
                };
                encode_at(&field_at(name), value, Some(field.data_type()))
            };
            (fields.clone(), fields.iter().map(column).collect::<Result<_>>()?)
        }
        Some(other) => return Err(argument(format!("{}records are no {other}", named(path)))),
    };
    let array = StructArray::try_new_with_length(fields, columns, None, n);
    Ok(Arc::new(array.map_err(|e| refused(path, &e))?))
}
