//! Lines and columns of bytes, also in texts of one long line.

/// Where lines begin, and how many characters there are before every block of bytes.
#[derive(Debug)]
pub(crate) struct Positions {
    lines: Vec<u32>,
    characters: Vec<u32>,
}

/// Counting within a block is quick; counting from the start of a long line, for every value of it, is not.
const BLOCK: usize = 4096;

impl Positions {
    pub(crate) fn of(text: &str) -> Self {
        let mut lines = vec![0];
        let mut characters = Vec::new();
        let mut count = 0_u32;
        for (at, byte) in text.bytes().enumerate() {
            if at % BLOCK == 0 {
                characters.push(count);
            }
            count += u32::from(begins_character(byte));
            if byte == b'\n' {
                lines.extend(u32::try_from(at + 1));
            }
        }
        characters.push(count);
        Self { lines, characters }
    }

    /// Line and column (in characters) of a byte, both from one.
    pub(crate) fn find(&self, text: &str, byte: u32) -> (usize, usize) {
        let line = self.lines.partition_point(|&start| start <= byte).max(1);
        let start = self.lines.get(line - 1).copied().unwrap_or(0);
        (line, self.characters_between(text, start, byte) + 1)
    }

    /// Most lines are shorter than a block: then only what stands before the byte in its line is counted.
    fn characters_between(&self, text: &str, start: u32, end: u32) -> usize {
        let (from, to) = (start as usize, (end as usize).min(text.len()));
        match text.as_bytes().get(from..to) {
            Some(part) if part.len() < BLOCK => characters(part),
            _ => self.characters_before(text, end).saturating_sub(self.characters_before(text, start)),
        }
    }

    fn characters_before(&self, text: &str, byte: u32) -> usize {
        let byte = (byte as usize).min(text.len());
        let block = byte / BLOCK;
        let before = self.characters.get(block).copied().unwrap_or(0) as usize;
        let rest = text.as_bytes().get(block * BLOCK..byte).unwrap_or_default();
        before + characters(rest)
    }
}

fn characters(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| begins_character(**byte)).count()
}

fn begins_character(byte: u8) -> bool {
    byte & 0b1100_0000 != 0b1000_0000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters_in_lines_of_any_length() {
        let text = format!("é\n{}x", "ü".repeat(5_000));
        let positions = Positions::of(&text);
        assert_eq!(positions.find(&text, 0), (1, 1));
        assert_eq!(positions.find(&text, 2), (1, 2));
        assert_eq!(positions.find(&text, 3), (2, 1));
        assert_eq!(positions.find(&text, u32::try_from(text.len() - 1).unwrap()), (2, 5_001));
        assert_eq!(positions.find(&text, u32::MAX), (2, 5_002));
    }
}
