//! From bytes to text: in go the bytes of a file, out comes UTF-8 without a byte order mark, or what is wrong with it.

use std::io::{self, Read};

use upheld_model::{Diagnostic, Fault, SourceId, Span};

use crate::limits;

/// A text, as far as it is one.
#[derive(Debug)]
pub struct Decoded {
    /// The text. With a problem, what is not UTF-8 is replaced, so that the place can be shown.
    pub text: String,
    /// Why the text cannot be used.
    pub problem: Option<Diagnostic>,
}

/// Checks that bytes are UTF-8 and removes a byte order mark.
///
/// ```
/// use upheld_syntax::text::decode;
/// use upheld_model::SourceId;
///
/// assert_eq!(decode(SourceId::new(0), b"kind: Mesh".to_vec()).text, "kind: Mesh");
/// let decoded = decode(SourceId::new(0), b"kind: M\xffsh".to_vec());
/// assert_eq!(decoded.problem.unwrap().message, "byte 0xff is not UTF-8");
/// ```
pub fn decode(source: SourceId, mut bytes: Vec<u8>) -> Decoded {
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        let problem = Diagnostic::error(Fault::NotUtf8, "the file is UTF-16, not UTF-8")
            .at(source, Span { start: 0, end: REPLACEMENT_LENGTH }, "a byte order mark of UTF-16")
            .help("save it as UTF-8");
        return Decoded { text: replaced(&bytes), problem: Some(problem) };
    }
    if bytes.starts_with(BYTE_ORDER_MARK.as_bytes()) {
        bytes.drain(..BYTE_ORDER_MARK.len());
    }
    match String::from_utf8(bytes) {
        Ok(text) => Decoded { text, problem: None },
        Err(error) => {
            let bad = error.utf8_error().valid_up_to();
            let byte = error.as_bytes().get(bad).copied().unwrap_or_default();
            let start = u32::try_from(bad).unwrap_or(u32::MAX);
            let span = Span { start, end: start.saturating_add(REPLACEMENT_LENGTH) };
            let problem = Diagnostic::error(Fault::NotUtf8, format!("byte {byte:#04x} is not UTF-8"))
                .at(source, span, "this byte")
                .help("save the file as UTF-8");
            Decoded { text: replaced(error.as_bytes()), problem: Some(problem) }
        }
    }
}

/// Reads all bytes, unless they are more than a text may have.
pub fn read_to_limit(reader: impl Read, expected: u64) -> io::Result<Option<Vec<u8>>> {
    if expected > limits::BYTES {
        return Ok(None);
    }
    // One byte more than expected: the end shows without growing the list again.
    let mut bytes = Vec::with_capacity(usize::try_from(expected).unwrap_or(0) + 1);
    // What a file says about its length can be wrong: it may grow, or be a pipe.
    reader.take(limits::BYTES + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= limits::BYTES).then_some(bytes))
}

/// Marks UTF-8 where nothing needs to be marked; some editors write it at the beginning.
pub const BYTE_ORDER_MARK: &str = "\u{feff}";

/// Bytes of the character that stands for what is not UTF-8.
const REPLACEMENT_LENGTH: u32 = 3;

fn replaced(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(bytes: &[u8]) -> Decoded {
        super::decode(SourceId::new(0), bytes.to_vec())
    }

    #[test]
    fn a_byte_order_mark_is_removed() {
        let decoded = decode("\u{feff}kind: Mesh".as_bytes());
        assert_eq!(decoded.text, "kind: Mesh");
        assert_eq!(decoded.problem, None);
    }

    #[test]
    fn the_bad_byte_is_located_in_the_text_that_is_shown() {
        for (bytes, bad) in [(&b"a\xc3\xa9\nb\x80c"[..], 5), (b"\xef\xbb\xbfab\xf0\x9f", 2), (b"\xe9", 0)] {
            let decoded = decode(bytes);
            let problem = decoded.problem.unwrap();
            assert_eq!(problem.fault, Fault::NotUtf8);
            let span = problem.label.unwrap().span;
            assert_eq!(span.start, bad);
            assert_eq!(decoded.text.get(span.start as usize..span.end as usize), Some("\u{fffd}"));
        }
    }

    #[test]
    fn utf_16_is_explained() {
        for bytes in [b"\xff\xfea\0", b"\xfe\xff\0a"] {
            assert_eq!(decode(bytes).problem.unwrap().message, "the file is UTF-16, not UTF-8");
        }
    }

    #[test]
    fn more_than_the_limit_is_not_read() {
        assert_eq!(read_to_limit(io::repeat(b'a'), limits::BYTES + 1).unwrap(), None);
        assert_eq!(read_to_limit(&b"abc"[..], 0).unwrap(), Some(b"abc".to_vec()));
    }

    #[test]
    fn an_endless_reader_that_says_it_is_short_is_cut() {
        assert_eq!(read_to_limit(io::repeat(b'a'), 0).unwrap(), None);
    }
}
