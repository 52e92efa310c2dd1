//! Steps of an optimizer on the rows that are used: the bits of dense steps, and few bytes.

use ragged::{DType, Device, Gradient, Program, Result, Tensor, TensorSpec, sparse_value_and_grad, value_and_grad};

use super::{bits, ids, own_devices, table};

/// The new table and the new sums of squares, from those before and the gradient.
type Update = fn(&Tensor, &Tensor, &Tensor) -> Result<[Tensor; 2]>;

const UPDATES: [(&str, Update); 2] = [
    ("sgd", |x, sum, g| Ok([x.subtract(&g.multiply(0.05)?)?, sum.clone()])),
    ("adagrad", |x, sum, g| {
        let sum = sum.add(&g.square()?)?;
        Ok([x.subtract(&g.multiply(0.05)?.truediv(&sum.add(1e-7)?.sqrt()?)?)?, sum])
    }),
];

fn loss(t: &Tensor, at: &Tensor) -> Result<Tensor> {
    let found = t.embedding_lookup(at)?;
    found.square()?.add(&found)?.sin()?.reduce_sum(..)
}

/// A step whose inputs and outputs are a table, sums of squares, and ids.
fn step(nrows: u32, width: u32, update: Update, is_sparse: bool) -> Result<Program> {
    let x = TensorSpec::new(DType::F32, [Some(nrows), Some(width)]);
    Program::trace(&[x.clone(), x, TensorSpec::new(DType::I32, [None])], |given| {
        let [x, sum, at] = given else { unreachable!() };
        if !is_sparse {
            let (_, gradients) = value_and_grad(|t| loss(&t[0], at), [x])?;
            let [x, sum] = update(x, sum, &gradients[0])?;
            return Ok((x, sum));
        }
        let (_, gradients) = sparse_value_and_grad(|t| loss(&t[0], at), [x])?;
        let Gradient::Rows(of) = &gradients[0] else { panic!("a dense gradient") };
        let [new, squares] = update(&x.gather(&of.ids)?, &sum.gather(&of.ids)?, &of.rows)?;
        Ok((x.update_rows(&of.ids, &new)?, sum.update_rows(&of.ids, &squares)?))
    })
}

/// A batch of ids, with duplicates; some batches are empty.
fn batch(k: usize, nrows: usize, device: &Device) -> Result<Tensor> {
    let count = [700, 0, 1, 1000, 37][k % 5];
    let list: Vec<i32> = (0..count).map(|j| ((j * j * 31 + k * 977) % nrows) as i32).collect();
    ids(&list, device)
}

#[test]
fn twenty_steps_have_the_bits_of_dense_steps() -> Result<()> {
    let (nrows, width) = (3000, 16);
    for (name, update) in UPDATES {
        let (dense, sparse) = (step(3000, 16, update, false)?, step(3000, 16, update, true)?);
        let mut of_devices = Vec::new();
        for device in own_devices() {
            let start =
                || Ok::<_, ragged::Error>([table(nrows, width, &device)?, table(nrows, width, &device)?.square()?]);
            let (mut a, mut b) = (start()?, start()?);
            let plans = device.stats().plans;
            for k in 0..20 {
                let at = batch(k, nrows, &device)?;
                let [x, sum] = a;
                let [x, sum] = <[Tensor; 2]>::try_from(dense.run((&x, &sum, &at))?).expect("two");
                a = [x, sum];
                let [x, sum] = b;
                b = <[Tensor; 2]>::try_from(sparse.run_donating(&mut vec![x, sum, at])?).expect("two");
            }
            assert!(device.stats().plans - plans <= 4, "{device:?}: {name}");
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
    let (nrows, width) = (1_000_000, 16);
    for (name, update) in UPDATES {
        let sparse = step(nrows as u32, width as u32, update, true)?;
        for device in own_devices() {
            let (mut x, mut sum) = (table(nrows, width, &device)?, table(nrows, width, &device)?.square()?);
            sum.eval()?;
            if std::env::var("EXPLAIN").is_ok() {
                println!("{}", sparse.explain((&x, &sum, &batch(3, nrows, &device)?))?);
            }
            for k in 0..3 {
                let list: Vec<i32> = (0..1000usize).map(|j| ((j * j * 31 + k * 977) % nrows) as i32).collect();
                let at = ids(&list, &device)?;
                let before = device.stats();
                let out = sparse.run_donating(&mut vec![x, sum, at])?;
                let of = device.stats() - before;
                [x, sum] = <[Tensor; 2]>::try_from(out).expect("two");
                println!("{name} on {}: {} bytes", device.name(), of.bytes_moved);
                assert!(of.bytes_moved <= 1 << 20, "{device:?}: {name}, step {k}: {of:?}");
                assert_eq!(of.waits, 0, "{device:?}: {name}");
            }
            drop((x, sum));
        }
    }
    Ok(())
}
