//! Separators.

use crate::operation::call::{FromValue, Given};
use crate::ops::options::{Separator, any_of};

impl FromValue<'_> for Separator {
    fn from_value(given: &mut Given<'_>) -> Result<Self, String> {
        let bytes: &[u8] = FromValue::from_value(given)?;
        let separator = if given.flag("any_of")? { any_of(bytes) } else { Self::from(bytes) };
        Ok(Self { nonempty: given.flag("nonempty")?, max_splits: given.option("max_splits")?, ..separator })
    }
}
