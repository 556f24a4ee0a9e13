//! What rests on an age or a name flips with it, and nothing else does.

use proptest::prelude::*;
use upheld_loader::load::load;
use upheld_report::Comparison;

use super::*;
use crate::Options;

fn loaded(text: &str) -> Loaded {
    let inputs = vec![Input::text("policies.yaml", Format::Yaml, text.to_owned())];
    load(inputs, &["kuma/0.3"]).unwrap_or_else(|broken| panic!("{:?}", broken.diagnostics))
}

fn if_so(text: &str, supposed: &Remade) -> Result<Shifts, Refused> {
    let loaded = loaded(text);
    let options = Options::at("2026-01-01T00:00:00Z".parse().expect("a time"));
    World::new(&loaded.snapshot, &options).if_supposed(&loaded, supposed, &()).map(|(_, shifts)| shifts)
}

fn recreated(policy: &str) -> Remade {
    Remade { recreated: vec![policy.to_owned()], ..Remade::default() }
}

fn renamed(old: &str, new: &str) -> Remade {
    Remade { renamed: BTreeMap::from([(old.to_owned(), new.to_owned())]), ..Remade::default() }
}

const RESTORED: Remade = Remade { recreated: Vec::new(), restored: true, renamed: BTreeMap::new() };

const EDGE: [&str; 2] = [
    include_str!("../../../../examples/kgateway-policy-application-and-merging/gateway.yaml"),
    include_str!("../../../../examples/kgateway-policy-application-and-merging/edge.yaml"),
];

/// A route with two policies of which the older one counts.
fn aged() -> String {
    let policy = |name: &str, made: &str, request: &str| {
        format!(
            "---\napiVersion: gateway.kgateway.dev/v1alpha1\nkind: TrafficPolicy\nmetadata: {{name: {name}, creationTimestamp: \
             \"{made}\"}}\nspec:\n  targetRefs: [{{group: gateway.networking.k8s.io, kind: HTTPRoute, name: example-route}}]\n  \
             timeouts: {{request: {request}}}\n"
        )
    };
    EDGE.join("---\n") + &policy("z-old", "2025-01-01T00:00:00Z", "1s") + &policy("a-new", "2025-01-01T00:00:41Z", "2s")
}

#[test]
fn the_older_of_two_loses_what_it_has_when_it_is_made_again() {
    let shifts = if_so(&aged(), &recreated("TrafficPolicy/z-old")).expect("is there");
    assert_eq!((shifts.verdict, shifts.counts.changed), (Comparison::Differs, 1));
    let field = &shifts.shifts[0].fields[0];
    assert_eq!(
        (field.field.as_str(), field.before.as_deref(), field.after.as_deref()),
        ("timeouts.request", Some("1s"), Some("2s"))
    );
    let younger = if_so(&aged(), &recreated("TrafficPolicy/a-new")).expect("is there");
    assert_eq!(younger.verdict, Comparison::Equal, "it is the younger one already");
}

#[test]
fn after_a_restore_none_is_older_and_names_decide() {
    assert_eq!(if_so(&aged(), &RESTORED).expect("can be read").counts.changed, 1);
    let by_name = aged().replace("z-old", "0-old");
    assert_eq!(if_so(&by_name, &RESTORED).expect("can be read").verdict, Comparison::Equal);
}

#[test]
fn what_is_not_there_cannot_be_made_again() {
    let refused = if_so(&aged(), &recreated("z-odl")).expect_err("is not there");
    assert_eq!(refused.diagnostics[0].fault, Fault::NotFound);
}

fn log(name: &str, from: &str, to: &str) -> String {
    format!(
        "---\ntype: TrafficLog\nmesh: default\nname: {name}\nsources: [{{match: {{{from}}}}}]\ndestinations: [{{match: \
         {{{to}}}}}]\nconf: {{backend: {name}}}\n"
    )
}

fn proxy(name: &str, tags: &str) -> String {
    format!(
        "---\ntype: Dataplane\nmesh: default\nname: {name}\nnetworking:\n  address: 127.0.0.1\n  inbound:\n  - port: 80\n    \
         tags: {{{}}}\n",
        tags.replace("'*'", "web")
    )
}

fn tags() -> impl Strategy<Value = String> {
    let service = proptest::sample::select(&["'*'", "web", "backend"][..]);
    let more = proptest::sample::select(&["", ", cloud: aws", ", cloud: '*'"][..]);
    (service, more).prop_map(|(service, more)| format!("kuma.io/service: {service}{more}"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Another name changes only what names decide, before or after.
    #[test]
    fn a_name_changes_only_ties(
        policies in proptest::collection::vec((tags(), tags()), 1..5),
        proxies in proptest::collection::vec(tags(), 1..4),
        first in any::<bool>(),
    ) {
        let policies = (0..).zip(&policies).map(|(number, (from, to)): (usize, _)| log(&format!("log-{number}"), from, to));
        let proxies = (0..).zip(&proxies).map(|(number, own): (usize, _)| proxy(&format!("proxy-{number}"), own));
        let text: String = policies.chain(proxies).collect();
        let shifts = if_so(&text, &renamed("log-0", if first { "a" } else { "z" })).expect("can be read");
        prop_assert!(shifts.shifts.iter().all(|shift| shift.before.arbitrary || shift.after.arbitrary), "{:?}", shifts.shifts);
        // It has the first name already, in the order of names.
        prop_assert!(!first || shifts.verdict == Comparison::Equal);
    }
}
