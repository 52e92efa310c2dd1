//! The batches of a file of Arrow IPC.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::buffer::{Buffer, MutableBuffer};
use datafusion::arrow::error::ArrowError;
use datafusion::arrow::ipc::Block;
use datafusion::arrow::ipc::reader::FileDecoder;

use super::{Contents, at_message};
use crate::guarded::guarded;

/// Some batches of a file. Each batch that cannot be read is an error with its place.
pub struct Batches<R = File> {
    file: R,
    contents: Contents,
    decoder: FileDecoder,
    /// The messages that are read: dictionaries before the first batch, and the batches.
    left: std::vec::IntoIter<usize>,
    /// Bytes that have been read since they were asked for.
    bytes: usize,
}

impl<R: Read + Seek> Batches<R> {
    /// Some of the messages of a file, and the dictionaries before them. `columns` has the positions of the columns.
    pub fn new(file: R, contents: &Contents, messages: Range<usize>, columns: Option<&[usize]>) -> Self {
        let mut decoder = FileDecoder::new(contents.schema.clone(), contents.version);
        if let Some(columns) = columns {
            decoder = decoder.with_projection(columns.to_vec());
        }
        let is_before = |k: &usize| *k < messages.start && contents.messages[*k].rows.is_none();
        let left: Vec<usize> = (0..messages.start).filter(is_before).chain(messages.clone()).collect();
        Self { file, contents: contents.clone(), decoder, left: left.into_iter(), bytes: 0 }
    }

    /// How many bytes have been read since the last call.
    pub fn take_bytes(&mut self) -> usize {
        std::mem::take(&mut self.bytes)
    }

    /// The bytes of a message: those of its metadata, and of its body.
    fn read_block(&mut self, block: &Block) -> std::io::Result<Buffer> {
        // Both fit the file.
        let bytes = block.metaDataLength() as u64 + block.bodyLength() as u64;
        let mut buffer = MutableBuffer::from_len_zeroed(usize::try_from(bytes).map_err(std::io::Error::other)?);
        self.file.seek(SeekFrom::Start(block.offset() as u64))?;
        self.file.read_exact(&mut buffer)?;
        self.bytes += buffer.len();
        Ok(buffer.into())
    }

    fn read(&mut self, k: usize) -> Result<Option<RecordBatch>, String> {
        let message = self.contents.messages[k];
        let bytes = self.read_block(&message.block).map_err(|error| error.to_string())?;
        let decoder = &mut self.decoder;
        let read = guarded(|| match message.rows {
            None => decoder.read_dictionary(&message.block, &bytes).map(|()| None),
            Some(_) => decoder.read_record_batch(&message.block, &bytes),
        });
        read?.map_err(|error| match error {
            ArrowError::IpcError(why) | ArrowError::InvalidArgumentError(why) | ArrowError::ParseError(why) => why,
            error => error.to_string(),
        })
    }
}

impl<R: Read + Seek> Iterator for Batches<R> {
    type Item = Result<RecordBatch, String>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let k = self.left.next()?;
            match self.read(k) {
                Ok(None) => {}
                Ok(Some(batch)) => return Some(Ok(batch)),
                Err(why) => {
                    // What follows may need the dictionary.
                    self.left = Vec::new().into_iter();
                    return Some(Err(at_message(k, self.contents.messages[k].block.offset(), &why)));
                }
            }
        }
    }
}
