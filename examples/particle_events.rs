//! Events of a particle detector: the invariant mass of the two muons with the largest momenta of each event.
//!
//!     cargo run --example particle_events

use ragged::{Device, RaggedTensor, Result, opt, s};

/// The muons of each event. All have the rows of `pt`.
pub struct Muons {
    /// Transverse momentum in GeV.
    pub pt: RaggedTensor<f32>,
    /// Pseudorapidity.
    pub eta: RaggedTensor<f32>,
    /// Azimuth.
    pub phi: RaggedTensor<f32>,
}

/// For each event whether it has two muons above 20 GeV with |eta| < 2.4; of those events the mass of the leading two.
///
/// # Errors
/// The tensors have different rows.
pub fn masses(muons: &Muons) -> Result<(RaggedTensor<bool>, RaggedTensor<f32>)> {
    let Muons { pt, eta, phi } = muons;
    let is_good = (&pt.greater(20.0)? & &eta.abs()?.less(2.4)?)?;
    let (good_pt, leading) = pt.boolean_mask(&is_good)?.top_k(2, 1)?;
    let of_leading = |x: &RaggedTensor<f32>| x.boolean_mask(&is_good)?.batch_gather(&leading);
    let is_pair = good_pt.row_lengths(1)?.equal(2)?;

    // Rows of two: a dense tensor of shape [events, 2].
    let pairs = |x: RaggedTensor<f32>| x.boolean_mask(&is_pair)?.to_tensor(opt::shaped(0.0, [-1, 2]));
    let [pt, eta, phi] = [pairs(good_pt)?, pairs(of_leading(eta)?)?, pairs(of_leading(phi)?)?];
    let difference = |x: &RaggedTensor<f32>| &x.slice(s![.., 0])? - &x.slice(s![.., 1])?;
    let angles = (&difference(&eta)?.cosh()? - &difference(&phi)?.cos()?)?;
    let mass = (&(&pt.slice(s![.., 0])? * &pt.slice(s![.., 1])?)? * &angles)?;
    Ok((is_pair, (&mass * 2.0)?.sqrt()?))
}

fn main() -> Result<()> {
    let device = Device::best()?;
    let of = |rows: [&[f32]; 4]| RaggedTensor::from_nested(rows.map(<[f32]>::to_vec), &device);
    let muons = Muons {
        pt: of([&[40.0, 15.0, 52.5], &[], &[33.0, 60.0], &[90.0]])?,
        eta: of([&[0.5, 0.1, -1.0], &[], &[1.5, -3.0], &[0.0]])?,
        phi: of([&[0.1, 2.0, 3.0], &[], &[-1.0, 1.0], &[0.0]])?,
    };
    let (is_pair, mass) = masses(&muons)?;
    println!("events with a pair  {is_pair}");
    println!("their masses        {mass}");
    assert_eq!(is_pair.to_vec()?, [true, false, false, false]);
    Ok(())
}
