//! Options of a reader of JSON lines, and its progress.

use std::io::Read;

use super::JsonLines;
use crate::structured::json::json_type::JsonType;
use crate::structured::json::misfit::Misfit;
use crate::structured::json::options::JsonOptions;

/// Options.
impl<R: Read> JsonLines<R> {
    /// Sets the type of the records: a [`JsonType::Record`], or a list of it, as
    /// [`StructuredTensor::schema`](crate::StructuredTensor::schema) gives it.
    ///
    /// Parts that are [`JsonType::Inferred`] are inferred. A schema that is neither is an error of the read.
    ///
    /// ```
    /// use ragged::{DType, Device, JsonLines, JsonType};
    /// let schema = JsonType::record([("id", DType::U8)]);
    /// let records = JsonLines::new(&br#"{"id": 1}"#[..]).with_schema(schema).read(&Device::cpu())?;
    /// assert_eq!(records.field_value("id")?.tensor()?.dtype(), DType::U8);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[must_use]
    pub fn with_schema(mut self, schema: JsonType) -> Self {
        self.schema = schema;
        self
    }

    /// Sets the schema and what becomes of nulls and misfits, as the methods below do one by one.
    ///
    /// Replaces what was set before. Reads of the next records follow it.
    ///
    /// ```
    /// use ragged::{Device, JsonLines, JsonOptions};
    /// let text = "{\"id\": 1}\n{\"id\": null}\n{\"id\": [2]}\n";
    /// let options = JsonOptions::default().default_nulls(true).skip_misfits(true);
    /// let records = JsonLines::new(text.as_bytes()).with_options(options).read(&Device::cpu())?;
    /// assert_eq!(records.field_value("id")?.to_string(), "tensor([1, 0], shape=(2,), dtype=i64)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[must_use]
    pub fn with_options(mut self, options: JsonOptions) -> Self {
        self.parsing = options.parsing();
        self.schema = options.schema;
        self
    }

    /// Skips lines that do not fit, and [counts](Self::skipped) them, instead of ending with an error.
    ///
    /// [`misfits`](Self::misfits) says which lines, and why.
    ///
    /// ```
    /// use ragged::{Device, JsonLines};
    /// let mut lines = JsonLines::new(&b"{\"id\": 1}\n{\"id\": }\n{\"id\": 3}"[..]).skip_misfits();
    /// assert_eq!(lines.read(&Device::cpu())?.field_value("id")?.to_string(), "tensor([1, 3], shape=(2,), dtype=i64)");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[must_use]
    pub fn skip_misfits(mut self) -> Self {
        self.parsing.skip = true;
        self
    }

    /// Skips fields that the schema, or else the first record, does not have.
    ///
    /// Without this a line with such a field does not fit.
    ///
    /// ```
    /// use ragged::{Device, JsonLines};
    /// let mut lines = JsonLines::new(&b"{\"id\": 1}\n{\"id\": 2, \"x\": null}"[..]).ignore_unknown_fields();
    /// assert_eq!(lines.read(&Device::cpu())?.field_names().collect::<Vec<_>>(), ["id"]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[must_use]
    pub fn ignore_unknown_fields(mut self) -> Self {
        self.parsing.rules.ignore_unknown = true;
        self
    }

    /// Reads null, and a field that is missing, as the default value of its type: 0, false, the empty string, the empty
    /// list, the record of default values. Without this they do not fit.
    ///
    /// A null before any value of an inferred field does not fit, since its type is not known: give a
    /// [schema](Self::with_schema). Without a schema the first record names all fields.
    ///
    /// ```
    /// use ragged::{DType, Device, JsonLines, JsonType};
    /// let text = r#"{"id": 1, "words": null}
    /// {"id": null, "words": ["a", null]}
    /// {}"#;
    /// let schema = JsonType::record([("id", JsonType::from(DType::U32)), ("words", JsonType::list(DType::Str))]);
    /// let records = JsonLines::new(text.as_bytes()).with_schema(schema).default_nulls().read(&Device::cpu())?;
    /// assert_eq!(records.field_value("id")?.to_string(), "tensor([1, 0, 0], shape=(3,), dtype=u32)");
    /// assert_eq!(records.field_value("words")?.to_string(), "<ragged.RaggedTensor [[], [b'a', b''], []]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[must_use]
    pub fn default_nulls(mut self) -> Self {
        self.parsing.rules.default_nulls = true;
        self
    }

    /// Sets the size of a batch of text in bytes, 8 MiB by default.
    ///
    /// A batch has at least one line, however long. Smaller batches take less memory, larger ones are parsed by more
    /// threads.
    ///
    /// ```
    /// use ragged::{Device, JsonLines};
    /// let mut lines = JsonLines::new(&b"{\"id\": 1}\n{\"id\": 2}"[..]).batch_bytes(1);
    /// assert_eq!(lines.batches(&Device::cpu()).count(), 2);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[must_use]
    pub fn batch_bytes(mut self, bytes: usize) -> Self {
        self.batch_bytes = bytes.max(1);
        self
    }
}

/// Schema and progress.
impl<R: Read> JsonLines<R> {
    /// The schema: as given, or as inferred from the records that the last [`read`](Self::read) or the first batch of
    /// [`batches`](Self::batches) returned.
    ///
    /// [`JsonType::Inferred`] before the first read without a schema.
    ///
    /// ```
    /// use ragged::{Device, JsonLines};
    /// let mut lines = JsonLines::new(&br#"{"id": 1}"#[..]);
    /// lines.read(&Device::cpu())?;
    /// assert_eq!(lines.schema().to_string(), "{id: i64}");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn schema(&self) -> &JsonType {
        &self.schema
    }

    /// Number of lines read so far, empty and skipped ones among them.
    ///
    /// ```
    /// use ragged::{Device, JsonLines};
    /// let mut lines = JsonLines::new(&b"{\"id\": 1}\n\n{\"id\": 2}"[..]);
    /// lines.read(&Device::cpu())?;
    /// assert_eq!(lines.lines(), 3);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn lines(&self) -> u64 {
        self.lines
    }

    /// Number of lines that were skipped so far, because they do not fit.
    ///
    /// ```
    /// use ragged::{Device, JsonLines};
    /// let mut lines = JsonLines::new(&b"{\"id\": 1}\n{\"id\": }"[..]).skip_misfits();
    /// lines.read(&Device::cpu())?;
    /// assert_eq!(lines.skipped(), 1);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    /// The first 100 lines that were skipped: number, path and reason of each.
    ///
    /// ```
    /// use ragged::{Device, JsonLines};
    /// let mut lines = JsonLines::new(&b"{\"id\": 1}\n{\"id\": true}"[..]).skip_misfits();
    /// lines.read(&Device::cpu())?;
    /// assert_eq!((lines.misfits()[0].line, lines.misfits()[0].path.as_str()), (2, "id"));
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn misfits(&self) -> &[Misfit] {
        &self.misfits
    }
}
