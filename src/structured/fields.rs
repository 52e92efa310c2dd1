//! Fields of records in the order in which they were given.

use std::collections::BTreeMap;
use std::ops::Index;
use std::sync::Arc;

use super::FieldValue;

/// Fields by name, in the order of their insertion.
#[derive(Debug, Clone, Default)]
pub(super) struct Fields {
    all: Vec<(Arc<str>, FieldValue)>,
    /// The position of each.
    positions: BTreeMap<Arc<str>, usize>,
}

impl Fields {
    pub(super) fn new() -> Self {
        Self::default()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub(super) fn get(&self, name: &str) -> Option<&FieldValue> {
        self.positions.get(name).map(|&at| &self.all[at].1)
    }

    pub(super) fn contains_key(&self, name: &str) -> bool {
        self.positions.contains_key(name)
    }

    /// Adds the field at the end, or replaces the value of the field of that name, which stays where it is.
    pub(super) fn insert(&mut self, name: Arc<str>, value: FieldValue) {
        match self.positions.get(&name) {
            Some(&at) => self.all[at].1 = value,
            None => {
                self.positions.insert(name.clone(), self.all.len());
                self.all.push((name, value));
            }
        }
    }

    pub(super) fn remove(&mut self, name: &str) {
        if let Some(at) = self.positions.remove(name) {
            self.all.remove(at);
            self.positions.values_mut().filter(|other| **other > at).for_each(|other| *other -= 1);
        }
    }

    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = (&Arc<str>, &FieldValue)> {
        self.all.iter().map(|(name, value)| (name, value))
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = (&Arc<str>, &mut FieldValue)> {
        self.all.iter_mut().map(|(name, value)| (&*name, value))
    }

    pub(super) fn keys(&self) -> impl ExactSizeIterator<Item = &Arc<str>> {
        self.all.iter().map(|(name, _)| name)
    }

    pub(super) fn values(&self) -> impl ExactSizeIterator<Item = &FieldValue> {
        self.all.iter().map(|(_, value)| value)
    }

    /// The fields in the order of their names.
    pub(super) fn by_name(&self) -> impl Iterator<Item = (&Arc<str>, &FieldValue)> {
        self.positions.iter().map(|(name, &at)| (name, &self.all[at].1))
    }
}

impl Index<&str> for Fields {
    type Output = FieldValue;

    fn index(&self, name: &str) -> &FieldValue {
        &self.all[self.positions[name]].1
    }
}

impl FromIterator<(Arc<str>, FieldValue)> for Fields {
    fn from_iter<I: IntoIterator<Item = (Arc<str>, FieldValue)>>(fields: I) -> Self {
        let mut out = Self::new();
        fields.into_iter().for_each(|(name, value)| out.insert(name, value));
        out
    }
}
