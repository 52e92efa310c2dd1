//! The fields of a record, in their order.

use std::collections::HashMap;
use std::sync::Arc;

use ragged::Result;

use super::Item;

/// Named items with distinct names. Records have few: a name is searched for.
#[derive(Clone, Default)]
pub(crate) struct Fields(Vec<(Arc<str>, Item)>);

impl Fields {
    /// Of two items with one name, the last counts, in the place of the first.
    pub(super) fn new(fields: impl IntoIterator<Item = (Arc<str>, Item)>) -> Self {
        let mut all: Vec<(Arc<str>, Item)> = Vec::new();
        let mut places: HashMap<Arc<str>, usize> = HashMap::new();
        for (name, item) in fields {
            match places.get(&name) {
                Some(&place) => all[place].1 = item,
                None => {
                    places.insert(name.clone(), all.len());
                    all.push((name, item));
                }
            }
        }
        Self(all)
    }

    #[cfg(feature = "dataset")]
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Item> {
        self.0.iter().find(|(known, _)| **known == *name).map(|(_, item)| item)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Arc<str>, &Item)> + Clone {
        self.0.iter().map(|(name, item)| (name, item))
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &Arc<str>> + Clone {
        self.iter().map(|(name, _)| name)
    }

    /// The items in the order of the fields of `other`; `None` unless both have the same names.
    #[cfg(feature = "dataset")]
    pub(crate) fn in_order_of<'a>(&'a self, other: &Self) -> Option<Vec<&'a Item>> {
        if self.names().eq(other.names()) {
            return Some(self.iter().map(|(_, item)| item).collect());
        }
        other.names().map(|name| self.get(name)).collect::<Option<_>>().filter(|_| self.len() == other.len())
    }

    /// The same names with other items.
    #[cfg(feature = "dataset")]
    pub(crate) fn map(&self, mut f: impl FnMut(&Item) -> Item) -> Self {
        Self(self.0.iter().map(|(name, item)| (name.clone(), f(item))).collect())
    }

    /// As [`Self::map`], of the items themselves.
    #[cfg(feature = "dataset")]
    pub(crate) fn map_into(self, mut f: impl FnMut(Item) -> Item) -> Self {
        Self(self.0.into_iter().map(|(name, item)| (name, f(item))).collect())
    }

    /// As [`Self::map_into`], where `f` may fail.
    #[cfg(feature = "dataset")]
    pub(crate) fn try_map_into(self, mut f: impl FnMut(Item) -> Result<Item>) -> Result<Self> {
        self.0.into_iter().map(|(name, item)| Ok((name, f(item)?))).collect::<Result<_>>().map(Self)
    }

    /// As [`Self::map`], where `f` may fail.
    pub(crate) fn try_map(&self, mut f: impl FnMut(&Item) -> Result<Item>) -> Result<Self> {
        self.0.iter().map(|(name, item)| Ok((name.clone(), f(item)?))).collect::<Result<_>>().map(Self)
    }
}
