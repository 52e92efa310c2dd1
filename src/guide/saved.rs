//! Programs, and the files that they are saved in.
//!
//! # Programs
//!
//! An operation records, and a read computes what was recorded. A [`Program`](crate::Program) is recorded once, by a
//! function of tensors that have no values, and runs on any tensors that fit: it records nothing and plans nothing again,
//! from any number of threads. It is what `tf.function` with an input signature and `jax.jit` make.
//!
//! ```
//! use ragged::{DType, Device, Program, RaggedTensor, TensorSpec};
//! // @tf.function(input_signature=[tf.RaggedTensorSpec(shape=[None, None], dtype=tf.int32)])
//! let spec = TensorSpec::new(DType::I32, [None, None]).ragged_rank(1);
//! let max_and_min = Program::trace(&[spec], |x| Ok((x[0].reduce_max(-1)?, x[0].reduce_min(-1)?)))?;
//! let x = RaggedTensor::from_nested([vec![1, 2], vec![3], vec![4, 5, 6]], &Device::cpu())?;
//! let out = max_and_min.run(&x)?;
//! assert_eq!(out[0].to_string(), "tensor([2, 3, 6], shape=(3,), dtype=i32)");
//! assert_eq!(out[1].to_string(), "tensor([1, 3, 4], shape=(3,), dtype=i32)");
//! # Ok::<(), ragged::Error>(())
//! ```
//!
//! What the function captures is a constant of the program: numbers, and tensors, whichever device they are on. A number
//! that varies, such as a learning rate, is an input of shape `[]`. A value or a size of an input is not known while the
//! function runs: a read, and an operation that needs one, are errors that name the call.
//!
//! # Files
//!
//! A [`SavedModel`](crate::SavedModel) has named programs and named tensors, and is one file. Equal models are equal
//! bytes. A program that was loaded, in another process or on another device, gives the bits that it gave where it was
//! traced.
//!
//! ```
//! use ragged::{DType, Device, Program, RaggedTensor, SavedModel, TensorSpec};
//! let device = Device::cpu();
//! let table = RaggedTensor::from_nested([[0.5f32, 1.0], [2.0, -1.0]], &device)?;
//! let ids = TensorSpec::new(DType::I64, [None, None]).ragged_rank(1);
//! let embed = Program::trace(&[ids], |x| table.gather(&x[0])?.reduce_mean(1))?;
//! let file = SavedModel::new().with_program("embed", &embed).with_tensor("table", &table).to_bytes()?;
//!
//! let model = SavedModel::from_bytes(file)?;
//! let x = RaggedTensor::from_nested([vec![1i64, 0], vec![1]], &device)?;
//! let means = &model.program("embed")?.run(&x)?[0];
//! assert_eq!(means.to_string(), "tensor([[1.25, 0.0], [2.0, -1.0]], shape=(2, 2), dtype=f32)");
//! # Ok::<(), ragged::Error>(())
//! ```
//!
//! Tensors, and arrays that programs captured, are read when the model is saved; one whose device-side check fails is an
//! error then. An array that programs captured and a named tensor share is written once. A program without inputs runs on
//! the CPU, or on the device of [`Program::run_on`](crate::Program::run_on). An
//! [`ElementFunction`](crate::ElementFunction) is saved by its name, signature and WGSL; the CPU also needs its Rust
//! function, which [`LoadOptions::element_function`](crate::LoadOptions::element_function) gives. An error of a loaded
//! program names the line that loaded it.
//!
//! # The format
//!
//! The file is a [safetensors](https://huggingface.co/docs/safetensors) file, which other programs read too:
//!
//! | part of the file | contents |
//! |---|---|
//! | array `name` | a dense tensor of numbers, in its shape; the flat values of a ragged one; the bytes of all strings |
//! | array `name.row_splits.k` | u32, the splits of partition `k`, outermost first; none where all rows have one length |
//! | array `name.string_splits` | u32, where the strings begin in their bytes |
//! | array `captured.n` | an array that programs captured and no named tensor has: numbers, bytes or splits |
//! | metadata `ragged` | `{"checksum": "...", "manifest": {...}}`, JSON |
//!
//! The manifest begins with the number of the format, 1, and the version of the crate that wrote it. A reader knows all formats
//! up to its own, and refuses newer ones. `tensors` has the dtype, the partitions and the shape of each named tensor,
//! `programs` each program:
//!
//! | entry | contents |
//! |---|---|
//! | `inputs` | the [`TensorSpec`](crate::TensorSpec) of each input |
//! | `outputs` | the arrays and sizes that make each output |
//! | `code.arrays` | inputs, and computed arrays: dtype, size, and the primitive with its operands |
//! | `code.exprs` | scalar expressions of the primitives: the position, loads, arithmetic; operands have their numbers |
//! | `code.sizes` | constants, sizes of inputs, lengths of arrays, counts that a kernel computes, arithmetic |
//! | `code.scalars`, `scalars` | the dtype of each scalar parameter; its value as dtype and bits |
//! | `code.names` | the names of the operations that recorded arrays |
//! | `arrays`, `sizes` | where the arrays and sizes come from that the program does not compute: part `part` of input `input`, a captured array, a known size |
//! | `bounds` | upper bounds of counts |
//! | `checks`, `functions` | the messages of device-side checks; element functions |
//!
//! The checksum has 16 hexadecimal digits: FarmHash's Fingerprint64 of the little-endian words that are the fingerprint of
//! the manifest's text and then, for each array in the order of the names, those of `name\0dtype[shape]` (such as
//! `w\0f32[2, 2]`) and of its bytes. It finds damage, not malice.
//!
//! # Files of unknown origin
//!
//! A load checks every reference, dtype, size of an array and text of WGSL before it makes anything of it, and allocates
//! in proportion to the file: at most 4 times its length and 1 MiB. Tensors and inputs have up to 64 dimensions, texts of
//! element functions up to 64 KiB. A program that passes may still compute nonsense, ask for more memory than there is, or
//! break a rule that the kernels rely on: its run is then an error on the CPU, and gives unspecified values on a GPU.
