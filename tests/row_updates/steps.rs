//! Steps of an optimizer on the rows that are used: the bits of dense steps, and few bytes.

use ragged::{DType, Device, Gradient, Program, Result, Tensor, TensorSpec, sparse_value_and_grad, value_and_grad};

use super::{bits, ids, own_devices, table};

/// The new table, then the new sums of squares if there are any, from those before and the gradient.
type Update = fn(&[Tensor], &Tensor) -> Result<Vec<Tensor>>;

/// Names, numbers of tensors, and updates.
const UPDATES: [(&str, usize, Update); 2] = [
    ("sgd", 1, |x, g| Ok(vec![x[0].subtract(&g.multiply(0.05)?)?])),
    ("adagrad", 2, |x, g| {
        let sum = x[1].add(&g.square()?)?;
        Ok(vec![x[0].subtract(&g.multiply(0.05)?.truediv(&sum.add(1e-7)?.sqrt()?)?)?, sum])
    }),
];

fn loss(t: &Tensor, at: &Tensor) -> Result<Tensor> {
    let found = t.embedding_lookup(at)?;
    found.square()?.add(&found)?.sin()?.reduce_mean(..)
}

/// A step whose inputs and outputs are a table and sums of squares; the last input are ids.
fn step([nrows, width]: [usize; 2], (tensors, update): (usize, Update), is_sparse: bool) -> Result<Program> {
    let x = TensorSpec::new(DType::F32, [Some(nrows as u32), Some(width as u32)]);
    let mut specs = vec![x; tensors];
    specs.push(TensorSpec::new(DType::I32, [None]));
    Program::trace(&specs, |given| {
        let (at, tables) = given.split_last().expect("ids");
        if !is_sparse {
            let (_, gradients) = value_and_grad(|t| loss(&t[0], at), [&tables[0]])?;
            return update(tables, &gradients[0]);
        }
        let (_, gradients) = sparse_value_and_grad(|t| loss(&t[0], at), [&tables[0]])?;
        let Gradient::Rows(of) = &gradients[0] else { panic!("a dense gradient") };
        let rows = tables.iter().map(|x| of.rows_of(x)).collect::<Result<Vec<_>>>()?;
        let new = update(&rows, of.rows())?;
        tables.iter().zip(&new).map(|(x, new)| of.update(x, new)).collect()
    })
}

/// A batch of ids, with duplicates; some batches are empty.
fn batch(k: usize, nrows: usize, device: &Device) -> Result<Tensor> {
    let count = [700, 0, 1, 1000, 37][k % 5];
    let list: Vec<i32> = (0..count).map(|j| ((j * j * 31 + k * 977) % nrows) as i32).collect();
    ids(&list, device)
}

/// Tables of the same rows on a device.
fn start(tensors: usize, [nrows, width]: [usize; 2], device: &Device) -> Result<Vec<Tensor>> {
    (0..tensors)
        .map(|k| if k == 0 { table(nrows, width, device) } else { table(nrows, width, device)?.square() })
        .collect()
}

#[test]
fn twenty_steps_have_the_bits_of_dense_steps() -> Result<()> {
    let size = [3000, 16];
    for (name, tensors, update) in UPDATES {
        let (dense, sparse) = (step(size, (tensors, update), false)?, step(size, (tensors, update), true)?);
        let mut of_devices = Vec::new();
        for device in own_devices() {
            let (mut a, mut b) = (start(tensors, size, &device)?, start(tensors, size, &device)?);
            for x in a.iter().chain(&b) {
                x.eval()?;
            }
            let plans = device.stats().plans;
            for k in 0..20 {
                let at = batch(k, size[0], &device)?;
                a.push(at.clone());
                b.push(at);
                a = dense.run(&a)?;
                b = sparse.run_donating(&mut b)?;
            }
            assert_eq!(device.stats().plans - plans, 2, "{device:?}: {name}");
            for (a, b) in a.iter().zip(&b) {
                assert_eq!(bits(a)?, bits(b)?, "{device:?}: {name}");
            }
            of_devices.push(bits(&b[0])?);
        }
        assert!(of_devices.windows(2).all(|pair| pair[0] == pair[1]), "{name}");
    }
    Ok(())
}

/// The promise: a table of 1,000,000 x 16 and 1,000 ids move at most 1 MiB.
#[test]
fn a_step_on_a_large_table_moves_at_most_a_mebibyte() -> Result<()> {
    let size = [1_000_000, 16];
    for (name, tensors, update) in UPDATES {
        let sparse = step(size, (tensors, update), true)?;
        for device in own_devices() {
            let mut x = start(tensors, size, &device)?;
            x.iter().try_for_each(Tensor::eval)?;
            for k in 0..3 {
                let list: Vec<i32> = (0..1000).map(|j| ((j * j * 31 + k * 977) % size[0]) as i32).collect();
                x.push(ids(&list, &device)?);
                if std::env::var("EXPLAIN").is_ok() && k == 0 {
                    println!("{}", sparse.explain(&x)?);
                }
                let before = device.stats();
                x = sparse.run_donating(&mut x)?;
                let of = device.stats() - before;
                println!("{name} on {}: {} bytes", device.name(), of.bytes_moved);
                assert!(of.bytes_moved <= 1 << 20, "{device:?}: {name}, step {k}: {of:?}");
                assert_eq!(of.waits, 0, "{device:?}: {name}");
            }
        }
    }
    Ok(())
}
