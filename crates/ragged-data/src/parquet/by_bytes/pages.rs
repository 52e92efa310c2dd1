//! Pages of a column chunk, and the rows that begin in them.
//!
//! A [`Column`] decompresses pages as rows are measured, and holds those of the rows that are not decoded yet. The length of a
//! row is known before its values are decoded: repetition levels say how many values it has. Strings count as the mean of
//! their page, or as the longest string of the dictionary.

use std::collections::VecDeque;

use ::parquet::basic::{Encoding, Type};
use ::parquet::column::page::{Page, PageReader};
use ::parquet::schema::types::ColumnDescriptor;
use ragged::Result;

use super::super::reader::guarded;
use super::feed::Feed;
use super::levels::Levels;
use crate::file::unreadable;

/// A row that is measured, as far as it is.
#[derive(Clone, Copy)]
pub(super) struct Row {
    /// The held page in which it begins.
    page: usize,
    /// Rows that begin in that page before it; the rest of a row that began in an earlier page is one of them.
    before: usize,
    /// Bytes of its values, of strings by an estimate.
    pub(super) bytes: u64,
    /// Bytes of its values at least.
    pub(super) sure: u64,
    /// Whether all of it is measured.
    pub(super) whole: bool,
}

/// A column chunk from the next row on.
pub(super) struct Column {
    name: String,
    pages: Box<dyn PageReader>,
    /// The greatest repetition level.
    nesting: i16,
    /// Bytes of a value; none of strings.
    width: Option<u64>,
    dictionary: Option<Page>,
    /// The longest string of the dictionary.
    longest: u64,
    held: VecDeque<Page>,
    /// Rows that begin in the first held page before the next row that is decoded.
    passed: usize,
    /// The levels that are left of the last held page.
    levels: Levels,
    /// Rows that begin in the last held page before these levels, as in [`Row::before`].
    begun: usize,
    /// Bytes of a value of the last held page: exact, or the estimate of a string.
    unit: u64,
    /// The mean of the strings of the last held page; 0 if they are keys of a dictionary.
    least: u64,
    row: Option<Row>,
}

impl Column {
    pub(super) fn new(descriptor: &ColumnDescriptor, pages: Box<dyn PageReader>) -> Self {
        let width = match descriptor.physical_type() {
            Type::BOOLEAN => Some(1),
            Type::INT32 | Type::FLOAT => Some(4),
            Type::INT64 | Type::DOUBLE => Some(8),
            Type::INT96 => Some(12),
            Type::FIXED_LEN_BYTE_ARRAY => Some(descriptor.type_length().max(0) as u64),
            Type::BYTE_ARRAY => None,
        };
        Self {
            name: descriptor.path().string(),
            pages,
            nesting: descriptor.max_rep_level(),
            width,
            dictionary: None,
            longest: 0,
            held: VecDeque::new(),
            passed: 0,
            levels: Levels::of_rows(0),
            begun: 0,
            unit: 0,
            least: 0,
            row: None,
        }
    }

    /// Measures the next row, until it ends or surely has more than `most` bytes. The pages before its last one are dropped if
    /// `refused`: the row is not going to be decoded.
    ///
    /// # Errors
    /// A damaged page; no further row.
    pub(super) fn measure(&mut self, most: u64, refused: bool) -> Result<Row> {
        let mut row = match self.row {
            Some(row) => row,
            None => self.begin()?,
        };
        while !row.whole && (refused || row.sure <= most) {
            let inside = self.levels.pass_inside()?;
            row.whole = self.levels.at_row()?.is_some();
            row.bytes = row.bytes.saturating_add(inside.saturating_mul(self.unit));
            // All strings of a page are the row's if it begins before the page and ends after it.
            let is_within = !row.whole && row.page + 1 < self.held.len();
            let least = self.width.unwrap_or(if is_within { self.least } else { 0 });
            row.sure = row.sure.saturating_add(inside.saturating_mul(least));
            if row.whole {
                break;
            }
            row.whole = !self.load()? || self.levels.at_row()? == Some(true);
            if !row.whole {
                // The rest of this row counts as one that begins here.
                self.begun = 1;
            }
            if refused {
                self.held.drain(..self.held.len().saturating_sub(1));
                row.page = 0;
            }
        }
        self.row = Some(row);
        Ok(row)
    }

    /// The next row, of which one value is measured.
    fn begin(&mut self) -> Result<Row> {
        while self.levels.at_row()?.is_none() {
            if !self.load()? {
                return Err(self.damaged("has fewer rows than its row group"));
            }
        }
        if self.levels.at_row()? != Some(true) {
            return Err(self.damaged("does not begin with a row"));
        }
        self.levels.pass_one()?;
        let (page, before, sure) = (self.held.len() - 1, self.begun, self.width.unwrap_or(0));
        let row = Row { page, before, bytes: self.unit, sure, whole: self.nesting == 0 };
        self.begun += 1;
        Ok(row)
    }

    /// Takes the measured row as one to decode, or to leave out: the next row is measured afresh.
    pub(super) fn accept(&mut self) {
        self.row = None;
    }

    /// Drops the rows before the next one.
    pub(super) fn skip(&mut self) {
        let (page, before) = self.next_row();
        self.held.drain(..page);
        self.passed = before;
    }

    /// The held page in which the next row begins, and the rows that begin there before it.
    fn next_row(&mut self) -> (usize, usize) {
        match self.row {
            Some(row) => (row.page, row.before),
            None if matches!(self.levels.at_row(), Ok(Some(_))) => (self.held.len() - 1, self.begun),
            None => (self.held.len(), 0),
        }
    }

    /// Rows that a feed has before those to decode.
    pub(super) fn passed(&self) -> usize {
        self.passed
    }

    /// The pages of all rows before the next one, preceded by `padding` rows that are skipped.
    pub(super) fn feed(&mut self, padding: usize) -> Feed {
        let (page, before) = self.next_row();
        let mut pages: VecDeque<Page> = self.held.drain(..page).collect();
        if before > 0 {
            pages.extend(self.held.front().cloned());
        }
        self.passed = before;
        if let Some(row) = &mut self.row {
            row.page = 0;
        }
        Feed::new(self.dictionary.clone(), padding, pages)
    }

    /// Decompresses the next page of values; whether there is one.
    fn load(&mut self) -> Result<bool> {
        loop {
            let Some(page) = guarded(|| self.pages.get_next_page())? else { return Ok(false) };
            let rows = match &page {
                Page::DictionaryPage { buf, .. } => {
                    self.longest = if self.width.is_none() { longest(buf) } else { 0 };
                    self.dictionary = Some(page);
                    continue;
                }
                Page::DataPage { num_values, .. } | Page::DataPageV2 { num_values, .. } if self.nesting == 0 => {
                    Levels::of_rows(*num_values)
                }
                Page::DataPage { buf, num_values, rep_level_encoding: Encoding::RLE, .. } => {
                    let size = buf.get(..4).and_then(|size| <[u8; 4]>::try_from(size).ok()).map(u32::from_le_bytes);
                    let end = size.and_then(|size| (size as usize).checked_add(4)).filter(|end| *end <= buf.len());
                    let end = end.ok_or_else(|| self.damaged("has a page without repetition levels"))?;
                    Levels::new(buf.slice(4..end), self.nesting, *num_values)
                }
                Page::DataPage { rep_level_encoding, .. } => {
                    let what = format!("has repetition levels in the encoding {rep_level_encoding}, not RLE");
                    return Err(unreadable(format!("column {}: {what}", self.name)));
                }
                Page::DataPageV2 { buf, num_values, rep_levels_byte_len, .. } => {
                    let end = Some(*rep_levels_byte_len as usize).filter(|end| *end <= buf.len());
                    let end = end.ok_or_else(|| self.damaged("has a page without repetition levels"))?;
                    Levels::new(buf.slice(..end), self.nesting, *num_values)
                }
            };
            let mean = (page.buffer().len() as u64).div_ceil(u64::from(page.num_values()).max(1));
            #[allow(deprecated, reason = "files of the first version have this encoding")]
            let by_key = matches!(page.encoding(), Encoding::RLE_DICTIONARY | Encoding::PLAIN_DICTIONARY);
            self.unit = self.width.unwrap_or(if by_key { self.longest } else { mean });
            self.least = if by_key { 0 } else { mean };
            self.levels = rows;
            self.begun = 0;
            self.held.push_back(page);
            return Ok(true);
        }
    }

    fn damaged(&self, what: &str) -> ragged::Error {
        unreadable(format!("the file is damaged: column {} {what}", self.name))
    }
}

/// The longest string of a dictionary, with the 4 bytes of its length.
fn longest(mut strings: &[u8]) -> u64 {
    let mut longest = 4;
    while let Some((size, rest)) = strings.split_first_chunk::<4>() {
        let size = u32::from_le_bytes(*size) as usize;
        longest = longest.max(4 + size.min(rest.len()));
        strings = rest.get(size..).unwrap_or_default();
    }
    longest as u64
}
