//! How are meshPolicies evaluated?

use super::*;

/// How the pair of a row comes out, and why: whichever side the policy names first.
fn row(project: &str, customer: &str) -> Verdict {
    let [one, other] = ["meshProject", "meshCustomer"];
    let [straight, turned] = [(one, other), (other, one)].map(|(a, b)| {
        let world = World::new(&format!(
            "
kind: Compliance
tagDefinitions:
- {{kind: meshProject, key: environment, type: multiSelect, options: [dev, qa, prod]}}
- {{kind: meshCustomer, key: environment, type: multiSelect, options: [dev, qa, prod]}}
objects:
- {{ref: customer/c, tags: {{environment: {customer}}}}}
- {{ref: project/p, workspace: c, tags: {{environment: {project}}}}}
policies: [{{id: environment, a: {{kind: {a}, tag: environment}}, b: {{kind: {b}, tag: environment}}}}]
"
        ));
        let check = world.check("project/p", "customer/c");
        assert_eq!(check.verdict.holds(), world.violations().is_empty());
        check.verdict
    });
    assert_eq!(straight, turned, "there is no direction");
    straight
}

#[test]
fn row_1_prod_and_prod() {
    assert_eq!(row("prod", "prod"), Verdict::Common);
}

#[test]
fn row_2_prod_and_dev_qa() {
    assert_eq!(row("prod", "[dev, qa]"), Verdict::Disjoint);
}

#[test]
fn row_3_empty_and_dev() {
    for empty in ["[]", "null"] {
        assert_eq!(row(empty, "dev"), Verdict::OneEmpty);
    }
}

#[test]
fn row_4_empty_and_empty() {
    for empty in ["[]", "null"] {
        assert_eq!(row(empty, "[]"), Verdict::BothEmpty);
    }
}

#[test]
fn row_5_prod_qa_and_qa_dev() {
    assert_eq!(row("[prod, qa]", "[qa, dev]"), Verdict::Common);
}

#[test]
fn no_direction() {
    let values = ["[]", "[dev]", "[qa]", "[dev, qa]", "[qa, prod]"];
    for (place, project) in values.iter().enumerate() {
        for (other, customer) in values.iter().enumerate() {
            // Each row compares both orders of the kinds; here the values change sides, too.
            assert_eq!(row(project, customer), row(customer, project), "{place} {other}");
        }
    }
}

#[test]
fn all_tags_are_sets() {
    // The single choice of the project against the choices of the customer: a text and a list of one are the same.
    for project in ["qa", "[qa]", "[qa, qa]"] {
        let text = format!(
            "
kind: Compliance
tagDefinitions:
- {{kind: meshProject, key: stage, type: singleSelect, options: [dev, qa, prod]}}
- {{kind: meshCustomer, key: stages, type: multiSelect, options: [dev, qa, prod]}}
objects:
- {{ref: customer/c, tags: {{stages: [dev, qa]}}}}
- {{ref: project/p, workspace: c, tags: {{stage: {project}}}}}
policies: [{{id: stage, a: {{kind: meshProject, tag: stage}}, b: {{kind: meshCustomer, tag: stages}}}}]
"
        );
        let mut world = World::new(&text);
        assert_eq!(world.violations(), Vec::<String>::new(), "{project}");
        assert_eq!(
            world.act(END_USER, "verb: setTags, object: project/p, tags: {stage: prod}"),
            blocked(&["stage: project/p {prod} ~ workspace/c {dev, qa}"])
        );
        // The order and the number of values do not count.
        assert_eq!(world.act(ADMINISTRATOR, "verb: setTags, object: customer/c, tags: {stages: [qa]}"), allowed());
    }
}

#[test]
fn every_policy_of_a_pair_must_hold() {
    let mut world = World::new(
        "
kind: Compliance
objects:
- {ref: customer/c, tags: {environment: [dev], region: [eu]}}
policies:
- {id: environment, a: {kind: meshProject, tag: environment}, b: {kind: meshCustomer, tag: environment}}
- {id: region, a: {kind: meshCustomer, tag: region}, b: {kind: meshProject, tag: region}}
",
    );
    let create =
        |tags: &str| format!("verb: createProject, object: {{ref: project/p, workspace: c, tags: {{{tags}}}}}");
    assert_eq!(
        world.act(END_USER, &create("environment: dev, region: us")),
        blocked(&["region: workspace/c {eu} ~ project/p {us}"])
    );
    assert_eq!(
        world.act(END_USER, &create("environment: prod")),
        blocked(&["environment: project/p {prod} ~ workspace/c {dev}", "region: workspace/c {eu} ~ project/p {}",])
    );
    assert_eq!(world.act(END_USER, &create("environment: dev, region: eu")), allowed());
}
