use upheld_dialects::access::authzen::directory::{BadAlternatives, MOST_VARIANTS};
use upheld_dialects::access::authzen::{Directory, KnownAction};
use upheld_engine::decide::{Fact, Facts, Number};
use upheld_loader::load::load;
use upheld_loader::{Format, Input};

use crate::{World, read, request};

fn facts(facts: &[(&str, Fact)]) -> Facts {
    facts.iter().map(|(name, fact)| ((*name).into(), fact.clone())).collect()
}

#[test]
fn entities_are_found_by_type_and_id() {
    let (directory, found) = read(crate::DIRECTORY);
    assert_eq!(found.as_slice(), []);
    assert_eq!(
        directory.subject("robot", "r2"),
        Some(&facts(&[("roles", Fact::List(vec![Fact::Text("staff".into())]))]))
    );
    assert_eq!(directory.subject("member", "cid"), Some(&Facts::default()));
    assert_eq!(directory.subject("member", "r2"), None);
    assert_eq!(directory.resource("member", "ann"), None);
    assert_eq!(directory.resource("room", "hall"), Some(&Facts::default()));
    assert!(directory.action("lend").is_some());
    let from = |kind: Option<&str>| -> Vec<&str> {
        directory.all_subjects(kind, Some(("member", "bob"))).map(|(_, id, _)| id).collect()
    };
    assert_eq!((from(Some("member")), from(None)), (vec!["bob", "cid"], vec!["bob", "cid", "r2"]));
}

#[test]
fn a_directory_lies_beside_policies() {
    let inputs = vec![
        Input::text("policies.yaml", Format::Yaml, crate::POLICIES),
        Input::text("people.yaml", Format::Yaml, crate::DIRECTORY),
    ];
    let loaded = load(inputs, &[]).unwrap_or_else(|broken| panic!("{:#?}", broken.diagnostics));
    assert!(loaded.snapshot.companion::<Directory>().unwrap().subject("member", "ann").is_some());
    assert_eq!(loaded.set_aside.by_type.len(), 0);
    let broken =
        load(vec![Input::text("people.yaml", Format::Yaml, "{kind: Directory, people: []}")], &[]).unwrap_err();
    let messages: Vec<&str> = broken.diagnostics.as_slice().iter().map(|problem| problem.message.as_str()).collect();
    assert_eq!(messages, ["this document has no field `people`"]);
}

#[test]
fn json_is_read_alike() {
    let (directory, found) = read(r#"{"kind": "Directory", "subjects": [{"type": "member", "id": "ann"}]}"#);
    assert_eq!(found.as_slice(), []);
    assert!(directory.subject("member", "ann").is_some());
}

#[test]
fn several_documents_make_one_directory() {
    let (directory, found) =
        read("{kind: Directory, actions: [{name: a}]}\n---\n{kind: Directory, actions: [{name: b}]}");
    assert_eq!(found.as_slice(), []);
    assert_eq!(directory.actions().map(|(name, _)| name).collect::<Vec<_>>(), ["a", "b"]);
}

#[test]
fn every_mistake_is_located() {
    let text = "kind: Directory
subjects:
  - {type: member, id: 5}
  - {type: member}
  - {type: member, id: ann, props: {a: 1}}
resources:
  - {type: book, id: '', properties: []}
actions:
  - {name: [read]}
others: []
";
    let (directory, found) = read(text);
    let messages: Vec<&str> = found.as_slice().iter().map(|problem| problem.message.as_str()).collect();
    assert_eq!(
        messages,
        [
            "`subjects[0].id` must be text, not a number",
            "`subjects[1]` has no `id`",
            "`subjects[2]` has no field `props`",
            "`resources[0].id` must not be empty",
            "`resources[0].properties` must be a map, not a list",
            "`actions[0].name` must be text, not a list",
            "this document has no field `others`",
        ]
    );
    assert!(found.as_slice().iter().all(|problem| problem.label.is_some()));
    assert!(directory.subject("member", "ann").is_none());
}

#[test]
fn what_is_listed_twice_is_shown_twice() {
    let text = "
kind: Directory
subjects: [{type: member, id: ann}, {type: robot, id: ann}, {type: member, id: ann}]
resources: [{type: member, id: ann}, {type: member, id: ann}]
actions: [{name: ann}]
---
kind: Directory
actions: [{name: ann}]
";
    let (_, found) = read(text);
    let told: Vec<_> =
        found.as_slice().iter().map(|problem| (problem.message.as_str(), problem.related.len())).collect();
    assert_eq!(
        told,
        [
            ("the subject `ann` of type `member` is listed twice", 1),
            ("the resource `ann` of type `member` is listed twice", 1),
            ("the action `ann` is listed twice", 0),
        ]
    );
}

#[test]
fn impossible_actions_are_refused() {
    let many = (0..20).map(|number| number.to_string()).collect::<Vec<_>>().join(", ");
    let text = format!(
        "{{kind: Directory, actions: [{{name: a, properties: {{x: []}}}}, {{name: b, properties: {{x: [{many}], y: [{many}]}}}}]}}"
    );
    let (directory, found) = read(&text);
    let messages: Vec<&str> = found.as_slice().iter().map(|problem| problem.message.as_str()).collect();
    let expected =
        ["the property `x` has no possible value", "the values of this action can be combined in more than 256 ways"];
    assert_eq!(messages, expected);
    assert!(directory.action("a").is_none() && directory.action("b").is_none());
}

#[test]
fn actions_have_a_variant_for_each_value() {
    let bools = vec![Fact::Bool(true), Fact::Bool(false), Fact::Bool(true)];
    let only = vec![Fact::Number(Number::Whole(1)), Fact::Number(Number::Whole(1))];
    let action = KnownAction::new(vec![("soft".into(), bools), ("level".into(), only)]).unwrap();
    assert_eq!(action.fixed(), &facts(&[("level", Fact::Number(Number::Whole(1)))]));
    let variants = [facts(&[("soft", Fact::Bool(true))]), facts(&[("soft", Fact::Bool(false))])];
    assert_eq!(action.variants(), variants);
    assert_eq!(action.properties(), facts(&[("level", Fact::Number(Number::Whole(1))), ("soft", Fact::Unknown)]));
    let numbers = |count: usize| (0..count).map(|number| Fact::Text(number.to_string().into())).collect::<Vec<_>>();
    assert!(KnownAction::new(vec![("x".into(), numbers(MOST_VARIANTS))]).is_ok());
    let refused = KnownAction::new(vec![("x".into(), numbers(MOST_VARIANTS + 1))]);
    assert_eq!(refused, Err(BadAlternatives::TooMany));
    assert_eq!(KnownAction::new(vec![("x".into(), Vec::new())]), Err(BadAlternatives::NoValue("x".into())));
}

#[test]
fn a_directory_can_be_built_in_code() {
    let mut directory = Directory::default();
    directory.insert_subject("member", "dan", facts(&[("role", Fact::Text("staff".into()))]));
    directory.insert_resource("book", "atlas", facts(&[("rare", Fact::Bool(true))]));
    directory.insert_action("read", KnownAction::default());
    let world = World { directory, ..World::new() };
    assert!(world.decision(&request("dan read book atlas")));
    assert!(!world.decision(&request("ann read book atlas")));
}
