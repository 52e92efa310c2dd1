//! Saved models: named programs and tensors in one file.

mod captured;
mod file;
mod header;
mod manifest;
mod program;
mod tensors;

use std::collections::BTreeMap;
use std::fmt;
use std::io::Write;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::device::Device;
use crate::dtype::DType;
use crate::error::{Error, Result, caller, here};
use crate::graph::function::Function;
use crate::ops::{ElementFunction, ElementSignature};
use crate::program::{Program, TensorSpec, guarded};
use crate::tensor::Tensor;
use captured::CapturedArrays;
use file::File;
use manifest::Manifest;
use program::{CheckedProgram, SavedProgram};
use tensors::SavedTensor;

/// Named programs and named tensors, in one file.
///
/// The file is a [safetensors](https://huggingface.co/docs/safetensors) file. Each array is found under its name by every
/// program that reads such files; the entry `ragged` of the metadata has the programs, and what makes arrays ragged tensors.
/// [`guide::saved`](crate::guide::saved) describes it. A file without that entry, of another program, has dense tensors;
/// arrays of dtypes that the engine lacks are left out.
///
/// A program runs on any device, with the bits that it had where it was traced. Its captured tensors are in the file.
///
/// ```
/// use ragged::{DType, Device, Program, RaggedTensor, SavedModel, TensorSpec};
/// let device = Device::cpu();
/// let rows = TensorSpec::new(DType::F32, [None, None]).ragged_rank(1);
/// let grow = Program::trace(&[rows], |x| x[0].multiply(100.0))?;
///
/// let path = std::env::temp_dir().join("grow.safetensors");
/// SavedModel::new().with_program("grow", &grow).save(&path)?;
///
/// let model = SavedModel::load(&path)?;
/// let x = RaggedTensor::from_nested([vec![1.0f32, 4.0, 3.0], vec![2.0]], &device)?;
/// assert_eq!(model.program("grow")?.run(&x)?[0].to_string(), "<ragged.RaggedTensor [[100.0, 400.0, 300.0], [200.0]]>");
/// # std::fs::remove_file(&path).ok();
/// # Ok::<(), ragged::Error>(())
/// ```
///
/// Source: `tf.saved_model`.
#[derive(Default)]
pub struct SavedModel {
    programs: BTreeMap<String, NamedProgram>,
    tensors: BTreeMap<String, NamedTensor>,
    file: File,
}

enum NamedProgram {
    Given(Program),
    /// Of a file; made when it is asked for.
    Read {
        checked: Box<CheckedProgram>,
        made: OnceLock<Program>,
    },
}

enum NamedTensor {
    Given(Box<Tensor>),
    Read(Box<SavedTensor>),
    /// The dense array of that name.
    Plain,
}

/// Tells the unfinished files of this process apart.
static NEXT_PART: AtomicU64 = AtomicU64::new(0);

#[cfg(target_endian = "big")]
compile_error!("files of the feature `saved` are read and written on little-endian machines only");

const LOAD: &str = "LoadOptions::load";
const SAVE: &str = "SavedModel::save";
const TO_BYTES: &str = "SavedModel::to_bytes";

/// Contents, files and bytes.
impl SavedModel {
    /// A model of nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a program, in place of one of that name.
    #[must_use]
    pub fn with_program(mut self, name: impl Into<String>, program: &Program) -> Self {
        self.programs.insert(name.into(), NamedProgram::Given(program.clone()));
        self
    }

    /// Adds a tensor, in place of one of that name. It is read when the model is saved.
    ///
    /// ```
    /// use ragged::{Device, RaggedTensor, SavedModel};
    /// let words = RaggedTensor::from_nested([vec!["so", "long"], vec![]], &Device::cpu())?;
    /// let bytes = SavedModel::new().with_tensor("words", &words).to_bytes()?;
    /// let model = SavedModel::from_bytes(bytes)?;
    /// assert_eq!(model.tensor("words", &Device::cpu())?.to_string(), "<ragged.RaggedTensor [[b'so', b'long'], []]>");
    /// # Ok::<(), ragged::Error>(())
    /// ```
    #[must_use]
    pub fn with_tensor(mut self, name: impl Into<String>, tensor: &impl AsRef<Tensor>) -> Self {
        self.tensors.insert(name.into(), NamedTensor::Given(Box::new(tensor.as_ref().clone())));
        self
    }

    /// The names of the programs, sorted.
    pub fn programs(&self) -> impl Iterator<Item = &str> {
        self.programs.keys().map(String::as_str)
    }

    /// The names of the tensors, sorted.
    pub fn tensors(&self) -> impl Iterator<Item = &str> {
        self.tensors.keys().map(String::as_str)
    }

    /// The program of that name. Without inputs, a program of a file runs on the CPU, or on the device of
    /// [`Program::run_on`].
    ///
    /// # Errors
    /// There is none of that name; a program that breaks a rule, of a file of unknown origin; no memory for the captured
    /// tensors.
    ///
    /// # Cost
    /// Of a loaded model, the first call records the program, and uploads its captured tensors to the CPU; the first run on
    /// another device uploads them there. Further calls cost nothing.
    #[track_caller]
    pub fn program(&self, name: &str) -> Result<Program> {
        const OP: &str = "SavedModel::program";
        match self.programs.get(name) {
            None => Err(Error::argument(OP, absent("program", name, self.programs()))),
            Some(NamedProgram::Given(program)) => Ok(program.clone()),
            Some(NamedProgram::Read { checked, made }) => {
                if let Some(made) = made.get() {
                    return Ok(made.clone());
                }
                let program = guarded(OP, || checked.program(OP, &self.file)).map_err(here())?;
                Ok(made.get_or_init(|| program).clone())
            }
        }
    }

    /// The tensor of that name, on a device. The dtype is that of the file.
    ///
    /// # Errors
    /// There is none of that name; arrays of the file that are no valid row splits; as [`Tensor::to_device`].
    ///
    /// # Cost
    /// One upload.
    #[track_caller]
    pub fn tensor(&self, name: &str, device: &Device) -> Result<Tensor> {
        const OP: &str = "SavedModel::tensor";
        match self.tensors.get(name) {
            None => Err(Error::argument(OP, absent("tensor", name, self.tensors()))),
            Some(NamedTensor::Given(x)) => x.to_device(device),
            Some(NamedTensor::Read(saved)) => saved.on_device(OP, &self.file, device),
            Some(NamedTensor::Plain) => {
                let plain = SavedTensor::plain(name, &self.file).map_err(|what| Error::argument(OP, what));
                plain.map_err(here())?.on_device(OP, &self.file, device)
            }
        }
    }

    /// Writes the model to a file, in place of one that is there: a reader finds the old file or the new one.
    ///
    /// # Errors
    /// A file that cannot be written; the errors of [`Self::to_bytes`].
    ///
    /// # Cost
    /// Reads the tensors of the model and those that its programs captured, and holds the file in memory.
    #[track_caller]
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let (path, bytes) = (path.as_ref(), self.to_bytes().map_err(|e| e.of(SAVE))?);
        let location = caller();
        let failed = |e: std::io::Error| Error::Io {
            op: SAVE,
            what: format!("{} cannot be written: {e}", path.display()),
            location,
        };
        let mut part = path.as_os_str().to_owned();
        part.push(format!(".{}.{}.part", std::process::id(), NEXT_PART.fetch_add(1, Ordering::Relaxed)));
        let written = || {
            let mut file = std::fs::File::create(&part)?;
            file.write_all(&bytes)?;
            // The name must not be there before the contents are.
            file.sync_all()?;
            std::fs::rename(&part, path)
        };
        let outcome = written();
        if outcome.is_err() {
            std::fs::remove_file(&part).ok();
        }
        outcome.map_err(failed)
    }

    /// The bytes of the file. Equal models have equal bytes.
    ///
    /// # Errors
    /// A tensor whose read fails, or of more than 64 dimensions; names of tensors that give two arrays the same name.
    #[track_caller]
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let (mut arrays, mut programs, mut tensors) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        let mut all = Vec::new();
        for name in self.programs.keys() {
            all.push((name, self.program(name)?));
        }
        let mut captured = CapturedArrays::new(&self.file);
        for (name, tensor) in &self.tensors {
            if let NamedTensor::Given(x) = tensor {
                captured.named(name, x);
            }
            let host = self.tensor(name, &Device::cpu())?.to_host().map_err(|e| e.of(TO_BYTES))?;
            let saved = SavedTensor::of(name, host, &mut arrays).map_err(|what| Error::argument(TO_BYTES, what));
            tensors.insert(name.clone(), Box::new(saved.map_err(here())?));
        }
        for (name, program) in all {
            let saved = SavedProgram::of(&program, &mut captured, &mut arrays).map_err(here())?;
            let checked = saved.check().map_err(|fault| format!("program {name:?} cannot be saved: {fault}"));
            checked.map_err(|what| Error::argument(TO_BYTES, what)).map_err(here())?;
            programs.insert(name.clone(), Box::new(saved));
        }
        let manifest = Manifest::new(programs, tensors).to_json();
        let written = manifest.and_then(|manifest| file::written(&manifest, &arrays));
        written.map_err(|what| Error::argument(TO_BYTES, what)).map_err(here())
    }

    /// Reads a model from a file, without element functions: [`LoadOptions::load`] takes those.
    ///
    /// Everything is checked before anything is made of it, and memory is allocated in proportion to the file.
    ///
    /// # Errors
    /// A file that cannot be read ([`Error::Io`]), is damaged, or was written by a newer version; an unknown primitive.
    ///
    /// # Cost
    /// Reads the file into memory, where it stays; tensors and programs are made when they are asked for.
    #[track_caller]
    pub fn load(path: impl AsRef<Path>) -> Result<Self> {
        LoadOptions::new().load(path).map_err(|e| e.of("SavedModel::load"))
    }

    /// Reads a model from the bytes of a file, without element functions: [`LoadOptions::from_bytes`] takes those.
    ///
    /// Everything is checked before anything is made of it, and memory is allocated in proportion to the bytes.
    ///
    /// # Errors
    /// Bytes that are damaged, or were written by a newer version; an unknown primitive.
    ///
    /// # Cost
    /// The bytes stay in memory; tensors and programs are made when they are asked for.
    #[track_caller]
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self> {
        LoadOptions::new().from_bytes(bytes).map_err(|e| e.of("SavedModel::from_bytes"))
    }
}

/// "there is no program "x"; the model has: ...".
fn absent<'a>(kind: &str, name: &str, names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.collect();
    let has = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    format!("the model has no {kind} {name:?}; its {kind}s: {has}")
}

/// How a [`SavedModel`] is loaded.
///
/// ```
/// use ragged::{DType, Device, ElementFunction, LoadOptions, Program, RaggedTensor, SavedModel, TensorSpec};
/// let text = "fn bits(x: u32) -> u32 { return countOneBits(x); }";
/// let bits = ElementFunction::new("bits", text, u32::count_ones)?;
/// let counts = Program::trace(&[TensorSpec::new(DType::U32, [None])], |x| x[0].map_elements(&bits))?;
/// let bytes = SavedModel::new().with_program("counts", &counts).to_bytes()?;
///
/// let x = RaggedTensor::from_nested([1u32, 6, 7], &Device::cpu())?;
/// let without = SavedModel::from_bytes(bytes.clone())?;
/// assert!(without.program("counts")?.run(&x).is_err(), "the file has the WGSL only");
/// let model = LoadOptions::new().element_function(&bits).from_bytes(bytes)?;
/// assert_eq!(model.program("counts")?.run(&x)?[0].to_string(), "tensor([1, 2, 3], shape=(3,), dtype=u32)");
/// # Ok::<(), ragged::Error>(())
/// ```
#[derive(Debug, Default, Clone)]
pub struct LoadOptions {
    functions: Vec<Function>,
}

/// Options, and loading.
impl LoadOptions {
    /// Loads the programs and tensors of the file alone.
    pub fn new() -> Self {
        Self::default()
    }

    /// Gives an element function its Rust side. A file has the WGSL of element functions only, with which programs run
    /// on GPUs; the CPU calls the Rust function of the same name, signature and text. Of several such functions, the first
    /// one that was given is called.
    #[must_use]
    pub fn element_function<S: ElementSignature>(mut self, function: &ElementFunction<S>) -> Self {
        self.functions.push(function.function().clone());
        self
    }

    /// Reads a model from a file.
    ///
    /// Everything is checked before anything is made of it, and memory is allocated in proportion to the file. A file of
    /// unknown origin may still hold programs that compute nonsense, or more than the device can.
    ///
    /// # Errors
    /// A file that cannot be read ([`Error::Io`]), is damaged, or was written by a newer version; an unknown primitive; an
    /// element function that was given and has another text or signature in the file.
    ///
    /// # Cost
    /// Reads the file into memory, where it stays; tensors and programs are made when they are asked for.
    #[track_caller]
    pub fn load(&self, path: impl AsRef<Path>) -> Result<SavedModel> {
        let path = path.as_ref();
        let location = caller();
        let failed = |e: std::io::Error| Error::Io {
            op: LOAD,
            what: format!("{} cannot be read: {e}", path.display()),
            location,
        };
        let bytes = std::fs::read(path).map_err(failed)?;
        let model = self.read(bytes);
        model.map_err(|what| Error::argument(LOAD, format!("{}: {what}", path.display()))).map_err(here())
    }

    /// Reads a model from the bytes of a file.
    ///
    /// Everything is checked before anything is made of it, and memory is allocated in proportion to the bytes.
    ///
    /// # Errors
    /// Bytes that are damaged, or were written by a newer version; an unknown primitive; an element function that was given
    /// and has another text or signature in the file.
    ///
    /// # Cost
    /// The bytes stay in memory; tensors and programs are made when they are asked for.
    #[track_caller]
    pub fn from_bytes(&self, bytes: Vec<u8>) -> Result<SavedModel> {
        self.read(bytes).map_err(|what| Error::argument("LoadOptions::from_bytes", what)).map_err(here())
    }

    #[track_caller]
    fn read(&self, bytes: Vec<u8>) -> Result<SavedModel, String> {
        let (file, manifest) = File::read(bytes)?;
        let Some(signed) = manifest else {
            let mut tensors = BTreeMap::new();
            for (name, array) in file.arrays().filter(|(_, array)| array.is_tensor()) {
                file.check_flags(name, array)?;
                tensors.insert(name.to_owned(), NamedTensor::Plain);
            }
            return Ok(SavedModel { programs: BTreeMap::new(), tensors, file });
        };
        let Manifest { programs, tensors, .. } = Manifest::read(&signed)?;
        drop(signed);
        let mut out = SavedModel { file, ..SavedModel::default() };
        for (name, tensor) in tensors {
            tensor.check(&out.file).map_err(|fault| format!("tensor {name:?}: {fault}"))?;
            out.tensors.insert(name, NamedTensor::Read(tensor));
        }
        for (name, program) in programs {
            let checked = program.checked(&out.file, &self.functions);
            let checked = Box::new(checked.map_err(|fault| format!("program {name:?}: {fault}"))?);
            out.programs.insert(name, NamedProgram::Read { checked, made: OnceLock::new() });
        }
        Ok(out)
    }
}

impl fmt::Debug for SavedModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inputs = |program: &NamedProgram| {
            let specs: &[TensorSpec] = match program {
                NamedProgram::Given(program) => program.inputs(),
                NamedProgram::Read { checked, .. } => checked.inputs(),
            };
            specs.iter().map(TensorSpec::to_string).collect::<Vec<_>>()
        };
        let programs: BTreeMap<_, _> = self.programs.iter().map(|(name, p)| (name, inputs(p))).collect();
        let tensor = |name: &str, x: &NamedTensor| {
            let (dtype, ragged_rank) = match x {
                NamedTensor::Given(x) => (x.dtype(), x.ragged_rank()),
                NamedTensor::Read(saved) => saved.description(),
                NamedTensor::Plain => (self.file.array(name).map_or(DType::U8, |array| array.dtype), 0),
            };
            format!("{dtype}, ragged rank {ragged_rank}")
        };
        let tensors: BTreeMap<_, _> = self.tensors.iter().map(|(name, x)| (name, tensor(name, x))).collect();
        f.debug_struct("SavedModel").field("programs", &programs).field("tensors", &tensors).finish()
    }
}
