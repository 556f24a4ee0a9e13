//! What happens when I violate a meshPolicy?

use upheld_governance::Seeker;

use super::*;

const EXAMPLE: &str = "
kind: Compliance
tagDefinitions:
- {kind: meshCustomer, key: environment, type: multiSelect, options: [dev, test, qa, prod], restricted: true}
- {kind: meshProject, key: environment, type: singleSelect, options: [dev, test, qa, prod]}
objects: [{ref: meshCustomer/managed-customer, tags: {environment: [dev, test, qa]}}]
policies: [{id: environment, a: {kind: meshProject, tag: environment}, b: {kind: meshCustomer, tag: environment}}]
";

fn create(environment: &str) -> String {
    let place = "workspace: managed-customer";
    format!(
        "verb: createProject, object: {{ref: project/my-example-project-prod, {place}, tags: {{environment: {environment}}}}}"
    )
}

#[test]
fn the_error_names_the_policy_and_both_values() {
    let mut world = World::new(EXAMPLE);
    let expected = "environment: project/my-example-project-prod {prod} ~ workspace/managed-customer {dev, test, qa}";
    assert_eq!(world.act(END_USER, &create("prod")), blocked(&[expected]));
    assert_eq!(world.violations(), Vec::<String>::new());
}

#[test]
fn the_error_says_how_to_solve_it() {
    let world = World::new(EXAMPLE);
    let (actor, action) = world.read(END_USER, &create("prod"));
    let decision = world.organisation.would(NOW, &actor, &action);
    let ways = world.organisation.trial(NOW).ways(&Seeker::new(actor.clone()), &action, &decision.violations[0]).ways;
    let ways: Vec<(String, By)> = words::fixes(&ways).into_iter().map(|way| (way.text, way.by)).collect();
    // As the page says: pick a value of the customer. To open the customer is not proposed.
    let pick = "choose dev, test or qa instead of prod as environment of project/my-example-project-prod";
    assert_eq!(ways, [(pick.to_owned(), By::Viewer)]);
}

#[test]
fn after_picking_a_valid_value_the_project_is_created() {
    for environment in ["dev", "test", "qa"] {
        let mut world = World::new(EXAMPLE);
        assert_eq!(world.act(END_USER, &create("prod")).outcome, Outcome::Blocked);
        assert_eq!(world.act(END_USER, &create(environment)), allowed());
        assert!(world.comply().lookup("project/my-example-project-prod").is_ok());
    }
}
