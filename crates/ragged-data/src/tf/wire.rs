//! Protocol buffers on the wire: tags, varints and length-delimited fields of a message in memory.

/// A message that breaks the format: what is wrong, and the byte.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Broken {
    pub(crate) what: &'static str,
    pub(crate) at: usize,
}

/// Wire types.
pub(crate) const VARINT: u8 = 0;
pub(crate) const FIXED64: u8 = 1;
pub(crate) const LENGTH: u8 = 2;
pub(crate) const FIXED32: u8 = 5;

/// A part of a message that is being read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reader<'a> {
    pub(crate) bytes: &'a [u8],
    /// The position of the first byte in the whole message.
    pub(crate) base: usize,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, base: 0 }
    }

    pub(crate) fn is_at_end(&self) -> bool {
        self.bytes.is_empty()
    }

    pub(crate) fn broken(&self, what: &'static str) -> Broken {
        Broken { what, at: self.base }
    }

    fn advance(&mut self, n: usize) {
        self.bytes = &self.bytes[n..];
        self.base += n;
    }

    /// An integer of up to 64 bits. Bits beyond the 64th are dropped, as protobuf does.
    #[inline]
    pub(crate) fn varint(&mut self) -> Result<u64, Broken> {
        match self.bytes.first() {
            Some(&byte) if byte < 0x80 => {
                self.advance(1);
                Ok(byte.into())
            }
            _ => self.long_varint(),
        }
    }

    fn long_varint(&mut self) -> Result<u64, Broken> {
        let mut out = 0;
        for (i, &byte) in self.bytes.iter().take(10).enumerate() {
            out |= u64::from(byte & 0x7F) << (7 * i);
            if byte < 0x80 {
                self.advance(i + 1);
                return Ok(out);
            }
        }
        Err(self.broken(if self.bytes.len() < 10 { "it ends in an integer" } else { "an integer has over 10 bytes" }))
    }

    /// The number and the wire type of the next field.
    #[inline]
    pub(crate) fn tag(&mut self) -> Result<(u64, u8), Broken> {
        let start = *self;
        let tag = self.varint()?;
        if tag >> 3 == 0 || tag > u64::from(u32::MAX) {
            return Err(start.broken("a field has no valid number"));
        }
        Ok((tag >> 3, (tag & 7) as u8))
    }

    /// The content of a length-delimited field.
    #[inline]
    pub(crate) fn delimited(&mut self) -> Result<Self, Broken> {
        let start = *self;
        let n = self.varint()?;
        match usize::try_from(n).ok().and_then(|n| self.bytes.get(..n)) {
            Some(bytes) => {
                let part = Self { bytes, base: self.base };
                self.advance(bytes.len());
                Ok(part)
            }
            None => Err(start.broken("a field is longer than what holds it")),
        }
    }

    /// The next bytes.
    pub(crate) fn take(&mut self, n: usize) -> Result<&'a [u8], Broken> {
        match self.bytes.get(..n) {
            Some(bytes) => {
                self.advance(n);
                Ok(bytes)
            }
            None => Err(self.broken("it ends in a number")),
        }
    }

    /// Skips the content of a field.
    pub(crate) fn skip(&mut self, wire: u8) -> Result<(), Broken> {
        match wire {
            VARINT => self.varint().map(drop),
            FIXED64 => self.take(8).map(drop),
            LENGTH => self.delimited().map(drop),
            FIXED32 => self.take(4).map(drop),
            _ => Err(self.broken("a field has a wire type that messages of today lack")),
        }
    }
}

/// Appends a varint.
pub(crate) fn put_varint(out: &mut Vec<u8>, mut n: u64) {
    while n >= 0x80 {
        out.push(n as u8 | 0x80);
        n >>= 7;
    }
    out.push(n as u8);
}

/// Bytes of a varint.
pub(crate) fn varint_len(n: u64) -> usize {
    (64 - (n | 1).leading_zeros() as usize).div_ceil(7)
}

/// Appends the tag of a length-delimited field and its length.
pub(crate) fn put_delimited(out: &mut Vec<u8>, field: u8, len: usize) {
    out.push(field << 3 | LENGTH);
    put_varint(out, len as u64);
}

/// Bytes of a length-delimited field whose number is below 16.
pub(crate) fn delimited_len(len: usize) -> usize {
    1 + varint_len(len as u64) + len
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn varints_are_read_as_written() {
        for n in [0, 1, 127, 128, 300, 1 << 35, u64::MAX - 1, u64::MAX] {
            let mut out = Vec::new();
            put_varint(&mut out, n);
            assert_eq!((out.len(), Reader::new(&out).varint()), (varint_len(n), Ok(n)));
            if out.len() > 1 {
                assert!(Reader::new(&out[..out.len() - 1]).varint().is_err());
            }
        }
        assert!(Reader::new(&[0x80; 11]).varint().is_err());
    }

    #[test]
    fn a_length_beyond_the_end_is_an_error() {
        let mut out = Vec::new();
        put_delimited(&mut out, 1, usize::MAX >> 1);
        let mut reader = Reader::new(&out);
        assert_eq!(reader.tag(), Ok((1, LENGTH)));
        assert_eq!(reader.delimited().unwrap_err().at, 1);
    }
}
