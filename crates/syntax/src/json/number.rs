//! Numbers, checked byte by byte and kept as they are written.

use upheld_model::Kind;
use upheld_model::tree::Written;

use super::Reader;
use super::problems::{Problem, Wrong};
use crate::quote;

impl Reader<'_> {
    /// Reads the number that begins with the next byte, a digit or `-`.
    pub(super) fn number(&mut self) -> Result<(), Problem> {
        let start = self.at;
        let mut right = true;
        let mut kind = Kind::Integer;
        if self.byte() == Some(b'-') {
            self.at += 1;
        }
        let first = self.byte();
        let whole = self.digits();
        right &= whole == 1 || (whole > 1 && first != Some(b'0'));
        if self.byte() == Some(b'.') {
            kind = Kind::Float;
            self.at += 1;
            right &= self.digits() > 0;
        }
        if let Some(b'e' | b'E') = self.byte() {
            kind = Kind::Float;
            self.at += 1;
            if let Some(b'+' | b'-') = self.byte() {
                self.at += 1;
            }
            right &= self.digits() > 0;
        }
        right &= !self.byte().is_some_and(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'+'));
        if !right {
            return Err(Problem { at: start, wrong: Wrong::Number });
        }
        let span = quote::span(start, self.at - start);
        self.tree.scalar(kind, span, Written::Verbatim(span));
        Ok(())
    }

    /// Reads digits and says how many.
    fn digits(&mut self) -> usize {
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        let count = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += count;
        count
    }

    fn byte(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }
}
