//! What are some examples?

use super::*;

#[test]
fn example_1_a_project_is_for_an_environment_of_its_customer() {
    let mut world = World::new(
        "
kind: Compliance
objects: [{ref: meshCustomer/c, tags: {environment: [sandbox, test]}}]
policies: [{id: environment, a: {kind: meshCustomer, tag: environment}, b: {kind: meshProject, tag: environment}}]
",
    );
    let create = |environment: &str| {
        format!("verb: createProject, object: {{ref: project/p, workspace: c, tags: {{environment: [{environment}]}}}}")
    };
    assert_eq!(
        world.act(END_USER, &create("prod")),
        blocked(&["environment: workspace/c {sandbox, test} ~ project/p {prod}"])
    );
    assert_eq!(world.act(END_USER, &create("sandbox")), allowed());
}

#[test]
fn example_2_confidential_projects_have_users_and_groups_that_are_allowed() {
    let mut world = World::new(
        "
kind: Compliance
objects:
- {ref: customer/c}
- {ref: project/secret, workspace: c, tags: {confidentiality: high}}
- {ref: user/cleared, tags: {clearance: [low, high]}}
- {ref: user/new, tags: {clearance: [low]}}
- {ref: group/cleared, tags: {clearance: [high]}}
- {ref: group/new}
policies: [{id: clearance, a: {kind: meshProject, tag: confidentiality}, b: {kind: meshUser/Group, tag: clearance}}]
",
    );
    for kind in ["user", "group"] {
        let link = |who: &str| format!("verb: link, a: project/secret, b: {kind}/{who}");
        assert_eq!(world.act(END_USER, &link("cleared")), allowed());
        assert_eq!(world.act(END_USER, &link("new")).outcome, Outcome::Blocked);
    }
}

/// A project whose tag must agree with that of its landing zones.
fn zones(tag: &str, own: &str, other: &str) {
    let mut world = World::new(&format!(
        "
kind: Compliance
objects:
- {{ref: customer/c}}
- {{ref: project/p, workspace: c, tags: {{{tag}: {own}}}}}
- {{ref: landingZone/right, tags: {{{tag}: [{own}, {other}]}}}}
- {{ref: landingZone/wrong, tags: {{{tag}: {other}}}}}
policies: [{{id: zone, a: {{kind: meshProject, tag: {tag}}}, b: {{kind: meshLandingZone, tag: {tag}}}}}]
"
    ));
    assert_eq!(world.act(END_USER, "verb: link, a: project/p, b: landingZone/right"), allowed());
    assert_eq!(
        world.act(END_USER, "verb: link, a: project/p, b: landingZone/wrong"),
        blocked(&[&format!("zone: project/p {{{own}}} ~ landingZone/wrong {{{other}}}")])
    );
}

#[test]
fn example_3_landing_zones_are_meant_for_the_environment() {
    zones("environment", "prod", "dev");
}

#[test]
fn example_4_landing_zones_are_meant_for_the_business_unit() {
    zones("business-unit", "retail", "logistics");
}
