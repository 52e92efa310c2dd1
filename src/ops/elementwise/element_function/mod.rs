//! Functions of elements that the user defines in WGSL and in Rust.

mod check;
mod derivative;
mod fault;
#[cfg(feature = "saved")]
mod saved;
mod scan;
mod signature;
#[cfg(not(feature = "gpu"))]
mod unvalidated;
#[cfg(feature = "gpu")]
mod validator;
mod wgsl;

use std::any::TypeId;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

pub(crate) use derivative::ElementDerivative;
use fault::Fault;
#[cfg(feature = "saved")]
pub(crate) use saved::SavedFunction;
pub use signature::{ElementClosure, ElementSignature, WgslElement};

use crate::error::{Error, Result, caller};
use crate::graph::digest::Digest;
use crate::graph::expr::Expr;
use crate::graph::function::{Function, FunctionData, FunctionDef};
use crate::ops::IntoOperandOf;
use crate::record::elementwise::map_of_any_dtypes;
use crate::record::operand::{Operand, OperandOf};
use crate::tensor::{RaggedTensor, Tensor};

const OP: &str = "map_elements";

/// A function of elements, written in WGSL for GPUs and in Rust for the CPU backend.
///
/// Where existing operations can express the function, write an ordinary Rust function of tensors instead. Its
/// operations fuse into one kernel, every device gives the same bits, and nothing has to be checked:
///
/// ```
/// use ragged::{Device, RaggedTensor, Result};
/// fn swish(x: &RaggedTensor<f32>) -> Result<RaggedTensor<f32>> {
///     x * x.sigmoid()?
/// }
/// let x = RaggedTensor::from_nested([vec![0.0f32, 1.0], vec![]], &Device::cpu())?;
/// assert_eq!(swish(&x)?.to_vec()?, [0.0, 0.7310586]);
/// # Ok::<(), ragged::Error>(())
/// ```
///
/// A pair is for functions that operations express badly: loops, tables, bit manipulation. Its type is its signature,
/// which the Rust function determines. [`call`](#method.call) applies it to tensors and numbers, and
/// [`check`](Self::check) compares both sides on a GPU:
///
/// ```
/// use ragged::{Device, ElementFunction, RaggedTensor};
///
/// let steps: ElementFunction<fn(u32, u32) -> u32> = ElementFunction::new(
///     "collatz_steps",
///     "fn collatz_steps(n: u32, limit: u32) -> u32 {
///         var x = n;
///         var k = 0u;
///         while (x > 1u && k < limit) {
///             x = select(x / 2u, 3u * x + 1u, (x & 1u) == 1u);
///             k += 1u;
///         }
///         return k;
///     }",
///     |n: u32, limit: u32| {
///         let (mut x, mut k) = (n, 0);
///         while x > 1 && k < limit {
///             x = if x & 1 == 1 { x.wrapping_mul(3).wrapping_add(1) } else { x / 2 };
///             k += 1;
///         }
///         k
///     },
/// )?;
/// let x = RaggedTensor::from_nested([vec![1u32, 6, 7], vec![], vec![27]], &Device::cpu())?;
/// assert_eq!(steps.call(&x, 1000)?.to_string(), "<ragged.RaggedTensor [[0, 8, 16], [], [111]]>");
/// # Ok::<(), ragged::Error>(())
/// ```
///
/// # Arguments and results
///
/// One to four arguments of bool, i32, u32 or f32 ([`WgslElement`]), each of its own type; tensors of other dtypes are
/// cast first. Operands broadcast as those of [`Tensor::add`]; at least one is a tensor. The call is one element-wise
/// operation: it fuses with its producers and consumers, costs no dispatch and no wait of its own, and empty rows stay
/// empty.
///
/// # Requirements
///
/// Both functions must be pure, end for all arguments, and give equal bits; NaNs are equal. They may be called for
/// elements whose result is not used.
///
/// WGSL fixes the bits of integer arithmetic, and of f32 additions, subtractions, multiplications, comparisons and bit
/// casts. It leaves open those of `/`, `sqrt`, `exp` and other built-in functions, whether `x * y + z` rounds once or
/// twice, and whether a NaN is noticed in `x != x`. Compute such parts with operations of tensors, and pass the results
/// as arguments: all of it fuses. In Rust use `wrapping_add` and the like: WGSL integers wrap, and quotients by 0 are
/// the dividend.
///
/// A panic of the Rust function is an error of the read, and other reads are not affected; a program compiled with
/// `panic = "abort"` ends. On a GPU, a loop without end loses the device.
///
/// # Gradients
///
/// Gradients need the derivative by each argument that they pass through: see
/// [`with_derivative`](Self::with_derivative).
///
/// # Identity
///
/// Equal calls are computed once. Functions without captured variables are equal if name, text and closure are; of
/// others, only clones are equal. Define a function once rather than per batch, so that plans and kernels are reused;
/// plan caches keep it alive.
pub struct ElementFunction<S> {
    function: Function,
    signature: PhantomData<S>,
}

/// Construction and name.
impl<S: ElementSignature> ElementFunction<S> {
    /// Defines a function by two texts: `wgsl`, which declares a function called `name`, and a Rust function or
    /// closure.
    ///
    /// The WGSL may declare further functions and constants. It cannot use types of its own, variables at module scope,
    /// attributes, barriers, derivatives, subgroup operations, or optional types such as f16 and f64.
    ///
    /// # Errors
    /// [`Error::Wgsl`], with the line: WGSL that is invalid or declares anything else; no function of that name; a
    /// signature that differs from the Rust function's; a value of more than 8192 bytes, or variables of more than 8192
    /// bytes in all functions together. Without the feature `gpu` nothing can run the WGSL: it is kept, and saved with
    /// programs, but only its length, its depth and the names of its declarations are checked.
    ///
    /// # Cost
    /// Parses and validates the text, once per function. Calls parse nothing.
    ///
    /// ```
    /// use ragged::{ElementFunction, Error};
    /// let text = "fn parity(x: u32) -> bool { return (countOneBits(x) & 1u) == 1u; }";
    /// let parity = ElementFunction::new("parity", text, |x: u32| x.count_ones() % 2 == 1)?;
    /// assert_eq!(parity.name(), "parity");
    ///
    /// let error = ElementFunction::new("parity", text, |x: i32| x.count_ones() % 2 == 1).unwrap_err();
    /// assert!(matches!(error, Error::Wgsl { line: Some(1), .. }));
    /// # Ok::<(), Error>(())
    /// ```
    ///
    /// Types that WGSL lacks are refused by the compiler:
    ///
    /// ```compile_fail,E0277
    /// let text = "fn twice(x: f64) -> f64 { return x + x; }";
    /// let twice = ragged::ElementFunction::new("twice", text, |x: f64| x + x);
    /// ```
    #[track_caller]
    pub fn new<F: ElementClosure<S>>(name: &str, wgsl: &str, function: F) -> Result<Self> {
        let validated = wgsl::validated(name, wgsl, S::PARAMETERS, S::RESULT);
        let text = match validated {
            Ok(text) => text,
            Err(Fault { line, what }) => {
                return Err(Error::Wgsl { function: name.to_owned(), line, what, location: caller() });
            }
        };
        let def =
            FunctionDef { name: name.to_owned(), parameters: S::PARAMETERS.to_vec(), result: S::RESULT, wgsl: text };
        let function = Function::new(FunctionData {
            def: Arc::new(def),
            identity: identity::<S, F>(name, wgsl),
            rust: Some(Arc::new(move |arguments: &[&[u32]], results: &mut [u32]| function.run(arguments, results))),
            derivatives: Vec::new(),
            location: caller(),
        });
        Ok(Self { function, signature: PhantomData })
    }

    /// The name of the function.
    ///
    /// ```
    /// let text = "fn twice(x: i32) -> i32 { return 2 * x; }";
    /// assert_eq!(ragged::ElementFunction::new("twice", text, |x: i32| x.wrapping_mul(2))?.name(), "twice");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    pub fn name(&self) -> &str {
        self.function.name()
    }

    #[cfg(feature = "saved")]
    pub(crate) fn function(&self) -> &Function {
        &self.function
    }
}

/// The identity of a function. A closure without captured variables is determined by its type.
fn identity<S: 'static, F: 'static>(name: &str, wgsl: &str) -> Digest {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    if size_of::<F>() == 0 {
        return Digest::of("function", (TypeId::of::<F>(), TypeId::of::<S>(), name, wgsl));
    }
    Digest::of("function with state", NEXT.fetch_add(1, Ordering::Relaxed))
}

/// Records the function of the operands, whose dtypes are those of its parameters.
#[track_caller]
fn record(op: &'static str, function: &Function, operands: &[Operand<'_>]) -> Result<Tensor> {
    map_of_any_dtypes(Operand::recorder(op, operands)?, operands, |numbers| Expr::call(function, numbers.into()))
}

/// The function of each element of a tensor.
#[track_caller]
fn of_elements<'a, T: WgslElement>(function: &Function, x: impl Into<OperandOf<'a, T>>) -> Result<Tensor> {
    record(OP, function, &[x.into().erased(OP)?])
}

macro_rules! calls {
    ($($($name:ident: $t:ident),+;)*) => {$(
        /// Calls.
        impl<$($t: WgslElement,)+ R: WgslElement> ElementFunction<fn($($t),+) -> R> {
            /// The function of the operands: tensors, typed or not, and numbers, of which at least one is a tensor.
            ///
            /// Operands broadcast as those of [`Tensor::add`]. [`ElementFunction`] shows an example.
            ///
            /// # Errors
            /// No tensor; a tensor of another dtype; a number that the dtype cannot represent; different devices;
            /// shapes that do not broadcast, at the read where only the device knows the lengths of rows. At the read:
            /// a panic of the Rust function.
            ///
            /// # Cost
            /// One map over the result, fused with its producers and consumers. Nothing is read back.
            #[track_caller]
            pub fn call<'a>(&self, $($name: impl IntoOperandOf<'a, $t>),+) -> Result<RaggedTensor<R>> {
                const OP: &str = "ElementFunction::call";
                record(OP, &self.function, &[$($name.into().erased(OP)?),+])?.try_into()
            }
        }
    )*};
}
calls! {
    a: A;
    a: A, b: B;
    a: A, b: B, c: C;
    a: A, b: B, c: C, d: D;
}

/// Functions of your own.
impl Tensor {
    /// Applies a function of the user to every element; the shape stays. [`ElementFunction::call`] takes further
    /// operands.
    ///
    /// # Errors
    /// A dtype other than that of the function's argument. At the read: a panic of the Rust function.
    ///
    /// # Cost
    /// One map, fused with its producers and consumers. Nothing is read back.
    ///
    /// ```
    /// use ragged::{Device, ElementFunction, RaggedTensor};
    /// let text = "fn reversed_bits(x: u32) -> u32 { return reverseBits(x); }";
    /// let reversed_bits = ElementFunction::new("reversed_bits", text, u32::reverse_bits)?;
    /// let x = RaggedTensor::from_nested([vec![1u32, 6], vec![], vec![1 << 31]], &Device::cpu())?.into_erased();
    /// let y = x.map_elements(&reversed_bits)?;
    /// assert_eq!(y.to_string(), "<ragged.RaggedTensor [[2147483648, 1610612736], [], [1]]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// TensorFlow: `tf.vectorized_map`, or a custom op. Polars: `Expr.map_elements`.
    #[track_caller]
    pub fn map_elements<A: WgslElement, R: WgslElement>(&self, function: &ElementFunction<fn(A) -> R>) -> Result<Self> {
        of_elements::<A>(&function.function, self)
    }
}

/// Functions of your own.
impl<T: WgslElement> RaggedTensor<T> {
    /// Applies a function of the user to every element; the shape stays.
    ///
    /// The function is written in WGSL and in Rust. [`ElementFunction::call`] takes further operands.
    ///
    /// # Errors
    /// At the read: a panic of the Rust function.
    ///
    /// # Cost
    /// One map, fused with its producers and consumers. Nothing is read back.
    ///
    /// ```
    /// use ragged::{Device, ElementFunction, RaggedTensor};
    /// let text = "fn reversed_bits(x: u32) -> u32 { return reverseBits(x); }";
    /// let reversed_bits = ElementFunction::new("reversed_bits", text, u32::reverse_bits)?;
    /// let x = RaggedTensor::from_nested([vec![1u32, 6], vec![], vec![1 << 31]], &Device::cpu())?;
    /// assert_eq!(x.map_elements(&reversed_bits)?.to_vec()?, [1 << 31, 3 << 29, 1]);
    /// # Ok::<(), ragged::Error>(())
    /// ```
    ///
    /// Polars: `Expr.map_elements`.
    #[track_caller]
    pub fn map_elements<R: WgslElement>(&self, function: &ElementFunction<fn(T) -> R>) -> Result<RaggedTensor<R>> {
        of_elements::<T>(&function.function, self)?.try_into()
    }
}

impl<S> Clone for ElementFunction<S> {
    fn clone(&self) -> Self {
        Self { function: self.function.clone(), signature: PhantomData }
    }
}

impl<S> fmt::Debug for ElementFunction<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let types = |dtypes: &[crate::DType]| dtypes.iter().map(|d| d.name()).collect::<Vec<_>>().join(", ");
        let (parameters, result) = (types(self.function.parameters()), self.function.result());
        write!(f, "ElementFunction({}: fn({parameters}) -> {result})", self.function.name())
    }
}
