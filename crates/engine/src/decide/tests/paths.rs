//! The readings of a path against models of those who read it: a short run of the fuzz target `paths`, the same in every build.

use std::collections::BTreeSet;

use smol_str::SmolStr;

use super::random::Numbers;
use super::world::{all_of, path, rule, set};
use crate::decide::reference::random::Bytes;
use crate::decide::reference::servers::{all, check, of_the_engine, path_of, readings};
use crate::decide::*;
use crate::{Scratch, Silent, ask};

#[test]
fn what_is_permitted_is_permitted_for_everybody_who_reads_the_path() {
    let mut numbers = Numbers(0x0bad_cafe_0bad_cafe);
    for round in 0..1500 {
        let bytes = numbers.bytes(200);
        if let Err(difference) = check(&bytes) {
            panic!("round {round}: {difference}");
        }
    }
}

/// Few of the random paths are refused, and most are read in several ways: otherwise nothing would be compared.
#[test]
fn random_paths_are_read_in_several_ways() {
    let mut numbers = Numbers(0x0bad_cafe_0bad_cafe);
    let (mut refused, mut several) = (0, 0);
    for _ in 0..1000 {
        match of_the_engine(&path_of(&mut Bytes::new(&numbers.bytes(200)))) {
            None => refused += 1,
            Some(readings) => several += usize::from(readings.len() > 1),
        }
    }
    assert!(refused < 430 && several > 500, "{refused} refused, {several} read in several ways");
}

/// An escaped and a plain form in one path: some readers see the one, some the other, some both.
#[test]
fn forms_that_are_mixed_are_read_in_every_way() {
    for (path, some) in [
        ("/public/..%5c..\\admin", &["/public/..\\../admin", "/public/..\\..\\admin", "/admin"][..]),
        ("/public;x/..%3by/admin", &["/public/..;y/admin", "/public/../admin", "/admin", "/public;x/..;y/admin"]),
        ("/public/%2e%2e/../x", &["/public/../../x", "/public/x", "/x"]),
        ("/public/%252e%252e/../admin", &["/public/admin", "/public/%2e%2e/../admin", "/public/../../admin", "/admin"]),
        ("/a%252f..%2f../b", &["/a%2f../../b", "/b", "/a/../../b"]),
        ("/100%25/%252e%252e/admin", &["/100%/%2e%2e/admin", "/100%/../admin", "/admin"]),
        ("//host/admin", &["//host/admin", "/host/admin", "/admin"]),
        ("/x/..//host/admin", &["/x/../host/admin", "//host/admin", "/host/admin", "/admin"]),
        ("/admin%3Fx", &["/admin?x", "/admin"]),
        ("/admin%23x", &["/admin#x", "/admin"]),
        ("/admin;x/../y", &["/admin", "/y", "/admin/../y"]),
        ("/a/b/..", &["/a/b/..", "/a/", "/a"]),
        ("/ad%09min", &["/ad\tmin", "/admin"]),
    ] {
        let own = of_the_engine(path).unwrap();
        for one in some {
            assert!(own.iter().any(|reading| reading == one), "{path:?} as {one:?}: {own:?}");
        }
    }
}

#[test]
fn everybody_has_a_name_of_their_own() {
    let names: BTreeSet<&str> = all().map(|server| server.name).collect();
    assert_eq!(names.len(), all().count());
    assert!(!readings("/a/../b").is_empty());
}

/// Clients choose the path: one that nobody can read must not get past a deny that hides what is not known.
#[test]
fn a_path_that_nobody_can_read_is_not_let_through_by_an_algorithm_that_hides_errors() {
    let about = |pattern: &str| Target { resources: all_of(vec![path(pattern)]), ..Target::default() };
    let decide = |target: Target| {
        let rules = vec![rule("no", Effect::Deny, target).into()];
        Decide::new(set(Algorithm::PermitUnlessDeny, rules), Strictness::Strict)
    };
    let outcome = |decide: &Decide, path: &str| {
        let resource = Resource { path: Maybe::Is(path.into()), ..Resource::default() };
        ask(decide, &&Request { resource, ..Request::default() }, &mut Scratch::default(), &mut Silent).outcome
    };
    let (by_path, by_type) = (
        decide(about("/admin")),
        decide(Target { resources: all_of(vec![Test::Type(vec!["secret".into()])]), ..Target::default() }),
    );
    let too_many = "/a/..;/..%3b/..%253b/..\\..%5c..%255c/..%2f..%252f%2e./%252e%2e/../../admin";
    for path in ["/admin%00", "/%zz/../admin", "admin", "/admin#", "/x/../admin", too_many] {
        assert_eq!(outcome(&by_path, path), Outcome::Undecided, "{path}");
        assert_eq!(outcome(&by_type, path), Outcome::Permit, "{path}");
    }
    assert_eq!(outcome(&by_path, "/other"), Outcome::Permit);
}

/// What else is not known stays hidden where no policy looks at the path.
#[test]
fn a_path_that_nobody_can_read_and_no_policy_reads_leaves_the_decision_as_it_is() {
    let secrets = Target { resources: all_of(vec![Test::Type(vec!["secret".into()])]), ..Target::default() };
    let members = vec![rule("no", Effect::Deny, secrets).into()];
    let decide = Decide::new(set(Algorithm::PermitUnlessDeny, members), Strictness::Strict);
    let outcome = |path: Maybe<&str>| {
        let resource = Resource { kind: Maybe::Unknown, path: path.map(SmolStr::new), ..Resource::default() };
        ask(&decide, &&Request { resource, ..Request::default() }, &mut Scratch::default(), &mut Silent).outcome
    };
    for path in [Maybe::Is("/plain"), Maybe::Is("/admin%00"), Maybe::Absent, Maybe::Unknown] {
        assert_eq!(outcome(path), Outcome::Permit, "{path:?}");
    }
}

/// The tables of the documentation: what the reader of a column makes of the path of a row.
fn documented() -> Vec<(&'static str, &'static str, &'static str)> {
    let mut cells = Vec::new();
    let mut names: Vec<&str> = Vec::new();
    for line in include_str!("../../../../../docs/paths.md").lines() {
        let row: Vec<&str> = line.split('|').map(str::trim).filter(|cell| !cell.is_empty()).collect();
        match row.as_slice() {
            ["asked", readers @ ..] => names = readers.to_vec(),
            [path, seen @ ..] if !names.is_empty() && path.starts_with('`') => {
                assert_eq!(seen.len(), names.len(), "{line}");
                cells.extend(names.iter().zip(seen).map(|(name, seen)| (*name, path.trim_matches('`'), *seen)));
            }
            [] => names.clear(),
            _ => {}
        }
    }
    cells
}

#[test]
fn the_documented_tables_say_what_the_models_do() {
    let cells = documented();
    assert!(cells.len() > 300, "{} cells", cells.len());
    for (name, path, said) in cells {
        let server = all().find(|server| server.name == name).unwrap_or_else(|| panic!("nobody is called {name}"));
        let reading = server.reading(path).map_or("refused".to_owned(), |reading| format!("`{reading}`"));
        assert!(said == "–" || said == reading, "{path} is {reading} for {name}, not {said}");
    }
}

#[test]
fn every_documented_reading_is_one_of_the_engine() {
    for (name, path, said) in documented().into_iter().filter(|(_, _, said)| said.starts_with('`')) {
        let own = of_the_engine(path).unwrap();
        assert!(own.iter().any(|reading| reading == said.trim_matches('`')), "{path} for {name}: {said}, {own:?}");
    }
}
