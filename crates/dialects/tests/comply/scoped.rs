//! Policies about the tags of single objects, and policies that are cut to some objects, as they are written.

use super::documents::{loaded, mistakes, state, violations};

const RESOURCES: &str = "
- {ref: account/shop}
- {ref: account/sandbox}
- {ref: resource/web, account: shop, tags: {environment: prod}}
- {ref: resource/db, account: shop, tags: {environment: prodd}}
- {ref: resource/toy, account: sandbox}
";

/// What violates a policy of the built-in kind.
fn found(policy: &str) -> Vec<String> {
    violations(&state(&[("resources.yaml", RESOURCES), ("policy.yaml", policy)], &[]))
}

/// What is wrong with a policy of the built-in kind.
fn wrong(policy: &str) -> Vec<String> {
    loaded(&[("resources.yaml", RESOURCES), ("policy.yaml", policy)], &[]).err().unwrap_or_default()
}

fn of(rest: &str) -> String {
    format!("type: TagPolicy\nname: env\nof: resource\ntag: environment\n{rest}")
}

#[test]
fn tags_can_be_required_and_their_values_listed() {
    let (db, toy) = ("env: resource/db ~ resource/db", "env: resource/toy ~ resource/toy");
    assert_eq!(found(&of("required: true")), [toy]);
    assert_eq!(found(&of("allowed: [dev, prod]")), [db]);
    assert_eq!(found(&of("allowed: [dev, prod]\nrequired: true")), [toy, db]);
    assert_eq!(found(&of("allowed: [dev, prod, prodd]")), [""; 0]);
}

#[test]
fn several_tags_are_several_rules() {
    let policy = "type: TagPolicy\nname: env\nof: account\ntags: [owner, cost-centre]\nrequired: true";
    let all = found(policy);
    assert_eq!(all.len(), 4, "{all:?}");
}

#[test]
fn where_and_except_cut_a_policy() {
    let required = |rest: &str| found(&format!("{}\n{rest}", of("required: true\nallowed: [qa]")));
    let (db, toy, web) =
        ("env: resource/db ~ resource/db", "env: resource/toy ~ resource/toy", "env: resource/web ~ resource/web");
    assert_eq!(required(""), [toy, db, web]);
    assert_eq!(required("where: {account: shop}"), [db, web]);
    assert_eq!(required("where: {account: [account/sandbox]}"), [toy]);
    assert_eq!(required("where: {tags: {environment: prod}}"), [web]);
    assert_eq!(required("where: [{tags: {environment: [prod]}}, {ref: resource/toy}]"), [toy, web]);
    assert_eq!(required("where: {account: shop, tags: {environment: prodd}}"), [db]);
    assert_eq!(required("except: [{account: sandbox}, {ref: [resource/db, resource/web]}]"), [""; 0]);
}

#[test]
fn mistakes_in_policies_about_tags_are_told() {
    let told = |policy: &str, place: &str, message: &str| {
        let found = wrong(policy);
        assert!(found.iter().any(|one| one.starts_with(place) && one.contains(message)), "{policy}\n{found:#?}");
    };
    told(&of(""), "1:1", "a policy about tags asks for something");
    told(&of("required: false"), "5:11", "a policy about tags asks for something");
    told(&of("allowed: []"), "5:10", "`allowed` lists no value");
    told(&of("requird: true"), "5:1", "requird");
    told("type: TagPolicy\nname: env\ntag: a\nrequired: true", "1:1", "`of`");
    told("type: TagPolicy\nname: env\nof: resource\nrequired: true", "1:1", "names at least one");
    told("type: TagPolicy\nname: env\nof: resorce\ntag: a\nrequired: true", "3:5", "did you mean `resource`?");
    told(&of("required: true\ntags: [a]"), "6:7", "`tag` or `tags`");
    told(&of("required: true\nwhere: {tgs: {a: b}}"), "6:9", "tgs");
    told(&of("required: true\nwhere: {}"), "6:8", "a selector without conditions");
    told(&of("required: true\nwhere: {tags: {a: []}}"), "6:16", "a selector needs values of `a`");
    told(&of("required: true\nexcept: {ref: resource/bd}"), "6:15", "did you mean");
    told(&of("required: true\nexcept: {ref: account/shop}"), "6:15", "is no resource");
    told(&of("required: true\nwhere: {account: [shop, shp]}"), "6:25", "did you mean");
}

#[test]
fn the_original_takes_neither() {
    let cut = "type: MeshPolicy\nname: env\na: {kind: project, tag: env}\nb: {kind: workspace, tag: env}\nwhere: {a: {tags: {env: x}}}";
    assert!(mistakes(cut).iter().any(|one| one.contains("`where`")), "{:?}", mistakes(cut));
    let single = "type: MeshPolicy\nname: env\nof: project\ntag: env\nrequired: true";
    assert!(mistakes(single).iter().any(|one| one.contains("`of`")), "{:?}", mistakes(single));
}

/// A kind of a user with both sorts of policies.
const OWN: &str = "
kind: PolicyKind
name: Labels
family: comply
objects: [{name: team, keys: any}, {name: app, keys: any}, {name: person, keys: any}, {name: role, keys: any}]
scope: team
relationships:
- {a: team, b: app, holds: true, gives: [{a: a, b: b}]}
- {a: app, b: person, role: role, gives: [{a: a, b: b}, {a: role, b: b}]}
match: [[team, app], [app, person], [role, person], [app]]
resolve: {selectors: true}
---
- {ref: team/blue, tags: {env: dev}}
- {ref: team/red, tags: {env: dev}}
- {ref: app/one, team: blue, tags: {env: prod, tier: gold}}
- {ref: app/two, team: blue, tags: {env: prod}}
- {ref: app/three, team: red, tags: {env: prod}}
---
";

fn own(policy: &str) -> Vec<String> {
    violations(&state(&[("kind.yaml", OWN), ("policy.yaml", policy)], &[]))
}

#[test]
fn kinds_of_users_may_switch_both_on() {
    let pair = |rest: &str| {
        own(&format!("type: Labels\nname: env\na: {{kind: team, tag: env}}\nb: {{kind: app, tag: env}}\n{rest}"))
    };
    let [one, two, three] =
        ["blue ~ app/one", "blue ~ app/two", "red ~ app/three"].map(|own| format!("env: team/{own}"));
    assert_eq!(pair(""), [one.clone(), two.clone(), three.clone()]);
    assert_eq!(pair("where: {team: blue}"), [one.clone(), two.clone()]);
    assert_eq!(pair("where: {team: blue, b: {tags: {tier: gold}}}"), std::slice::from_ref(&one));
    assert_eq!(pair("except: {a: {ref: team/blue}}"), std::slice::from_ref(&three));
    assert_eq!(pair("except: {team: [red], b: [{tags: {tier: [gold]}}]}"), [two]);
    let single = own("type: Labels\nname: tier\nof: app\ntag: tier\nrequired: true\nwhere: {team: red}");
    assert_eq!(single, ["tier: app/three ~ app/three"]);
}

#[test]
fn a_pair_of_which_no_side_lives_where_it_meets_cannot_be_cut_to_that() {
    let policy = "type: Labels\nname: env\na: {kind: role, tag: env}\nb: {kind: person, tag: env}\nwhere: {team: blue}";
    let found = loaded(&[("kind.yaml", OWN), ("policy.yaml", policy)], &[]).err().unwrap_or_default();
    assert!(found.iter().any(|one| one.contains("cannot be cut to where they meet")), "{found:#?}");
    let alone = "type: Labels\nname: env\nof: person\ntag: env\nrequired: true";
    let found = loaded(&[("kind.yaml", OWN), ("policy.yaml", alone)], &[]).err().unwrap_or_default();
    assert!(found.iter().any(|one| one.contains("no policy can be about person alone")), "{found:#?}");
}
