//! Every fix, made in the file, leaves every result as it is; what runs are compared by stays the same.

use proptest::prelude::*;
use upheld_report::Comparison;

use super::*;
use crate::formats::{Findings, FindingsBaseline};

/// The text after all fixes that hold, and the codes of what was fixed and left.
fn fixed(text: &str) -> (String, Vec<&'static str>, Vec<&'static str>) {
    let loaded = loaded(text);
    let options = options();
    let world = World::new(&loaded.snapshot, &options);
    let linted = world.lint(loaded.warnings.as_slice(), &LintWanted::default()).expect("known kinds");
    let fixes = world.lint_fixes(&loaded, &linted, &());
    let after = fixes.files.first().map_or_else(|| text.to_owned(), |file| file.after.clone());
    let codes = |findings: Vec<&LintFinding>| findings.into_iter().map(LintFinding::code).collect();
    (after, codes(fixes.fixed.iter().collect()), codes(fixes.left.iter().map(|(finding, _)| finding).collect()))
}

#[test]
fn what_never_wins_goes_and_remarks_stay() {
    let begin = format!("{}# ours\n{}# theirs\n", proxy("p", "kuma.io/service: web"), log("a", ANY, ANY, "x"));
    let (after, codes, left) = fixed(&format!("{begin}{}", log("b", ANY, ANY, "y")));
    assert_eq!((codes, left), (vec!["UP101"], vec![]));
    assert_eq!(after, begin);
}

#[test]
fn nothing_goes_where_nothing_was_read_that_it_could_apply_to() {
    let text = log("a", ANY, ANY, "x") + &log("b", ANY, ANY, "y");
    assert_eq!(fixed(&text), (text.clone(), vec![], vec!["UP101"]));
}

#[test]
fn of_two_that_each_could_go_one_stays() {
    let policy =
        |id: &str| format!("- {{id: {id}, effect: permit, subjects: [{{role: admin}}], resources: [], actions: []}}\n");
    let text = format!("policies:\n# first\n{}# second\n{}", policy("a"), policy("b"));
    let (after, codes, left) = fixed(&text);
    assert_eq!((codes.len(), left.len()), (1, 1), "{after}");
    assert!(after.contains("# first") && after.contains("# second"), "{after}");
}

#[test]
fn what_says_what_holds_by_default_is_a_note_and_could_go() {
    let text = "policies:\n- {id: p, effect: permit, subjects: [{role: admin}], resources: [{path: /a/**}], actions: []}\n\
                - {id: d, effect: deny, subjects: [{role: guest}], resources: [{path: /b/**}], actions: []}\n";
    assert_eq!(codes(text), ["UP106"]);
    let (after, codes, _) = fixed(text);
    assert_eq!(codes, ["UP106"]);
    assert!(!after.contains("id: d") && after.contains("id: p"), "{after}");
}

#[test]
fn a_comment_that_allows_nothing_goes_alone() {
    let text = log("a", ANY, ANY, "x");
    let with = text.replace("name: a", "name: a  # upheld: allow UP202 because of the move");
    assert_eq!(fixed(&with), (text.clone(), vec!["UP604"], vec![]));
    let above = format!("# upheld: allow UP202 because of the move\n{text}");
    assert_eq!(fixed(&above).0, text);
}

#[test]
fn what_somebody_remarks_on_inside_is_not_offered() {
    let text = log("a", ANY, ANY, "x") + &log("b", ANY, ANY, "y").replace("conf:", "# why\nconf:");
    assert_eq!(linted(&text).findings[0].fix, None);
    assert_eq!(fixed(&text), (text, vec![], vec![]));
}

#[test]
fn a_finding_is_the_same_wherever_it_stands_and_whatever_was_counted() {
    let ids = |text: &str| linted(text).findings.into_iter().map(|finding| finding.id).collect::<Vec<_>>();
    let unmatched = log("a", "kuma.io/service: wbe", ANY, "x");
    let one = ids(&(unmatched.clone() + &proxy("web-1", WEB)));
    let two = ids(&(proxy("web-2", WEB) + "# moved\n" + &unmatched + &proxy("web-1", WEB)));
    assert_eq!((one.len(), &one), (1, &two));
    let twice = log("a", ANY, ANY, "x") + &log("b", ANY, ANY, "y") + &log("c", ANY, ANY, "y");
    let ids = ids(&twice);
    assert!(ids.len() == 2 && ids[0] != ids[1], "{ids:?}");
}

#[test]
fn beside_an_earlier_run_findings_are_new_known_or_gone() {
    let before = log("a", ANY, ANY, "x") + &log("b", ANY, ANY, "y");
    let after = log("a", ANY, ANY, "x") + &log("c", ANY, ANY, "y");
    let loaded = loaded(&before);
    let earlier = linted(&before);
    let found = Findings { files: loaded.snapshot.files(), linted: &earlier };
    for printed in [found.document("").to_string(), found.sarif().to_string()] {
        let baseline = FindingsBaseline::read(&printed).expect("our own");
        let sentence = |linted: Linted| linted.baseline.expect("was compared").sentence();
        assert_eq!(sentence(baseline.compared(linted(&before))), "0 new, 1 known, 0 gone");
        assert_eq!(sentence(baseline.compared(linted(&after))), "1 new, 0 known, 1 gone");
        assert_eq!(sentence(baseline.compared(linted(&after)).only(&["UP2".to_owned()])), "0 new, 0 known, 0 gone");
        let new = Failing { least: Some(Severity::Error), among: Among::New };
        assert_eq!(new.of(&baseline.compared(linted(&before))).count(), 0);
        assert_eq!(new.of(&baseline.compared(linted(&after))).count(), 1);
    }
    assert!(FindingsBaseline::read("{}").is_err() && FindingsBaseline::read("<html>").is_err());
}

fn access() -> impl Strategy<Value = String> {
    let effect = proptest::sample::select(&["permit", "deny"][..]);
    let role = proptest::sample::select(&["[]", "[{role: admin}]", "[{role: user}]"][..]);
    let path = proptest::sample::select(&["/**", "/a/**", "/a/b", "/c/*"][..]);
    (effect, role, path).prop_map(|(effect, role, path)| {
        format!("effect: {effect}, subjects: {role}, resources: [{{path: {path}}}], actions: []")
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// All fixes together leave every result as it is, also those that were tried on top of others, and end what they fix.
    #[test]
    fn every_fix_changes_no_result(
        ends in proptest::collection::vec((selectors(), selectors()), 0..5),
        access in proptest::collection::vec(access(), 0..6),
        proxies in proptest::collection::vec(selectors(), 0..4),
    ) {
        let logs = (0..).zip(&ends).map(|(number, (from, to))| log(&format!("log-{number}"), from, to, &format!("b{number}")));
        let proxies = (0..).zip(&proxies).map(|(number, tags): (usize, _)| proxy(&format!("proxy-{number}"), &tags.replace("'*'", "web")));
        let policies = (0..).zip(&access).map(|(number, says): (usize, _)| format!("# {number}\n- {{id: p{number}, {says}}}\n"));
        let mut text: String = logs.chain(proxies).collect();
        if !access.is_empty() {
            text.push_str("---\npolicies:\n");
            text.extend(policies);
        }
        prop_assume!(!text.is_empty());
        let before = loaded(&text);
        let (edited, fixed, _) = fixed(&text);
        let remarks = |text: &str| text.lines().filter(|line| line.starts_with('#')).count();
        prop_assert_eq!(remarks(&edited), remarks(&text));
        if fixed.is_empty() {
            prop_assert_eq!(&edited, &text);
            return Ok(());
        }
        prop_assume!(!edited.trim().is_empty());
        let after = loaded(&edited);
        let options = options();
        let [was, is] = [&before, &after].map(|loaded| World::new(&loaded.snapshot, &options));
        prop_assert_eq!(was.shifts(&is, &()).verdict, Comparison::Equal);
        // What was called redundant, added again, changes nothing either.
        prop_assert_eq!(is.shifts(&was, &()).verdict, Comparison::Equal);
        // Others may be found then, but none of those that were fixed.
        let ids = |world: &World<'_>, loaded: &Loaded| -> Vec<String> {
            world.lint(loaded.warnings.as_slice(), &LintWanted::default()).expect("known kinds").findings.into_iter().map(|finding| finding.id).collect()
        };
        let still = ids(&is, &after);
        let found = was.lint(before.warnings.as_slice(), &LintWanted::default()).expect("known kinds");
        let fixes = was.lint_fixes(&before, &found, &());
        prop_assert!(fixes.fixed.iter().all(|finding| !still.contains(&finding.id)), "{:?}\n{}", fixes.fixed, edited);
    }
}
