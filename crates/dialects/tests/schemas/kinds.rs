//! Kinds of users: their own schemas, and nobody else's.

use super::mistakes;

const KIND: &str = "
kind: PolicyKind
name: Quota
family: select
match:
- {field: sources, side: source}
- {field: destinations, side: destination}
payload: conf
rank: [more-tags, name]
resolve: first
schema:
  conf:
    requests!: integer 1..
    per: one of second minute
    (rules):
    - {at-most-one: [burst, per]}
";

fn quota(conf: &str) -> Vec<String> {
    mistakes(&format!(
        "{KIND}---\ntype: Quota\nname: q\nmesh: default\nsources: [{{match: {{kuma.io/service: '*'}}}}]\ndestinations: [{{match: {{kuma.io/service: '*'}}}}]\nconf: {conf}\n"
    ))
}

#[test]
fn a_kind_may_say_what_its_policies_look_like() {
    assert_eq!(quota("{requests: 5, per: second}"), [""; 0]);
    assert_eq!(
        quota("{request: 5, per: hour}"),
        ["23:8 `conf` has no field `request`; did you mean `requests`?", "23:25 `conf.per` cannot be `hour`",]
    );
}

#[test]
fn mistakes_in_the_schema_of_a_kind_are_told_with_their_place() {
    let wrong = KIND.replace("integer 1..", "intger").replace("at-most-one", "at-most-two");
    assert_eq!(
        mistakes(&wrong),
        [
            "13:16 there is no shape `intger`; did you mean `integer`?",
            "16:7 there is no rule `at-most-two`; did you mean `at-most-one`?",
        ]
    );
}

#[test]
fn a_type_that_users_define_is_not_held_against_a_schema_of_the_same_name() {
    let kind = KIND.replace("Quota", "MeshThing").replace("schema:", "about: x\nunused:");
    let kind: String =
        kind.lines().take_while(|line| !line.starts_with("unused")).map(|line| format!("{line}\n")).collect();
    let text = format!(
        "{kind}---\ntype: MeshThing\nname: q\nmesh: default\nsources: [{{match: {{kuma.io/service: '*'}}}}]\ndestinations: [{{match: {{kuma.io/service: '*'}}}}]\nconf: {{anything: goes}}\n"
    );
    assert_eq!(mistakes(&text), [""; 0]);
}
