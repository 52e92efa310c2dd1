//! The cells of TensorFlow's ragged tensor guide about tf.Example and tf.data, with its printed results.

use ragged::{DType, RaggedTensor, Result};
use ragged_data::dataset::Dataset;
use ragged_data::item::Item;
use ragged_data::tf::{Example, RaggedFeature, parse_example};

use crate::devices::devices;

/// The fields of each element, as text.
fn printed(dataset: &Dataset, names: [&str; 2], device: &ragged::Device) -> Result<Vec<[String; 2]>> {
    let values = |item: &Item, name| -> Result<String> {
        let text = item.field(name)?.tensor(device)?.to_nested()?.to_string();
        Ok(text)
    };
    dataset.iter().map(|item| item.and_then(|item| Ok([values(&item, names[0])?, values(&item, names[1])?]))).collect()
}

#[test]
fn the_cells_of_the_guide() -> Result<()> {
    for device in devices() {
        let records = [
            Example::new().strings("colors", ["red", "blue"]).ints("lengths", [7]).to_bytes(),
            Example::new().strings("colors", ["orange"]).ints("lengths", []).to_bytes(),
            Example::new().strings("colors", ["black", "yellow"]).ints("lengths", [1, 3]).to_bytes(),
            Example::new().strings("colors", ["green"]).ints("lengths", [3, 5, 2]).to_bytes(),
        ];
        let batch = RaggedTensor::from_bytes(records.to_vec(), &device)?;
        let features = [("colors", RaggedFeature::new(DType::Str)), ("lengths", RaggedFeature::new(DType::I64))];
        let parsed = parse_example(&batch, features, &device)?;
        let text = |name| parsed.field(name).and_then(|x| x.tensor(&device)).map(|x| x.to_string());
        let colors = "<ragged.RaggedTensor [[b'red', b'blue'], [b'orange'], [b'black', b'yellow'], [b'green']]>";
        assert_eq!(text("colors")?, colors);
        assert_eq!(text("lengths")?, "<ragged.RaggedTensor [[7], [], [1, 3], [3, 5, 2]]>");

        let dataset = Dataset::from_item_slices(parsed);
        let names = ["colors", "lengths"];
        let elements = [
            ["[b'red', b'blue']", "[7]"],
            ["[b'orange']", "[]"],
            ["[b'black', b'yellow']", "[1, 3]"],
            ["[b'green']", "[3, 5, 2]"],
        ];
        assert_eq!(printed(&dataset, names, &device)?, elements);
        let batched = dataset.batch(2);
        let batches = [
            ["[[b'red', b'blue'], [b'orange']]", "[[7], []]"],
            ["[[b'black', b'yellow'], [b'green']]", "[[1, 3], [3, 5, 2]]"],
        ];
        assert_eq!(printed(&batched, names, &device)?, batches);
        assert_eq!(printed(&batched.unbatch(), names, &device)?, elements);

        let on = device.clone();
        let limits = RaggedTensor::from_nested([1, 5, 3, 2, 8], &device)?;
        let ranges = Dataset::from_tensor_slices(&limits)
            .map(move |limit| Ok(limit.tensor(&on)?.range()?.flat_values()?.into()))
            .ragged_batch(2);
        let ranges = ranges.iter().map(|x| Ok(x?.tensor(&device)?.to_nested()?.to_string()));
        let want = ["[[0], [0, 1, 2, 3, 4]]", "[[0, 1, 2], [0, 1]]", "[[0, 1, 2, 3, 4, 5, 6, 7]]"];
        assert_eq!(ranges.collect::<Result<Vec<_>>>()?, want);
    }
    Ok(())
}
