//! Local files, with a count of the bytes that are read of them.

use std::fmt;
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use async_trait::async_trait;
use bytes::Bytes;
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{
    CopyOptions, GetOptions, GetResult, GetResultPayload, ListResult, MultipartUpload, ObjectMeta, ObjectStore,
    PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};

/// How many bytes a query has read, and how many rows of files that this program reads by itself.
#[derive(Debug, Default)]
pub struct Count {
    bytes: AtomicU64,
    rows: AtomicU64,
    is_running: AtomicBool,
}

impl Count {
    /// Counts from now on. Reads of schemas come before, and are not counted.
    pub fn start(&self) {
        self.is_running.store(true, Ordering::Relaxed);
    }

    pub fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    pub fn rows(&self) -> u64 {
        self.rows.load(Ordering::Relaxed)
    }

    /// Counts rows that have been read.
    pub fn add_rows(&self, rows: usize) {
        self.rows.fetch_add(rows as u64, Ordering::Relaxed);
    }

    /// Counts bytes that have been read.
    pub fn add(&self, bytes: usize) {
        if self.is_running.load(Ordering::Relaxed) {
            self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        }
    }
}

/// The local file system.
#[derive(Debug)]
pub struct Counted {
    files: LocalFileSystem,
    count: Arc<Count>,
}

impl Counted {
    pub fn new(count: &Arc<Count>) -> Self {
        Self { files: LocalFileSystem::new(), count: count.clone() }
    }
}

impl fmt::Display for Counted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.files.fmt(f)
    }
}

/// The name of the store in errors.
const STORE: &str = "LocalFileSystem";

/// Bytes of one read.
const CHUNK: u64 = 1 << 20;

#[async_trait]
impl ObjectStore for Counted {
    async fn get_opts(&self, location: &Path, options: GetOptions) -> Result<GetResult> {
        let mut result = self.files.get_opts(location, options).await?;
        if !self.count.is_running.load(Ordering::Relaxed) {
            return Ok(result);
        }
        if let GetResultPayload::File(mut file, path) = result.payload {
            let failed = |source| object_store::Error::Generic { store: STORE, source: Box::new(source) };
            file.seek(SeekFrom::Start(result.range.start)).map_err(failed)?;
            result.payload = GetResultPayload::Stream(chunks(file, path, result.range.clone(), self.count.clone()));
        }
        Ok(result)
    }

    async fn get_ranges(&self, location: &Path, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        let parts = self.files.get_ranges(location, ranges).await?;
        self.count.add(parts.iter().map(Bytes::len).sum());
        Ok(parts)
    }

    async fn put_opts(&self, location: &Path, payload: PutPayload, options: PutOptions) -> Result<PutResult> {
        self.files.put_opts(location, payload, options).await
    }

    async fn put_multipart_opts(
        &self,
        location: &Path,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.files.put_multipart_opts(location, options).await
    }

    fn delete_stream(&self, locations: BoxStream<'static, Result<Path>>) -> BoxStream<'static, Result<Path>> {
        self.files.delete_stream(locations)
    }

    fn list(&self, prefix: Option<&Path>) -> BoxStream<'static, Result<ObjectMeta>> {
        self.files.list(prefix)
    }

    async fn list_with_delimiter(&self, prefix: Option<&Path>) -> Result<ListResult> {
        self.files.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Path, to: &Path, options: CopyOptions) -> Result<()> {
        self.files.copy_opts(from, to, options).await
    }
}

/// A range of a file, a part after the other, each counted when it has been read. The file is at the start of the range.
fn chunks(
    file: std::fs::File,
    path: std::path::PathBuf,
    range: Range<u64>,
    count: Arc<Count>,
) -> BoxStream<'static, Result<Bytes>> {
    let next = move |(file, left): (Option<std::fs::File>, u64)| {
        let (path, count) = (path.clone(), count.clone());
        async move {
            let file = file.filter(|_| left > 0)?;
            let read = tokio::task::spawn_blocking(move || {
                let mut part = Vec::with_capacity(left.min(CHUNK) as usize);
                (&file).take(left.min(CHUNK)).read_to_end(&mut part).map(|_| (file, part))
            });
            let read = read.await.unwrap_or_else(|error| Err(std::io::Error::other(error)));
            match read {
                // A file that became shorter ends here.
                Ok((_, part)) if part.is_empty() => None,
                Ok((file, part)) => {
                    count.add(part.len());
                    let left = left - part.len() as u64;
                    Some((Ok(Bytes::from(part)), (Some(file), left)))
                }
                Err(error) => {
                    let source = Box::new(std::io::Error::new(error.kind(), format!("{}: {error}", path.display())));
                    Some((Err(object_store::Error::Generic { store: STORE, source }), (None, 0)))
                }
            }
        }
    };
    stream::unfold((Some(file), range.end - range.start), next).boxed()
}
