//! Files of records: those of TensorFlow, round trips, and damage.

use std::io::Read;

use proptest::prelude::*;
use ragged_data::tf::{Compression, Damage, RecordReader, RecordWriter};

use crate::examples::fixture;

fn written(records: &[Vec<u8>], compression: Compression) -> Vec<u8> {
    let mut writer = RecordWriter::new(Vec::new(), compression);
    records.iter().for_each(|r| writer.write(r).expect("a write to memory"));
    writer.finish().expect("a write to memory")
}

/// The records of the fixtures.
fn records() -> Vec<Vec<u8>> {
    vec![b"one".to_vec(), Vec::new(), b"a third record".to_vec(), vec![0xFF; 1000]]
}

#[test]
fn files_of_tensorflow() {
    for (name, compression) in [("plain", Compression::None), ("gzip", Compression::Gzip), ("zlib", Compression::Zlib)]
    {
        let path = fixture(&format!("{name}.tfrecord"));
        let reader = RecordReader::open(&path).expect("the fixture").compression(compression);
        assert_eq!(reader.collect::<ragged::Result<Vec<_>>>(), Ok(records()), "{name}");
    }
    assert_eq!(written(&records(), Compression::None), std::fs::read(fixture("plain.tfrecord")).expect("the fixture"));
}

/// Gives one byte per read, to meet every boundary.
struct Slow<'a>(&'a [u8]);
impl Read for Slow<'_> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        let n = self.0.len().min(out.len()).min(1);
        out[..n].copy_from_slice(&self.0[..n]);
        self.0 = &self.0[n..];
        Ok(n)
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]
    #[test]
    fn what_is_written_is_read(all in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..20)) {
        for compression in [Compression::None, Compression::Gzip, Compression::Zlib] {
            let bytes = written(&all, compression);
            let read = RecordReader::new(&bytes[..]).compression(compression).collect::<ragged::Result<Vec<_>>>();
            prop_assert_eq!(read.as_ref(), Ok(&all));
            let slow = RecordReader::new(Slow(&bytes)).compression(compression).collect::<ragged::Result<Vec<_>>>();
            prop_assert_eq!(slow, Ok(all.clone()));
        }
    }
}

#[test]
fn damage_is_an_error_with_the_position() {
    let bytes = written(&records(), Compression::None);
    let second = 12 + 3 + 4;
    let error = |bytes: &[u8]| {
        let mut reader = RecordReader::new(bytes);
        let failed = reader.find_map(Result::err).expect("an error");
        assert!(reader.next().is_none(), "an error ends the reader");
        failed.to_string()
    };
    let mut damaged = bytes.clone();
    damaged[second] = 9;
    let text = error(&damaged);
    assert!(text.contains("record 1 at byte 19: its length does not have its checksum"), "{text}");
    let text = error(&bytes[..bytes.len() - 5]);
    assert!(text.contains("record 3 at byte 65: it ends after 999 of 1000 bytes"), "{text}");
    let text = error(&bytes[..5]);
    assert!(text.contains("record 0 at byte 0: it ends after 5 of the 12 bytes of a header"), "{text}");
    let limited = RecordReader::new(&bytes[..]).max_record_bytes(100).find_map(Result::err).expect("an error");
    assert!(limited.to_string().contains("its 1000 bytes are above the limit of 100 bytes"), "{limited}");
}

#[test]
fn damaged_records_are_skipped_and_counted() {
    let bytes = written(&records(), Compression::None);
    let skip = |bytes: &[u8]| {
        let mut reader = RecordReader::new(bytes).damage(Damage::Skip);
        let read = reader.by_ref().collect::<ragged::Result<Vec<_>>>().expect("no error");
        (read, reader.skipped())
    };
    for (at, lost) in [(0, 0), (13, 0), (17, 0), (19, 1), (40, 2), (49, 2), (80, 3)] {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0x40;
        let mut want = records();
        want.remove(lost);
        assert_eq!(skip(&damaged), (want, 1), "byte {at}");
    }
    assert_eq!(skip(&bytes[..bytes.len() - 1]), (records()[..3].to_vec(), 1));
}

#[test]
fn a_false_length_allocates_nothing() {
    // A header of 2^60 bytes with the right checksum.
    let mut bytes = (1u64 << 60).to_le_bytes().to_vec();
    let crc = crc32c::crc32c(&bytes).rotate_right(15).wrapping_add(0xA282_EAD8);
    bytes.extend(crc.to_le_bytes());
    let error = RecordReader::new(&bytes[..]).max_record_bytes(u64::MAX >> 1).next().expect("a result");
    assert!(error.expect_err("an error").to_string().contains("it ends after 0 of 1152921504606846976 bytes"));
}
