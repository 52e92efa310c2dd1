//! Calls by values are those of the methods.

use crate::operation::{Owner, Value};
use crate::opt::*;
use crate::{DType, Device, RaggedTensor, Result, Seed, Tensor, operations, s};

fn call(name: &str, values: &[Value]) -> Result<Vec<Tensor>> {
    let declared = operations().find(|operation| operation.name == name && operation.owners.contains(Owner::Tensor));
    declared.unwrap_or_else(|| panic!("no operation {name}")).call(values)
}

/// All of the results, as text with dtypes, rows and sizes.
fn text(of: &[Tensor]) -> Result<Vec<String>> {
    let text = |x: &Tensor| Ok(format!("{} {:?}", x.dtype(), x.to_host()?));
    of.iter().map(text).collect()
}

/// Compares calls by values with calls of methods, which give a tensor, two or several.
macro_rules! same {
    ($($name:literal [$($value:expr),* $(,)?] $method:expr;)+) => {{
        let mut faults = Vec::new();
        $(
            let found = call($name, &[$(Value::from($value)),*]).and_then(|found| text(&found));
            let want = $method.map(crate::operation::call::IntoTensors::into_tensors).and_then(|want| text(&want));
            if !matches!((&found, &want), (Ok(found), Ok(want)) if found == want) {
                faults.push(format!("{}: {found:?}\n    not {want:?}", $name));
            }
        )+
        assert!(faults.is_empty(), "{}", faults.join("\n"));
    }};
}

struct Samples {
    x: Tensor,
    ints: Tensor,
    words: Tensor,
    flags: Tensor,
    ids: Tensor,
    table: Tensor,
}

fn samples() -> Result<Samples> {
    let device = Device::cpu();
    Ok(Samples {
        x: RaggedTensor::from_nested([vec![3.0f32, 1.0, 2.0], vec![], vec![5.0, 4.0]], &device)?.into_erased(),
        ints: RaggedTensor::from_nested([vec![3, 1, 2], vec![], vec![5, 4]], &device)?.into_erased(),
        words: RaggedTensor::from_nested(["a b,c", "", "d,,e f"], &device)?.into_erased(),
        flags: RaggedTensor::from_nested([vec![true, false, true], vec![], vec![false, true]], &device)?.into_erased(),
        ids: RaggedTensor::from_nested([vec![1, 0], vec![], vec![2]], &device)?.into_erased(),
        table: RaggedTensor::from_nested([[1.0f32, 2.0], [3.0, 4.0], [5.0, 6.0]], &device)?.into_erased(),
    })
}

#[test]
fn calls_by_values_are_those_of_the_methods() -> Result<()> {
    let Samples { x, ints, words, flags, ids, table } = &samples()?;
    let all = Value::All;
    let vectors = &Tensor::from_row_lengths(table, [1, 0, 2])?;
    same! {
        "reduce_sum" [x, 1] x.reduce_sum(1);
        "reduce_sum" [x] x.reduce_sum(..);
        "reduce_mean" [x, Value::from([0, 1]).option("keep", true)] x.reduce_mean(keep([0, 1]));
        "cumsum" [x, Value::from(1).option("exclusive", true).option("reversed", true)] x.cumsum(exclusive(reversed(1)));
        "sort" [x, Value::from(-1).option("descending", true)] x.sort(descending(-1));
        "top_k" [x, 2, -1] x.top_k(2, -1);
        "top_k" [x] x.top_k(1, -1);
        "quantile" [x, [0.25, 0.5], 1] x.quantile([0.25, 0.5], 1);
        "ewm_mean" [x, Value::from(0.5).option("adjust", false), 1] x.ewm_mean(unadjusted(0.5), 1);
        "add" [x, 1] x.add(1);
        "add" [x, x] x.add(x);
        "multiply" [x, 0.5] x.multiply(0.5);
        "clip_by_value" [ints, 2, 4] ints.clip_by_value(2, 4);
        "select" [flags, x, 0] flags.select(x, 0);
        "contains" [ints, 5, 1] ints.contains(5, 1);
        "gather" [table, ids] table.gather(ids);
        "gather" [x, Value::from(&x.zeros_like()?.cast(DType::I32)?.slice(s![.., ..1])?).option("batch_dims", 1)]
            x.gather(batched(&x.zeros_like()?.cast(DType::I32)?.slice(s![.., ..1])?, 1));
        "slice" [x, Value::List(vec![Value::All.option("start", 1), Value::All.option("step", -1)])] x.slice(s![1.., ..;-1]);
        "boolean_mask" [x, flags] x.boolean_mask(flags);
        "embedding_lookup" [table, ids] table.embedding_lookup(ids);
        "embedding_lookup" [table, Value::from(ids).option("max_norm", 2)] table.embedding_lookup(max_norm(ids, 2.0));
        "from_row_lengths" [table, [1, 0, 2]] Tensor::from_row_lengths(table, [1, 0, 2]);
        "from_row_splits" [&x.flat_values()?, &x.row_splits()?] Tensor::from_row_splits(&x.flat_values()?, [0, 3, 3, 5]);
        "from_value_rowids" [table, Value::from([0, 2, 2]).option("nrows", 4)]
            Tensor::from_value_rowids(table, with_nrows([0, 2, 2], 4));
        "from_uniform_row_length" [table, 3] Tensor::from_uniform_row_length(table, 3);
        "tile" [table, [2, 1]] table.tile(&[2, 1]);
        "cross_hashed" [vec![words.string_split(",")?, words.string_split(" ")?], 10]
            Tensor::cross_hashed([&words.string_split(",")?, &words.string_split(" ")?], 10);
        "group_by_key" [table, &ids.flat_values()?] table.group_by_key(&ids.flat_values()?);
        "matmul" [table, Value::from(table).option("transposed", true)] table.matmul(table.t());
        "scaled_dot_product_attention" [vectors, Value::from(vectors).option("causal", true), vectors]
            vectors.scaled_dot_product_attention(causal(vectors), vectors);
        "to_tensor" [x, Value::from(-1).option("shape", [4, -1])] x.to_tensor(shaped(-1, [4, -1]));
        "to_tensor" [x] x.to_tensor(0);
        "reshape" [table, [3, 2, 1]] table.reshape([3, 2, 1]);
        "split" [table, [1, 2], 0] table.split([1, 2], 0);
        "split" [table, 3] table.split(3, 0);
        "concat" [vec![x.clone(), x.clone()], 1] Tensor::concat(&[x, x], 1);
        "combinations" [ints, 2] ints.combinations(2, 1);
        "cast" [ints, DType::F64] ints.cast(DType::F64);
        "cast" [ints, "i64"] ints.cast(DType::I64);
        "one_hot" [ids, Value::from(3).option("axis", -1), 1, 0] ids.one_hot(along(3, -1), 1i64, 0i64);
        "bincount" [ints, all.clone(), Value::from(8).option("binary", true)] ints.bincount(.., binary(8));
        "histogram" [x, 1, Value::from([0.0, 4.0]).option("clamped", true), 4] x.histogram(1, clamped(0.0..4.0), 4);
        "context_windows" [x, Value::from(2).option("start", -1), 0, 1] x.context_windows(starting_at(2, -1), 0, 1);
        "sequence_mask" [&x.row_lengths(1)?] x.row_lengths(1)?.sequence_mask(..);
        "searchsorted" [&x.sort(1)?, Value::from(x).option("right", true)] x.sort(1)?.searchsorted(right_of(x));
        "sort_by" [x, Value::from(ints).option("descending", true)] x.sort_by(descending(ints));
        "segment_sum" [table, &ids.flat_values()?.sort(0)?] table.segment_sum(&ids.flat_values()?.sort(0)?);
        "slice_rows" [x, [1, 0, 0], [1, 0, 2]] x.slice_rows([1, 0, 0], [1, 0, 2]);
        "shuffle" [x, Value::Integer(7), 1] x.shuffle(Seed(7), 1);
        "string_split" [words] words.string_split(white_space());
        "string_split" [words, Value::from(",").option("nonempty", true).option("max_splits", 1)]
            words.string_split(nonempty(max_splits(",", 1)));
        "string_ngrams" [&words.string_split(",")?, Value::from([2, 3]).option("keep_short", true), "-"]
            words.string_split(",")?.string_ngrams(keep_short([2, 3]), "-");
        "to_hash_bucket_strong" [words, 100, [1, 2]] words.to_hash_bucket_strong(100, [1, 2]);
        "string_join" [vec![words.clone(), words.clone()], "+"] Tensor::string_join(&[words, words], "+");
        "unicode_decode" [words, Value::from("UTF-8").option("invalid", "strict")] words.unicode_decode(strict(Encoding::Utf8));
        "encode_base64" [words, "padded"] words.encode_base64(Base64::Padded);
        "from_shards" [vec![table.clone(), table.clone()], "div"] Tensor::from_shards(&[table, table], ShardStrategy::Div);
    }
    Ok(())
}

#[test]
fn faults_name_the_operation_the_argument_and_the_line() -> Result<()> {
    let Samples { x, words, .. } = &samples()?;
    let fault = |name, values: &[Value]| call(name, values).expect_err("a fault").to_string();
    let line = line!() - 1;
    for (error, says) in [
        (
            fault("reduce_sum", &[x.into(), "one".into()]),
            "reduce_sum: argument `axis`: \"one\" is given; required: an axis",
        ),
        (fault("sort", &[x.into(), Value::from(1).option("down", true)]), "argument `axis`: it has no option `down`"),
        (fault("sort", &[x.into(), Value::from(1).option("descending", 3)]), "option `descending`: 3 is given"),
        (fault("sort", &[]), "sort: argument `the tensor` is not given"),
        (fault("repeat", &[x.into(), 2.into()]), "repeat: argument `axis` is not given, and has no default"),
        (
            fault("sort", &[x.into(), 1.into(), 2.into()]),
            "sort: 3 values are given; required: the tensor and [\"axis\"]",
        ),
        (fault("encode_base64", &[words.into(), "wide".into()]), "required: one of \"unpadded\", \"padded\""),
        (fault("map_rows", &[x.into()]), "map_rows: it cannot be called by values"),
        (fault("sort", &[x.into(), 7.into()]), "sort: axis 7"),
    ] {
        assert!(error.contains(says), "{error}\nlacks: {says}");
        assert!(error.contains(&format!("{}:", file!())), "{error}\nis not at line {line}");
    }
    Ok(())
}

/// Values take the options that their arguments list: faults are those of the options' values.
#[test]
fn options_are_those_that_arguments_list() -> Result<()> {
    use crate::operation::ArgumentKind;
    let Samples { x, .. } = &samples()?;
    let value = |kind| match kind {
        ArgumentKind::Tensor => Value::from(x),
        ArgumentKind::Tensors => Value::from(vec![x.clone()]),
        ArgumentKind::Text => Value::from(","),
        ArgumentKind::Choice => Value::from("utf-8"),
        ArgumentKind::DType => Value::from(DType::F32),
        ArgumentKind::Integers => Value::from([1]),
        ArgumentKind::NumberRange => Value::from([0, 1]),
        _ => Value::from(1),
    };
    let mut count = 0;
    for operation in
        operations().filter(|operation| operation.owners.contains(Owner::Tensor) && operation.is_callable())
    {
        for (k, argument) in operation.arguments.iter().enumerate() {
            for name in argument.option_names() {
                let before = operation.arguments[..k].iter().map(|argument| value(argument.kind));
                let with_option = value(argument.kind).option(*name, Value::Default);
                let tensor = operation.is_method.then(|| Value::from(x));
                let values: Vec<Value> = tensor.into_iter().chain(before).chain([with_option]).collect();
                let fault = operation.call(&values).expect_err(operation.name).to_string();
                assert!(fault.contains(&format!("option `{name}`")), "{}: {name}: {fault}", operation.name);
                count += 1;
            }
        }
    }
    assert!(count > 40, "{count}");
    Ok(())
}

/// Operations of tensors that no values call: of functions, of memory and devices, of types that are written out.
#[test]
fn operations_that_are_not_callable() {
    let declared =
        operations().filter(|operation| operation.owners.contains(Owner::Tensor) && !operation.is_callable());
    let names: Vec<&str> = declared.map(|operation| operation.name).collect();
    let expected = "constant from_nested_row_splits from_nested_row_lengths from_nested_value_rowids from_row_partitions \
                    from_row_splits_unchecked from_row_lengths_unchecked from_row_starts_unchecked \
                    from_row_limits_unchecked from_value_rowids_unchecked from_uniform_row_length_unchecked \
                    from_nested_row_splits_unchecked from_nested_row_lengths_unchecked \
                    from_nested_value_rowids_unchecked from_sparse from_shared from_wgpu_buffer to_sparse to_device \
                    to_device_async map_flat_values map_flat_values_of map_elements map_rows map_rows_of scan_rows \
                    scan_rows_of bincount_sparse bincount_sparse_weighted sparse_to_dense fill zeros ones \
                    from_tensor_with_nested_lengths as_string_with";
    assert_eq!(names, expected.split_whitespace().collect::<Vec<_>>());
}
