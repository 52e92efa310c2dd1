//! Reads JSON text straight into columns, without values in between.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::sync::Arc;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::column::{Column, RecordColumn, Refusal, Slot};
use super::huge::{BEYOND_64_BITS, FloatedIntegers};
use super::misfit::{Segment, Trail};

/// Options of parsing.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Rules {
    /// Whether fields that the records do not have are skipped.
    pub ignore_unknown: bool,
    /// Whether nulls and missing fields are default values.
    pub default_nulls: bool,
}

/// State of the parse of one line.
pub(super) struct Context {
    rules: Rules,
    /// The integers of the line that the parser reads as floats, where they have been searched for. Before that, each
    /// number that may be one ends the parse.
    floated: Option<FloatedIntegers>,
    /// Reason of the error, if the text itself is well-formed.
    reason: RefCell<Option<Refusal>>,
    trail: RefCell<Trail>,
    suspect: Cell<bool>,
}

impl Context {
    pub(super) fn new(rules: Rules, floated: Option<FloatedIntegers>) -> Self {
        let (reason, trail) = (RefCell::default(), RefCell::default());
        Self { rules, floated, reason, trail, suspect: Cell::new(false) }
    }

    /// Whether the error is about a number that may be an integer that the parser reads as a float.
    pub(super) fn is_suspect(&self) -> bool {
        self.suspect.get()
    }

    /// The path and the reason of the error.
    pub(super) fn take(&self) -> (String, Option<Refusal>) {
        (self.trail.take().to_string(), self.reason.take())
    }

    /// An error of the parser with the reason.
    #[cold]
    fn fail<E: Error>(&self, reason: Refusal) -> E {
        *self.reason.borrow_mut() = Some(reason);
        E::custom("")
    }

    /// Adds a step to the path of the error, from the inside outwards.
    #[cold]
    fn within<E>(&self, error: E, segment: Segment) -> E {
        self.trail.borrow_mut().0.push(segment);
        error
    }
}

/// The column that takes the next value.
pub(super) struct Place<'a> {
    pub column: &'a mut Column,
    pub context: &'a Context,
    /// Whether the value is that of a line: a record.
    pub is_line: bool,
}

impl Place<'_> {
    #[inline]
    fn done<E: Error>(&self, pushed: Result<(), Refusal>) -> Result<(), E> {
        pushed.map_err(|reason| self.context.fail(reason))
    }

    #[inline]
    fn check_line<E: Error>(&self) -> Result<(), E> {
        if self.is_line {
            return Err(self.context.fail("a line must hold one record, in braces".into()));
        }
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for Place<'_> {
    type Value = ();

    #[inline]
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Place<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    #[inline]
    fn visit_bool<E: Error>(self, value: bool) -> Result<(), E> {
        self.check_line()?;
        let pushed = self.column.push_bool(value);
        self.done(pushed)
    }

    #[inline]
    fn visit_i64<E: Error>(self, value: i64) -> Result<(), E> {
        self.check_line()?;
        let pushed = self.column.push_i64(value);
        self.done(pushed)
    }

    #[inline]
    fn visit_u64<E: Error>(self, value: u64) -> Result<(), E> {
        self.check_line()?;
        let pushed = self.column.push_u64(value);
        self.done(pushed)
    }

    #[inline]
    fn visit_f64<E: Error>(self, value: f64) -> Result<(), E> {
        self.check_line()?;
        if value == 0.0 && value.is_sign_negative() && self.column.takes_integers() {
            match &self.context.floated {
                None => {
                    self.context.suspect.set(true);
                    return Err(self.context.fail("a negative zero".into()));
                }
                Some(floated) if floated.zeros => {
                    let pushed = self.column.push_i64(0);
                    return self.done(pushed);
                }
                Some(_) => {}
            }
        }
        if value.abs() >= BEYOND_64_BITS && self.context.floated.as_ref().is_none_or(|all| all.big.contains(&value)) {
            self.context.suspect.set(true);
            return Err(self
                .context
                .fail(format!("the integer {value:e} needs more than 64 bits; write it as a float")));
        }
        let pushed = self.column.push_f64(value);
        self.done(pushed)
    }

    #[inline]
    fn visit_str<E: Error>(self, value: &str) -> Result<(), E> {
        self.check_line()?;
        let pushed = self.column.push_bytes(value.as_bytes());
        self.done(pushed)
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.check_line()?;
        if !self.context.rules.default_nulls {
            return Err(self.context.fail(self.column.refuse_null()));
        }
        let pushed = self.column.push_default();
        self.done(pushed)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        self.check_line()?;
        let context = self.context;
        let list = self.column.list().map_err(|reason| context.fail(reason))?;
        let mut at = 0;
        loop {
            let place = Place { column: &mut list.child, context, is_line: false };
            match items.next_element_seed(place) {
                Ok(Some(())) => at += 1,
                Ok(None) => break,
                Err(e) => return Err(context.within(e, Segment::Item(at))),
            }
        }
        list.end().map_err(|reason| context.fail(reason))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        let context = self.context;
        let record = self.column.record().map_err(|reason| context.fail(reason))?;
        let (mut expected, mut given) = (0, 0);
        loop {
            let name = Name { record: &mut *record, context, expected: &mut expected };
            let Some(slot) = fields.next_key_seed(name)? else { break };
            match slot {
                Slot::At(at) => {
                    let place = Place { column: &mut record.columns[at], context, is_line: false };
                    if let Err(e) = fields.next_value_seed(place) {
                        return Err(context.within(e, Segment::Field(record.names[at].clone())));
                    }
                    given += 1;
                }
                Slot::Unknown | Slot::Twice => {
                    fields.next_value::<IgnoredAny>()?;
                }
            }
        }
        if context.rules.default_nulls {
            let filled = record.fill();
            filled.map_err(|(name, reason)| context.within(context.fail(reason), Segment::Field(name)))?;
            given = record.columns.len();
        }
        record.end(given).map_err(|missing: Arc<str>| {
            context.within(context.fail("the field is missing".into()), Segment::Field(missing))
        })
    }
}

/// The next name of a record.
struct Name<'a> {
    record: &'a mut RecordColumn,
    context: &'a Context,
    expected: &'a mut usize,
}

impl<'de> DeserializeSeed<'de> for Name<'_> {
    type Value = Slot;

    #[inline]
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Slot, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Name<'_> {
    type Value = Slot;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a field")
    }

    #[inline]
    fn visit_str<E: Error>(self, name: &str) -> Result<Slot, E> {
        let reason = match self.record.slot(name, self.expected) {
            Ok(Slot::Unknown) if self.context.rules.ignore_unknown => return Ok(Slot::Unknown),
            Ok(slot @ Slot::At(_)) => return Ok(slot),
            Ok(Slot::Unknown) => "the records have no such field".into(),
            Ok(Slot::Twice) => "the field is given twice".into(),
            Err(refusal) => refusal,
        };
        Err(self.context.within(self.context.fail(reason), Segment::Field(name.into())))
    }
}
