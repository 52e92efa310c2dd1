//! Every operation that declares a gradient, against central differences; first and second order, and bits on GPUs.

use std::collections::BTreeSet;

use ragged::operation::{ArgumentKind, HasGradient, Operation, Owner};
use ragged::{DType, Device, Result, Tensor, grad};

use crate::common::gpus;
use crate::differences::{another, fault, rows, shaped, weighed};
use crate::entries::{elements, entries};
use crate::table::Entry;

/// Operations that are compared elsewhere, or that have nothing to compare.
const ELSEWHERE: &[(Owner, &[&str], &str)] = &[
    (Owner::RaggedTensor, &FROM_HOST_VALUES, "takes values of the host; the erased constructor takes a tensor"),
    (Owner::Tensor, &["map_elements"], "functions of f32: `functions`"),
    (Owner::RaggedTensor, &["map_elements"], "functions of f32: `functions`"),
    (Owner::Row, &["map_elements"], "functions of f32: `functions`"),
];

/// Constructors of typed tensors.
const FROM_HOST_VALUES: [&str; 18] = [
    "from_row_splits",
    "from_row_lengths",
    "from_row_starts",
    "from_row_limits",
    "from_value_rowids",
    "from_uniform_row_length",
    "from_nested_row_splits",
    "from_nested_row_lengths",
    "from_nested_value_rowids",
    "from_row_splits_unchecked",
    "from_row_lengths_unchecked",
    "from_row_starts_unchecked",
    "from_row_limits_unchecked",
    "from_value_rowids_unchecked",
    "from_uniform_row_length_unchecked",
    "from_nested_row_splits_unchecked",
    "from_nested_row_lengths_unchecked",
    "from_nested_value_rowids_unchecked",
];

/// Operations that would have a gradient if they were written, and why they have none.
const MISSING: &[(Owner, &str, &str)] = &[
    (Owner::Tensor, "to_device", "copies to another device"),
    (Owner::RaggedTensor, "to_device", "copies to another device"),
    (Owner::SparseTensor, "to_device", "copies to another device"),
    (Owner::Tensor, "to_device_async", "copies to another device"),
    (Owner::RaggedTensor, "to_device_async", "copies to another device"),
];

/// Operations whose gradients have none, and why.
const FIRST_ORDER: &[(&str, &str)] = &[("digamma", "the polygamma function of order 2")];

/// The layout of a letter.
fn layout(letter: char, device: &Device) -> Tensor {
    match letter {
        'D' => shaped(&[], &[3, 4], device),
        'R' => rows(&[3, 0, 1, 4, 0], device),
        'L' => shaped(&[&[2, 0, 3], &[2, 1, 0, 3, 2]], &[], device),
        _ => shaped(&[&[2, 0, 3]], &[2], device),
    }
}

/// One number that depends on all floats of the results of an entry.
fn loss(entry: &Entry, x: &[Tensor]) -> Result<Tensor> {
    let parts = (entry.f)(&x[0], &x[1])?;
    let mut sum = weighed(parts.first().expect("a result of f64"))?;
    for (k, part) in parts.iter().enumerate().skip(1) {
        sum = sum.add(&weighed(part)?.multiply(1.0 + k as f64 / 7.0)?)?;
    }
    Ok(sum)
}

/// The entry as it is named in a fault.
fn shown(entry: &Entry, letter: char) -> String {
    let text = entry.text.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("{:?} {} of {letter}: {text}", entry.owner, entry.name)
}

#[test]
fn operations_have_an_entry_exactly_if_they_have_a_gradient() {
    let entries = entries();
    let with: BTreeSet<(String, &str)> = entries.iter().map(|e| (format!("{:?}", e.owner), e.name)).collect();
    let elsewhere: BTreeSet<(String, &str)> = ELSEWHERE
        .iter()
        .flat_map(|(owner, names, _)| names.iter().map(move |name| (format!("{owner:?}"), *name)))
        .collect();
    let mut declared = BTreeSet::new();
    let has_one = |o: &&Operation| matches!(o.gradient, HasGradient::Yes | HasGradient::FirstOrder(_));
    for operation in ragged::operations().filter(has_one) {
        declared.extend(operation.owners.iter().map(|owner| (format!("{owner:?}"), operation.name)));
    }
    let missing: Vec<_> = declared.iter().filter(|o| !with.contains(o) && !elsewhere.contains(o)).collect();
    assert!(missing.is_empty(), "declares a gradient, has no entry: {missing:?}");
    let unknown: Vec<_> = with.union(&elsewhere).filter(|o| !declared.contains(o)).collect();
    assert!(unknown.is_empty(), "has an entry, declares no gradient: {unknown:?}");
    let twice: Vec<_> = with.intersection(&elsewhere).collect();
    assert!(twice.is_empty(), "has an entry, is listed as compared elsewhere: {twice:?}");
}

/// A gradient that is missing is written, or listed here with the reason that the documentation gives.
#[test]
fn missing_gradients_are_listed() {
    let mut missing = BTreeSet::new();
    let mut first_order = BTreeSet::new();
    for operation in ragged::operations() {
        match operation.gradient {
            HasGradient::Missing(why) => {
                missing.extend(operation.owners.iter().map(|owner| (format!("{owner:?}"), operation.name, why)));
            }
            HasGradient::FirstOrder(why) => {
                first_order.insert((operation.name, why));
            }
            HasGradient::Yes | HasGradient::None(_) => {}
            other => panic!("{}: {other:?}", operation.name),
        }
    }
    let listed: BTreeSet<_> = MISSING.iter().map(|&(owner, name, why)| (format!("{owner:?}"), name, why)).collect();
    assert_eq!(missing, listed, "missing gradients: declared, and listed");
    let listed: BTreeSet<_> = FIRST_ORDER.iter().copied().collect();
    assert_eq!(first_order, listed, "missing second derivatives: declared, and listed");
}

/// The layout of an entry that all comparisons have: ragged rows, if it has them.
fn main_layout(entry: &Entry) -> char {
    ['R', 'L', 'D', 'I'].into_iter().find(|&letter| entry.layouts.contains(letter)).expect("a layout")
}

/// Whether the operation is that of a typed tensor or of rows, which records what a tensor does. One layout of these is
/// compared.
fn is_of_another_type(entry: &Entry) -> bool {
    matches!(entry.owner, Owner::RaggedTensor | Owner::Row)
}

/// Compares every fourth entry from `part` on.
fn compare(part: usize) {
    let device = Device::cpu();
    let mut faults = Vec::new();
    for entry in entries().iter().skip(part).step_by(4) {
        let main = main_layout(entry);
        for letter in entry.layouts.chars().filter(|&letter| letter == main || !is_of_another_type(entry)) {
            let x = layout(letter, &device);
            let at = [x.clone(), another(&x).expect("a tensor")];
            let has_second = !is_of_another_type(entry) && !FIRST_ORDER.iter().any(|(name, _)| *name == entry.name);
            match fault(&at, has_second, &|x| loss(entry, x)) {
                Ok(None) => {}
                Ok(Some(fault)) => faults.push(format!("{}: {fault}", shown(entry, letter))),
                Err(e) => faults.push(format!("{}: {e}", shown(entry, letter))),
            }
        }
    }
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn gradients_are_central_differences_part_0() {
    compare(0);
}
#[test]
fn gradients_are_central_differences_part_1() {
    compare(1);
}
#[test]
fn gradients_are_central_differences_part_2() {
    compare(2);
}
#[test]
fn gradients_are_central_differences_part_3() {
    compare(3);
}

/// Number of entries whose losses are added: their gradients are one program, which compiles faster than one for each.
const AT_ONCE: usize = 16;

/// The bits of the gradients of the sum of the losses of several entries of one layout.
fn bits(entries: &[&Entry], device: &Device) -> Result<Vec<String>> {
    let x = layout(main_layout(entries[0]), device);
    let at = [x.clone(), another(&x)?];
    let sum = |x: &[Tensor]| -> Result<Tensor> {
        let first = loss(entries[0], x)?;
        entries[1..].iter().try_fold(first, |sum, entry| sum.add(&loss(entry, x)?))
    };
    grad(sum, &at[..])?.iter().map(|g| Ok(format!("{:?}", g.to_host()?.values))).collect()
}

/// Compares the gradients of entries on the first GPU adapter with those on the CPU, bit for bit.
fn compare_bits(all: &[Entry]) {
    let Some((name, gpu)) = gpus().into_iter().next() else { return };
    let mut faults = Vec::new();
    let differ = |entries: &[&Entry]| {
        let (on_gpu, on_cpu) = (bits(entries, &gpu), bits(entries, &Device::cpu()));
        let are_equal = matches!((&on_gpu, &on_cpu), (Ok(a), Ok(b)) if a == b);
        (!are_equal).then(|| format!("{on_gpu:?}, not {on_cpu:?}"))
    };
    for letter in ['R', 'L', 'D', 'I'] {
        let is_here = |entry: &&Entry| !is_of_another_type(entry) && main_layout(entry) == letter;
        let here: Vec<&Entry> = all.iter().filter(is_here).collect();
        for chunk in here.chunks(AT_ONCE) {
            let Some(of_all) = differ(chunk) else { continue };
            let mut of_each: Vec<String> = chunk
                .iter()
                .filter_map(|entry| Some(format!("{name}: {}: {}", shown(entry, letter), differ(&[*entry])?)))
                .collect();
            if of_each.is_empty() {
                let texts: Vec<&str> = chunk.iter().map(|entry| entry.text).collect();
                of_each.push(format!("{name}: {of_all}, together: {texts:#?}"));
            }
            faults.append(&mut of_each);
        }
    }
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}

/// Of operations of elements; `laws`, `points`, `wheres` and `functions` have gradients of other operations on GPUs.
#[test]
fn gradients_of_elements_have_equal_bits_on_gpus() {
    compare_bits(&elements());
}

#[test]
#[ignore = "software GPUs compile the kernels for minutes"]
fn gradients_of_all_entries_have_equal_bits_on_gpus() {
    compare_bits(&entries());
}

/// The kind of results or arguments that a reason for having no gradient names.
fn is_true(reason: &str, operation: &Operation) -> Option<bool> {
    let results: Vec<Option<DType>> = operation.results.iter().map(|result| result.dtype.of(DType::F64)).collect();
    let all = |of: fn(DType) -> bool| results.iter().all(|dtype| dtype.is_some_and(of));
    let takes = |of: fn(DType) -> bool| operation.elements.iter().all(|&dtype| of(dtype));
    let (is_bool, is_integer) = (|dtype: DType| dtype == DType::Bool, DType::is_integer);
    let takes_tensors = operation.is_method
        || operation.arguments.iter().any(|argument| {
            matches!(argument.kind, ArgumentKind::Tensor | ArgumentKind::Tensors | ArgumentKind::Operand)
        });
    Some(match reason {
        "the result holds bools" => all(is_bool),
        "the result holds positions" | "the result holds counts" | "the result holds hashes" => all(is_integer),
        "the result holds offsets of rows" | "the result holds numbers of rows" => all(is_integer),
        "the result holds strings" => all(|dtype| dtype == DType::Str),
        "it takes bools" => takes(is_bool),
        "it takes integers" => takes(is_integer),
        "it takes strings" => takes(|dtype| dtype == DType::Str),
        "it takes no tensor" => !takes_tensors,
        "the result does not depend on the values" => true,
        "constant almost everywhere" | "a step between neighbouring floats" => true,
        "the bits of a number have no derivative" | "it stops gradients" => true,
        "constant in the indices, which are integers" => takes(is_integer),
        _ => return None,
    })
}

#[test]
fn reasons_for_having_no_gradient_are_true() {
    let mut faults = Vec::new();
    for operation in ragged::operations() {
        let HasGradient::None(reason) = operation.gradient else { continue };
        match is_true(reason, operation) {
            Some(true) => {}
            Some(false) => faults.push(format!("{}: {reason}", operation.name)),
            None => faults.push(format!("{}: an unknown reason: {reason}", operation.name)),
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}
