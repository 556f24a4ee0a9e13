//! Laws: what is supposed is what is read and asked when somebody really writes it, for all families.

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value as Json, json};
use upheld_loader::load::{Loaded, load};
use upheld_loader::{Format, Input};
use upheld_report::Shifts;

use super::{Instead, Supposition};
use crate::shifts::shifts;
use crate::shifts::tests::{options, worlds};
use crate::why_not::tests::alone_and_among_all;
use crate::{Words, World};

/// A document that could be otherwise.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    /// `KIND/SCOPE/NAME`.
    pub(crate) id: String,
    pub(crate) text: String,
    then: Then,
}

/// What is supposed of a document.
#[derive(Clone, Debug)]
enum Then {
    Same,
    Gone,
    Says(String),
}

impl Document {
    fn fixed(text: &str) -> Self {
        Self { id: String::new(), text: text.to_owned(), then: Then::Same }
    }
}

/// Documents, each in a file of its own that keeps its name.
fn read<'t>(texts: impl Iterator<Item = Option<&'t str>>) -> Loaded {
    let named = (0..).zip(texts).filter_map(|(number, text): (usize, _)| Some((number, text?)));
    let inputs = named.map(|(number, text)| Input::text(format!("{number}.yaml"), Format::Yaml, text));
    load(inputs.collect(), &["kuma/0.3", "kuma/2"]).unwrap_or_else(|broken| panic!("{:?}", broken.diagnostics))
}

fn before(documents: &[Document]) -> Loaded {
    read(documents.iter().map(|document| Some(document.text.as_str())))
}

/// What there is after somebody wrote what is supposed.
fn written(documents: &[Document]) -> Loaded {
    read(documents.iter().map(|document| match &document.then {
        Then::Same => Some(document.text.as_str()),
        Then::Gone => None,
        Then::Says(text) => Some(text.as_str()),
    }))
}

fn supposed(documents: &[Document]) -> Supposition {
    let mut all = Supposition { everywhere: true, ..Supposition::default() };
    for document in documents {
        match &document.then {
            Then::Same => {}
            Then::Gone => all.without.push(document.id.clone()),
            Then::Says(text) => all.instead.push(Instead { document: document.id.clone(), text: text.clone() }),
        }
    }
    all
}

/// Everything that is said about a difference.
fn told(shifts: &Shifts) -> Json {
    json!([shifts.verdict, shifts.counts, shifts.shifts, shifts.violations, shifts.notes])
}

/// An explanation without what says only which documents it comes from.
fn explained(mut answer: Json) -> Json {
    if let Some(fields) = answer.as_object_mut() {
        fields.shift_remove("snapshot");
        fields.shift_remove("stamp");
    }
    answer
}

/// Suppose it, and write it: all questions get the same answers, and the same is told of what changes.
fn agrees(documents: &[Document], questions: &[Words]) -> Result<(), TestCaseError> {
    let (loaded, then, options) = (before(documents), written(documents), options());
    let [now, after] = [&loaded, &then].map(|loaded| World::new(&loaded.snapshot, &options));
    let supposition = supposed(documents);
    let everywhere = now.suppose(&loaded, &supposition).expect("can be read").everywhere.expect("was wanted");
    prop_assert_eq!(told(&everywhere), told(&shifts(&now, &after, &())));
    let reports = |world: &World<'_>, words: &Words| {
        world.question(words).and_then(|question| world.answer(&question)).map(|answer| answer.reports)
    };
    for words in questions {
        let asked = Supposition { question: Some(words.clone()), everywhere: false, ..supposition.clone() };
        let expected = after.question(words).and_then(|question| after.explain(&question));
        match (now.suppose(&loaded, &asked), expected) {
            (Ok(supposed), Ok(expected)) => {
                prop_assert_eq!(explained(supposed.answer.expect("was asked")), explained(expected), "{:?}", words);
                // What is said of callers and called that are summed up otherwise is another answer.
                let come_to = |world: &World<'_>| -> Vec<(String, Option<String>, &'static str, Json)> {
                    let reports = reports(world, words).unwrap_or_default();
                    let spoken = reports.into_iter().filter(|one| one.speaks() || one.verdict.granted().is_some());
                    spoken.map(|one| (one.about.what, one.about.place, one.verdict.word(), one.result)).collect()
                };
                let here = supposed.here.expect("was asked");
                prop_assert_eq!(here.counts.changed > 0, come_to(&now) != come_to(&after), "{:?}: {:#?}", words, here);
            }
            (Err(_), Err(_)) => {}
            (one, other) => prop_assert!(false, "{words:?}: {:?} but {:?}", one.err(), other.err()),
        }
        let Ok(question) = now.question(words) else { continue };
        for document in documents {
            let told = alone_and_among_all(&now, &document.id, &question);
            prop_assert!(told.as_ref().is_none_or(|[alone, all]| alone == all), "{words:?}: {} {told:?}", document.id);
        }
    }
    Ok(())
}

fn words(fields: Json) -> Words {
    serde_json::from_value(fields).expect("words")
}

fn then(other: impl Strategy<Value = String>) -> impl Strategy<Value = Then> {
    prop_oneof![3 => Just(Then::Same), 1 => Just(Then::Gone), 2 => other.prop_map(Then::Says)]
}

/// What is the value of a line of a document.
fn line<'d>(document: &'d str, key: &str) -> Option<&'d str> {
    document.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(": "))
}

/// Each is about something that no other is about, so that what is told of it cannot be told of another one that says the same.
pub(crate) fn access_policy(number: usize) -> impl Strategy<Value = Document> {
    let one = (
        select(&["permit", "deny"][..]),
        select(&["staff", "guest"][..]),
        select(&["/orders/**", "/orders/7", "/**"][..]),
        select(&["actions: []", "actions: [{method: GET}]"][..]),
    );
    let text = one.prop_map(move |(effect, role, path, actions)| {
        format!(
            "id: p{number}\neffect: {effect}\nsubjects: [{{role: {role}}}]\nresources: [{{path: {path}}}, {{path: /own/{number}}}]\n{actions}\n"
        )
    });
    (text.clone(), then(text)).prop_map(move |(text, then)| Document { id: format!("p{number}"), text, then })
}

const EDGE: [&str; 3] = [
    "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: edge, namespace: shop}\nspec:\n  \
     gatewayClassName: kgateway\n  listeners: [{name: http, protocol: HTTP, port: 80}]\n",
    "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: cart, namespace: shop}\nspec:\n  \
     parentRefs: [{name: edge}]\n  hostnames: [shop.example]\n  rules: [{name: first, backendRefs: [{name: cart, port: 80}]}]\n",
    "apiVersion: v1\nkind: Service\nmetadata: {name: cart, namespace: shop}\nspec: {ports: [{port: 80}]}\n",
];

fn attached_policy(number: usize) -> impl Strategy<Value = Document> {
    let one = (
        select(
            &[
                "kind: HTTPRoute, name: cart",
                "kind: HTTPRoute, name: cart, sectionName: first",
                "kind: Gateway, name: edge",
            ][..],
        ),
        select(&["timeouts: {request: 1s}", "timeouts: {request: 2s}", "timeouts: {streamIdle: 3s}"][..]),
        0..3_u8,
    );
    let text = one.prop_map(move |(target, says, second)| {
        format!(
            "apiVersion: gateway.kgateway.dev/v1alpha1\nkind: TrafficPolicy\nmetadata: {{name: p{number}, namespace: shop, \
             creationTimestamp: \"2025-01-01T00:00:0{second}Z\"}}\nspec:\n  targetRefs: [{{group: gateway.networking.k8s.io, \
             {target}}}]\n  {says}\n"
        )
    });
    (text.clone(), then(text)).prop_map(move |(text, then)| Document {
        id: format!("TrafficPolicy/shop/p{number}"),
        text,
        then,
    })
}

const ORGANISATION: &str = "kind: Compliance\nobjects:\n- {ref: customer/c, tags: {env: [dev, qa], zone: a}}\n\
    - {ref: project/a, workspace: c, tags: {env: dev, zone: b}}\n- {ref: project/b, workspace: c, tags: {env: prod}}\n";

fn tag_policy(number: usize) -> impl Strategy<Value = Document> {
    let tag = || select(&["env", "zone"][..]);
    let text = (tag(), tag()).prop_map(move |(one, other)| {
        format!(
            "type: MeshPolicy\nname: p{number}\na: {{kind: meshProject, tag: {one}}}\nb: {{kind: meshCustomer, tag: {other}}}\n"
        )
    });
    (text.clone(), then(text)).prop_map(move |(text, then)| Document { id: format!("p{number}"), text, then })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn of_connections([old, new] in worlds()) {
        let document = |text: &String| {
            let name = line(text, "name").expect("a name");
            let edited = new.iter().find(|other| line(other, "name") == Some(name) && line(other, "type") == line(text, "type"));
            let then = match edited {
                Some(other) if other == text => Then::Same,
                Some(other) => Then::Says(other.clone()),
                None => Then::Gone,
            };
            Document { id: format!("{}/{}/{name}", line(text, "type").expect("a type"), line(text, "mesh").unwrap_or("")), text: text.clone(), then }
        };
        let documents: Vec<Document> = old.iter().map(document).collect();
        let names: Vec<&str> = old.iter().filter(|text| text.contains("type: Dataplane")).filter_map(|text| line(text, "name")).collect();
        let mut questions = Vec::new();
        for kind in ["TrafficLog", "TrafficPermission", "MeshTimeout"] {
            for (from, to) in names.iter().zip(names.iter().rev()) {
                questions.push(words(json!({"what": from, "kind": kind})));
                questions.push(words(json!({"from": from, "to": to, "kind": kind})));
            }
        }
        agrees(&documents, &questions)?;
    }

    #[test]
    fn of_requests(policies in (0..5).map(access_policy).collect::<Vec<_>>()) {
        let mut questions = Vec::new();
        for role in ["staff", "guest"] {
            for path in ["/orders/7", "/orders/8", "/other"] {
                for method in ["GET", "POST"] {
                    questions.push(words(json!({"subject": format!("role={role}"), "action": method, "resource": path})));
                }
            }
        }
        agrees(&policies, &questions)?;
    }

    #[test]
    fn of_places(policies in (0..4).map(attached_policy).collect::<Vec<_>>()) {
        let documents: Vec<Document> = EDGE.into_iter().map(Document::fixed).chain(policies).collect();
        let questions = ["httproute/shop/cart", "httproute/shop/cart#first", "gateway/shop/edge"];
        agrees(&documents, &questions.map(|what| words(json!({"what": what, "kind": "TrafficPolicy"}))))?;
    }

    #[test]
    fn of_related_objects(policies in (0..3).map(tag_policy).collect::<Vec<_>>()) {
        let documents: Vec<Document> = std::iter::once(Document::fixed(ORGANISATION)).chain(policies).collect();
        let questions = ["project/a~customer/c", "project/b~customer/c"];
        agrees(&documents, &questions.map(|what| words(json!({"what": what}))))?;
    }
}
