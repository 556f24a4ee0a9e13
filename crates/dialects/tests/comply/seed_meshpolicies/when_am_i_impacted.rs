//! When am I impacted by meshPolicies?

use super::*;

#[test]
fn case_1_1_a_landing_zone_of_a_new_project() {
    let mut world = organisation("");
    let create = |zone: &str| {
        format!(
            "verb: createProject, object: {{ref: project/new, workspace: customer, tags: {{environment: dev}}}}, \
             landingZones: [landingZone/{zone}]"
        )
    };
    assert_eq!(
        world.act(END_USER, &create("zone-prod")),
        blocked(&["project-zone: project/new {dev} ~ landingZone/zone-prod {prod}"])
    );
    assert_eq!(world.act(END_USER, &create("zone-dev")), allowed());
}

#[test]
fn case_1_2_saving_a_new_project() {
    let mut world = organisation("");
    let create = |environment: &str| {
        format!(
            "verb: createProject, object: {{ref: project/new, workspace: customer, tags: {{environment: {environment}}}}}"
        )
    };
    assert_eq!(
        world.act(END_USER, &create("prod")),
        blocked(&["customer-project: workspace/customer {dev, qa} ~ project/new {prod}"])
    );
    assert_eq!(world.act(END_USER, &create("qa")), allowed());
}

#[test]
fn case_1_all_policies_that_a_new_project_violates_are_told_at_once() {
    let mut world = organisation("");
    let create = "verb: createProject, object: {ref: project/new, workspace: customer, tags: {environment: prod}}, \
                  landingZones: [landingZone/zone-dev], principals: [user/user-dev, group/group-dev]";
    assert_eq!(
        world.act(END_USER, create),
        blocked(&[
            "customer-project: workspace/customer {dev, qa} ~ project/new {prod}",
            "project-principal: project/new {prod} ~ group/group-dev {dev}",
            "project-principal: project/new {prod} ~ user/user-dev {dev}",
            "project-zone: project/new {prod} ~ landingZone/zone-dev {dev}",
        ])
    );
}

#[test]
fn case_2_1_a_new_tenant_with_a_landing_zone() {
    let mut world = organisation("");
    assert_eq!(
        world.act(END_USER, "verb: link, a: project/project, b: landingZone/zone-prod"),
        blocked(&["project-zone: project/project {dev} ~ landingZone/zone-prod {prod}"])
    );
    assert_eq!(world.act(END_USER, "verb: link, a: project/project, b: landingZone/zone-dev"), allowed());
}

#[test]
fn case_2_2_a_new_user_or_group_of_a_project() {
    let mut world = organisation("");
    for kind in ["user", "group"] {
        assert_eq!(
            world.act(END_USER, &format!("verb: link, a: project/project, b: {kind}/{kind}-prod")),
            blocked(&[&format!("project-principal: project/project {{dev}} ~ {kind}/{kind}-prod {{prod}}")])
        );
        let link = format!("verb: link, a: project/project, b: {kind}/{kind}-dev");
        assert_eq!(world.act(END_USER, &link), allowed());
    }
}

/// The project changes its environment, while it is related to the objects named.
fn moved(links: &str, environment: &str) -> Answer {
    let change = format!("verb: setTags, object: project/project, tags: {{environment: {environment}}}");
    organisation(links).act(END_USER, &change)
}

#[test]
fn case_2_3_a_changed_tag_against_the_customer() {
    assert_eq!(
        moved("", "prod"),
        blocked(&["customer-project: workspace/customer {dev, qa} ~ project/project {prod}"])
    );
    assert_eq!(moved("", "qa"), allowed());
}

#[test]
fn case_2_3_a_changed_tag_against_all_landing_zones() {
    assert_eq!(
        moved("{a: project/project, b: landingZone/zone-dev}", "qa"),
        blocked(&["project-zone: project/project {qa} ~ landingZone/zone-dev {dev}"])
    );
}

#[test]
fn case_2_3_a_changed_tag_against_all_users() {
    assert_eq!(
        moved("{a: project/project, b: user/user-dev}", "qa"),
        blocked(&["project-principal: project/project {qa} ~ user/user-dev {dev}"])
    );
}

#[test]
fn case_2_3_a_changed_tag_against_all_groups() {
    assert_eq!(
        moved("{a: project/project, b: group/group-dev}", "qa"),
        blocked(&["project-principal: project/project {qa} ~ group/group-dev {dev}"])
    );
}

#[test]
fn case_2_3_a_changed_tag_against_all_of_them() {
    let links = "{a: project/project, b: landingZone/zone-dev}, {a: project/project, b: user/user-dev}, \
                 {a: project/project, b: group/group-dev}";
    assert_eq!(
        moved(links, "prod"),
        blocked(&[
            "customer-project: workspace/customer {dev, qa} ~ project/project {prod}",
            "project-principal: project/project {prod} ~ group/group-dev {dev}",
            "project-principal: project/project {prod} ~ user/user-dev {dev}",
            "project-zone: project/project {prod} ~ landingZone/zone-dev {dev}",
        ])
    );
}

#[test]
fn case_3_a_new_user_or_group_of_a_customer() {
    let mut world = organisation("");
    for kind in ["user", "group"] {
        assert_eq!(
            world.act(END_USER, &format!("verb: link, a: customer/customer, b: {kind}/{kind}-prod")),
            blocked(&[&format!("customer-principal: workspace/customer {{dev, qa}} ~ {kind}/{kind}-prod {{prod}}")])
        );
        let link = format!("verb: link, a: customer/customer, b: {kind}/{kind}-dev");
        assert_eq!(world.act(END_USER, &link), allowed());
    }
}

#[test]
fn without_policies_nobody_is_impacted() {
    let mut world = World::new(ORGANISATION);
    for change in [
        "verb: createProject, object: {ref: project/new, workspace: customer, tags: {environment: prod}}, \
         landingZones: [landingZone/zone-dev]",
        "verb: link, a: project/project, b: landingZone/zone-prod",
        "verb: link, a: project/project, b: user/user-prod",
        "verb: link, a: project/project, b: group/group-prod",
        "verb: link, a: customer/customer, b: user/user-prod",
        "verb: setTags, object: project/project, tags: {environment: prod}",
    ] {
        assert_eq!(world.act(END_USER, change), allowed(), "{change}");
    }
    assert_eq!(world.violations(), Vec::<String>::new());
}
