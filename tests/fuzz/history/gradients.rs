//! Gradients of random programs: the same bits whatever was read, evaluated or printed before and within the function,
//! on every device; and those of central differences.

use ragged::{DType, Device, HostTensor, HostValues, Result, Tensor, grad, s, value_and_grad};

use super::judges::fresh;
use super::outcome::{digest, text};
use super::step::{PADDED, Step, steps};
use crate::common::random::splits;
use crate::random::Random;

/// Most numbers of a result.
const MOST: usize = 4000;
/// Distance of central differences.
const DISTANCE: f64 = 1e-5;

/// What happens to a result before the next operation.
#[derive(Clone, Copy, Debug)]
enum Event {
    Nothing,
    Read,
    ReadFirstRow,
    Evaluate,
    Print,
    Explain,
    Check,
    /// All results up to this one are evaluated together.
    EvaluateAll,
    /// The gradient of its sum is read.
    Differentiate,
}

use Event::{Check, Differentiate, Evaluate, EvaluateAll, Explain, Nothing, Print, Read, ReadFirstRow};

const EVENTS: [Event; 12] =
    [Nothing, Nothing, Nothing, Read, Read, ReadFirstRow, Evaluate, EvaluateAll, Print, Explain, Check, Differentiate];

fn happens(event: Event, results: &[Tensor]) -> Result<()> {
    let Some(x) = results.last() else { return Ok(()) };
    match event {
        Nothing => {}
        Read => drop(x.to_host()?),
        ReadFirstRow if x.rank() > 0 => drop(x.slice(s![..1])?.to_host()?),
        ReadFirstRow | Evaluate => x.eval()?,
        Print => drop(x.to_string()),
        Explain => drop(x.explain()?),
        Check => x.check()?,
        EvaluateAll => ragged::eval(results)?,
        Differentiate => drop(grad(|x| weighed(&x[0]), [x])?[0].to_host()?),
    }
    Ok(())
}

/// The sum of the numbers of a result, each times a weight that depends on its position. Means and extremes of empty rows
/// do not count.
fn weighed(y: &Tensor) -> Result<Tensor> {
    let flat = y.flat_values()?.reshape([-1])?;
    let weights = flat.ones_like()?.cumsum(0)?.multiply(0.618_033_988_75)?.sin()?.multiply(0.5)?.add(0.8)?;
    flat.abs()?.less(1e30)?.select(&flat.multiply(&weights)?, 0.0)?.reduce_sum(..)
}

/// Operations on rows of floats and on earlier results. Result 0 is the input, or some of its rows.
struct Chain {
    lengths: Vec<u32>,
    values: Vec<f32>,
    /// The rows of the input that the operations read, if not all.
    kept: Option<Vec<bool>>,
    steps: Vec<(&'static Step, [usize; 2])>,
}

impl Chain {
    fn random(random: &mut Random) -> Self {
        let longest = random.of(&[2, 5, 40]);
        let lengths: Vec<u32> = (0..1 + random.below(20)).map(|_| random.below(longest + 1) as u32).collect();
        let n: u32 = lengths.iter().sum();
        // Numbers whose sums and differences are not equal.
        let values = (0..n).map(|_| random.signed(1 << 22) as f32 / f32::from(1u16 << 11) / 512.0).collect();
        let kept = random.once_in(2).then(|| lengths.iter().map(|_| !random.once_in(4)).collect());
        let mut chain = Self { lengths, values, kept, steps: Vec::new() };
        let x = chain.input(&fresh(), DType::F64).expect("rows");
        let mut results = chain.results(&x, &mut |_| Ok(())).expect("rows");
        let all: Vec<&'static Step> = steps(DType::F64).into_iter().chain(PADDED).collect();
        let wanted = 2 + random.below(4);
        for _ in 0..20 {
            if chain.steps.len() == wanted {
                break;
            }
            // Mostly the newer ones.
            let mut pick = || random.below(results.len()).max(random.below(results.len()));
            let of @ [a, b] = [pick(), pick()];
            let step = all[random.below(all.len())];
            let Ok(result) = (step.run)(&results[a], &results[b]) else { continue };
            let is_fit = result.dtype() == DType::F64 && result.to_host().is_ok_and(|host| host.values.len() <= MOST);
            if is_fit {
                chain.steps.push((step, of));
                results.push(result);
            }
        }
        chain
    }

    fn host(&self, values: Vec<f64>, dtype: DType) -> HostTensor {
        let values = match dtype {
            DType::F32 => HostValues::F32(values.into_iter().map(|v| v as f32).collect()),
            _ => HostValues::F64(values),
        };
        HostTensor::from_row_splits(splits(&self.lengths), values)
    }

    fn input(&self, device: &Device, dtype: DType) -> Result<Tensor> {
        self.host(self.values.iter().map(|&v| v.into()).collect(), dtype).to_device(device)
    }

    /// The results of all operations; `then` is called with those so far after each of them.
    fn results(&self, x: &Tensor, then: &mut dyn FnMut(&[Tensor]) -> Result<()>) -> Result<Vec<Tensor>> {
        let first = match &self.kept {
            None => x.clone(),
            Some(kept) => {
                let mask = HostTensor::dense(&[kept.len()], HostValues::Bool(kept.clone()));
                x.boolean_mask(&mask.to_device(&x.device())?)?
            }
        };
        let mut results = vec![first];
        then(&results)?;
        for (step, [a, b]) in &self.steps {
            results.push((step.run)(&results[*a], &results[*b])?);
            then(&results)?;
        }
        Ok(results)
    }

    /// A number that depends on all results.
    fn loss(&self, x: &Tensor, then: &mut dyn FnMut(&[Tensor]) -> Result<()>) -> Result<Tensor> {
        let results = self.results(x, then)?;
        results[1..].iter().try_fold(weighed(&results[0])?, |sum, x| sum.add(&weighed(x)?))
    }

    /// The loss and its gradient, with events before and within the function.
    fn gradient(&self, device: &Device, events: &mut dyn FnMut() -> Event) -> Result<[HostTensor; 2]> {
        let x = self.input(device, DType::F32)?;
        // Results of before, which stay alive.
        let before = self.results(&x, &mut |results| happens(events(), results))?;
        let then = &mut |results: &[Tensor]| happens(events(), results);
        let (loss, gradients) = value_and_grad(|x| self.loss(&x[0], then), [&x])?;
        happens(events(), &[before, vec![loss.clone()], gradients.clone()].concat())?;
        Ok([loss.to_host()?, gradients[0].to_host()?])
    }

    /// The difference between the derivative in a direction and central differences.
    fn fault_of_differences(&self, random: &mut Random) -> Result<Option<String>> {
        let device = Device::cpu_unfused();
        let direction: Vec<f64> = self.values.iter().map(|_| random.of(&[-1.0, 0.5, 1.0])).collect();
        let x = self.input(&device, DType::F64)?;
        let gradient = match grad(|x| self.loss(&x[0], &mut |_| Ok(())), [&x])?[0].to_host()?.values {
            HostValues::F64(values) => values,
            other => panic!("{} instead of f64", other.dtype()),
        };
        let terms = || gradient.iter().zip(&direction).map(|(g, d)| g * d);
        let difference = |distance: f64| -> Result<f64> {
            let at = |by: f64| {
                let values = self.values.iter().zip(&direction).map(|(&v, d)| f64::from(v) + by * d).collect();
                let x = self.host(values, DType::F64).to_device(&device)?;
                match self.loss(&x, &mut |_| Ok(()))?.to_host()?.values {
                    HostValues::F64(values) => Ok(values[0]),
                    other => panic!("{} instead of f64", other.dtype()),
                }
            };
            Ok((at(distance)? - at(-distance)?) / (2.0 * distance))
        };
        let [far, near] = [difference(DISTANCE)?, difference(DISTANCE / 2.0)?];
        let limit = 1e-5 * (1.0 + far.abs() + terms().map(f64::abs).sum::<f64>());
        // Two distances give different numbers where the loss is not smooth.
        let is_smooth = (far - near).abs() <= limit;
        let found: f64 = terms().sum();
        Ok((is_smooth && (found - near).abs() > limit)
            .then(|| format!("the derivative is {found}, by differences {near}")))
    }

    fn text(&self) -> String {
        let steps = self.steps.iter().zip(1..).map(|((step, of), k)| format!("  {k} = `{}` of {of:?}\n", step.name));
        format!("rows of {:?}, of which {:?}\n{}", self.lengths, self.kept, steps.collect::<String>())
    }
}

/// Runs the program of a seed on devices: the description of a fault.
pub fn fault(seed: u64, devices: &[(&str, Device)]) -> Option<String> {
    let mut random = Random(seed ^ 0x6ad1_e475);
    let chain = Chain::random(&mut random);
    let shown = |fault: String| Some(format!("seed {seed}: {fault}\n{}", chain.text()));
    match chain.fault_of_differences(&mut random) {
        Ok(None) => {}
        Ok(Some(fault)) => return shown(fault),
        Err(e) => return shown(format!("differences: {e}")),
    }
    let want = match chain.gradient(&fresh(), &mut || Nothing) {
        Ok(want) => want,
        Err(e) => return shown(format!("without events: {e}")),
    };
    for (name, device) in devices {
        let mut log = Vec::new();
        let found = chain.gradient(device, &mut || {
            log.push(random.of(&EVENTS));
            log[log.len() - 1]
        });
        match found {
            Ok(found) if found.each_ref().map(digest) == want.each_ref().map(digest) => {}
            Ok(found) => {
                let again = chain.gradient(device, &mut || Nothing);
                let is_same = again.is_ok_and(|again| again.each_ref().map(digest) == want.each_ref().map(digest));
                let [found, want] = [&found, &want].map(|of| of.each_ref().map(text));
                return shown(format!(
                    "{name}: {found:?}\n    not {want:?}\n    after {log:?}; the same without events: {is_same}"
                ));
            }
            Err(e) => return shown(format!("{name}: {e}\n    after {log:?}")),
        }
    }
    None
}

/// The device that stores every array stores positions too: how these were computed decides in which order the gradient
/// adds.
#[test]
fn reads_do_not_change_the_order_of_sums() -> Result<()> {
    let device = Device::cpu_unfused();
    let lengths = [19, 10, 32, 11, 22, 31, 37, 10, 36, 13, 3, 11, 39];
    let mut random = Random(1);
    let values = (0..lengths.iter().sum()).map(|_| random.signed(1 << 22) as f32 / f32::from(1u16 << 11)).collect();
    let x = HostTensor::from_row_splits(splits(&lengths), HostValues::F32(values)).to_device(&device)?;
    let gradient = |is_read: bool| -> Result<u64> {
        let of = grad(
            |x| {
                let windows = x[0].sliding_windows(3, 1)?;
                happens(if is_read { Read } else { Nothing }, std::slice::from_ref(&windows))?;
                weighed(&windows.reduce_sum(2)?)
            },
            [&x],
        )?;
        Ok(digest(&of[0].to_host()?))
    };
    let unread = gradient(false)?;
    assert_eq!(unread, gradient(false)?);
    assert_eq!(unread, gradient(true)?);
    Ok(())
}
