//! Printing.

use std::fmt;

use super::LodTensor;

impl fmt::Display for LodTensor {
    /// The levels as offsets, and the data: `LodTensor(lod=[[0, 2, 3]], data=tensor([1, 2, 3], shape=(3,),
    /// dtype=i32))`. Reads both.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LodTensor(lod=")?;
        match self.lod() {
            Ok(lod) => write!(f, "{lod:?}")?,
            Err(error) => write!(f, "<{}>", error.printed())?,
        }
        match self.data() {
            Ok(data) => write!(f, ", data={data})"),
            Err(error) => write!(f, ", data=<{}>)", error.printed()),
        }
    }
}
