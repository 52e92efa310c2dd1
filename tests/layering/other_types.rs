//! Declarations of operations of types that are made of tensors, whose methods are written by hand: they agree with these.

use ragged::operation::Owner;
use ragged::{Operation, operations};

use crate::functions::{Function, first_sentence, functions};

/// What a declaration says of its method that is not so.
fn differences(operation: &Operation, method: &Function) -> Vec<String> {
    let mut out = Vec::new();
    let mut differ = |what: &str, declared: &dyn std::fmt::Debug, found: &dyn std::fmt::Debug| {
        out.push(format!("{} {what}: declared {declared:?}, but the method has {found:?}", method.place));
    };
    let (declared, found) = (first_sentence(operation.doc), method.first_sentence());
    if declared != found {
        differ("first sentence", &declared, &found);
    }
    let declared: Vec<&str> = operation.arguments.iter().map(|argument| argument.name).collect();
    if declared != method.parameter_names() {
        differ("arguments", &declared, &method.parameter_names());
    }
    if operation.is_method != method.is_method() {
        differ("receiver", &operation.is_method, &method.is_method());
    }
    let names = operation.tensorflow.map(|name| name.trim_start_matches("tf.experimental."));
    if names.is_some_and(|name| !method.doc.contains(&format!("`{name}`"))) {
        differ("name in TensorFlow", &names, &"another one");
    }
    if operation.waits.is_none() && method.doc.contains("record_async") {
        differ("waits", &operation.waits, &"a wait");
    }
    out
}

#[test]
fn declarations_of_other_types_agree_with_their_methods() {
    let owners = [(Owner::SparseTensor, "sparse"), (Owner::StructuredTensor, "structured"), (Owner::LodTensor, "lod")];
    let (mut faults, mut count) = (Vec::new(), 0);
    for (owner, folder) in owners {
        let methods = functions(folder);
        for operation in operations().filter(|operation| operation.owners.contains(owner)) {
            let of = |f: &&Function| f.owner == owner.name() && f.name == operation.name;
            match methods.iter().find(of) {
                Some(method) => faults.extend(differences(operation, method)),
                None => faults.push(format!("{}::{} does not exist", owner.name(), operation.name)),
            }
            count += 1;
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(count > 80, "only {count} operations");
}
