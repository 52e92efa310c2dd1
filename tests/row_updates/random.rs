//! Random sequences of row updates and sparse steps: those of loops on the host and of dense gradients, whether the run
//! owns the table or not, on the CPU, a GPU, and a GPU whose bindings hold a part of the table.

use ragged::{
    CpuOptions, DType, Device, DeviceOptions, Gradient, HostValues, Program, RaggedTensor, Result, Tensor, TensorSpec,
    sparse_value_and_grad, value_and_grad,
};

use super::{bits, table};
use crate::common;

/// SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (((z ^ (z >> 31)) >> 33) as usize) % n.max(1)
    }
}

/// Bytes of a binding of the device with small limits: 16,384 words.
const BINDING: u64 = 64 << 10;

/// The CPU, a GPU, and a GPU with small bindings.
fn of_all_limits() -> Result<Vec<Device>> {
    let mut out = vec![Device::cpu_with(&CpuOptions::default())];
    if !common::gpus().is_empty() {
        out.push(Device::gpu_with(&DeviceOptions::default())?);
        out.push(Device::gpu_with(&DeviceOptions::default().max_binding(BINDING))?);
    }
    Ok(out)
}

fn vector(values: Vec<i32>, device: &Device) -> Result<Tensor> {
    let n = values.len();
    Ok(RaggedTensor::dense(values, &[n], device)?.into_erased())
}

fn values(x: &Tensor) -> Result<Vec<f32>> {
    match x.to_host()?.values {
        HostValues::F32(values) => Ok(values),
        other => panic!("{} instead of f32", other.dtype()),
    }
}

/// Programs of a table of any height and ids: rows doubled, rows replaced by those of other ids, rows less their step.
fn programs(width: usize) -> Result<[Program; 3]> {
    let specs = [TensorSpec::new(DType::F32, [None, Some(width as u32)]), TensorSpec::new(DType::I32, [None])];
    let doubled = |x: &[Tensor]| x[0].update_rows(&x[1], &x[0].gather(&x[1])?.multiply(2.0)?);
    let moved = |x: &[Tensor]| x[0].update_rows(&x[1], &x[0].gather(&x[1].reverse(0)?)?);
    let stepped = |x: &[Tensor]| {
        let (_, of) = sparse_value_and_grad(|t| loss(&t[0], &x[1]), [&x[0]])?;
        let Gradient::Rows(of) = &of[0] else { panic!("a dense gradient") };
        of.update(&x[0], &of.rows_of(&x[0])?.subtract(&of.rows().multiply(0.125)?)?)
    };
    Ok([Program::trace(&specs, doubled)?, Program::trace(&specs, moved)?, Program::trace(&specs, stepped)?])
}

fn loss(t: &Tensor, at: &Tensor) -> Result<Tensor> {
    let found = t.gather(at)?;
    found.square()?.add(&found)?.sin()?.reduce_sum(..)
}

/// The table after the program, by loops and dense gradients of the host's values on the device.
fn expected(program: usize, x: &[f32], width: usize, at: &[i32], device: &Device) -> Result<Vec<f32>> {
    let row = |id: i32| id as usize * width..(id as usize + 1) * width;
    let mut out = x.to_vec();
    match program {
        0 => at.iter().for_each(|&id| out[row(id)].iter_mut().for_each(|v| *v *= 2.0)),
        1 => at.iter().zip(at.iter().rev()).for_each(|(&to, &from)| out[row(to)].copy_from_slice(&x[row(from)])),
        _ => {
            let x = RaggedTensor::dense(x.to_vec(), &[x.len() / width, width], device)?.into_erased();
            let at = vector(at.to_vec(), device)?;
            let (_, of) = value_and_grad(|t| loss(&t[0], &at), [&x])?;
            out = values(&x.subtract(&of[0].multiply(0.125)?)?)?;
        }
    }
    Ok(out)
}

#[test]
fn random_updates_are_those_of_loops() -> Result<()> {
    let devices = of_all_limits()?;
    for seed in 0..12 {
        let mut random = Random(seed);
        let width = [1, 3, 4, 17][random.below(4)];
        // Half of the tables take several of the small bindings.
        let nrows =
            1 + if seed % 2 == 0 { random.below(300) } else { 3 * BINDING as usize / 4 / width + random.below(9) };
        let programs = programs(width)?;
        let steps: Vec<(usize, Vec<i32>, bool)> = (0..5)
            .map(|_| {
                let one_in = 1 + random.below(40);
                let mut at: Vec<i32> = (0..nrows as i32).filter(|_| random.below(one_in) == 0).collect();
                let program = random.below(3);
                // Look-ups name rows several times, in any order.
                if program == 2 {
                    let n = at.len();
                    at = (0..2 * n).map(|_| at[random.below(n)]).collect();
                }
                (program, at, random.below(2) == 0)
            })
            .collect();
        let mut of_cpu: Option<Vec<f32>> = None;
        for device in &devices {
            let mut x = table(nrows, width, device)?;
            let mut want = values(&x)?;
            for (k, (program, at, is_alive)) in steps.iter().enumerate() {
                let what = format!("seed {seed}, step {k}: program {program} of {nrows}x{width}, {device:?}");
                want = expected(*program, &want, width, at, device)?;
                let before = bits(&x)?;
                let alive = is_alive.then(|| x.clone());
                let mut given = vec![x, vector(at.clone(), device)?];
                x = programs[*program].run_donating(&mut given)?.remove(0);
                assert!(values(&x)?.iter().map(|v| v.to_bits()).eq(want.iter().map(|v| v.to_bits())), "{what}");
                if let Some(alive) = alive {
                    assert_eq!(bits(&alive)?, before, "{what}: the table that is alive elsewhere");
                    assert_eq!(
                        bits(&programs[*program].run((&alive, &vector(at.clone(), device)?))?[0])?,
                        bits(&x)?,
                        "{what}"
                    );
                }
            }
            let of_cpu = of_cpu.get_or_insert_with(|| want.clone());
            assert!(of_cpu.iter().map(|v| v.to_bits()).eq(want.iter().map(|v| v.to_bits())), "seed {seed}: {device:?}");
        }
    }
    Ok(())
}
