//! Indexing and slicing of records and of their fields.

use super::{FieldValue, Key, RecordKeys, StructuredTensor};
use crate::error::{Error, Result, here, on_behalf};
use crate::ops::Index;

const OP: &str = "get";

/// Slicing along any dimension, down to fields.
impl StructuredTensor {
    /// The part that the keys select: items of a slice, one per dimension, and names of fields in between.
    ///
    /// The name of a field follows one item for each dimension of its records. `keys![3, "names", 0]` is the first name
    /// of record 3, `keys![.., "names", ..2]` are the first two names of every record. Items as of [`Tensor::slice`]:
    /// integers, scalar tensors of integers, ranges with a step, new axes and an ellipsis, which stands for the other
    /// dimensions of the records. A single record takes the name of a field, or `..` for all of them. No keys give the
    /// records themselves.
    ///
    /// TensorFlow: `StructuredTensor.__getitem__`.
    ///
    /// # Errors
    /// A name that no field has; a name after other than one item for each dimension of the records; an item beyond the
    /// dimensions of the records; as [`Tensor::slice`].
    ///
    /// # Cost
    /// A [`Tensor::slice`] of each selected field: a map over the values that stay, and a prefix sum per ragged
    /// dimension that is not kept whole or lies below such a dimension. Waits where that of a field does.
    ///
    /// ```
    /// # #[cfg(feature = "json")] {
    /// use ragged::{Device, StructuredTensor, keys};
    /// let json = serde_json::json!([{"doc": {"words": ["a", "b"]}}, {"doc": {"words": ["c"]}}]);
    /// let records = StructuredTensor::from_serialize(&json, &Device::cpu())?;
    /// let first = records.get(keys![.., "doc", "words", ..1])?.tensor()?;
    /// assert_eq!(first.to_string(), "<ragged.RaggedTensor [[b'a'], [b'c']]>");
    /// let longest = records.get(keys![.., "doc", "words"])?.tensor()?.row_lengths(1)?.argmax(0)?;
    /// let words = records.get(keys![&longest, "doc", "words"])?;
    /// assert_eq!(words.to_string(), "tensor([b'a', b'b'], shape=(2,), dtype=str)");
    /// # }
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// [`Tensor::slice`]: crate::Tensor::slice
    #[track_caller]
    pub fn get<'a>(&self, keys: impl RecordKeys<'a>) -> Result<FieldValue> {
        self.selected(keys.as_ref()).map_err(here())
    }

    #[track_caller]
    fn selected(&self, keys: &[Key<'_>]) -> Result<FieldValue> {
        let at = keys.iter().position(|key| matches!(key, Key::Field(_)));
        let (items, rest) = keys.split_at(at.unwrap_or(keys.len()));
        if let ([first, rest @ ..], 0) = (keys, self.rank())
            && *first == Key::Index(Index::ALL)
        {
            let fields = self.fields.iter().map(|(name, field)| Ok((name.clone(), field.get(rest)?)));
            return Ok(Self { shape: self.shape.clone(), fields: on_behalf(|| fields.collect::<Result<_>>())? }.into());
        }
        let (items, covered) = self.items(items)?;
        let Some((Key::Field(name), rest)) = rest.split_first() else {
            if covered > self.rank() {
                let rank = self.rank();
                let what = format!(
                    "{covered} items for the {rank} dimensions of the records; a field's name must follow those"
                );
                return Err(Error::argument(OP, what));
            }
            let items: &[Index<'_>] = &items;
            return if items.is_empty() {
                Ok(self.into())
            } else {
                Ok(self.each(&|t| t.slice(items)).map_err(|e| e.of(OP))?.into())
            };
        };
        if covered != self.rank() {
            let what = format!(
                "the field {name:?} follows {covered} items, but the records have {} dimensions: give each one an item, \
                 such as `..`",
                self.rank()
            );
            return Err(Error::argument(OP, what));
        }
        let keys: Vec<Key<'_>> = items.into_iter().map(Key::Index).chain(rest.iter().cloned()).collect();
        self.direct_field(OP, name)?.get(keys)
    }

    /// The items with an ellipsis replaced by items for the dimensions of the records, and the number of dimensions
    /// that they cover.
    #[track_caller]
    fn items<'a>(&self, keys: &[Key<'a>]) -> Result<(Vec<Index<'a>>, usize)> {
        let given: Vec<Index<'a>> =
            keys.iter().filter_map(|key| if let Key::Index(i) = key { Some(*i) } else { None }).collect();
        let covers = |item: &Index<'_>| !matches!(item, Index::NewAxis | Index::Ellipsis);
        let covered = given.iter().filter(|item| covers(item)).count();
        let ellipses = given.iter().filter(|item| matches!(item, Index::Ellipsis)).count();
        if ellipses > 1 {
            return Err(Error::argument(OP, "there can be one ellipsis, but there are more"));
        }
        let others = if ellipses == 0 { 0 } else { self.rank().saturating_sub(covered) };
        let mut items = Vec::new();
        for item in given {
            match item {
                Index::Ellipsis => items.extend(std::iter::repeat_n(Index::ALL, others)),
                item => items.push(item),
            }
        }
        Ok((items, covered + others))
    }
}
