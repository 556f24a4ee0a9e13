//! Who may reach what: every row is what the request itself gets, nothing is missing, and pages are parts of the whole.

use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde_json::{Value as Json, json};
use upheld_dialects::access::Edition;
use upheld_dialects::access::authzen::AuthZen;
use upheld_dialects::access::decider::{Decider, WhichKind};
use upheld_dialects::access::questions;
use upheld_dialects::access::reach::{ReachQuestion, reach};
use upheld_dialects::question::{Options, Refused};
use upheld_engine::Scratch;
use upheld_loader::Format;
use upheld_loader::load::Loaded;
use upheld_model::Timestamp;
use upheld_report::{Reach, ReachedAction, ReachedEntity, ReachedRow};

use crate::world::read;

const POLICIES: [&str; 7] = [
    "{id: readers, effect: permit, description: Readers may, subjects: [{role: reader}], resources: [{type: document}], \
      actions: [{operation: read}]}",
    "{id: everybody-gets, effect: permit, subjects: [], resources: [], actions: [{method: GET}]}",
    "{id: no-secrets, effect: deny, subjects: [], resources: [{property: {name: secret, value: true}}], actions: []}",
    "{id: no-suspended, effect: deny, description: Suspended, subjects: [{claim: {name: suspended, value: true}}], resources: [], \
      actions: []}",
    "{id: level-5, effect: permit, subjects: [{claim: {name: level, operator: gte, value: 5}}], resources: [], actions: [], \
      duties: [{kind: obligation, id: mfa, on: permit}]}",
    "{id: no-files, effect: deny, subjects: [], resources: [{path: /files/**}], actions: [{method: PUT}]}",
    "{id: staff-archives, effect: permit, subjects: [{group: staff}], resources: [], actions: [{operation: archive, method: POST}]}",
];

const SUBJECTS: [&str; 4] = [
    r#"{"type": "user", "id": "ann", "properties": {"roles": ["editor"], "level": 5}}"#,
    r#"{"type": "user", "id": "bob", "properties": {"groups": ["shop"], "level": 1}}"#,
    r#"{"type": "user", "id": "eve", "properties": {"suspended": true, "level": 7}}"#,
    r#"{"type": "robot", "id": "ann"}"#,
];

const RESOURCES: [&str; 4] = [
    r#"{"type": "document", "id": "7", "properties": {"secret": true, "state": "draft"}}"#,
    r#"{"type": "document", "id": "8", "properties": {"state": "final"}}"#,
    r#"{"type": "route", "id": "/files/a"}"#,
    r#"{"type": "page", "id": "home", "properties": {"path": "/files/home"}}"#,
];

const ACTIONS: [&str; 4] = [
    r#"{"name": "read"}"#,
    r#"{"name": "GET"}"#,
    r#"{"name": "archive", "properties": {"method": ["POST", "PUT"]}}"#,
    r#"{"name": "export", "properties": {"method": "GET", "format": ["pdf", "csv"], "pages": [1, 2]}}"#,
];

/// What is known, as documents.
#[derive(Clone, Debug)]
struct Known {
    subjects: Vec<Json>,
    resources: Vec<Json>,
    actions: Vec<Json>,
}

fn some(of: &'static [&'static str]) -> impl Strategy<Value = Vec<Json>> {
    subsequence(of.to_vec(), 1..=of.len())
        .prop_map(|all| all.into_iter().map(|text| serde_json::from_str(text).unwrap()).collect())
}

fn known() -> impl Strategy<Value = Known> {
    (some(&SUBJECTS), some(&RESOURCES), some(&ACTIONS)).prop_map(|(subjects, resources, actions)| Known {
        subjects,
        resources,
        actions,
    })
}

impl Known {
    fn documents(&self, policies: &[&str]) -> String {
        let policies: String = policies.iter().map(|policy| format!("{policy}\n---\n")).collect();
        let roles = json!([{"name": "editor", "contains": ["reader"]}]);
        let groups = json!([{"name": "shop", "groups": ["staff"]}]);
        let Self { subjects, resources, actions } = self;
        let directory = json!({"kind": "Directory", "subjects": subjects, "resources": resources, "actions": actions,
            "roles": roles, "groups": groups});
        format!("{policies}{directory}")
    }

    /// Every known part of a request, with what it is called.
    fn entities(known: &[Json], wanted: &Json) -> Vec<(String, Json)> {
        let is_wanted = |entity: &&Json| wanted.get("type").is_none_or(|kind| *kind == entity["type"]);
        let text = |entity: &Json, field: &str| entity[field].as_str().unwrap().to_owned();
        let mut found: Vec<(String, Json)> = (known.iter().filter(is_wanted))
            .map(|entity| {
                let part = json!({"type": entity["type"], "id": entity["id"]});
                (format!("{}/{}", text(entity, "type"), text(entity, "id")), part)
            })
            .collect();
        found.sort_by(|(a, _), (b, _)| a.cmp(b));
        found
    }

    fn all_actions(&self) -> Vec<(String, Json)> {
        let mut sorted = self.actions.clone();
        sorted.sort_by_key(|action| action["name"].as_str().unwrap().to_owned());
        let mut found = Vec::new();
        for action in &sorted {
            let name = action["name"].as_str().unwrap();
            let mut variants = vec![(name.to_owned(), json!({"operation": name}))];
            if name == "GET" {
                variants[0].1["method"] = json!(name);
            }
            for (property, values) in action["properties"].as_object().into_iter().flatten() {
                let Some(values) = values.as_array() else { continue };
                let with = |(called, part): &(String, Json), value: &Json| {
                    let mut part = part.clone();
                    part[property] = value.clone();
                    let shown = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                    (format!("{called} {property}={shown}"), part)
                };
                variants = variants.iter().flat_map(|one| values.iter().map(move |value| with(one, value))).collect();
            }
            found.extend(variants);
        }
        found
    }

    /// All requests that a question stands for: what each is called, and the request.
    fn requests(&self, question: &Json) -> Vec<(String, Json)> {
        let is_named =
            |part: &Json| part.get("id").is_some() || part.get("path").is_some() || part.get("roles").is_some();
        let given = |part: &Json| vec![(String::new(), part.clone())];
        let (subject, resource, action) = (&question["subject"], &question["resource"], &question["action"]);
        let subjects = if is_named(subject) { given(subject) } else { Self::entities(&self.subjects, subject) };
        let resources = if is_named(resource) { given(resource) } else { Self::entities(&self.resources, resource) };
        let actions = if action.is_null() { self.all_actions() } else { given(action) };
        let mut all = Vec::new();
        for (who, subject) in &subjects {
            for (with, resource) in &resources {
                for (what, action) in &actions {
                    let called: Vec<&str> =
                        [who, with, what].into_iter().map(String::as_str).filter(|called| !called.is_empty()).collect();
                    all.push((called.join(" "), json!({"subject": subject, "resource": resource, "action": action})));
                }
            }
        }
        all
    }
}

/// A question with at least one part left open, and one that is not.
fn question() -> impl Strategy<Value = Json> {
    let subject =
        select(&[r#"{"id": "ann", "type": "user"}"#, r#"{"roles": ["reader"]}"#, r#"{"type": "user"}"#, "null"][..]);
    let resource = select(
        &[r#"{"type": "document", "id": "8"}"#, r#"{"path": "/files/x"}"#, r#"{"type": "document"}"#, "null"][..],
    );
    let action = select(&[r#"{"operation": "read"}"#, r#"{"method": "GET"}"#, "null"][..]);
    (subject, resource, action).prop_map(|parts| {
        let [subject, resource, action] =
            [parts.0, parts.1, parts.2].map(|part| serde_json::from_str::<Json>(part).unwrap());
        json!({"subject": subject, "resource": resource, "action": action})
    })
}

fn options(edition: Edition) -> Options {
    Options { semantics: vec![edition.name().to_owned()], ..Options::at(Timestamp(0)) }
}

fn ask(edition: Edition, loaded: &Loaded, question: &ReachQuestion) -> Result<Reach, Vec<String>> {
    let messages = |refused: Refused| refused.diagnostics.iter().map(|problem| problem.message.clone()).collect();
    reach(&loaded.snapshot, &options(edition), question).map_err(messages)
}

fn all(question: &Json) -> ReachQuestion {
    ReachQuestion { request: Some(question.clone()), denied: true, ..ReachQuestion::default() }
}

/// What a row is called, and what it gets.
type Row = (String, &'static str, Option<String>, Option<String>, Vec<String>);

fn rows(reach: &Reach) -> Vec<Row> {
    let row = |row: &ReachedRow| {
        let entity = |entity: &Option<ReachedEntity>| entity.as_ref().map(ReachedEntity::word);
        let action = row.action.as_ref().map(ReachedAction::words);
        let called: Vec<String> = [entity(&row.subject), entity(&row.resource), action].into_iter().flatten().collect();
        let duties = row.obligations.iter().map(|duty| duty.id.clone()).collect();
        (called.join(" "), row.decision, row.policy.clone(), row.reason.clone(), duties)
    };
    reach.items.iter().map(row).collect()
}

/// What a request gets by itself, as people ask it.
fn decided(edition: Edition, loaded: &Loaded, called: &str, asked: &Json) -> Row {
    let decider = Decider::of(&loaded.snapshot, WhichKind::Only, edition).unwrap();
    let text = asked.to_string();
    let requests =
        questions::read("request", Format::Json, text, Edition::Strict).unwrap_or_else(|_| panic!("{asked}"));
    let mut request = requests.into_iter().next().unwrap();
    let request = decider.complete(request, Some(Timestamp(0)));
    let decision = decider.decision(&request, &mut Scratch::default());
    let duties = decision.obligations.iter().map(|duty| duty.id.clone()).collect();
    let reason = decision.reason.as_deref().map(str::to_owned);
    (called.to_owned(), decision.outcome.word(), decision.policy.map(str::to_owned), reason, duties)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn every_row_is_what_its_request_gets_and_no_known_request_is_missing(
        policies in subsequence(POLICIES.to_vec(), 1..=POLICIES.len()),
        known in known(),
        question in question(),
        compat in any::<bool>(),
    ) {
        let edition = if compat { Edition::Compat } else { Edition::Strict };
        let loaded = read(edition, &known.documents(&policies)).unwrap();
        let expected = known.requests(&question);
        match ask(edition, &loaded, &all(&question)) {
            Ok(answer) => {
                let by_themselves: Vec<Row> =
                    expected.iter().map(|(called, request)| decided(edition, &loaded, called, request)).collect();
                prop_assert_eq!(rows(&answer), by_themselves, "{}", question);
                // The request that stands beside a row gets the same again.
                for (row, own) in rows(&answer).iter().zip(&answer.items) {
                    prop_assert_eq!(row, &decided(edition, &loaded, &row.0, &own.request));
                }
                prop_assert_eq!(answer.counts.decided, expected.len());
                let permitted = rows(&answer).iter().filter(|row| row.1 == "permit").count();
                prop_assert_eq!(answer.counts.permitted, permitted);
                // Without what is denied, the same is left.
                let open = ask(edition, &loaded, &ReachQuestion { denied: false, ..all(&question) }).unwrap();
                let left: Vec<Row> = rows(&answer).into_iter().filter(|row| row.1 != "deny").collect();
                prop_assert_eq!((rows(&open), open.counts), (left, answer.counts));
            }
            // Somebody is named whom the directory does not have, or nothing is left open, or nothing is said.
            Err(problems) => {
                let is_listed = |part: &str, all: &[Json]| {
                    question[part].get("id").is_none() || all.iter().any(|known| {
                        known["id"] == question[part]["id"] && known["type"] == question[part]["type"]
                    })
                };
                let has_type = |part: &str, all: &[Json]| {
                    question[part].get("type").is_none() || all.iter().any(|known| known["type"] == question[part]["type"])
                };
                let is_asked = question.as_object().unwrap().values().any(|part| !part.is_null());
                let is_open = expected.iter().any(|(called, _)| !called.is_empty()) || expected.is_empty();
                let known_all = is_listed("subject", &known.subjects) && is_listed("resource", &known.resources);
                let typed_all = has_type("subject", &known.subjects) && has_type("resource", &known.resources);
                prop_assert!(!(is_asked && is_open && known_all && typed_all), "{}: {:?}", question, problems);
            }
        }
    }

    #[test]
    fn pages_are_parts_of_the_whole(
        policies in subsequence(POLICIES.to_vec(), 1..=POLICIES.len()),
        known in known(),
        limit in 1..5_usize,
        decisions in 1..7_usize,
        denied in any::<bool>(),
    ) {
        let loaded = read(Edition::Strict, &known.documents(&policies)).unwrap();
        let whole = ReachQuestion { denied, ..all(&json!({"subject": {"roles": ["reader"]}})) };
        let expected = ask(Edition::Strict, &loaded, &whole).unwrap();
        let (mut found, mut counted, mut after) = (Vec::new(), 0, None);
        loop {
            let (limit, decisions) = (Some(limit), Some(decisions));
            let page = ask(Edition::Strict, &loaded, &ReachQuestion { limit, decisions, after, ..whole.clone() }).unwrap();
            prop_assert!(page.items.len() <= limit.unwrap() && page.counts.decided <= decisions.unwrap());
            found.extend(rows(&page));
            counted += page.counts.decided;
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        prop_assert_eq!((found, counted), (rows(&expected), expected.counts.decided));
    }

    #[test]
    fn searches_of_the_standard_find_the_same(
        policies in subsequence(POLICIES.to_vec(), 1..=POLICIES.len()),
        known in known(),
    ) {
        let loaded = read(Edition::Strict, &known.documents(&policies)).unwrap();
        let authzen = AuthZen::new(Decider::of(&loaded.snapshot, WhichKind::Only, Edition::Strict).unwrap(), Some(Timestamp(0)));
        for subject in &known.subjects {
            let who = json!({"type": subject["type"], "id": subject["id"]});
            for kind in ["document", "route", "page"] {
                let asked = json!({"subject": who, "action": {"name": "read"}, "resource": {"type": kind}});
                let found = authzen.search_resource(&asked).unwrap();
                let ours = all(&json!({"subject": who, "action": {"operation": "read"}, "resource": {"type": kind}}));
                let ours = ask(Edition::Strict, &loaded, &ours).map(|answer| {
                    let permitted = answer.items.iter().filter(|row| row.decision == "permit");
                    let ids = permitted.map(|row| json!(row.resource.as_ref().unwrap())).collect::<Vec<_>>();
                    (ids, answer.counts.undecided)
                });
                let theirs = found.json()["results"].as_array().unwrap().clone();
                prop_assert_eq!((theirs, found.undecided), ours.unwrap_or_default());
            }
        }
    }
}

const SMALL: &str = "
kind: Directory
subjects: [{type: user, id: ann}, {type: robot, id: ann}, {type: user, id: bob}]
resources: [{type: document, id: '7'}]
---
{id: all, effect: permit, subjects: [], resources: [], actions: []}
";

fn words(subject: &str, action: &str, resource: &str) -> ReachQuestion {
    let list = |text: &str| if text.is_empty() { Vec::new() } else { vec![text.to_owned()] };
    let (subject, action, resource) = (list(subject), list(action), list(resource));
    ReachQuestion { subject, action, resource, ..ReachQuestion::default() }
}

fn asked(text: &str, question: &ReachQuestion) -> Result<Vec<String>, String> {
    let loaded = read(Edition::Strict, text).unwrap();
    let refused = |refused: Refused| {
        let first = &refused.diagnostics[0];
        [first.message.clone()]
            .into_iter()
            .chain(first.help.iter().map(ToString::to_string))
            .collect::<Vec<_>>()
            .join(" | ")
    };
    let answer = reach(&loaded.snapshot, &options(Edition::Strict), question).map_err(refused)?;
    Ok(rows(&answer).into_iter().map(|(called, decision, ..)| format!("{called}: {decision}")).collect())
}

#[test]
fn subjects_and_resources_may_be_named_as_answers_name_them() {
    let document = vec!["document/7: permit".to_owned()];
    assert_eq!(asked(SMALL, &words("user/ann", "read", "")), Ok(document.clone()));
    assert_eq!(asked(SMALL, &words("type=user,id=ann", "read", "")), Ok(document.clone()));
    // Somebody who is not listed, but described.
    assert_eq!(asked(SMALL, &words("role=admin", "read", "")), Ok(document));
    let all = ["robot/ann: permit", "user/ann: permit", "user/bob: permit"].map(str::to_owned).to_vec();
    assert_eq!(asked(SMALL, &words("", "read", "document/7")), Ok(all.clone()));
    assert_eq!(asked(SMALL, &words("", "GET", "/any/path")), Ok(all.clone()));
    assert_eq!(asked(SMALL, &words("type=user", "read", "document/7")), Ok(all[1..].to_vec()));
}

#[test]
fn without_a_directory_it_says_what_one_is_and_how_to_go_on() {
    let policy = "{id: all, effect: permit, subjects: [], resources: [], actions: []}";
    let problem = asked(policy, &words("user/ann", "", "")).unwrap_err();
    assert!(
        problem.starts_with("no Directory was read, so it is not known which resources and actions there are"),
        "{problem}"
    );
    assert!(problem.contains("kind: Directory") && problem.contains("upheld schema Directory"), "{problem}");
    let problem = asked(SMALL, &words("user/ann", "", "")).unwrap_err();
    assert!(problem.starts_with("the Directory lists no actions"), "{problem}");
}

#[test]
fn whoever_is_misspelt_gets_the_nearest_name() {
    for (question, problem) in [
        (words("user/anm", "read", ""), "the Directory has no subject `anm` of type `user`"),
        (words("usr/ann", "read", ""), "the Directory has no subject `ann` of type `usr`"),
        (words("bobb", "read", ""), "the Directory has no subject `bobb`"),
        (words("", "read", "document/8"), "the Directory has no resource `8` of type `document`"),
        (words("type=usr", "read", "document/7"), "the Directory lists no subjects of type `usr`"),
    ] {
        let found = asked(SMALL, &question).unwrap_err();
        assert!(found.starts_with(problem), "{found}");
        assert!(found.contains("did you mean") || found.contains("document/7"), "{found}");
    }
}

#[test]
fn a_question_leaves_something_open_and_says_something() {
    let problem = asked(SMALL, &words("user/ann", "read", "document/7")).unwrap_err();
    assert!(problem.contains("nothing to look for") && problem.contains("upheld can"), "{problem}");
    let problem = asked(SMALL, &ReachQuestion::default()).unwrap_err();
    assert!(problem.starts_with("who, or what, is the question about?"), "{problem}");
    let both = ReachQuestion { request: Some(json!({"action": {"operation": "read"}})), ..words("user/ann", "", "") };
    assert!(asked(SMALL, &both).unwrap_err().contains("not both"));
}

#[test]
fn the_next_page_belongs_to_its_question() {
    let loaded = read(Edition::Strict, SMALL).unwrap();
    let first = ReachQuestion { limit: Some(1), ..words("", "read", "document/7") };
    let next = ask(Edition::Strict, &loaded, &first).unwrap().next;
    assert!(next.is_some());
    let other = ReachQuestion { after: next, ..words("", "write", "document/7") };
    assert_eq!(ask(Edition::Strict, &loaded, &other).unwrap_err(), ["`after` belongs to another question"]);
    let broken = ReachQuestion { after: Some("x".into()), ..first };
    assert_eq!(ask(Edition::Strict, &loaded, &broken).unwrap_err(), ["`after` is not the `next` of an answer"]);
}
