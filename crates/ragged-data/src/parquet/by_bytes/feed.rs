//! Pages in memory as the source of a reader of the crate `parquet`.

use std::cell::RefCell;
use std::collections::VecDeque;

use ::parquet::arrow::arrow_reader::RowGroups;
use ::parquet::column::page::{Page, PageIterator, PageMetadata, PageReader};
use ::parquet::errors::{ParquetError, Result};
use ::parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};

/// The pages of some rows of a column chunk.
///
/// Columns begin with pages that have different numbers of rows before the first that is decoded. A reader skips one number of
/// rows of all columns; `padding` rows that exist in no page make up for the difference.
pub(super) struct Feed {
    dictionary: Option<Page>,
    padding: usize,
    pages: VecDeque<Page>,
}

impl Feed {
    pub(super) fn new(dictionary: Option<Page>, padding: usize, pages: VecDeque<Page>) -> Self {
        Self { dictionary, padding, pages }
    }
}

impl Iterator for Feed {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl PageReader for Feed {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        if let Some(page) = self.dictionary.take() {
            return Ok(Some(page));
        }
        if self.padding > 0 {
            return Err(ParquetError::General("rows that exist in no page are skipped".into()));
        }
        Ok(self.pages.pop_front())
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        if self.dictionary.is_some() {
            return Ok(Some(PageMetadata { num_rows: None, num_levels: None, is_dict: true }));
        }
        if self.padding > 0 {
            return Ok(Some(PageMetadata { num_rows: Some(self.padding), num_levels: None, is_dict: false }));
        }
        let levels = self.pages.front().map(|page| page.num_values() as usize);
        Ok(levels.map(|levels| PageMetadata { num_rows: None, num_levels: Some(levels), is_dict: false }))
    }

    fn skip_next_page(&mut self) -> Result<()> {
        if self.dictionary.take().is_none() && std::mem::take(&mut self.padding) == 0 {
            self.pages.pop_front();
        }
        Ok(())
    }
}

/// The only column chunk of a column.
struct One(Option<Feed>);

impl Iterator for One {
    type Item = Result<Box<dyn PageReader>>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.take().map(|feed| Ok(Box::new(feed) as Box<dyn PageReader>))
    }
}

impl PageIterator for One {}

/// Rows of a row group, of which each column is read once.
pub(super) struct Window<'a> {
    pub(super) metadata: &'a ParquetMetaData,
    pub(super) group: usize,
    pub(super) rows: usize,
    /// By number of the column; none where it is not read.
    pub(super) feeds: RefCell<Vec<Option<Feed>>>,
}

impl RowGroups for Window<'_> {
    fn num_rows(&self) -> usize {
        self.rows
    }

    fn column_chunks(&self, column: usize) -> Result<Box<dyn PageIterator>> {
        let feed = self.feeds.borrow_mut().get_mut(column).and_then(Option::take);
        let none = || ParquetError::General(format!("column {column} is not read, or twice"));
        Ok(Box::new(One(Some(feed.ok_or_else(none)?))))
    }

    fn row_groups(&self) -> Box<dyn Iterator<Item = &RowGroupMetaData> + '_> {
        Box::new(self.metadata.row_groups().get(self.group).into_iter())
    }

    fn metadata(&self) -> &ParquetMetaData {
        self.metadata
    }
}
