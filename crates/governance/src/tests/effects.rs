//! What a violation does: each row of the table of effects, both editions, for every class of actor.

use upheld_engine::comply::reference::NaiveEdition::{self, Classic, Current};
use upheld_engine::comply::*;

use super::super::*;
use super::world::{BEGIN, unlink};
use super::world::{World, administrator, answer, create, end_user, link, link_as, policy, set_tags, tags, waiver};

use Outcome::{Allowed, Blocked, Soft};

const TAGS: [&str; 5] =
    ["workspace.env", "project.env", "landingZone.env", "buildingBlockDefinition.env", "projectRole.env"];

/// Everything is `dev` and complies, but for what is called `x`, which nobody uses yet.
fn world(edition: NaiveEdition) -> World {
    world_with(edition, Preexisting::Blocks)
}

fn world_with(edition: NaiveEdition, preexisting: Preexisting) -> World {
    let mut world = World::new(edition, Settings { preexisting, ..Settings::default() }).open(&TAGS);
    for kind in ["workspace", "project", "landingZone", "user", "group", "buildingBlockDefinition", "projectRole"] {
        world = world.object(&format!("{kind}/d"), "env=dev");
        if kind != "workspace" && kind != "project" {
            world = world.object(&format!("{kind}/x"), "env=prod");
        }
    }
    let both = world
        .link("workspace/d", "project/d")
        .link("workspace/d", "user/d")
        .link("workspace/d", "group/d")
        .link_as("project/d", "user/d", Some("projectRole/d"))
        .link("project/d", "group/d")
        .link("project/d", "landingZone/d");
    match edition {
        Classic => both,
        Current | NaiveEdition::Scoped => {
            both.link("workspace/d", "buildingBlockDefinition/d").link("project/d", "buildingBlockDefinition/d")
        }
    }
}

/// What becomes of an action that breaks one policy, by end-user, administrator and system.
fn outcomes(edition: NaiveEdition, a: &str, b: &str, action: &Action) -> [Outcome; 3] {
    [end_user(), administrator(), Actor::System].map(|actor| {
        let mut comply = world(edition).policy("env", &format!("{a}.env"), &format!("{b}.env")).build();
        assert_eq!(comply.violations(), [], "the world begins without violations");
        let decision = comply.act(&actor, action);
        if matches!(decision.outcome, Blocked | Soft) {
            assert!(!decision.violations.is_empty());
        }
        decision.outcome
    })
}

const ALWAYS: [Outcome; 3] = [Blocked, Blocked, Blocked];
const END_USERS: [Outcome; 3] = [Blocked, Soft, Soft];
const NEVER: [Outcome; 3] = [Soft, Soft, Soft];
const ADMINISTRATION: [Outcome; 3] = [Outcome::Forbidden, Soft, Soft];

/// New relationships, with the pair of which a policy fails.
fn new_relationships() -> Vec<(&'static str, &'static str, Action)> {
    vec![
        ("workspace", "project", create("project/n", "env=prod", &["workspace/d"])),
        ("project", "landingZone", create("project/n", "env=dev", &["workspace/d", "landingZone/x"])),
        ("project", "principal", create("project/n", "env=dev", &["workspace/d", "user/x"])),
        ("project", "landingZone", link("project/d", "landingZone/x")),
        ("project", "principal", link("project/d", "user/x")),
        ("project", "principal", link_as("project/d", "group/x", "projectRole/d")),
        ("workspace", "principal", link("workspace/d", "user/x")),
        ("workspace", "principal", link("workspace/d", "group/x")),
    ]
}

#[test]
fn new_relationships_are_blocked_in_classic() {
    for (a, b, action) in new_relationships() {
        assert_eq!(outcomes(Classic, a, b, &action), ALWAYS, "{a} {b} {action:?}");
        assert_eq!(outcomes(Classic, b, a, &action), ALWAYS, "the order of sides does not matter");
    }
}

#[test]
fn new_relationships_are_blocked_for_end_users_in_current() {
    let more = [
        ("projectRole", "principal", link_as("project/d", "user/d", "projectRole/x")),
        ("workspace", "landingZone", link("project/d", "landingZone/x")),
        ("project", "buildingBlockDefinition", link("project/d", "buildingBlockDefinition/x")),
        ("workspace", "buildingBlockDefinition", link("project/d", "buildingBlockDefinition/x")),
        ("workspace", "buildingBlockDefinition", link("workspace/d", "buildingBlockDefinition/x")),
        ("workspace", "landingZone", create("project/n", "env=dev", &["workspace/d", "landingZone/x"])),
        (
            "workspace",
            "buildingBlockDefinition",
            create("project/n", "env=dev", &["workspace/d", "buildingBlockDefinition/x"]),
        ),
    ];
    for (a, b, action) in new_relationships().into_iter().chain(more) {
        assert_eq!(outcomes(Current, a, b, &action), END_USERS, "{a} {b} {action:?}");
    }
}

#[test]
fn a_workspace_with_a_wrong_owner_is_blocked_in_classic_and_recorded_in_current() {
    let action = create("workspace/n", "env=dev", &["user/x"]);
    assert_eq!(outcomes(Classic, "workspace", "principal", &action), [Outcome::Forbidden, Blocked, Blocked]);
    assert_eq!(outcomes(Current, "workspace", "principal", &action), ADMINISTRATION);
}

#[test]
fn tags_of_a_project_against_its_workspace() {
    let action = set_tags("project/d", "env=qa");
    assert_eq!(outcomes(Classic, "workspace", "project", &action), ALWAYS);
    assert_eq!(outcomes(Current, "workspace", "project", &action), END_USERS);
}

#[test]
fn tags_of_a_project_against_everything_else() {
    let action = set_tags("project/d", "env=qa");
    for other in ["landingZone", "principal"] {
        assert_eq!(outcomes(Classic, "project", other, &action), ALWAYS, "{other}");
    }
    for other in ["landingZone", "principal", "buildingBlockDefinition"] {
        assert_eq!(outcomes(Current, "project", other, &action), NEVER, "{other}");
    }
}

#[test]
fn tags_of_a_workspace_against_principals() {
    let action = set_tags("workspace/d", "env=qa");
    assert_eq!(outcomes(Classic, "workspace", "principal", &action), END_USERS);
    assert_eq!(outcomes(Current, "workspace", "principal", &action), NEVER);
}

#[test]
fn tags_of_a_workspace_against_everything_else() {
    let action = set_tags("workspace/d", "env=qa");
    assert_eq!(outcomes(Classic, "workspace", "project", &action), NEVER);
    for other in ["project", "landingZone", "buildingBlockDefinition"] {
        assert_eq!(outcomes(Current, "workspace", other, &action), NEVER, "{other}");
    }
}

#[test]
fn tags_of_anything_else_are_recorded() {
    let both = [("project", "landingZone", "landingZone/d"), ("project", "principal", "user/d")];
    let both = both.into_iter().chain([("workspace", "principal", "user/d"), ("project", "principal", "group/d")]);
    for (a, b, object) in both {
        for edition in [Classic, Current] {
            assert_eq!(outcomes(edition, a, b, &set_tags(object, "env=qa")), ADMINISTRATION, "{object}");
        }
    }
    for (a, b, object) in [
        ("workspace", "landingZone", "landingZone/d"),
        ("project", "buildingBlockDefinition", "buildingBlockDefinition/d"),
        ("workspace", "buildingBlockDefinition", "buildingBlockDefinition/d"),
        ("projectRole", "principal", "projectRole/d"),
        ("projectRole", "principal", "user/d"),
    ] {
        assert_eq!(outcomes(Current, a, b, &set_tags(object, "env=qa")), ADMINISTRATION, "{object}");
    }
}

#[test]
fn policies_and_default_tags_are_recorded() {
    for edition in [Classic, Current] {
        let new = Action::CreatePolicy(policy("new", "workspace.env", "project.env"));
        let other = Policy {
            rules: vec![Rule { a: "env".into(), b: "cost".into() }],
            ..policy("env", "workspace.env", "project.env")
        };
        let defaults = Action::SetDefaults { tags: tags("cost=high") };
        for actor in [administrator(), Actor::System] {
            let world = || world(edition).open(&["workspace.cost", "project.cost"]);
            let mut comply = world().object("project/q", "env=prod").link("workspace/d", "project/q").build();
            assert_eq!(answer(&comply.act(&actor, &new)), (Soft, vec!["new: workspace/d <> project/q".to_owned()]));
            let mut comply = world().policy("env", "workspace.env", "project.env").build();
            let edited = comply.act(&actor, &Action::UpdatePolicy(other.clone()));
            assert_eq!(answer(&edited), (Soft, vec!["env: workspace/d <> project/d".to_owned()]));
            let mut comply = world().policy("cost", "workspace.cost", "principal.cost").build();
            let given = comply.act(&actor, &defaults);
            assert_eq!(answer(&given), (Soft, vec!["cost: workspace/d <> user/d".to_owned()]));
        }
        let mut comply = world(edition).build();
        assert_eq!(comply.act(&end_user(), &new).outcome, Outcome::Forbidden);
        assert_eq!(comply.act(&end_user(), &defaults).outcome, Outcome::Forbidden);
    }
}

#[test]
fn all_that_blocks_is_told_together_and_nothing_changes() {
    let mut comply = world(Classic)
        .policy("workspace", "workspace.env", "project.env")
        .policy("zone", "project.env", "landingZone.env")
        .policy("member", "principal.env", "project.env")
        .build();
    let expected = [
        "member: group/d <> project/d",
        "member: user/d <> project/d",
        "workspace: workspace/d <> project/d",
        "zone: project/d <> landingZone/d",
    ];
    let decision = comply.act(&administrator(), &set_tags("project/d", "env=qa"));
    assert_eq!(answer(&decision), (Blocked, expected.map(str::to_owned).to_vec()));
    assert_eq!((comply.violations(), comply.version()), (Vec::new(), 0));
    let project = comply.lookup("project/d").unwrap();
    assert_eq!(comply.tags_of(project), tags("env=dev"));
}

#[test]
fn one_that_blocks_refuses_also_what_would_be_recorded() {
    // In current, end-users are blocked by the workspace; the landing zone alone would be recorded.
    let mut comply = world(Current)
        .policy("workspace", "workspace.env", "project.env")
        .policy("zone", "project.env", "landingZone.env")
        .build();
    let action = set_tags("project/d", "env=qa");
    let blocked = comply.act(&end_user(), &action);
    assert_eq!(answer(&blocked), (Blocked, vec!["workspace: workspace/d <> project/d".to_owned()]));
    let soft = comply.act(&administrator(), &action);
    let both = ["workspace: workspace/d <> project/d", "zone: project/d <> landingZone/d"];
    assert_eq!(answer(&soft), (Soft, both.map(str::to_owned).to_vec()));
}

#[test]
fn what_violated_before_blocks_unless_it_is_tolerated() {
    let world = |preexisting| {
        let world = world_with(Classic, preexisting).policy("zone", "project.env", "landingZone.env");
        world.object("landingZone/q", "env=qa").link("project/d", "landingZone/q")
    };
    let action = set_tags("project/d", "env=dev,test");
    let standing = vec!["zone: project/d <> landingZone/q".to_owned()];
    assert_eq!(answer(&world(Preexisting::Blocks).build().act(&end_user(), &action)), (Blocked, standing));
    let mut comply = world(Preexisting::Tolerated).build();
    assert_eq!(answer(&comply.act(&end_user(), &action)), (Allowed, Vec::new()));
    // Another one that is new still blocks, alone.
    let new = vec!["zone: project/d <> landingZone/d".to_owned()];
    assert_eq!(answer(&comply.act(&end_user(), &set_tags("project/d", "env=test"))), (Blocked, new));
    // Being linked anew is new.
    assert!(comply.act(&end_user(), &unlink("project/d", "landingZone/q")).outcome.is_done());
    assert_eq!(comply.act(&end_user(), &link("project/d", "landingZone/q")).outcome, Blocked);
}

#[test]
fn levels_cap_the_effect() {
    let decide = |level| {
        let rule = Policy { level, ..policy("env", "project.env", "landingZone.env") };
        let mut comply = world(Classic).with(rule).build();
        let decision = comply.act(&end_user(), &link("project/d", "landingZone/x"));
        (decision.outcome, decision.violations.len(), comply.violations().len())
    };
    assert_eq!(decide(Level::Enforce), (Blocked, 1, 0));
    assert_eq!(decide(Level::Warn), (Soft, 1, 1));
    assert_eq!(decide(Level::Audit), (Allowed, 1, 1));
    assert_eq!(decide(Level::Off), (Allowed, 0, 0));
}

#[test]
fn a_policy_warns_until_it_is_enforced() {
    let from = upheld_model::Timestamp(BEGIN.0 + 5);
    let rule = Policy { enforce_from: Some(from), ..policy("env", "project.env", "landingZone.env") };
    let mut comply = world(Classic).object("landingZone/y", "env=prod").with(rule).build();
    assert_eq!(comply.act(&end_user(), &link("project/d", "landingZone/x")).outcome, Soft);
    assert_eq!(comply.act(&Actor::System, &Action::Advance { to: from }).outcome, Allowed);
    assert_eq!(comply.act(&end_user(), &link("project/d", "landingZone/y")).outcome, Blocked);
    assert_eq!(comply.violations().len(), 1, "what was recorded stays");
}

#[test]
fn what_is_waived_blocks_nobody() {
    let exempt = Waiver { a: Some("project/d".into()), ..waiver("agreed", "env") };
    let mut comply = world(Classic).policy("env", "project.env", "landingZone.env").waiver(exempt).build();
    let decision = comply.act(&end_user(), &link("project/d", "landingZone/x"));
    assert_eq!(answer(&decision), (Allowed, Vec::new()));
    let revoked = comply.act(&administrator(), &Action::Revoke { waiver: "agreed".into() });
    assert_eq!(answer(&revoked), (Soft, vec!["env: project/d <> landingZone/x".to_owned()]));
}
