//! The operations of the `strings` family on Unicode text, and base64.

use ragged::opt::{Base64, Encoding, InvalidText, TextEncoding};
use ragged::{Device, Result};

use crate::case::Case;
use crate::got::Got;

/// Whether every case must pass.
pub const CLAIMED: bool = true;

/// The encoding of that name, UTF-8 without one.
fn encoding(name: Option<&str>) -> Encoding {
    match name {
        None | Some("UTF-8") => Encoding::Utf8,
        Some("UTF-16-BE") => Encoding::Utf16Be,
        Some("UTF-32-BE") => Encoding::Utf32Be,
        Some(other) => panic!("no encoding {other}"),
    }
}

fn format(case: &Case) -> TextEncoding {
    let format = TextEncoding::from(encoding(case.attr_str("enc")));
    let invalid = match case.attr_str("errors") {
        None | Some("replace") => format.invalid,
        Some("ignore") => InvalidText::Ignore,
        Some("strict") => InvalidText::Strict,
        Some(other) => panic!("no policy {other}"),
    };
    format.invalid(invalid)
}

pub fn run(case: &Case, device: &Device) -> Result<Got> {
    let both = |(a, b): (ragged::Tensor, ragged::Tensor)| Got::List(vec![a.into(), b.into()]);
    let x = || case.tensor(0, device);
    Ok(match case.op.as_str() {
        "strings.unicode_decode" => x()?.unicode_decode(format(case))?.into(),
        "strings.unicode_decode_with_offsets" => both(x()?.unicode_decode_with_offsets(format(case))?),
        "strings.unicode_split" => x()?.unicode_split(format(case))?.into(),
        "strings.unicode_split_with_offsets" => both(x()?.unicode_split_with_offsets(format(case))?),
        "strings.unicode_encode" => x()?.unicode_encode(format(case))?.into(),
        // The cases transcode UTF-8 to UTF-16.
        "strings.unicode_transcode" => x()?.unicode_transcode(Encoding::Utf8, Encoding::Utf16Be)?.into(),
        "strings.unicode_script" => x()?.unicode_script()?.into(),
        "encode_base64" => x()?.encode_base64(Base64::Unpadded)?.into(),
        "decode_base64" => x()?.decode_base64()?.into(),
        other => return Got::unsupported(other),
    })
}
