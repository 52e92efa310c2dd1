//! The list of functions.

use ragged::Device;
use ragged_sql::Functions;

use crate::arguments::Functions as Arguments;
use crate::exit::Failure;

/// Prints the functions whose names contain the word.
///
/// # Errors
/// No such function; an output that cannot be written.
pub fn list(arguments: &Arguments) -> Result<(), Failure> {
    let functions = Functions::new(&Device::cpu());
    let word = arguments.word.as_deref().unwrap_or_default().to_lowercase();
    let mut text = String::new();
    for function in functions.all() {
        let names = std::iter::once(function.name()).chain(function.aliases().iter().map(String::as_str));
        let names: Vec<&str> = names.collect();
        let Some(documentation) = function.documentation() else { continue };
        if !names.iter().any(|name| name.contains(&word)) {
            continue;
        }
        text += &format!("{}\n    {}\n", documentation.syntax_example, documentation.description);
        if let [_, others @ ..] = &names[..]
            && !others.is_empty()
        {
            text += &format!("    also {}\n", others.join(", "));
        }
    }
    if text.is_empty() {
        return Err(Failure::usage(format!("no function has {word:?} in its name")));
    }
    crate::output::print(&text)
}
