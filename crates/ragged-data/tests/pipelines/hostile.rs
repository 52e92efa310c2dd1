//! Damaged input: mutations of messages and files give errors or values, never panic, and take no memory that their size does not
//! justify.

use ragged::{DType, HostValues};
use ragged_data::tf::{
    Compression, Damage, Example, ExampleParser, Feature, FixedLenFeature, Partition, RaggedFeature, RecordReader,
    RecordWriter, VarLenFeature,
};

use crate::mutate::{ALL, mutate, mutations};

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
    let good = message();
    assert!(parser.parse(&[&good]).is_ok());
    let read = |bad: Vec<u8>| {
        let _ = (parser.parse_single(&bad), var.parse_single(&bad));
        parser.parse(&[&good, &bad]).map(drop).map_err(|e| e.to_string())
    };
    // The second message, or the feature.
    let has_place = |text: &str| text.contains("[1]") || text.contains("feature \"");
    // Row ids may ask for 2^24 empty rows, of 4 bytes each; more are an error.
    mutate(std::slice::from_ref(&good), mutations(ALL), 65 << 20, read, has_place);
}

#[test]
fn mutated_files() {
    for compression in [Compression::None, Compression::Gzip, Compression::Zlib] {
        let mut writer = RecordWriter::new(Vec::new(), compression);
        (0..4).for_each(|i| writer.write(vec![i; 5 * usize::from(i)]).expect("a write to memory"));
        let good = writer.finish().expect("a write to memory");
        let read = |bad: Vec<u8>| {
            let mut first = Ok(());
            for damage in [Damage::Skip, Damage::Error] {
                for record in RecordReader::new(&bad[..]).compression(compression).damage(damage) {
                    match record {
                        Ok(record) => assert!(record.len() <= 15),
                        Err(e) => first = Err(e.to_string()),
                    }
                }
            }
            first
        };
        mutate(&[good], mutations(ALL), 512 << 10, read, |text| text.contains("at byte"));
    }
}
