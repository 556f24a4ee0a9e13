//! Every finding does what is said of it, and comments allow what they name.

mod fixes;
mod values;

use proptest::prelude::*;
use upheld_loader::load::{Loaded, load};
use upheld_loader::{Format, Input};
use upheld_model::{Fault, Severity};
use upheld_report::Comparison;

use super::{Among, Failing, LintFinding, LintWanted, Linted};
use crate::{Options, World};

fn loaded(text: &str) -> Loaded {
    let inputs = vec![Input::text("policies.yaml", Format::Yaml, text.to_owned())];
    load(inputs, &["kuma/0.3"]).unwrap_or_else(|broken| panic!("{:?}", broken.diagnostics))
}

fn options() -> Options {
    Options::at("2026-01-01T00:00:00Z".parse().expect("a time"))
}

fn linted(text: &str) -> Linted {
    let loaded = loaded(text);
    World::new(&loaded.snapshot, &options())
        .lint(loaded.warnings.as_slice(), &LintWanted::default())
        .expect("known kinds")
}

fn codes(text: &str) -> Vec<&'static str> {
    linted(text).findings.iter().map(LintFinding::code).collect()
}

fn log(name: &str, from: &str, to: &str, backend: &str) -> String {
    format!(
        "---\ntype: TrafficLog\nmesh: default\nname: {name}\nsources: [{{match: {{{from}}}}}]\ndestinations: [{{match: \
         {{{to}}}}}]\nconf: {{backend: {backend}}}\n"
    )
}

fn proxy(name: &str, tags: &str) -> String {
    format!(
        "---\ntype: Dataplane\nmesh: default\nname: {name}\nnetworking:\n  address: 127.0.0.1\n  inbound:\n  - port: 80\n    \
         tags: {{{tags}}}\n"
    )
}

const ANY: &str = "kuma.io/service: '*'";
const WEB: &str = "kuma.io/service: web";
const BACKEND: &str = "kuma.io/service: backend";

#[test]
fn up101_a_policy_with_the_same_selectors_and_a_later_name_never_wins() {
    let text = log("a", ANY, ANY, "x") + &log("b", ANY, ANY, "y");
    assert_eq!(codes(&text), ["UP101"]);
    let finding = &linted(&text).findings[0].problem;
    assert_eq!(finding.message, "b can never win: wherever it matches, a goes before");
    assert_eq!((finding.severity, finding.related.len()), (Severity::Error, 1));
}

#[test]
fn up102_two_policies_together_leave_a_third_nothing() {
    let both = "---\ntype: TrafficLog\nmesh: default\nname: c\nsources: [{match: {kuma.io/service: web}}, {match: \
                {kuma.io/service: backend}}]\ndestinations: [{match: {kuma.io/service: '*'}}]\nconf: {backend: z}\n";
    let text = log("a", WEB, ANY, "x") + &log("b", BACKEND, ANY, "y") + both;
    assert_eq!(codes(&text), ["UP102"]);
}

#[test]
fn up103_a_policy_that_nobody_has_the_tags_for_matches_nothing() {
    let text = proxy("web-1", WEB) + &log("a", "kuma.io/service: wbe", ANY, "x") + &log("b", WEB, ANY, "x");
    assert_eq!(codes(&text), ["UP103"]);
    assert_eq!(codes(&text.replace("wbe", "web").replace("name: b", "name: a-b")), ["UP101"], "it matches");
}

#[test]
fn up201_and_up202_policies_that_meet_somewhere_and_only_their_names_differ() {
    assert_eq!(codes(&(log("a", ANY, BACKEND, "x") + &log("b", WEB, ANY, "y"))), ["UP202"]);
    assert_eq!(codes(&(log("a", ANY, BACKEND, "x") + &log("b", WEB, ANY, "x"))), ["UP201"]);
    assert_eq!(codes(&(log("a", ANY, BACKEND, "x") + &log("b", WEB, BACKEND, "y"))), [""; 0], "one is more exact");
}

#[test]
fn a_comment_in_the_document_allows_a_finding_there_and_says_until_when() {
    let text = log("a", ANY, ANY, "x") + &log("b", ANY, ANY, "y");
    let with = |comment: &str| text.replace("name: b", &format!("name: b  # {comment}"));
    let allowed = linted(&with("upheld: allow UP101 until 2026-01-01 because of the move"));
    assert_eq!((allowed.findings.len(), allowed.allowed), (0, 1), "the last day counts: {:?}", allowed.findings);
    assert_eq!(allowed.sentence(), "No findings in 2 policies; 1 more is allowed.");
    assert_eq!(codes(&with("upheld: allow UP101 until 2025-12-31 because of the move")), ["UP101", "UP604"]);
    assert_eq!(codes(&with("upheld: allow UP101")), ["UP101", "UP604"], "without a reason");
    assert_eq!(codes(&with("upheld: allow UP10x because of the move")), ["UP101", "UP604"], "no such code");
    assert_eq!(codes(&with("upheld: allow UP202 because of the move")), ["UP101", "UP604"], "nothing to allow");
    let elsewhere = text.replace("name: a", "name: a  # upheld: allow UP101 because of the move");
    assert_eq!(codes(&elsewhere), ["UP604", "UP101"], "in another document");
}

fn selectors() -> impl Strategy<Value = String> {
    let service = proptest::sample::select(&[ANY, WEB, BACKEND][..]);
    let more = proptest::sample::select(&["", ", cloud: aws", ", cloud: '*'", ", zone: a"][..]);
    (service, more).prop_map(|(service, more)| format!("{service}{more}"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// What never wins can go without a trace, whatever there is.
    #[test]
    fn without_a_policy_that_never_wins_nothing_changes(
        ends in proptest::collection::vec((selectors(), selectors()), 1..6),
        proxies in proptest::collection::vec(selectors(), 1..5),
    ) {
        let policies = (0..).zip(&ends).map(|(number, (from, to))| log(&format!("policy-{number}"), from, to, &format!("b{number}")));
        let proxies = (0..).zip(&proxies).map(|(number, tags): (usize, _)| {
            proxy(&format!("proxy-{number}"), &tags.replace("'*'", "web"))
        });
        let all = loaded(&policies.chain(proxies).collect::<String>());
        let options = options();
        let world = World::new(&all.snapshot, &options);
        for finding in world.lint(&[], &LintWanted::default()).expect("known kinds").findings {
            if matches!(finding.problem.fault, Fault::Shadowed | Fault::Covered | Fault::NeverMatches) {
                let name = finding.problem.message.split(' ').next().expect("a name");
                let affected = world.affected(&all, name).expect("is there");
                prop_assert_eq!(affected.without.verdict, Comparison::Equal, "{}", finding.problem.message);
            }
        }
    }
}
