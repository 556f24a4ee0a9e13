//! Texts as headers can carry them.

/// How much of a text a header carries; bodies and metadata have all of it.
const LONGEST: usize = 1024;

/// A text as a header can carry it: in ASCII, what is not is written as in URLs.
pub(crate) fn for_header(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        if safe.len() >= LONGEST {
            safe.push_str("...");
            break;
        }
        match character {
            ' '..='~' if character != '%' => safe.push(character),
            _ => {
                let mut bytes = [0; 4];
                safe.extend(character.encode_utf8(&mut bytes).bytes().map(|byte| format!("%{byte:02X}")));
            }
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::{LONGEST, for_header};

    #[test]
    fn headers_carry_every_text() {
        assert_eq!(for_header("Löschen: 100 %\r\nx: y"), "L%C3%B6schen: 100 %25%0D%0Ax: y");
        assert_eq!(for_header(&"a".repeat(5000)).len(), LONGEST + 3);
    }
}
