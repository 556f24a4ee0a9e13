//! What every code means, with a bad and a good example. A code without an entry does not compile; the examples are run
//! as tests.

mod faults;
mod reasons;

use upheld_model::{Code, Fault};

use self::faults::fault;
use self::reasons::reason;

/// What a code means.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Meaning {
    pub(crate) code: &'static str,
    pub(crate) title: &'static str,
    pub(crate) text: &'static str,
    pub(crate) bad: &'static str,
    pub(crate) good: &'static str,
}

/// All codes: what is wrong with an input, then reasons.
pub(crate) fn all() -> impl Iterator<Item = Meaning> {
    let faults = Fault::ALL.iter().map(|known| fault(*known));
    faults.chain(Code::ALL.iter().map(|known| reason(*known)))
}

#[cfg(test)]
mod tests {
    use upheld_input::{Format, Input, load::load};

    use super::*;
    use crate::config::check_text;

    fn codes_of(text: &str) -> Vec<&'static str> {
        let found = match load(vec![Input::text("example.yaml", Format::Yaml, text)], &["kuma/0.3"]) {
            Ok(loaded) => loaded.warnings,
            Err(broken) => broken.diagnostics,
        };
        found.into_iter().map(|diagnostic| diagnostic.fault.code()).collect()
    }

    /// Documents as examples, not commands or descriptions of files.
    const DOCUMENTS: [Fault; 16] = [
        Fault::Syntax,
        Fault::DuplicateKey,
        Fault::UnknownField,
        Fault::MissingField,
        Fault::WrongType,
        Fault::WrongValue,
        Fault::DefinedTwice,
        Fault::BrokenKind,
        Fault::DanglingReference,
        Fault::BadReference,
        Fault::CommonRules,
        Fault::NotRelated,
        Fault::LivesTwice,
        Fault::RefusedChange,
        Fault::OutsideSchema,
        Fault::NoEffect,
    ];

    #[test]
    fn bad_examples_give_their_code_and_good_ones_nothing() {
        for code in DOCUMENTS {
            let meaning = fault(code);
            assert!(codes_of(meaning.bad).contains(&meaning.code), "{}: {:?}", meaning.code, codes_of(meaning.bad));
            let good = codes_of(meaning.good);
            assert!(!good.contains(&meaning.code), "{}: {good:?}", meaning.code);
        }
    }

    #[test]
    fn codes_are_unique() {
        let mut codes: Vec<_> = all().map(|meaning| meaning.code).collect();
        let count = codes.len();
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), count);
    }

    #[test]
    fn settings_are_checked() {
        assert_eq!(check_text("files: [policies]\n").errors(), 0);
        assert_eq!(check_text("flies: [policies]\n").errors(), 1);
    }
}
