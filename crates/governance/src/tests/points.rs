//! Where policies are looked at: which pairs each action concerns, and which it leaves alone.

use super::super::*;
use super::world::{
    World, administrator, answer, create, delete, end_user, link, link_as, policy, set_tags, tags, told, unlink,
};

use Outcome::{Allowed, Blocked, Soft};

const TAGS: [&str; 5] =
    ["workspace.env", "project.env", "landingZone.env", "buildingBlockDefinition.env", "projectRole.env"];

/// A policy for every pair of the current edition.
fn judged(world: World) -> World {
    world
        .policy("block", "project.env", "buildingBlockDefinition.env")
        .policy("block-derived", "workspace.env", "buildingBlockDefinition.env")
        .policy("member", "project.env", "principal.env")
        .policy("own", "workspace.env", "project.env")
        .policy("role", "projectRole.env", "principal.env")
        .policy("workspace-member", "workspace.env", "principal.env")
        .policy("zone", "project.env", "landingZone.env")
        .policy("zone-derived", "workspace.env", "landingZone.env")
}

/// Every pair of the current edition has a policy, and one member of each pair is wrong.
fn world() -> World {
    let world = World::current()
        .open(&TAGS)
        .object("workspace/w", "env=dev")
        .object("project/p", "env=dev")
        .object("user/bad", "env=prod")
        .object("user/good", "env=dev")
        .object("group/bad", "env=prod")
        .object("landingZone/bad", "env=prod")
        .object("buildingBlockDefinition/bad", "env=prod")
        .object("projectRole/r", "env=dev")
        .link("workspace/w", "project/p");
    judged(world)
}

fn blocked(action: &Action) -> Vec<String> {
    let (outcome, violations) = answer(&world().build().act(&end_user(), action));
    assert_eq!(outcome, Blocked, "{action:?}");
    violations
}

#[test]
fn creating_a_project_looks_at_all_that_it_establishes() {
    let mut new = NewObject { object: "project/n".into(), tags: tags("env=qa"), ..NewObject::default() };
    let links = ["workspace/w", "landingZone/bad", "buildingBlockDefinition/bad", "group/bad"];
    new.links = links.into_iter().map(|other| NewLink { other: other.into(), role: None }).collect();
    new.links.push(NewLink { other: "user/bad".into(), role: Some("projectRole/r".into()) });
    assert_eq!(
        blocked(&Action::Create(new)),
        [
            "block: project/n <> buildingBlockDefinition/bad",
            "block-derived: workspace/w <> buildingBlockDefinition/bad",
            "member: project/n <> group/bad",
            "member: project/n <> user/bad",
            "own: workspace/w <> project/n",
            "role: projectRole/r <> user/bad",
            "zone: project/n <> landingZone/bad",
            "zone-derived: workspace/w <> landingZone/bad",
        ]
    );
}

#[test]
fn adding_looks_at_the_new_pairs() {
    let zone = ["zone: project/p <> landingZone/bad", "zone-derived: workspace/w <> landingZone/bad"];
    assert_eq!(blocked(&link("project/p", "landingZone/bad")), zone);
    assert_eq!(blocked(&link("project/p", "group/bad")), ["member: project/p <> group/bad"]);
    let role = ["member: project/p <> user/bad", "role: projectRole/r <> user/bad"];
    assert_eq!(blocked(&link_as("project/p", "user/bad", "projectRole/r")), role);
    assert_eq!(blocked(&link("workspace/w", "user/bad")), ["workspace-member: workspace/w <> user/bad"]);
    let block = [
        "block: project/p <> buildingBlockDefinition/bad",
        "block-derived: workspace/w <> buildingBlockDefinition/bad",
    ];
    assert_eq!(blocked(&link("project/p", "buildingBlockDefinition/bad")), block);
    assert_eq!(blocked(&link("workspace/w", "buildingBlockDefinition/bad")), [block[1]]);
}

#[test]
fn adding_looks_at_nothing_else() {
    let mut comply = world().link("project/p", "landingZone/bad").build();
    assert_eq!(comply.violations().len(), 2);
    let decision = comply.act(&end_user(), &link_as("project/p", "user/good", "projectRole/r"));
    assert_eq!(answer(&decision), (Allowed, Vec::new()), "what violates elsewhere does not prevent it");
}

#[test]
fn creating_a_workspace_looks_at_its_owner() {
    let decision = world().build().act(&administrator(), &create("workspace/n", "env=dev", &["user/bad"]));
    assert_eq!(answer(&decision), (Soft, vec!["workspace-member: workspace/n <> user/bad".to_owned()]));
}

/// Everybody is related to everybody, and complies.
fn related() -> World {
    let world = World::current()
        .open(&TAGS)
        .object("workspace/w", "env=dev")
        .object("project/p", "env=dev")
        .object("user/u", "env=dev")
        .object("group/g", "env=dev")
        .object("landingZone/l", "env=dev")
        .object("buildingBlockDefinition/b", "env=dev")
        .object("projectRole/r", "env=dev")
        .link("workspace/w", "project/p")
        .link("workspace/w", "user/u")
        .link("workspace/w", "group/g")
        .link("project/p", "landingZone/l")
        .link("project/p", "buildingBlockDefinition/b")
        .link("project/p", "group/g")
        .link_as("project/p", "user/u", Some("projectRole/r"));
    judged(world)
}

#[test]
fn tags_concern_every_pair_of_their_object() {
    let recorded = |object: &str| {
        let decision = related().build().act(&administrator(), &set_tags(object, "env=qa"));
        assert_eq!(decision.outcome, Soft);
        told(&decision.violations)
    };
    assert_eq!(
        recorded("project/p"),
        [
            "block: project/p <> buildingBlockDefinition/b",
            "member: project/p <> group/g",
            "member: project/p <> user/u",
            "own: workspace/w <> project/p",
            "zone: project/p <> landingZone/l",
        ]
    );
    assert_eq!(
        recorded("workspace/w"),
        [
            "block-derived: workspace/w <> buildingBlockDefinition/b",
            "own: workspace/w <> project/p",
            "workspace-member: workspace/w <> group/g",
            "workspace-member: workspace/w <> user/u",
            "zone-derived: workspace/w <> landingZone/l",
        ]
    );
    assert_eq!(
        recorded("landingZone/l"),
        ["zone: project/p <> landingZone/l", "zone-derived: workspace/w <> landingZone/l",]
    );
    assert_eq!(
        recorded("user/u"),
        ["member: project/p <> user/u", "role: projectRole/r <> user/u", "workspace-member: workspace/w <> user/u",]
    );
    assert_eq!(recorded("group/g"), ["member: project/p <> group/g", "workspace-member: workspace/w <> group/g"]);
    assert_eq!(recorded("projectRole/r"), ["role: projectRole/r <> user/u"]);
    assert_eq!(
        recorded("buildingBlockDefinition/b"),
        ["block: project/p <> buildingBlockDefinition/b", "block-derived: workspace/w <> buildingBlockDefinition/b",]
    );
}

#[test]
fn a_policy_concerns_all_pairs_of_its_kinds() {
    let mut comply = World::classic()
        .open(&["workspace.unit", "project.unit"])
        .object("workspace/w", "unit=one")
        .object("workspace/v", "unit=two")
        .object("project/p", "unit=one")
        .object("project/q", "unit=one")
        .object("project/r", "")
        .link("workspace/w", "project/p")
        .link("workspace/v", "project/q")
        .link("workspace/v", "project/r")
        .build();
    let decision =
        comply.act(&administrator(), &Action::CreatePolicy(policy("unit", "workspace.unit", "project.unit")));
    let both = ["unit: workspace/v <> project/q", "unit: workspace/v <> project/r"];
    assert_eq!(answer(&decision), (Soft, both.map(str::to_owned).to_vec()));
    // From now on it blocks.
    assert_eq!(comply.act(&end_user(), &create("project/s", "", &["workspace/w"])).outcome, Blocked);
    let deleted = comply.act(&administrator(), &Action::DeletePolicy { policy: "unit".into() });
    assert_eq!((answer(&deleted), comply.violations()), ((Allowed, Vec::new()), Vec::new()));
}

#[test]
fn removing_looks_at_nothing() {
    let mut comply = world().link("project/p", "landingZone/bad").link("project/p", "user/bad").build();
    assert_eq!(comply.violations().len(), 3);
    assert_eq!(answer(&comply.act(&end_user(), &unlink("project/p", "user/bad"))), (Allowed, Vec::new()));
    assert_eq!(comply.violations().len(), 2);
    assert_eq!(answer(&comply.act(&end_user(), &delete("project/p"))), (Allowed, Vec::new()));
    assert_eq!(comply.violations(), []);
}
