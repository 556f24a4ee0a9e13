//! Are there any other places where policies are enforced? Red and purple arrows.

use super::*;

const LINKS: &str = "{a: project/project, b: landingZone/zone-dev}, {a: project/project, b: user/user-dev}, \
                     {a: project/project, b: group/group-dev}, {a: customer/customer, b: user/user-dev}, \
                     {a: customer/customer, b: group/group-dev}";

fn move_to_production(object: &str) -> String {
    format!("verb: setTags, object: {object}, tags: {{environment: prod}}")
}

#[test]
fn a_landing_zone_moved_by_an_administrator_is_a_soft_violation() {
    let mut world = organisation(LINKS);
    let expected = "project-zone: project/project {dev} ~ landingZone/zone-dev {prod}";
    assert_eq!(world.act(ADMINISTRATOR, &move_to_production("landingZone/zone-dev")), soft(&[expected]));
    assert_eq!(world.violations(), [expected]);
}

#[test]
fn a_customer_moved_by_an_administrator_is_a_soft_violation() {
    assert_eq!(
        organisation(LINKS).act(ADMINISTRATOR, &move_to_production("customer/customer")),
        soft(&[
            "customer-principal: workspace/customer {prod} ~ group/group-dev {dev}",
            "customer-principal: workspace/customer {prod} ~ user/user-dev {dev}",
            "customer-project: workspace/customer {prod} ~ project/project {dev}",
        ])
    );
}

#[test]
fn users_and_groups_moved_by_an_administrator_are_soft_violations() {
    for kind in ["user", "group"] {
        let change = move_to_production(&format!("{kind}/{kind}-dev"));
        assert_eq!(
            organisation(LINKS).act(ADMINISTRATOR, &change),
            soft(&[
                &format!("customer-principal: workspace/customer {{dev, qa}} ~ {kind}/{kind}-dev {{prod}}"),
                &format!("project-principal: project/project {{dev}} ~ {kind}/{kind}-dev {{prod}}"),
            ])
        );
    }
}

#[test]
fn a_project_moved_by_an_end_user_is_a_hard_violation() {
    let answer = organisation(LINKS).act(END_USER, &move_to_production("project/project"));
    assert_eq!((answer.outcome, answer.violations.len()), (Outcome::Blocked, 4));
}

#[test]
fn only_administrators_move_landing_zones_users_and_groups() {
    for object in ["landingZone/zone-dev", "user/user-dev", "group/group-dev"] {
        let answer = organisation(LINKS).act(END_USER, &move_to_production(object));
        assert_eq!(answer, is(Outcome::Forbidden, &[]), "{object}");
    }
}

#[test]
fn violations_are_seen_per_customer_and_can_be_resolved() {
    let other = "- {ref: meshCustomer/other, tags: {environment: [dev]}}\n\
                 - {ref: meshProject/theirs, workspace: other, tags: {environment: dev}}\n";
    let links = "{a: project/project, b: landingZone/zone-dev}, {a: project/theirs, b: landingZone/zone-dev}";
    let mut world = World::new(&format!("{ORGANISATION}{other}relationships: [{links}]\n{ENVIRONMENT}"));
    world.act(ADMINISTRATOR, &move_to_production("landingZone/zone-dev"));
    let seen_by = |world: &World, role: &str| -> Vec<String> {
        let (actor, _) = world.read(role, "verb: deleteObject, object: project/project");
        world.organisation.violations_for(&actor, NOW).expect("may see them").iter().map(told).collect()
    };
    let own = "project-zone: project/project {dev} ~ landingZone/zone-dev {prod}";
    let theirs = "project-zone: project/theirs {dev} ~ landingZone/zone-dev {prod}";
    assert_eq!(seen_by(&world, "{role: customerAdmin, workspace: customer}"), [own]);
    assert_eq!(seen_by(&world, "{role: customerAdmin, workspace: other}"), [theirs]);
    assert_eq!(seen_by(&world, "partnerAdmin"), [own, theirs]);
    let unlink = "verb: unlink, a: project/project, b: landingZone/zone-dev";
    assert_eq!(world.act("{role: customerAdmin, workspace: customer}", unlink), allowed());
    assert_eq!(world.violations(), [theirs]);
}
