//! Laws: an invariant is broken if and only if asking everything by itself shows it; and single ones, by name.

use proptest::prelude::*;
use upheld_loader::load::{Loaded, load};
use upheld_loader::{Format, Input};
use upheld_report::{Proof, Proved, Report, TestState, Tested};

use crate::shifts::tests::{asked, loaded, options, pairs, result, worlds};
use crate::testing::TestQuestion;
use crate::{Options, World};

fn tested(documents: &[String], invariant: &str) -> Result<Tested, String> {
    tested_since(None, documents, invariant)
}

/// With what was before, if there was something.
fn tested_since(before: Option<&[String]>, documents: &[String], invariant: &str) -> Result<Tested, String> {
    let tests = format!("kind: PolicyTests\ninvariants:\n- name: it\n{}", indented(invariant));
    let documents: Vec<String> = documents.iter().cloned().chain([tests]).collect();
    let (after, before, options) = (loaded(&documents), before.map(loaded), options());
    let (world, question) = (World::new(&after.snapshot, &options), TestQuestion::default());
    let tested = match &before {
        Some(before) => world.test_since(&World::new(&before.snapshot, &options), &question, &()),
        None => world.test(&question, &()),
    };
    match tested {
        Ok(report) => Ok(report.cases.into_iter().next().expect("one")),
        Err(refused) => {
            let words = refused.diagnostics.iter().flat_map(|one| [&one.message].into_iter().chain(&one.help));
            Err(words.cloned().collect::<Vec<_>>().join("; "))
        }
    }
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("  {line}\n")).collect()
}

fn proof(documents: &[String], invariant: &str) -> Proof {
    let tested = tested(documents, invariant).expect("can be read");
    tested.proof.clone().unwrap_or_else(|| panic!("{:?}", tested.because))
}

/// Who has a tag, as the documents say.
fn has(documents: &[String], name: &str, tag: &str) -> bool {
    let proxy = name.split('#').next().unwrap_or(name);
    documents.iter().any(|text| text.contains(&format!("name: {proxy}\n")) && text.contains(tag))
}

/// Of the connections from those with a tag, those whose reports object.
fn naively(
    documents: &[String],
    all: &Loaded,
    kind: &str,
    tag: Option<&str>,
    objects: impl Fn(&Report) -> bool,
) -> usize {
    let wanted = pairs(all, kind).into_iter().filter(|(from, _)| tag.is_none_or(|tag| has(documents, from, tag)));
    let broken = wanted.filter(|(from, to)| asked(all, kind, from, to).unwrap_or_default().iter().any(&objects));
    broken.count()
}

fn count(proof: &Proof) -> usize {
    proof.breaches.iter().map(|breach| usize::try_from(breach.size.count()).expect("few")).sum()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn fields_of_connections_are_as_they_must_be_or_one_is_shown([documents, _] in worlds(), on_aws: bool) {
        let all = loaded(&documents);
        // Nobody may have the tag, which is a mistake in the invariant.
        let tag = Some("cloud: aws").filter(|tag| on_aws && documents.iter().any(|text| text.contains("Dataplane") && text.contains(tag)));
        let from = tag.map(|tag| format!("from: {{{tag}}}\n")).unwrap_or_default();
        let has_policies = documents.iter().any(|text| text.contains("type: TrafficLog"));
        let found = proof(&documents, &format!("every: connection\nkind: TrafficLog\n{from}holds: backend = a"));
        let is_a = |report: &Report| report.fields.iter().any(|field| field.path == "backend" && field.value == Some("a".into()));
        let expected = naively(&documents, &all, "TrafficLog", tag, |report| !is_a(report));
        if has_policies {
            prop_assert_eq!(count(&found), expected, "{:#?}", found);
        }
        prop_assert_eq!(found.verdict == Proved::Broken, expected > 0, "{:#?}", found);
        let layered = proof(&documents, &format!("every: connection\nkind: MeshTimeout\n{from}holds: idleTimeout != 1s"));
        let is_1s = |report: &Report| report.fields.iter().any(|field| field.path == "idleTimeout" && field.value == Some("1s".into()));
        let expected = naively(&documents, &all, "MeshTimeout", tag, is_1s);
        prop_assert_eq!(layered.verdict == Proved::Broken, expected > 0, "{:#?}", layered);
        for breach in &layered.breaches {
            let word = |name: &str| breach.example.question[name].as_str().unwrap_or_default().to_owned();
            let reports = asked(&all, "MeshTimeout", &word("from"), &word("to")).unwrap_or_default();
            prop_assert!(reports.iter().any(is_1s), "{:#?}", breach);
        }
    }

    #[test]
    fn connections_that_must_stay_as_they_are_do_or_one_is_shown([before, after] in worlds(), on_aws: bool, layers: bool) {
        let kind = if layers { "MeshTimeout" } else { "TrafficLog" };
        let all = [&before, &after];
        let tagged = |text: &String| text.contains("Dataplane") && text.contains("cloud: aws");
        let tag = Some("cloud: aws").filter(|_| on_aws && all.iter().any(|documents| documents.iter().any(tagged)));
        let invariant = format!("unchanged: {{from: {{{}}}}}\nkind: {kind}", tag.unwrap_or_default());
        let found = tested_since(Some(&before), &after, &invariant).expect("can be read");
        let found = found.proof.unwrap_or_else(|| panic!("{:?}", found.because));
        let [was, is] = all.map(|documents| loaded(documents));
        let in_both = pairs(&was, kind).intersection(&pairs(&is, kind)).cloned().collect::<Vec<_>>();
        let is_meant = |from: &str| tag.is_none_or(|tag| all.iter().any(|documents| has(documents, from, tag)));
        let differs = |from: &str, to: &str| {
            let [old, new] = [&was, &is].map(|loaded| asked(loaded, kind, from, to).expect("is answered"));
            result(&old) != result(&new)
        };
        let expected = in_both.iter().filter(|(from, to)| is_meant(from) && differs(from, to)).count();
        prop_assert_eq!(found.verdict == Proved::Broken, expected > 0, "{:#?}", found);
        if !layers {
            prop_assert_eq!(count(&found), expected, "{:#?}", found);
        }
        for breach in &found.breaches {
            let word = |name: &str| breach.example.question[name].as_str().unwrap_or_default().to_owned();
            prop_assert!(is_meant(&word("from")) && differs(&word("from"), &word("to")), "{:#?}", breach);
        }
        // A tag that nobody has is a mistake.
        if tag.is_none() || after.iter().any(tagged) {
            prop_assert_eq!(tested_since(Some(&after), &after, &invariant).map(|one| one.state), Ok(TestState::Passed));
        }
    }

    #[test]
    fn who_must_not_connect_does_not_or_is_shown([documents, _] in worlds(), always: bool) {
        let has_policies = documents.iter().any(|text| text.contains("type: TrafficPermission"));
        let all = loaded(&documents);
        let (word, wrong) = if always { ("always", false) } else { ("never", true) };
        if !has_policies {
            return Ok(());
        }
        let found = proof(&documents, &format!("{word}: connect\nkind: TrafficPermission"));
        let expected =
            naively(&documents, &all, "TrafficPermission", None, |report| report.verdict.granted() == Some(wrong));
        prop_assert_eq!(count(&found), expected, "{:#?}", found);
        prop_assert_eq!(found.verdict == Proved::Broken, expected > 0);
    }
}

const ORGANISATION: &str = "kind: Compliance\nobjects:\n- {ref: customer/c, tags: {env: prod}}\n\
    - {ref: project/a, workspace: c, tags: {env: prod, cost-center: '7'}}\n- {ref: project/b, workspace: c, tags: {env: dev}}\n";

const ACCESS: &str = "policies:\n\
    - {id: ops, effect: permit, subjects: [{group: ops}], resources: [{path: /**}], actions: []}\n\
    - {id: health, effect: permit, subjects: [], resources: [{path: /*/health}], actions: [{method: GET}]}\n";

#[test]
fn every_project_has_a_cost_centre_or_the_one_without_is_named() {
    let documents = [ORGANISATION.to_owned()];
    let broken = tested(&documents, "every: project\nholds: cost-center exists").unwrap();
    assert_eq!(broken.state, TestState::Failed);
    assert_eq!(broken.because.as_deref(), Some("cost-center is not set for project/b: upheld show project/b."));
    let held =
        tested(&documents, "every: project\nwhere: {env: prod}\nholds: [cost-center exists, env = prod]").unwrap();
    assert_eq!((held.state, held.differences.len()), (TestState::Passed, 0));
    assert_eq!(held.because.as_deref(), Some("It holds for the 1 project that there is."));
    let nothing = tested(&documents, "every: project\nwhere: {env: qa}\nholds: cost-center exists").unwrap();
    assert_eq!(nothing.because.as_deref(), Some("It holds, because there are no such objects of the type project."));
}

#[test]
fn requests_are_looked_at_without_any_request() {
    let documents = [ACCESS.to_owned()];
    let region = "where: {subjects: [{not: {group: ops}}], resources: [{path: /admin/**}]}";
    let broken = tested(&documents, &format!("never: permit\n{region}")).unwrap();
    assert_eq!(broken.state, TestState::Failed);
    let because = broken.because.unwrap();
    assert!(because.starts_with("health permits GET /admin/health: upheld explain "), "{because}");
    let held =
        tested(&documents, &format!("never: permit\n{}", region.replace("/admin/**", "/admin/*/settings"))).unwrap();
    assert_eq!(held.state, TestState::Passed);
    assert_eq!(held.because.as_deref(), Some("It holds for every possible request (1 kind of path)."));
}

#[test]
fn requests_that_must_be_decided_as_before_are_or_one_is_shown() {
    let [before, after] = [ACCESS.to_owned(), ACCESS.replace("/*/health", "/*/status")].map(|text| vec![text]);
    let since = |invariant: &str| tested_since(Some(&before), &after, invariant).unwrap();
    let broken = since("unchanged: {resources: [{path: /admin/**}]}");
    assert_eq!(broken.state, TestState::Failed);
    let because = broken.because.unwrap();
    let expected = "(default) denies what health permitted before: GET /admin/health: upheld explain ";
    assert!(because.starts_with(expected) && because.ends_with("There is 1 more."), "{because}");
    let held = since("unchanged: {resources: [{path: /billing/*/invoices}]}");
    assert_eq!(held.state, TestState::Passed, "{:?}", held.because);
    let operators = since("unchanged: {subjects: [{group: ops}]}");
    assert_eq!(operators.state, TestState::Passed, "{:?}", operators.because);
    assert_eq!(since("unchanged: {}").state, TestState::Failed, "everything is looked at");
    let same = tested_since(Some(&after), &after, "unchanged: {}").unwrap();
    assert_eq!(same.because.as_deref(), Some("No policy changed that decides such a request."));
}

#[test]
fn what_must_stay_as_it_is_waits_for_something_to_compare_with() {
    let documents = [ACCESS.to_owned()];
    let waits = tested(&documents, "unchanged: {}").unwrap();
    assert_eq!(waits.state, TestState::Skipped);
    assert!(waits.because.is_some_and(|because| because.contains("upheld test --since")));
    // Beside a comparison it is told by itself.
    let tests =
        "kind: PolicyTests\ninvariants:\n- {name: the admin area stays, unchanged: {resources: [{path: /admin/**}]}}\n";
    let [before, after] =
        [ACCESS.to_owned(), ACCESS.replace("/*/health", "/*/status")].map(|text| loaded(&[text, tests.to_owned()]));
    let options = options();
    let reviewed = World::new(&before.snapshot, &options).review(&World::new(&after.snapshot, &options), &());
    assert!(reviewed.breaks_invariants());
    let told = reviewed.notes.iter().find(|note| note.text.starts_with("BROKEN `the admin area stays`: "));
    assert_eq!(told.and_then(upheld_report::Phrase::again).as_ref(), told.map(|note| &note.text));
    let same = World::new(&after.snapshot, &options).review(&World::new(&after.snapshot, &options), &());
    assert!(!same.breaks_invariants());
    // A change does not get rid of it, by taking it away or by breaking it.
    for without in [
        vec![ACCESS.replace("/*/health", "/*/status")],
        vec![ACCESS.to_owned(), tests.replace("unchanged", "unchangd")],
    ] {
        let without = loaded(&without);
        let reviewed = World::new(&before.snapshot, &options).review(&World::new(&without.snapshot, &options), &());
        assert!(reviewed.breaks_invariants(), "{:?}", reviewed.notes);
    }
}

#[test]
fn a_kind_that_is_written_otherwise_is_the_same_kind_and_one_about_something_else_is_refused() {
    let proxy = "type: Dataplane\nmesh: default\nname: web-1\nnetworking: {address: 127.0.0.1, inbound: [{port: 80, tags: {kuma.io/service: web}}]}\n";
    let log = |backend: &str| {
        format!(
            "type: TrafficLog\nmesh: default\nname: all\nsources: [{{match: {{kuma.io/service: '*'}}}}]\n\
             destinations: [{{match: {{kuma.io/service: '*'}}}}]\nconf: {{backend: {backend}}}\n"
        )
    };
    let world = |backend: &str| {
        vec!["type: Mesh\nname: default\n".to_owned(), proxy.to_owned(), log(backend), ACCESS.to_owned()]
    };
    let since = |kind: &str| {
        tested_since(Some(&world("a")), &world("b"), &format!("unchanged: {{from: {{}}}}\nkind: {kind}")).unwrap()
    };
    for kind in ["TrafficLog", "trafficlog"] {
        assert_eq!(since(kind).state, TestState::Failed);
    }
    let other = since("AccessPolicy");
    assert!(other.because.is_some_and(|because| because.contains("AccessPolicy is not about connections")));
}

#[test]
fn connections_that_cannot_be_asked_about_do_not_hold_because_others_begin() {
    let proxy = |name: &str, service: &str| {
        format!(
            "type: Dataplane\nmesh: default\nname: {name}\nnetworking: {{address: 127.0.0.1, inbound: [{{port: 80, tags: \
             {{kuma.io/service: {service}}}}}]}}\n"
        )
    };
    // `a` is a proxy, and a service of two others.
    let world = |backend: &str, more: &[String]| -> Vec<String> {
        let log = format!(
            "type: TrafficLog\nmesh: default\nname: all\nsources: [{{match: {{kuma.io/service: '*'}}}}]\n\
             destinations: [{{match: {{kuma.io/service: '*'}}}}]\nconf: {{backend: {backend}}}\n"
        );
        let proxies = [proxy("a", "shop"), proxy("b-1", "a"), proxy("b-2", "a")];
        ["type: Mesh\nname: default\n".to_owned(), log].into_iter().chain(proxies).chain(more.iter().cloned()).collect()
    };
    for more in [&[][..], &[proxy("c", "shop")]] {
        let tested = tested_since(Some(&world("x", &[])), &world("y", more), "unchanged: {from: {}}\nkind: TrafficLog");
        let tested = tested.expect("can be read");
        assert_eq!(tested.state, TestState::Undecided, "{:?}", tested.because);
    }
}

#[test]
fn what_cannot_be_looked_at_is_no_success() {
    // Policies that are read as the original reads them are not looked at in classes.
    let tests = "kind: PolicyTests\ninvariants:\n- {name: it, never: permit}\n";
    let policy = "{id: a, effect: permit, subjects: [{role: x}], resources: [{path: /**}], actions: [{method: GET}]}";
    let inputs = [("a.yaml", policy), ("a.test.yaml", tests)];
    let inputs = Vec::from(inputs.map(|(name, text)| Input::text(name, Format::Yaml, text)));
    let loaded = load(inputs, &["access/compat"]).unwrap();
    let options = Options { semantics: vec!["access/compat".to_owned()], ..options() };
    let report = World::new(&loaded.snapshot, &options).test(&TestQuestion::default(), &()).unwrap();
    assert_eq!((report.summary.undecided, report.ends()), (1, TestState::Undecided));
    let because = report.cases.first().and_then(|case| case.because.clone()).unwrap();
    let expected = "Nobody can tell whether it holds: policies of the compatibility edition are not compared.";
    assert_eq!(because, expected);
}

#[test]
fn mistakes_are_named() {
    let documents = [ORGANISATION.to_owned(), ACCESS.to_owned()];
    for (invariant, message) in [
        (
            "holds: a exists",
            "an invariant says what holds `never`, `always` or of `every`, or what stays `unchanged`; this one says none of it",
        ),
        (
            "never: permit\nalways: deny",
            "an invariant has one of `never`, `always`, `every` and `unchanged`; this one has several",
        ),
        ("unchanged: {from: {a: b}, resources: [{path: /**}]}", "connections have no `resources`"),
        ("unchanged: {resorces: []}", "`resorces`"),
        ("unchangd: {}", "did you mean `unchanged`?"),
        ("never: connect\nwhere: {}", "`never: connect` has no `where`"),
        ("never: permit\nfrom: {a: b}", "`never: permit` has no `from`"),
        ("every: project\nholds: cost-center", "`cost-center` is not a condition"),
        ("every: project\nto: {a: b}\nholds: a exists", "`every: project` has no `to`"),
        ("every: proxy\nholds: a exists", "`every: proxy` does not say under which kind of policy"),
        ("never: permit\nwhere: {subjects: [{rol: x}]}", "`rol`"),
    ] {
        let problem = tested(&documents, invariant).expect_err(invariant);
        assert!(problem.contains(message), "{invariant}: {problem}");
    }
    for (invariant, message) in [
        (
            "every: projekt\nholds: a exists",
            "there are no objects of the type `projekt` (did you mean `every: project`?)",
        ),
        (
            "every: project\nwhere: {enw: prod}\nholds: a exists",
            "nothing that is looked at has the tag `enw` (did you mean `env`?)",
        ),
        ("every: route\nkind: Timeout\nholds: a exists", "policies are not asked about every `route`"),
        ("every: proxy\nkind: AccessPolicy\nholds: a exists", "AccessPolicy is not about connections"),
        ("never: connect", "no kind of policy says who may call whom"),
    ] {
        let tested = tested(&documents, invariant).expect(invariant);
        assert_eq!(tested.state, TestState::Failed);
        assert!(
            tested.because.as_ref().is_some_and(|because| because.contains(message)),
            "{invariant}: {:?}",
            tested.because
        );
    }
}
