//! Writes values that implement `serde::Serialize` into columns.

use std::fmt::{self, Display};

use serde::ser::{
    Error, Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant, Serializer,
};

use super::batch::Parsing;
use super::column::{Column, ListColumn, RecordColumn, Refusal, Slot, TOO_MANY};
use super::misfit::{Segment, Trail};

/// Values may be nested this deep.
const MAX_DEPTH: usize = 128;

/// The value that does not fit: its path, and the reason.
#[derive(Debug)]
pub(super) struct Unfit {
    pub trail: Trail,
    pub what: Refusal,
}

type Written<T = ()> = Result<T, Unfit>;

impl Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}
impl std::error::Error for Unfit {}
impl Error for Unfit {
    fn custom<T: Display>(what: T) -> Self {
        what.to_string().into()
    }
}
impl From<Refusal> for Unfit {
    fn from(what: Refusal) -> Self {
        Self { trail: Trail::default(), what }
    }
}
impl Unfit {
    fn within(mut self, segment: Segment) -> Self {
        self.trail.0.push(segment);
        self
    }
}

/// The column that takes the next value.
pub(super) struct Writer<'a> {
    pub column: &'a mut Column,
    /// Number of lists and records around it.
    pub depth: usize,
    pub parsing: Parsing,
}

impl<'a> Writer<'a> {
    /// Fails where the value would be too deep.
    fn check_depth(&self) -> Written {
        if self.depth < MAX_DEPTH {
            return Ok(());
        }
        Err(format!("values are nested deeper than {MAX_DEPTH} levels").into())
    }

    fn items(self) -> Written<Items<'a>> {
        self.check_depth()?;
        self.column.list()?;
        Ok(Items { column: self.column, variant: None, depth: self.depth + 1, at: 0, parsing: self.parsing })
    }

    fn members(self) -> Written<Members<'a>> {
        self.check_depth()?;
        self.column.record()?;
        let (column, parsing, depth) = (self.column, self.parsing, self.depth + 1);
        Ok(Members { column, variant: None, depth, expected: 0, given: 0, slot: None, parsing })
    }

    /// The field of a record with only that field, named after a variant.
    fn variant(&mut self, name: &'static str) -> Written<usize> {
        self.check_depth()?;
        field_of(self.column.record()?, name, &mut 0)
    }

    fn end_variant(self) -> Written {
        end(self.column.record()?, 1)
    }
}

/// The field of a name; none if the records do not have it.
fn slot_of(record: &mut RecordColumn, name: &str, expected: &mut usize) -> Written<Option<usize>> {
    let what = match record.slot(name, expected) {
        Ok(Slot::At(at)) => return Ok(Some(at)),
        Ok(Slot::Unknown) => return Ok(None),
        Ok(Slot::Twice) => "the field is given twice".into(),
        Err(refusal) => refusal,
    };
    Err(Unfit::from(what).within(Segment::Field(name.into())))
}

/// The field of a name that the records must have.
fn field_of(record: &mut RecordColumn, name: &str, expected: &mut usize) -> Written<usize> {
    let unknown = || Unfit::from("the records have no such field".to_owned()).within(Segment::Field(name.into()));
    slot_of(record, name, expected)?.ok_or_else(unknown)
}

/// Ends a record of `given` fields.
fn end(record: &mut RecordColumn, given: usize) -> Written {
    record.end(given).map_err(|name| Unfit::from("the field is missing".to_owned()).within(Segment::Field(name)))
}

/// Writes the value of field `at` of a record.
fn write<T: Serialize + ?Sized>(
    record: &mut RecordColumn,
    at: usize,
    value: &T,
    depth: usize,
    parsing: Parsing,
) -> Written {
    let written = value.serialize(Writer { column: &mut record.columns[at], depth, parsing });
    written.map_err(|e| e.within(Segment::Field(record.names[at].clone())))
}

macro_rules! scalars {
    ($($method:ident $t:ty, $value:ident => $push:ident $as:expr;)*) => {$(
        fn $method(self, $value: $t) -> Written {
            Ok(self.column.$push($as)?)
        }
    )*};
}

impl<'a> Serializer for Writer<'a> {
    type Ok = ();
    type Error = Unfit;
    type SerializeSeq = Items<'a>;
    type SerializeTuple = Items<'a>;
    type SerializeTupleStruct = Items<'a>;
    type SerializeTupleVariant = Items<'a>;
    type SerializeMap = Members<'a>;
    type SerializeStruct = Members<'a>;
    type SerializeStructVariant = Members<'a>;

    scalars! {
        serialize_bool bool, v => push_bool v;
        serialize_i8 i8, v => push_i64 v.into();
        serialize_i16 i16, v => push_i64 v.into();
        serialize_i32 i32, v => push_i64 v.into();
        serialize_i64 i64, v => push_i64 v;
        serialize_u8 u8, v => push_u64 v.into();
        serialize_u16 u16, v => push_u64 v.into();
        serialize_u32 u32, v => push_u64 v.into();
        serialize_u64 u64, v => push_u64 v;
        serialize_f32 f32, v => push_f64 v.into();
        serialize_f64 f64, v => push_f64 v;
        serialize_char char, v => push_bytes v.encode_utf8(&mut [0; 4]).as_bytes();
        serialize_str &str, v => push_bytes v.as_bytes();
        serialize_bytes &[u8], v => push_bytes v;
    }

    fn serialize_i128(self, v: i128) -> Written {
        match (i64::try_from(v), u64::try_from(v)) {
            (Ok(v), _) => Ok(self.column.push_i64(v)?),
            (_, Ok(v)) => Ok(self.column.push_u64(v)?),
            _ => Err(format!("the integer {v} needs more than 64 bits").into()),
        }
    }
    fn serialize_u128(self, v: u128) -> Written {
        match u64::try_from(v) {
            Ok(v) => Ok(self.column.push_u64(v)?),
            Err(_) => Err(format!("the integer {v} needs more than 64 bits").into()),
        }
    }
    fn serialize_none(self) -> Written {
        if self.parsing.rules.default_nulls {
            return Ok(self.column.push_default()?);
        }
        Err(self.column.refuse_null().into())
    }
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Written {
        value.serialize(self)
    }
    fn serialize_unit(self) -> Written {
        self.serialize_none()
    }
    fn serialize_unit_struct(self, _name: &'static str) -> Written {
        self.serialize_none()
    }
    fn serialize_unit_variant(self, _name: &'static str, _at: u32, variant: &'static str) -> Written {
        self.serialize_str(variant)
    }
    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _name: &'static str, value: &T) -> Written {
        value.serialize(self)
    }
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        mut self,
        _name: &'static str,
        _at: u32,
        variant: &'static str,
        value: &T,
    ) -> Written {
        let at = self.variant(variant)?;
        write(self.column.record()?, at, value, self.depth + 1, self.parsing)?;
        self.end_variant()
    }
    fn serialize_seq(self, _len: Option<usize>) -> Written<Items<'a>> {
        self.items()
    }
    fn serialize_tuple(self, _len: usize) -> Written<Items<'a>> {
        self.items()
    }
    fn serialize_tuple_struct(self, _name: &'static str, _len: usize) -> Written<Items<'a>> {
        self.items()
    }
    fn serialize_tuple_variant(
        mut self,
        _name: &'static str,
        _at: u32,
        variant: &'static str,
        _len: usize,
    ) -> Written<Items<'a>> {
        let at = self.variant(variant)?;
        self.column.record()?.columns[at].list()?;
        Ok(Items { column: self.column, variant: Some(at), depth: self.depth + 2, at: 0, parsing: self.parsing })
    }
    fn serialize_map(self, _len: Option<usize>) -> Written<Members<'a>> {
        self.members()
    }
    fn serialize_struct(self, _name: &'static str, _len: usize) -> Written<Members<'a>> {
        self.members()
    }
    fn serialize_struct_variant(
        mut self,
        _name: &'static str,
        _at: u32,
        variant: &'static str,
        _len: usize,
    ) -> Written<Members<'a>> {
        let at = self.variant(variant)?;
        self.column.record()?.columns[at].record()?;
        let (column, parsing, depth) = (self.column, self.parsing, self.depth + 2);
        Ok(Members { column, variant: Some(at), depth, expected: 0, given: 0, slot: None, parsing })
    }
}

/// The column itself, or that of the field of a variant.
fn inner(column: &mut Column, variant: Option<usize>) -> Written<&mut Column> {
    match variant {
        None => Ok(column),
        Some(at) => Ok(&mut column.record()?.columns[at]),
    }
}

/// Ends the record around the value of a variant.
fn end_outer(column: &mut Column, variant: Option<usize>) -> Written {
    if variant.is_some() { end(column.record()?, 1) } else { Ok(()) }
}

/// Writes the items of a list.
pub(super) struct Items<'a> {
    column: &'a mut Column,
    /// The field that holds the list, if it is the value of a variant.
    variant: Option<usize>,
    depth: usize,
    at: usize,
    parsing: Parsing,
}

impl Items<'_> {
    fn list(&mut self) -> Written<&mut ListColumn> {
        Ok(inner(self.column, self.variant)?.list()?)
    }

    fn item<T: Serialize + ?Sized>(&mut self, value: &T) -> Written {
        let (depth, at, parsing) = (self.depth, self.at, self.parsing);
        self.at += 1;
        let column = &mut *self.list()?.child;
        let before = column.len();
        let written = value.serialize(Writer { column: &mut *column, depth, parsing });
        match written {
            Err(e) if parsing.skip && depth == 1 && e.what != TOO_MANY => {
                column.truncate(before);
                Ok(())
            }
            other => other.map_err(|e| e.within(Segment::Item(at))),
        }
    }

    fn finish(mut self) -> Written {
        self.list()?.end()?;
        end_outer(self.column, self.variant)
    }
}

/// Writes the fields of a record.
pub(super) struct Members<'a> {
    column: &'a mut Column,
    /// The field that holds the record, if it is the value of a variant.
    variant: Option<usize>,
    depth: usize,
    expected: usize,
    given: usize,
    /// The field of the last key; none of one whose value is left out.
    slot: Option<Option<usize>>,
    parsing: Parsing,
}

impl Members<'_> {
    fn record(&mut self) -> Written<&mut RecordColumn> {
        Ok(inner(self.column, self.variant)?.record()?)
    }

    fn key(&mut self, name: &str) -> Written {
        let mut expected = self.expected;
        let at = if self.parsing.rules.ignore_unknown {
            slot_of(self.record()?, name, &mut expected)?
        } else {
            Some(field_of(self.record()?, name, &mut expected)?)
        };
        (self.expected, self.slot) = (expected, Some(at));
        Ok(())
    }

    fn value<T: Serialize + ?Sized>(&mut self, value: &T) -> Written {
        let Some(at) = self.slot.take() else { return Err("a value has no key".to_owned().into()) };
        let Some(at) = at else { return Ok(()) };
        self.given += 1;
        let (depth, parsing) = (self.depth, self.parsing);
        write(self.record()?, at, value, depth, parsing)
    }

    fn finish(mut self) -> Written {
        let (mut given, fills) = (self.given, self.parsing.rules.default_nulls);
        let record = self.record()?;
        if fills {
            record.fill().map_err(|(name, refusal)| Unfit::from(refusal).within(Segment::Field(name)))?;
            given = record.columns.len();
        }
        end(record, given)?;
        end_outer(self.column, self.variant)
    }
}

macro_rules! lists {
    ($($trait:ident $method:ident)*) => {$(
        impl $trait for Items<'_> {
            type Ok = ();
            type Error = Unfit;
            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Written {
                self.item(value)
            }
            fn end(self) -> Written {
                self.finish()
            }
        }
    )*};
}
lists! {
    SerializeSeq serialize_element
    SerializeTuple serialize_element
    SerializeTupleStruct serialize_field
    SerializeTupleVariant serialize_field
}

macro_rules! records {
    ($($trait:ident)*) => {$(
        impl $trait for Members<'_> {
            type Ok = ();
            type Error = Unfit;
            fn serialize_field<T: Serialize + ?Sized>(&mut self, name: &'static str, value: &T) -> Written {
                self.key(name)?;
                self.value(value)
            }
            fn end(self) -> Written {
                self.finish()
            }
        }
    )*};
}
records! { SerializeStruct SerializeStructVariant }

impl SerializeMap for Members<'_> {
    type Ok = ();
    type Error = Unfit;
    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Written {
        // The text of a key, as its JSON value: a string.
        match serde_json::to_value(key) {
            Ok(serde_json::Value::String(name)) => self.key(&name),
            _ => Err("the keys of a map must be strings".to_owned().into()),
        }
    }
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Written {
        self.value(value)
    }
    fn end(self) -> Written {
        self.finish()
    }
}
