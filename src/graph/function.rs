//! Functions of elements that the user defines in WGSL and in Rust.

use std::any::Any;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::sync::Arc;

use super::digest::Digest;
use crate::dtype::DType;
use crate::error::{Error, Result, caller};

/// The Rust function, applied to blocks: for each argument, and for the result, one word per element. Floats are their
/// bits, bools 0 and 1.
pub(crate) type BlockFunction = Arc<dyn Fn(&[&[u32]], &mut [u32]) + Send + Sync>;

/// A derivative that the user gave. Gradients know its type.
pub(crate) type Derivative = Arc<dyn Any + Send + Sync>;

/// The WGSL function.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct WgslFunction {
    /// Functions and constants, whose names occur in no other text. The text is valid on its own and has no comments.
    pub(crate) text: String,
    /// The name of the function in the text.
    pub(crate) entry: String,
    /// Estimated cost of one call, in operations.
    pub(crate) cost: u32,
}

/// What a program contains of a function of the user: all of it except the Rust function, which is in the program's
/// [`Locations`](super::program::Locations).
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct FunctionDef {
    /// The user's name of the function.
    pub(crate) name: String,
    /// The dtypes of the arguments: bool or a number of 32 bits.
    pub(crate) parameters: Vec<DType>,
    /// The dtype of the result.
    pub(crate) result: DType,
    pub(crate) wgsl: WgslFunction,
}

/// A function of the user: cheap to clone, compared by identity.
#[derive(Clone)]
pub(crate) struct Function(Arc<FunctionData>);

/// Contents of a [`Function`].
pub(crate) struct FunctionData {
    pub(crate) def: Arc<FunctionDef>,
    /// Differs between functions that may give different results.
    pub(crate) identity: Digest,
    /// `None` for a function of a file whose Rust side was not registered.
    pub(crate) rust: Option<BlockFunction>,
    /// The derivatives by the first arguments, as far as the user gave them.
    pub(crate) derivatives: Vec<Option<Derivative>>,
    /// Where the user defined the function.
    pub(crate) location: &'static Location<'static>,
}

impl Function {
    pub(crate) fn new(data: FunctionData) -> Self {
        Self(Arc::new(data))
    }

    /// The function with a derivative by argument `k`.
    pub(crate) fn with_derivative(&self, k: usize, derivative: Derivative, identity: Digest) -> Self {
        let FunctionData { def, rust, derivatives, location, .. } = &*self.0;
        let mut derivatives = derivatives.clone();
        derivatives.resize(derivatives.len().max(k + 1), None);
        derivatives[k] = Some(derivative);
        Self::new(FunctionData { def: def.clone(), identity, rust: rust.clone(), derivatives, location })
    }

    /// The derivative by argument `k`, if the user gave one.
    pub(crate) fn derivative(&self, k: usize) -> Option<&Derivative> {
        self.0.derivatives.get(k)?.as_ref()
    }

    pub(crate) fn identity(&self) -> Digest {
        self.0.identity
    }

    /// The part that a program contains.
    pub(crate) fn def(&self) -> &Arc<FunctionDef> {
        &self.0.def
    }
    pub(crate) fn name(&self) -> &str {
        &self.0.def.name
    }
    pub(crate) fn parameters(&self) -> &[DType] {
        &self.0.def.parameters
    }
    pub(crate) fn result(&self) -> DType {
        self.0.def.result
    }
    /// Whether the Rust function, which the CPU calls, is there.
    pub(crate) fn has_rust(&self) -> bool {
        self.0.rust.is_some()
    }

    /// The error of a call on the CPU without a Rust function.
    #[track_caller]
    pub(crate) fn missing(&self) -> Error {
        let what =
            "a file has its WGSL only, and the CPU calls its Rust function: give it to LoadOptions::element_function";
        Error::Function { function: self.0.def.name.clone(), what: what.into(), location: caller() }
    }

    /// Fills `results` with the Rust function's results, as words.
    ///
    /// # Errors
    /// [`Error::Function`] if the Rust function panics, or is missing. The results are unspecified then.
    #[track_caller]
    pub(crate) fn apply(&self, arguments: &[&[u32]], results: &mut [u32]) -> Result<()> {
        let call = caller();
        let Some(rust) = &self.0.rust else { return Err(self.missing()) };
        // The words stay valid after a panic, whichever of them were written.
        catch_unwind(AssertUnwindSafe(|| rust(arguments, results))).map_err(|panic| {
            let text = panic.downcast_ref::<&str>().copied();
            let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message");
            let (file, line) = (self.0.location.file(), self.0.location.line());
            Error::Function {
                function: self.0.def.name.clone(),
                what: format!("the Rust function, defined at {file}:{line}, panicked: {text}"),
                location: call,
            }
        })
    }
}

#[cfg(test)]
impl Function {
    /// `x + (y << 1)` of words, which has no loops and no state.
    pub(crate) fn for_tests() -> Self {
        Self::for_tests_with(|x, y| x.wrapping_add(y << 1))
    }

    /// As [`Function::for_tests`], with another Rust function.
    pub(crate) fn for_tests_with(one: fn(u32, u32) -> u32) -> Self {
        let text = "fn user_test_f(x: u32, y: u32) -> u32 {\n    return x + (y << 1u);\n}\n".into();
        let def = FunctionDef {
            name: "f".into(),
            parameters: vec![DType::U32; 2],
            result: DType::U32,
            wgsl: WgslFunction { text, entry: "user_test_f".into(), cost: 2 },
        };
        Self::new(FunctionData {
            def: Arc::new(def),
            identity: Digest::of("function", "for tests"),
            rust: Some(Arc::new(move |arguments: &[&[u32]], results: &mut [u32]| {
                for (k, result) in results.iter_mut().enumerate() {
                    *result = one(arguments[0][k], arguments[1][k]);
                }
            })),
            derivatives: Vec::new(),
            location: caller(),
        })
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Function({}, {:?} -> {:?})", self.name(), self.parameters(), self.result())
    }
}

impl PartialEq for Function {
    fn eq(&self, other: &Self) -> bool {
        self.0.identity == other.0.identity
    }
}
impl Eq for Function {}

impl Hash for Function {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.identity.hash(state);
    }
}
