//! What every code means, with a bad and a good example. A code without an entry does not compile; the examples are run
//! as tests.

mod faults;
mod reasons;

use serde::Serialize;
use upheld_model::nearest::nearest;
use upheld_model::{Code, Diagnostic, Fault};

use self::faults::fault;
use self::reasons::reason;

/// What a code means.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Meaning {
    /// The code.
    pub code: &'static str,
    /// In a few words.
    pub title: &'static str,
    /// In full.
    pub text: &'static str,
    /// What has it.
    pub bad: &'static str,
    /// How it would be right.
    pub good: &'static str,
}

/// All codes: what is wrong with an input, then reasons.
pub fn all() -> impl Iterator<Item = Meaning> {
    let faults = Fault::ALL.iter().map(|known| fault(*known));
    faults.chain(Code::ALL.iter().map(|known| reason(*known)))
}

/// The code of that name, or all that begin so.
pub fn like(wanted: &str) -> Result<Vec<Meaning>, Diagnostic> {
    let begins =
        |meaning: &Meaning| meaning.code.get(..wanted.len()).is_some_and(|start| start.eq_ignore_ascii_case(wanted));
    let found: Vec<Meaning> = all().filter(begins).collect();
    if let Some(exact) = found.iter().find(|meaning| meaning.code.eq_ignore_ascii_case(wanted)) {
        return Ok(vec![*exact]);
    }
    if found.is_empty() {
        let diagnostic = Diagnostic::error(Fault::NotFound, format!("there is no code `{wanted}`"));
        return Err(diagnostic.suggest_or(
            nearest(wanted, all().map(|meaning| meaning.code)).map(|code| format!("upheld codes {code}")),
            || "`upheld codes` lists all of them".to_owned(),
        ));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use upheld_loader::{Format, Input, load::load};

    use super::*;

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
    fn a_code_is_found_by_its_name_or_its_beginning() {
        assert_eq!(like("up010").expect("is there").len(), 1);
        assert!(like("select.").expect("are there").len() > 3);
        assert_eq!(like("UP9999").expect_err("is not there").fault, Fault::NotFound);
    }

    #[test]
    fn codes_are_unique() {
        let mut codes: Vec<_> = all().map(|meaning| meaning.code).collect();
        let count = codes.len();
        codes.sort_unstable();
        codes.dedup();
        assert_eq!(codes.len(), count);
    }
}
