//! Names of groups.

use std::sync::LazyLock;

use regex::Regex;

use super::Refused;
use super::reader::Reader;
use super::units::unit;

/// Reads a name up to its closing bracket.
pub(super) fn read(reader: &mut Reader<'_>) -> Result<String, Refused> {
    let malformed = Refused::Invalid("the name of a group is malformed");
    let mut units = Vec::new();
    while !reader.eat(">") {
        match reader.next() {
            None => return Err(malformed),
            Some('\\') => units.extend(escaped(reader).ok_or(malformed)?),
            Some(letter) => units.push(unit(letter)),
        }
    }
    let name = String::from_utf16(&units).map_err(|_| malformed)?;
    if is_identifier(&name) { Ok(name) } else { Err(malformed) }
}

/// The code units of an escape; braces are for characters of two.
fn escaped(reader: &mut Reader<'_>) -> Option<Vec<u16>> {
    if reader.eat("u{") {
        let (digits, behind) = reader.rest.split_once('}')?;
        let digits = Some(digits).filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))?;
        let letter = char::from_u32(u32::from_str_radix(digits, 16).ok()?)?;
        reader.rest = behind;
        return Some(letter.encode_utf16(&mut [0; 2]).to_vec());
    }
    if reader.eat("u") { reader.hexadecimal(4).map(|unit| vec![unit]) } else { None }
}

fn is_identifier(name: &str) -> bool {
    static IDENTIFIER: LazyLock<Result<Regex, regex::Error>> =
        LazyLock::new(|| Regex::new(r"\A[\p{ID_Start}$_][\p{ID_Continue}$\x{200C}\x{200D}]*\z"));
    IDENTIFIER.as_ref().is_ok_and(|identifier| identifier.is_match(name))
}
