//! Why something happened.

mod complying;
mod deciding;
mod matching;
mod merging;
mod selecting;

use upheld_model::Code;

use super::Meaning;

/// A title, what it means, an example that has it and one that has not.
type Words = (&'static str, &'static str, &'static str, &'static str);

/// What a reason means. A code without words is found by a test.
pub(super) fn reason(code: Code) -> Meaning {
    let words = selecting::words(code)
        .or_else(|| merging::words(code))
        .or_else(|| matching::words(code))
        .or_else(|| deciding::words(code))
        .or_else(|| complying::words(code));
    let (title, text, bad, good) = words.unwrap_or_default();
    Meaning { code: code.text(), title, text, bad, good }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_words_in_one_place() {
        for code in Code::ALL {
            let places = [selecting::words, merging::words, matching::words, deciding::words, complying::words];
            let count = places.iter().filter(|words| words(*code).is_some()).count();
            assert_eq!(count, 1, "{}", code.text());
        }
    }
}
