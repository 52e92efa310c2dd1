use super::*;
use crate::graph::size::RecordedSize;
use crate::{Device, RaggedTensor};

#[test]
fn arrays_have_the_exact_length_of_their_values() -> Result<()> {
    let device = Device::cpu();
    let rows: Vec<Vec<f32>> = (0..100).map(|row| vec![row as f32; row % 4]).collect();
    let third: Vec<bool> = (0..100).map(|row| row % 3 == 0).collect();
    let third = RaggedTensor::from_nested(third, &device)?;
    let some = RaggedTensor::from_nested(rows, &device)?.boolean_mask(&third)?;
    let some = some.erased();
    let found = [
        some.clone(),
        some.reduce_sum(1)?,
        some.reduce_max(1)?,
        some.reduce_mean(1)?,
        some.reduce_variance(1)?,
        some.reduce_logsumexp(1)?,
        some.softmax(1)?,
        some.cumsum(1)?,
        some.sort(1)?,
    ];
    for (k, tensor) in found.iter().enumerate() {
        let node = tensor.numbers("test")?;
        let bound = node.extent().capacity();
        node.backend().evaluate(std::slice::from_ref(node))?;
        let array = array_of(node.stored().expect("evaluated"));
        let values = (0..100).filter(|row| row % 3 == 0).map(|row| row % 4).sum::<usize>();
        let want = if node.extent().capacity() == 34 { 34 } else { values };
        assert_eq!(array.len(), want, "{k}: bounded by {bound}");
        assert_eq!(
            node.extent().host_value(),
            Some(want as u32),
            "{k}: the host knows the extent after the evaluation"
        );
    }
    Ok(())
}
