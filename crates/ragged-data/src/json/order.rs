//! The order in which the fields of lines first occur, for schemas whose inference sorts them by name.

use std::collections::HashMap;
use std::fmt;
use std::io::Read;
use std::sync::Arc;

use arrow_schema::{DataType, Field, FieldRef, Fields, Schema};
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// The fields of a value and of the values in it, by name: their places, and what is known of their own fields. The items of a
/// list count as the list.
#[derive(Debug, Default)]
struct Order(HashMap<String, (usize, Order)>);

/// The schema with its fields, at every depth, in the order in which they first occur in JSON lines. Fields that do not occur
/// are the last ones.
///
/// The inference of arrow-json sorts fields by name; [`read`](super::read) applies this function by itself.
///
/// # Cost
/// Lines are parsed until all fields have occurred, one record at a time; a fault of a line ends it.
///
/// ```
/// use arrow_schema::{DataType, Field, Schema};
/// let sorted = Schema::new(vec![Field::new("a", DataType::Int64, true), Field::new("b", DataType::Int64, true)]);
/// let written = ragged_data::json::order_fields(&b"{\"b\": 1}\n{\"a\": 2}\n"[..], &sorted);
/// assert_eq!(written.field(0).name(), "b");
/// ```
pub fn order_fields(lines: impl Read, schema: &Schema) -> Schema {
    let mut order = Order::default();
    let mut records = serde_json::Deserializer::from_reader(lines);
    let mut known = 0;
    // Ends with the text, or at a fault, which the decoder reports.
    while (&mut order).deserialize(&mut records).is_ok() {
        let count = order.count();
        if count > known && order.has_all(schema.fields()) {
            break;
        }
        known = count;
    }
    Schema::new_with_metadata(order.of_fields(schema.fields()), schema.metadata.clone())
}

impl Order {
    /// Fields of all depths.
    fn count(&self) -> usize {
        self.0.values().map(|(_, below)| 1 + below.count()).sum()
    }

    fn has_all(&self, fields: &Fields) -> bool {
        let has = |field: &FieldRef| {
            self.0.get(field.name()).is_some_and(|(_, below)| match innermost(field.data_type()) {
                DataType::Struct(fields) => below.has_all(fields),
                _ => true,
            })
        };
        fields.iter().all(has)
    }

    fn of_fields(&self, fields: &Fields) -> Fields {
        let mut sorted: Vec<&FieldRef> = fields.iter().collect();
        sorted.sort_by_key(|field| self.0.get(field.name()).map_or(usize::MAX, |(place, _)| *place));
        let below = |field: &Field| match self.0.get(field.name()) {
            Some((_, order)) => order.of_type(field.data_type()),
            None => field.data_type().clone(),
        };
        sorted.into_iter().map(|field| Arc::new(field.as_ref().clone().with_data_type(below(field)))).collect()
    }

    fn of_type(&self, data_type: &DataType) -> DataType {
        match data_type {
            DataType::Struct(fields) => DataType::Struct(self.of_fields(fields)),
            DataType::List(item) => {
                let items = self.of_type(item.data_type());
                DataType::List(Arc::new(item.as_ref().clone().with_data_type(items)))
            }
            other => other.clone(),
        }
    }
}

/// The type of the items of lists, at every depth.
fn innermost(data_type: &DataType) -> &DataType {
    match data_type {
        DataType::List(item) => innermost(item.data_type()),
        other => other,
    }
}

impl<'de> DeserializeSeed<'de> for &mut Order {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for &mut Order {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(name) = map.next_key::<String>()? {
            let next = self.0.len();
            let (_, below) = self.0.entry(name).or_insert_with(|| (next, Order::default()));
            map.next_value_seed(below)?;
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        while items.next_element_seed(&mut *self)?.is_some() {}
        Ok(())
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }
}
