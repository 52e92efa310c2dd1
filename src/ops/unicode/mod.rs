//! Unicode text: decoding, encoding, splitting and transcoding of UTF-8, UTF-16 and UTF-32, on the device.
//!
//! Decoding is a map over the bytes: a byte finds out from its at most three neighbours on either side whether a
//! character starts there, and which one. A compaction keeps the starts. Encoding is a prefix sum over the lengths of
//! the encoded characters and a map over the bytes of the result.
//!
//! Invalid UTF-8 is divided as Unicode recommends (and as ICU, and TensorFlow, do): each maximal subpart of a
//! character, the longest prefix of one that is valid so far, is one invalid character, and so is every other byte. Of
//! UTF-16, each surrogate without a partner is an invalid character; of UTF-32, each number that is no code point; and
//! the bytes of an incomplete character at the end of a string are one.

pub(super) mod base64;
pub(super) mod decode;
mod decoder;
pub(super) mod encode;
mod encoder;
mod options;
pub(super) mod script;
mod script_runs;
pub(super) mod split;
pub(super) mod transcode;

pub use base64::Base64;
pub use options::{Encoding, InvalidText, TextEncoding, ignore_invalid, replace_controls, replace_invalid, strict};
