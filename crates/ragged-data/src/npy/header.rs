//! The header of an npy file: a literal of a Python dictionary.
//!
//! The crate `npyz` has a parser too; it multiplies the sizes of a header unchecked, which panics where overflow does.

use ragged::Result;

use crate::file::unreadable;

/// Longest header: NumPy's own limit is 10,000 bytes.
const MAX_HEADER: usize = 64 << 10;

/// Most dimensions of an array: NumPy's limit.
const MAX_DIMENSIONS: usize = 64;

/// What a header says.
#[derive(Debug, PartialEq)]
pub(super) struct Header {
    /// NumPy's name of the type, such as `<f4`.
    pub(super) descr: String,
    /// Whether the first dimension varies fastest.
    pub(super) is_fortran: bool,
    pub(super) shape: Vec<u64>,
    /// The byte at which the elements begin.
    pub(super) data: usize,
}

impl Header {
    /// The header of a file.
    ///
    /// # Errors
    /// The byte at which it is none.
    pub(super) fn parse(file: &[u8]) -> Result<Self> {
        let Some(rest) = file.strip_prefix(b"\x93NUMPY") else {
            return Err(unreadable("this is no npy file: it does not begin with \\x93NUMPY"));
        };
        let (start, len) = match rest {
            [1, _, a, b, ..] => (10, usize::from(u16::from_le_bytes([*a, *b]))),
            [2 | 3, _, a, b, c, d, ..] => (12, u32::from_le_bytes([*a, *b, *c, *d]) as usize),
            [major, minor, ..] => {
                return Err(unreadable(format!("byte 6: version {major}.{minor} of the format is unknown")));
            }
            _ => return Err(unreadable(format!("the file ends in its header, after {} bytes", file.len()))),
        };
        if len > MAX_HEADER {
            return Err(unreadable(format!("byte 8: a header of {len} bytes; at most {MAX_HEADER} are read")));
        }
        let Some(text) = file.get(start..start + len) else {
            let what = format!("the header ends at byte {}, but the file has {} bytes", start + len, file.len());
            return Err(unreadable(what));
        };
        Parser { text, at: 0, start }.header(start + len)
    }
}

/// A parser of the text of a header, which begins at byte `start` of the file.
struct Parser<'a> {
    text: &'a [u8],
    at: usize,
    start: usize,
}

impl Parser<'_> {
    fn header(mut self, data: usize) -> Result<Header> {
        let (mut descr, mut is_fortran, mut shape) = (None, None, None);
        self.expect(b'{')?;
        while !self.is_next(b'}') {
            let key = self.string()?;
            self.expect(b':')?;
            match key.as_str() {
                "descr" => descr = Some(self.descr()?),
                "fortran_order" => is_fortran = Some(self.bool()?),
                "shape" => shape = Some(self.shape()?),
                other => return Err(self.unexpected(&format!("the key {other:?} of a header is unknown"))),
            }
            if !self.is_next(b',') {
                self.expect(b'}')?;
                break;
            }
        }
        let has = |what: &str| unreadable(format!("the header has no {what}"));
        Ok(Header {
            descr: descr.ok_or_else(|| has("'descr'"))?,
            is_fortran: is_fortran.ok_or_else(|| has("'fortran_order'"))?,
            shape: shape.ok_or_else(|| has("'shape'"))?,
            data,
        })
    }

    fn unexpected(&self, what: &str) -> ragged::Error {
        unreadable(format!("byte {}: {what}", self.start + self.at))
    }

    fn skip_space(&mut self) {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
    }

    /// Whether this byte follows, which is then consumed.
    fn is_next(&mut self, byte: u8) -> bool {
        self.skip_space();
        let found = self.text.get(self.at) == Some(&byte);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, byte: u8) -> Result<()> {
        if self.is_next(byte) {
            return Ok(());
        }
        Err(self.unexpected(&format!("{:?} is expected", char::from(byte))))
    }

    fn string(&mut self) -> Result<String> {
        self.skip_space();
        let quote = match self.text.get(self.at) {
            Some(&quote @ (b'\'' | b'"')) => quote,
            _ => return Err(self.unexpected("a string is expected")),
        };
        let rest = &self.text[self.at + 1..];
        let Some(len) = rest.iter().take(100).position(|&b| b == quote || b == b'\\').filter(|&k| rest[k] == quote)
        else {
            return Err(self.unexpected("a string without an end"));
        };
        let text = String::from_utf8_lossy(&rest[..len]).into_owned();
        self.at += len + 2;
        Ok(text)
    }

    fn descr(&mut self) -> Result<String> {
        self.skip_space();
        if self.text.get(self.at) == Some(&b'[') {
            return Err(self.unexpected("an array of records; save each field as an array of its own"));
        }
        self.string()
    }

    fn bool(&mut self) -> Result<bool> {
        self.skip_space();
        for (word, value) in [(&b"True"[..], true), (b"False", false)] {
            if self.text[self.at..].starts_with(word) {
                self.at += word.len();
                return Ok(value);
            }
        }
        Err(self.unexpected("True or False is expected"))
    }

    fn shape(&mut self) -> Result<Vec<u64>> {
        self.expect(b'(')?;
        let mut shape = Vec::new();
        while !self.is_next(b')') {
            self.skip_space();
            let digits = self.text[self.at..].iter().take_while(|b| b.is_ascii_digit()).count();
            let text = String::from_utf8_lossy(&self.text[self.at..self.at + digits]).into_owned();
            let Ok(size) = text.parse() else { return Err(self.unexpected("a size below 2^64 is expected")) };
            self.at += digits;
            // Python 2 wrote long integers so.
            self.is_next(b'L');
            shape.push(size);
            if shape.len() > MAX_DIMENSIONS {
                return Err(self.unexpected("an array has 64 dimensions at most"));
            }
            if !self.is_next(b',') {
                self.expect(b')')?;
                break;
            }
        }
        Ok(shape)
    }
}

/// The header of a file with elements of that type and shape, padded so that the elements begin at a multiple of 64 bytes.
pub(super) fn written(descr: &str, shape: &[usize]) -> Vec<u8> {
    let sizes: Vec<String> = shape.iter().map(usize::to_string).collect();
    let comma = if shape.len() == 1 { "," } else { "" };
    let dictionary =
        format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({}{comma}), }}", sizes.join(", "));
    let len = (10 + dictionary.len() + 1).next_multiple_of(64) - 10;
    let mut out = b"\x93NUMPY\x01\x00".to_vec();
    out.extend((len as u16).to_le_bytes());
    out.extend(dictionary.bytes());
    out.resize(10 + len - 1, b' ');
    out.push(b'\n');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_read_as_they_are_written() {
        for shape in [&[][..], &[3], &[3, 0, 7], &[1; 30]] {
            let file = written("<f4", shape);
            assert!(file.len().is_multiple_of(64));
            let shape = shape.iter().map(|&d| d as u64).collect();
            let want = Header { descr: "<f4".into(), is_fortran: false, shape, data: file.len() };
            assert_eq!(Header::parse(&file), Ok(want));
        }
    }

    #[test]
    fn other_texts_are_errors_with_their_place() {
        let of = |text: &str| {
            let mut file = b"\x93NUMPY\x01\x00".to_vec();
            file.extend((text.len() as u16).to_le_bytes());
            file.extend(text.bytes());
            Header::parse(&file).unwrap_err().to_string()
        };
        assert!(of("{'descr': '<f4', 'fortran_order': maybe, 'shape': (3,)}").contains("byte 44: True or False"));
        assert!(of("{'descr': '<f4', 'fortran_order': True, 'shape': (99999999999999999999,)}").contains("below 2^64"));
        assert!(of("{'descr': [('a', '<f4')]}").contains("byte 20: an array of records"));
        assert!(of("{'descr': '<f4', 'shape': ()}").contains("no 'fortran_order'"));
        assert!(of("((((").contains("byte 10: '{' is expected"));
        assert!(of("{'descr': 'x").contains("a string without an end"));
        assert!(Header::parse(b"PK").unwrap_err().to_string().contains("no npy file"));
        assert!(
            Header::parse(b"\x93NUMPY\x02\x00\xff\xff\xff\xff")
                .unwrap_err()
                .to_string()
                .contains("a header of 4294967295")
        );
    }
}
