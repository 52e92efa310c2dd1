//! Text on the device: one buffer of bytes becomes lines, lines become words, words become hashes.
//!
//!     cargo run --example text

use ragged::{Device, RaggedTensor, opt, s};

const TEXT: &str = "\
so long
thanks for all the fish

so  sad that it should come to this";

fn main() -> ragged::Result<()> {
    let device = Device::best()?;
    let text = RaggedTensor::from_nested([TEXT], &device)?;
    // One text of some lines: below it, the lines. How many there are only the device knows so far.
    let lines = text.string_split("\n")?.values()?;
    let words = lines.string_split(opt::nonempty(" "))?;

    // Pairs of neighbouring words: all but the last joined with all but the first.
    let pairs = RaggedTensor::string_join(&[&words.slice(s![.., ..-1])?, &words.slice(s![.., 1..])?], "+")?;
    let buckets = pairs.to_hash_bucket_fast(1000)?;

    // Words of a line.
    let lengths = words.row_lengths(1)?;

    // Nothing has waited for the device until here.
    println!("words   {words}");
    println!("pairs   {pairs}");
    println!("buckets {buckets}");
    println!("words a line: {lengths}");
    assert_eq!(lengths.to_vec()?, [2, 5, 0, 8]);
    Ok(())
}
