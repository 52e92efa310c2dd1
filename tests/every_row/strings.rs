//! Strings of a row.

use ragged::DType;
use ragged::opt::{Base64, Encoding, NumberFormat, descending, white_space};

use crate::table::laws;

laws! {
    as_string_with Integers |x, y, k, t| x.as_string_with(&NumberFormat::default());
    string_prefix_to_number Integers |x, y, k, t| x.as_string()?.string_prefix_to_number(DType::I32);
    string_to_number Integers |x, y, k, t| x.as_string()?.string_to_number(DType::F32);
    bytes_split Strings |x, y, k, t| x.bytes_split();
    sort Strings |x, y, k, t| x.sort(-1);
    top_k Strings |x, y, k, t| x.top_k(2, -1);
    unique_with_counts Strings |x, y, k, t| x.unique_with_counts(-1);
    run_lengths Strings |x, y, k, t| x.run_lengths();
    set_union Strings |x, y, k, t| x.set_union(y);
    searchsorted Strings |x, y, k, t| x.sort(-1)?.searchsorted(y);
    group_by_key Strings |x, y, k, t| x.group_by_key(y);
    sort_by Strings |x, y, k, t| x.sort_by((y, descending(x)));
    reduce_min Strings |x, y, k, t| x.reduce_min(-1);
    reduce_max Strings |x, y, k, t| x.reduce_max(..);
    argmin Strings |x, y, k, t| x.argmin(-1);
    string_to_bytes Strings |x, y, k, t| x.string_to_bytes();
    bytes_to_string Integers |x, y, k, t| x.cast(DType::U8)?.bytes_to_string();
    strip_prefix Strings |x, y, k, t| x.strip_prefix("a");
    strip_prefix Strings |x, y, k, t| x.strip_prefix(&y.substr(0, 1)?);
    strip_suffix Strings |x, y, k, t| x.strip_suffix("b");
    strip_suffix Strings |x, y, k, t| x.strip_suffix(y);
    nth_field Strings |x, y, k, t| x.nth_field(" ", 0);
    nth_field_or Strings |x, y, k, t| x.nth_field_or(" ", 1, "none");
    string_upper Strings |x, y, k, t| x.string_upper();
    string_lower Strings |x, y, k, t| x.string_lower();
    string_upper_utf8 Strings |x, y, k, t| x.string_upper_utf8();
    string_lower_utf8 Strings |x, y, k, t| x.string_lower_utf8();
    string_length Strings |x, y, k, t| x.string_length();
    string_length_chars Strings |x, y, k, t| x.string_length_chars();
    string_join Strings |x, y, k, t| Of::string_join(&[x, y, x], "-");
    string_join Strings |x, y, k, t| Of::string_join(&[x, &y.reduce_join(.., "")?], "-");
    string_ngrams Strings |x, y, k, t| x.string_ngrams([1, 2], " ");
    reduce_join Strings |x, y, k, t| x.reduce_join(-1, "+");
    reduce_join Strings |x, y, k, t| x.reduce_join(.., "");
    reduce_join Strings |x, y, k, t| x.reduce_join(.., "+");
    reduce_join Strings |x, y, k, t| x.reduce_join(0, "+");
    regex_full_match Strings |x, y, k, t| x.regex_full_match("[a-z ]*");
    regex_replace Strings |x, y, k, t| x.regex_replace("[ab]", "<\\0>");
    regex_replace_first Strings |x, y, k, t| x.regex_replace_first("[ab]", "_");
    regex_split Strings |x, y, k, t| x.regex_split("[ a]");
    string_split Strings |x, y, k, t| x.string_split(white_space());
    string_strip Strings |x, y, k, t| x.string_strip();
    substr Strings |x, y, k, t| x.substr(0, 2);
    substr Strings |x, y, k, t| x.substr(0, &y.string_length()?);
    substr Strings |x, y, k, t| x.substr(0, k);
    substr_chars Strings |x, y, k, t| x.substr_chars(0, k);
    encode_base64 Strings |x, y, k, t| x.encode_base64(Base64::Padded);
    decode_base64 Strings |x, y, k, t| x.encode_base64(Base64::Padded)?.decode_base64();
    unicode_decode Strings |x, y, k, t| x.unicode_decode(Encoding::Utf8);
    unicode_decode_with_offsets Strings |x, y, k, t| x.unicode_decode_with_offsets(Encoding::Utf8);
    unicode_encode Integers |x, y, k, t| x.add(65)?.unicode_encode(Encoding::Utf8);
    unicode_script Integers |x, y, k, t| x.add(65)?.unicode_script();
    unicode_split Strings |x, y, k, t| x.unicode_split(Encoding::Utf8);
    unicode_split_with_offsets Strings |x, y, k, t| x.unicode_split_with_offsets(Encoding::Utf8);
    unicode_transcode Strings |x, y, k, t| x.unicode_transcode(Encoding::Utf8, Encoding::Utf16Be);
}
