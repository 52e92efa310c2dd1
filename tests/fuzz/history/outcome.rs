//! What a recorded operation and its read gave, reduced to what must not depend on the history.

use ragged::{Error, HostTensor, HostValues, Result, Tensor, bf16, f16};

/// The outcome of an operation.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// The operation was not recorded, since an operand was not.
    Absent,
    /// Recording failed.
    Refused(Error),
    /// The read failed.
    Failed(Error),
    Read(Seen),
}

/// A tensor that was read: the digest of its splits and values, the shape, and the beginning as text.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    pub digest: u64,
    /// The shape once all sizes of the tensor are known.
    pub shape: Vec<Option<usize>>,
    pub ragged_rank: usize,
    pub text: String,
}

impl Outcome {
    /// Reads what was recorded.
    pub fn of(recorded: Result<Tensor>) -> Self {
        match recorded {
            Ok(x) => Self::of_read(&x, x.to_host().as_ref()),
            Err(e) => Self::Refused(e),
        }
    }

    /// The outcome of a read of the tensor.
    pub fn of_read(x: &Tensor, read: std::result::Result<&HostTensor, &Error>) -> Self {
        match read {
            Ok(host) => Self::Read(Seen {
                digest: digest(host),
                shape: x.shape(),
                ragged_rank: x.ragged_rank(),
                text: text(host),
            }),
            Err(e) => Self::Failed(e.clone()),
        }
    }

    /// How the outcome differs from the wanted one, as a class of faults. Of several failed conditions, any may be
    /// reported. Sizes that are known in both must agree. `knows_all`: every size that the wanted shape knows must be
    /// known, as on two devices of one kind; a history may make more sizes known.
    pub fn difference(&self, want: &Self, knows_all: bool) -> Option<&'static str> {
        match (self, want) {
            (Self::Absent, Self::Absent) => None,
            (Self::Refused(a), Self::Refused(b)) | (Self::Failed(a), Self::Failed(b)) => {
                (std::mem::discriminant(a) != std::mem::discriminant(b)).then_some("kind of error")
            }
            (Self::Read(a), Self::Read(b)) => {
                let knows = |(a, b): (&Option<usize>, &Option<usize>)| a.is_some() || b.is_none();
                if a.ragged_rank != b.ragged_rank || a.shape.len() != b.shape.len() {
                    Some("rank")
                } else if a.digest != b.digest {
                    Some("values")
                } else if !may_be_same(&a.shape, &b.shape) {
                    Some("shape")
                } else if knows_all && !a.shape.iter().zip(&b.shape).all(knows) {
                    Some("unknown sizes")
                } else {
                    None
                }
            }
            _ => Some("success"),
        }
    }

    /// Whether the shapes know the same sizes below the outermost one.
    pub fn has_uniform_lengths_of(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Read(a), Self::Read(b)) => a.shape.get(1..) == b.shape.get(1..),
            _ => true,
        }
    }

    /// Whether the shapes know different lengths of rows without elements, or of no rows, in `host`, the tensor that was
    /// read.
    pub fn knows_other_lengths_of_nothing(&self, other: &Self, host: &HostTensor) -> bool {
        let (Self::Read(a), Self::Read(b)) = (self, other) else { return false };
        let lengths = a.shape.iter().skip(1).zip(b.shape.iter().skip(1));
        host.nested_row_splits.iter().zip(lengths).any(|(splits, (a, b))| splits.last() == Some(&0) && a != b)
    }

    /// The text of a difference, which begins with its class in brackets.
    pub fn fault(&self, want: &Self, knows_all: bool) -> Option<String> {
        self.difference(want, knows_all).map(|class| format!("[{class}] {self}\n    not {want}"))
    }
}

/// A summary of faults: the number of each class, which is in brackets in their text, and the first ones of each.
pub fn summary(faults: &[String]) -> String {
    let shown = crate::number("RAGGED_FUZZ_SHOWN").unwrap_or(3);
    let mut classes = std::collections::BTreeMap::<&str, (u64, String)>::new();
    for fault in faults {
        let class = fault.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map_or("", |(class, _)| class);
        let (count, text) = classes.entry(class).or_default();
        *count += 1;
        if *count <= shown {
            text.push_str(fault);
            text.push('\n');
        }
    }
    let counts: Vec<String> = classes.iter().map(|(class, (count, _))| format!("{class}: {count}")).collect();
    let texts: String = classes.values().map(|(_, text)| text.as_str()).collect();
    format!("{} faults ({})\n{texts}", faults.len(), counts.join(", "))
}

/// Whether the shapes agree in all sizes that are known in both.
pub fn may_be_same(a: &[Option<usize>], b: &[Option<usize>]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a == b || a.is_none() || b.is_none())
}

impl std::fmt::Display for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Absent => f.write_str("not recorded"),
            Self::Refused(e) => write!(f, "refused: {e}"),
            Self::Failed(e) => write!(f, "the read failed: {e}"),
            Self::Read(seen) => write!(f, "{:?}, ragged rank {}, {}", seen.shape, seen.ragged_rank, seen.text),
        }
    }
}

/// The first values and splits.
pub fn text(host: &HostTensor) -> String {
    const MOST: usize = 160;
    let lists = format!("{host}");
    let mut end = lists.len().min(MOST);
    while !lists.is_char_boundary(end) {
        end -= 1;
    }
    let cut = if end < lists.len() { " …" } else { "" };
    format!("{} {:?}, {} values: {}{cut}", host.values.dtype(), host.inner_shape, host.values.len(), &lists[..end])
}

/// A digest of the splits, the inner shape and the bits of the values; all NaNs are equal.
pub fn digest(host: &HostTensor) -> u64 {
    let mut hash = Hash(host.values.dtype() as u64);
    for splits in &host.nested_row_splits {
        hash.all(splits.iter().map(|&n| n.into()));
    }
    hash.all(host.inner_shape.iter().map(|&n| n as u64));
    macro_rules! floats {
        ($v:expr, $t:ident) => {
            hash.all($v.iter().map(|x| if x.is_nan() { $t::NAN } else { *x }.to_bits().into()))
        };
    }
    match &host.values {
        HostValues::Bool(v) => hash.all(v.iter().map(|&x| x.into())),
        HostValues::U8(v) => hash.all(v.iter().map(|&x| x.into())),
        HostValues::I8(v) => hash.all(v.iter().map(|&x| x as u64)),
        HostValues::U16(v) => hash.all(v.iter().map(|&x| x.into())),
        HostValues::I16(v) => hash.all(v.iter().map(|&x| x as u64)),
        HostValues::I32(v) => hash.all(v.iter().map(|&x| x as u64)),
        HostValues::U32(v) => hash.all(v.iter().map(|&x| x.into())),
        HostValues::I64(v) => hash.all(v.iter().map(|&x| x as u64)),
        HostValues::U64(v) => hash.all(v.iter().copied()),
        HostValues::F16(v) => floats!(v, f16),
        HostValues::BF16(v) => floats!(v, bf16),
        HostValues::F32(v) => floats!(v, f32),
        HostValues::F64(v) => floats!(v, f64),
        HostValues::Str(v) => v.iter().for_each(|s| hash.all(s.iter().map(|&b| b.into()))),
        other => panic!("a hash of {}", other.dtype()),
    }
    hash.0
}

struct Hash(u64);

impl Hash {
    /// Adds numbers and how many there are.
    fn all(&mut self, numbers: impl Iterator<Item = u64>) {
        let mut len = 0u64;
        for n in numbers {
            self.add(n);
            len += 1;
        }
        self.add(len);
    }

    fn add(&mut self, n: u64) {
        self.0 = (self.0.rotate_left(23) ^ n).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}
