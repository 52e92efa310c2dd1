//! The first example of the README: rows of different lengths, and operations on them.
//!
//!     cargo run --example quickstart

use ragged::{Device, RaggedTensor, opt, s};

fn main() -> ragged::Result<()> {
    let device = Device::best()?;
    // Three rows; the second is empty.
    let x = RaggedTensor::from_nested([vec![3.0f32, 1.0, 4.0], vec![], vec![1.0, 5.0]], &device)?;

    // Operations record; nothing is computed yet.
    let centred = (&x - &x.reduce_mean(opt::keep(1))?)?;
    let tails = centred.slice(s![.., 1..])?;
    let sums = tails.reduce_sum(1)?;

    // A read computes what it needs, in as few kernels as it takes.
    println!("on {}", device.name());
    println!("x       {x}");
    println!("centred {centred}");
    println!("tails   {tails}");
    println!("sums    {sums}");
    assert_eq!(sums.to_vec()?[1..], [0.0, 2.0]);
    Ok(())
}
