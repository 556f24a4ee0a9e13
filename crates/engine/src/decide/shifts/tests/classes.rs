//! Classes of paths are what the patterns themselves say.

use proptest::prelude::*;

use crate::decide::shifts::paths::{PathBounds, TooManyStates, Wanted, path_classes, spelled};
use crate::decide::tests::world::{given_path, pattern};
use crate::decide::*;

const BOUNDS: PathBounds = PathBounds { states: 100_000, places: 2_400_000 };

fn globs(patterns: &[String]) -> Vec<Glob> {
    let rooted = |text: &String| if text.starts_with(['/', '*']) { text.clone() } else { format!("/{text}") };
    patterns.iter().map(|text| Glob::parse(&rooted(text)).unwrap()).collect()
}

fn readings(path: &str) -> Vec<String> {
    let resource = Resource { path: Maybe::Is(spelled(path).into()), ..Resource::default() };
    let request = Request { resource, ..Request::default() };
    let decide = Decide::new(crate::decide::tests::world::set(Algorithm::DenyOverrides, vec![]), Strictness::Strict);
    let mut room = Readings::default();
    match decide.asked(&request, &mut room).path {
        Path::Is(path) => vec![path.to_owned()],
        Path::Several(all) => all.iter().map(ToString::to_string).collect(),
        Path::Absent | Path::Unknown => Vec::new(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn a_path_of_a_class_matches_a_pattern_iff_the_pattern_is_in_the_class(
        patterns in prop::collection::vec(pattern(), 0..6),
        some in prop::collection::btree_set(0..6_u32, 0..3),
        given in prop::collection::vec(given_path(), 8),
    ) {
        let globs = globs(&patterns);
        let tokens: Vec<_> = globs.iter().map(Glob::tokens).collect();
        let covered_by = |path: &str| -> Vec<u32> {
            (0..).zip(&globs).filter(|(_, glob)| glob.matches(path)).map(|(number, _)| number).collect()
        };
        let some: Vec<u32> = some.into_iter().filter(|number| (*number as usize) < globs.len()).collect();
        let all = path_classes(&tokens, Wanted::All, PathReading::Every, BOUNDS).unwrap();
        let below = path_classes(&tokens, Wanted::CoveredBy(&some), PathReading::Every, BOUNDS).unwrap();
        for class in all.iter().chain(&below) {
            prop_assert_eq!(&class.covered_by, &covered_by(&class.example), "{:?}", class.example);
            prop_assert_eq!(readings(&class.example), vec![class.example.clone()]);
        }
        for path in &given {
            let path = format!("/{}", path.trim_start_matches('/'));
            if readings(&path) == vec![path.clone()] {
                let own = covered_by(&path);
                prop_assert_eq!(all.iter().filter(|class| class.covered_by == own).count(), 1, "{}", path);
                let is_wanted = own.iter().any(|number| some.contains(number));
                let count = below.iter().filter(|class| class.covered_by == own).count();
                prop_assert!(!is_wanted || count == 1, "{}", path);
            }
        }
    }
}

#[test]
fn examples_are_paths_that_people_write() {
    let example = |patterns: &[&str], covered_by: &[u32]| {
        let tokens: Vec<_> = patterns.iter().map(|text| Glob::parse(text).unwrap().tokens()).collect();
        let all = path_classes(&tokens, Wanted::All, PathReading::Every, BOUNDS).unwrap();
        all.into_iter().find(|class| class.covered_by == covered_by).map(|class| class.example)
    };
    assert_eq!(example(&["/articles/*"], &[0]).as_deref(), Some("/articles/7"));
    assert_eq!(example(&["/articles/*", "/articles/7"], &[0]).as_deref(), Some("/articles/x"));
    assert_eq!(example(&["/articles/**"], &[0]).as_deref(), Some("/articles/7"));
    assert_eq!(example(&["/admin/health", "/admin/**"], &[0, 1]).as_deref(), Some("/admin/health"));
    assert_eq!(example(&["/a/../b", "/a//b", "/a;b", "/./c"], &[]).as_deref(), Some("/7"));
    assert_eq!(example(&["/a/../b"], &[0]), None);
}

#[test]
fn hostile_patterns_meet_a_bound() {
    let hostile: Vec<_> =
        (0..12).map(|number| Glob::parse(&format!("/**/a{number}/**/b{number}/**")).unwrap().tokens()).collect();
    let bounds = PathBounds { states: 20_000, places: 480_000 };
    assert_eq!(path_classes(&hostile, Wanted::All, PathReading::Every, bounds), Err(TooManyStates));
}
