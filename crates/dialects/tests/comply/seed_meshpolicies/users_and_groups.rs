//! meshPolicies for meshUsers/Groups.

use super::*;

/// Projects for production in two customers, and a policy on who may work on them.
const PRODUCTION: &str = "
kind: Compliance
objects:
- {ref: customer/one}
- {ref: customer/two}
- {ref: project/one-prod, workspace: one, tags: {environment: prod}}
- {ref: project/two-prod, workspace: two, tags: {environment: prod}}
- {ref: project/one-dev, workspace: one, tags: {environment: dev}}
- {ref: user/global, tags: {environment: prod}}
- {ref: user/plain}
- {ref: group/one-on-call, tags: {environment: prod}, members: [user/plain]}
policies: [{id: access, a: {kind: meshProject, tag: environment}, b: {kind: meshUser/Group, tag: environment}}]
";

#[test]
fn aspect_1_a_tag_on_a_user_counts_in_all_customers() {
    let mut world = World::new(PRODUCTION);
    assert_eq!(world.act(END_USER, "verb: link, a: project/one-prod, b: user/global"), allowed());
    assert_eq!(world.act(END_USER, "verb: link, a: project/two-prod, b: user/global"), allowed());
    assert_eq!(
        world.act(END_USER, "verb: link, a: project/one-prod, b: user/plain"),
        blocked(&["access: project/one-prod {prod} ~ user/plain {}"])
    );
}

#[test]
fn aspect_2_access_per_customer_goes_through_groups() {
    let mut world = World::new(PRODUCTION);
    // The group counts, not who is in it.
    assert_eq!(world.act(END_USER, "verb: link, a: project/one-prod, b: group/one-on-call"), allowed());
    assert_eq!(
        world.act(END_USER, "verb: link, a: project/one-prod, b: user/plain"),
        blocked(&["access: project/one-prod {prod} ~ user/plain {}"])
    );
}

#[test]
fn aspect_3_default_tags_are_applied_to_all_users() {
    let mut world = World::new(&format!("{PRODUCTION}userDefaultTags: {{environment: [dev, qa]}}\n"));
    assert_eq!(world.act(END_USER, "verb: link, a: project/one-dev, b: user/plain"), allowed());
    // What a user has already stays.
    assert_eq!(world.act(END_USER, "verb: link, a: project/one-prod, b: user/global"), allowed());
    let create = "verb: createObject, object: {ref: user/new}";
    assert_eq!(world.act(ADMINISTRATOR, create), allowed());
    assert_eq!(world.act(END_USER, "verb: link, a: project/one-dev, b: user/new"), allowed());
    assert_eq!(
        world.act(END_USER, "verb: link, a: project/one-prod, b: user/new"),
        blocked(&["access: project/one-prod {prod} ~ user/new {dev, qa}"])
    );
    // Groups get none.
    assert_eq!(
        world.act(END_USER, "verb: link, a: project/one-dev, b: group/one-on-call"),
        blocked(&["access: project/one-dev {dev} ~ group/one-on-call {prod}"])
    );
}

#[test]
fn a_policy_always_applies_to_both() {
    let links = "{a: project/project, b: user/user-prod}, {a: project/project, b: group/group-prod}";
    assert_eq!(
        organisation(links).violations(),
        [
            "project-principal: project/project {dev} ~ group/group-prod {prod}",
            "project-principal: project/project {dev} ~ user/user-prod {prod}",
        ]
    );
}

#[test]
fn a_policy_for_users_only_is_refused() {
    assert_refused("meshUser", "user");
}

#[test]
fn a_policy_for_groups_only_is_refused() {
    assert_refused("meshCustomerUserGroup", "group");
}

fn assert_refused(kind: &str, neutral: &str) {
    for other in ["meshProject", "meshCustomer"] {
        for written in [kind, neutral] {
            let found = mistakes(&format!(
                "kind: Compliance\npolicies: [{{id: alone, a: {{kind: {other}, tag: t}}, b: {{kind: {written}, tag: t}}}}]"
            ));
            assert_eq!(found.len(), 1, "{found:#?}");
            assert!(found[0].contains("only about meshUser/Group"), "{found:#?}");
        }
    }
}
