//! Damaged input: 100,000 mutations of messages and files give errors or values, and never panic.

use ragged::{DType, HostValues};
use ragged_data::tf::{
    Compression, Damage, Example, ExampleParser, Feature, FixedLenFeature, Partition, RaggedFeature, RecordReader,
    RecordWriter, VarLenFeature,
};

/// A small generator of numbers.
struct Random(u64);
impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % n.max(1)
    }
}

/// Changes, removes, repeats or inserts bytes.
fn mutate(bytes: &[u8], random: &mut Random) -> Vec<u8> {
    let mut out = bytes.to_vec();
    for _ in 0..=random.below(3) {
        let at = random.below(out.len().max(1));
        match random.below(6) {
            0 if !out.is_empty() => out[at] ^= 1 << random.below(8),
            1 if !out.is_empty() => out[at] = [0, 1, 0x7F, 0x80, 0xFF][random.below(5)],
            2 => out.truncate(at),
            3 if !out.is_empty() => drop(out.remove(at)),
            4 => out.insert(at.min(out.len()), random.below(256) as u8),
            _ => {
                let part = out[at.min(out.len())..].iter().take(random.below(8)).copied().collect::<Vec<_>>();
                let to = random.below(out.len() + 1);
                out.splice(to..to, part);
            }
        }
    }
    out
}

fn message() -> Vec<u8> {
    Example::new()
        .ints("v", [1, 2, 3, -1])
        .ints("l", [2, 0, 2])
        .ints("ids", [0, 0, 2, 2])
        .ints("s", [0, 2, 2, 4])
        .floats("f", [0.5, 1.5])
        .strings("t", ["a", "", "bb"])
        .to_bytes()
}

#[test]
fn mutated_messages() {
    let ragged = |partition| RaggedFeature::new(DType::I64).value_key("v").partition(partition);
    let parser = ExampleParser::new([
        ("a", Feature::from(ragged(Partition::RowLengths("l".into())))),
        ("b", ragged(Partition::ValueRowIds("ids".into())).partition(Partition::UniformRowLength(1)).into()),
        ("c", ragged(Partition::RowSplits("s".into())).into()),
        ("t", RaggedFeature::new(DType::Str).into()),
        ("f", FixedLenFeature::new(DType::F32, [2]).default_value(HostValues::F32(vec![0.0])).into()),
    ])
    .expect("a parser");
    let var = ExampleParser::new([("v", VarLenFeature::new(DType::I64))]).expect("a parser");
    let (good, mut random) = (message(), Random(7));
    assert!(parser.parse(&[&good]).is_ok());
    let (mut accepted, mut refused) = (0, 0);
    for _ in 0..50_000 {
        let bad = mutate(&good, &mut random);
        match parser.parse(&[&good, &bad]) {
            Ok(_) => accepted += 1,
            Err(e) => {
                let text = e.to_string();
                assert!(text.contains("[1]") || text.contains("feature \""), "no place: {text}");
                refused += 1;
            }
        }
        let _ = (parser.parse_single(&bad), var.parse_single(&bad));
    }
    assert!(accepted > 1000 && refused > 1000, "{accepted} accepted, {refused} refused");
}

#[test]
fn mutated_files() {
    let mut random = Random(11);
    for compression in [Compression::None, Compression::Gzip] {
        let mut writer = RecordWriter::new(Vec::new(), compression);
        (0..4).for_each(|i| writer.write(vec![i; 5 * usize::from(i)]).expect("a write to memory"));
        let good = writer.finish().expect("a write to memory");
        for _ in 0..25_000 {
            let bad = mutate(&good, &mut random);
            for damage in [Damage::Error, Damage::Skip] {
                for record in RecordReader::new(&bad[..]).compression(compression).damage(damage) {
                    match record {
                        Ok(record) => assert!(record.len() <= 15),
                        Err(e) => assert!(e.to_string().contains("at byte"), "no place: {e}"),
                    }
                }
            }
        }
    }
}
