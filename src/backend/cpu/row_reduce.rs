//! stub until kernels branch
pub fn reduce_row<T: Copy>(values: &[T], inner: usize, identity: T, combine: impl Fn(T, T) -> T + Copy, out: &mut [T]) {
    out.fill(identity);
    for v in values.chunks_exact(inner) {
        for (o, &v) in out.iter_mut().zip(v) {
            *o = combine(*o, v);
        }
    }
}
pub struct RowFold<T, F> {
    acc: Vec<T>,
    inner: usize,
    combine: F,
}
impl<T: Copy, F: Fn(T, T) -> T + Copy> RowFold<T, F> {
    pub fn new(_len: usize, inner: usize, identity: T, combine: F) -> Self {
        Self { acc: vec![identity; inner], inner, combine }
    }
    pub fn chunk_elements(_inner: usize, chunk: usize) -> usize {
        chunk
    }
    pub fn push(&mut self, values: &[T]) {
        for v in values.chunks_exact(self.inner) {
            for (o, &v) in self.acc.iter_mut().zip(v) {
                *o = (self.combine)(*o, v);
            }
        }
    }
    pub fn finish(self, out: &mut [T]) {
        out.copy_from_slice(&self.acc);
    }
}
