//! Corner cases: what moves, what is gone and comes back, what is counted twice.

use upheld_engine::comply::reference::NaiveEdition;
use upheld_engine::comply::*;

use super::super::*;
use super::world::{
    BEGIN, Tested, World, administrator, answer, create, definition, delete, end_user, link, link_as, policy, set_tags,
    tags, told, unlink, waiver,
};

use Outcome::{Allowed, Blocked, Invalid, Soft};

fn offers() -> World {
    World::current()
        .open(&["workspace.env", "project.env", "landingZone.env"])
        .object("workspace/w", "env=dev")
        .object("workspace/v", "env=prod")
        .object("project/p", "env=dev")
        .object("project/q", "env=dev")
        .object("landingZone/l", "env=prod")
        .link("workspace/w", "project/p")
        .link("workspace/w", "project/q")
        .link("project/p", "landingZone/l")
        .link("project/q", "landingZone/l")
}

#[test]
fn a_pair_that_two_projects_make_is_violated_once_until_both_are_gone() {
    let mut comply = offers().policy("zone", "workspace.env", "landingZone.env").build();
    let once = ["zone: workspace/w <> landingZone/l"];
    assert_eq!(told(&comply.violations()), once);
    // The same with relationships that came later.
    for project in ["project/q", "project/p"] {
        assert_eq!(comply.act(&end_user(), &unlink(project, "landingZone/l")).outcome, Allowed);
        assert_eq!(told(&comply.violations()), once);
        assert_eq!(answer(&comply.act(&administrator(), &link(project, "landingZone/l"))), (Allowed, Vec::new()));
    }
    assert_eq!(comply.act(&end_user(), &unlink("project/p", "landingZone/l")).outcome, Allowed);
    assert_eq!(told(&comply.violations()), once);
    assert_eq!(comply.act(&end_user(), &delete("project/q")).outcome, Allowed);
    assert_eq!(comply.violations(), []);
}

#[test]
fn a_block_used_by_a_workspace_and_its_project_is_one_pair() {
    let mut comply = World::current()
        .object("workspace/w", "env=dev")
        .object("project/p", "env=dev")
        .object("buildingBlockDefinition/b", "env=prod")
        .link("workspace/w", "project/p")
        .link("workspace/w", "buildingBlockDefinition/b")
        .link("project/p", "buildingBlockDefinition/b")
        .policy("block", "workspace.env", "buildingBlockDefinition.env")
        .build();
    let once = ["block: workspace/w <> buildingBlockDefinition/b"];
    assert_eq!((told(&comply.violations()), comply.pair_count()), (once.map(str::to_owned).to_vec(), 3));
    comply.act(&end_user(), &unlink("workspace/w", "buildingBlockDefinition/b"));
    assert_eq!(told(&comply.violations()), once);
    comply.act(&end_user(), &unlink("project/p", "buildingBlockDefinition/b"));
    assert_eq!(comply.violations(), []);
}

#[test]
fn a_project_that_moves_takes_its_pairs_along() {
    let mut comply = offers()
        .policy("derived", "workspace.env", "landingZone.env")
        .policy("direct", "project.env", "landingZone.env")
        .build();
    let scopes = |comply: &Tested| {
        let tell = |own: &Finding| {
            format!("{} {}", own.scope.as_deref().unwrap_or("nowhere"), told(std::slice::from_ref(own))[0])
        };
        comply.violations().iter().map(tell).collect::<Vec<_>>()
    };
    let two = link("workspace/v", "project/p");
    assert_eq!(comply.act(&administrator(), &two).outcome, Invalid, "it lives in one workspace");
    assert!(comply.act(&administrator(), &unlink("workspace/w", "project/p")).outcome.is_done());
    assert_eq!(
        scopes(&comply),
        [
            "nowhere direct: project/p <> landingZone/l",
            "workspace/w derived: workspace/w <> landingZone/l",
            "workspace/w direct: project/q <> landingZone/l",
        ]
    );
    assert!(comply.act(&administrator(), &two).outcome.is_done());
    assert_eq!(
        scopes(&comply),
        [
            "workspace/v direct: project/p <> landingZone/l",
            "workspace/w derived: workspace/w <> landingZone/l",
            "workspace/w direct: project/q <> landingZone/l",
        ]
    );
}

#[test]
fn a_project_cannot_be_created_in_two_workspaces() {
    let mut comply = offers().build();
    let decision = comply.act(&administrator(), &create("project/n", "", &["workspace/w", "workspace/v"]));
    let refused = Refusal::Owned { object: "project/n".into(), owner: "workspace/w".into() };
    assert_eq!((decision.outcome, decision.refusal), (Invalid, Some(refused)));
    assert!(comply.lookup("project/n").is_err());
}

fn roles() -> World {
    World::current()
        .object("workspace/w", "")
        .object("workspace/v", "")
        .object("project/p", "")
        .object("project/q", "")
        .object("user/u", "env=dev")
        .object("projectRole/r", "env=prod")
        .link("workspace/w", "project/p")
        .link("workspace/v", "project/q")
        .link_as("project/p", "user/u", Some("projectRole/r"))
        .link_as("project/q", "user/u", Some("projectRole/r"))
        .policy("role", "projectRole.env", "principal.env")
}

#[test]
fn a_role_in_two_workspaces_is_violated_in_both() {
    let mut comply = roles().build();
    let scopes: Vec<_> = comply.violations().into_iter().filter_map(|own| own.scope).collect();
    assert_eq!(scopes, ["workspace/v", "workspace/w"]);
    comply.act(&end_user(), &unlink("project/p", "user/u"));
    let scopes: Vec<_> = comply.violations().into_iter().filter_map(|own| own.scope).collect();
    assert_eq!(scopes, ["workspace/v"]);
}

#[test]
fn access_outlives_its_role() {
    let mut comply = roles().policy("access", "project.env", "principal.env").build();
    let access = ["access: project/q <> user/u", "access: project/p <> user/u"];
    assert_eq!(comply.act(&administrator(), &delete("projectRole/r")).outcome, Allowed);
    assert_eq!(told(&comply.violations()), access);
    // A role of the same name is another one.
    assert_eq!(comply.act(&administrator(), &create("projectRole/r", "", &[])).outcome, Allowed);
    assert_eq!(told(&comply.violations()), access);
}

#[test]
fn access_in_a_role_and_without_one_is_one_access_when_the_role_is_gone() {
    let mut comply = roles().link("project/p", "user/u").build();
    assert_eq!(comply.link_count(), 5);
    assert_eq!(comply.act(&administrator(), &delete("projectRole/r")).outcome, Allowed);
    assert_eq!(comply.link_count(), 4);
    assert_eq!(comply.act(&end_user(), &unlink("project/p", "user/u")).outcome, Allowed);
    assert_eq!(comply.link_count(), 3);
}

#[test]
fn a_role_that_was_gone_from_the_start_qualifies_nothing() {
    let comply = World::current()
        .object("project/p", "")
        .object("user/u", "env=dev")
        .standing("projectRole/r", "env=prod", ObjectState::Deleted)
        .link_as("project/p", "user/u", Some("projectRole/r"))
        .link("project/p", "user/u")
        .policy("role", "projectRole.env", "principal.env")
        .build();
    assert_eq!((comply.violations(), comply.link_count()), (Vec::new(), 1));
}

#[test]
fn deleting_ends_violations_and_coming_back_starts_without_them() {
    let mut comply = offers().policy("direct", "project.env", "landingZone.env").build();
    assert_eq!(comply.violations().len(), 2);
    assert_eq!(comply.act(&administrator(), &delete("landingZone/l")).outcome, Allowed);
    assert_eq!(comply.violations(), []);
    assert_eq!(comply.act(&administrator(), &delete("landingZone/l")).outcome, Invalid, "it is gone");
    let back = comply.act(&administrator(), &create("landingZone/l", "", &[]));
    assert_eq!((back.outcome, back.tags), (Allowed, Some(Tags::new())), "without its old tags");
    assert_eq!(comply.violations(), []);
    assert_eq!(comply.act(&end_user(), &link("project/p", "landingZone/l")).outcome, Blocked);
}

#[test]
fn a_workspace_with_projects_is_not_deleted() {
    let mut comply = offers().build();
    assert_eq!(comply.act(&administrator(), &delete("workspace/w")).outcome, Invalid);
    for project in ["project/p", "project/q"] {
        assert_eq!(comply.act(&administrator(), &delete(project)).outcome, Allowed);
    }
    assert_eq!(comply.act(&administrator(), &delete("workspace/w")).outcome, Allowed);
}

#[test]
fn what_lives_in_a_deleted_workspace_takes_no_part() {
    let mut comply = World::classic()
        .open(&["project.env"])
        .standing("workspace/gone", "env=dev", ObjectState::Deleted)
        .object("workspace/w", "")
        .object("project/p", "env=dev")
        .object("landingZone/l", "")
        .link("workspace/gone", "project/p")
        .link("project/p", "landingZone/l")
        .policy("zone", "project.env", "landingZone.env")
        .build();
    assert_eq!((comply.violations(), comply.pair_count()), (Vec::new(), 0));
    assert_eq!(comply.act(&administrator(), &set_tags("project/p", "env=qa")).outcome, Invalid);
    // Its name is free.
    assert_eq!(comply.act(&administrator(), &create("project/p", "", &["workspace/w"])).outcome, Allowed);
}

#[test]
fn what_is_disabled_takes_no_new_relationships_and_is_judged_in_old_ones() {
    let mut comply = World::classic()
        .object("workspace/w", "")
        .object("project/p", "env=dev")
        .standing("landingZone/l", "env=prod", ObjectState::Disabled)
        .standing("landingZone/m", "env=dev", ObjectState::Disabled)
        .link("workspace/w", "project/p")
        .link("project/p", "landingZone/l")
        .policy("zone", "project.env", "landingZone.env")
        .build();
    assert_eq!(told(&comply.violations()), ["zone: project/p <> landingZone/l"]);
    let decision = comply.act(&end_user(), &link("project/p", "landingZone/m"));
    assert_eq!(decision.refusal, Some(Refusal::Disabled { object: "landingZone/m".into() }));
    assert_eq!(comply.act(&end_user(), &link("project/p", "landingZone/l")).outcome, Allowed, "it is linked already");
    let new = create("project/n", "env=dev", &["workspace/w", "landingZone/m"]);
    assert_eq!(comply.act(&end_user(), &new).outcome, Invalid);
}

fn members() -> World {
    members_if(Membership::Required)
}

fn members_if(membership: Membership) -> World {
    World::new(NaiveEdition::Classic, Settings { membership, ..Settings::default() })
        .object("workspace/w", "")
        .object("project/p", "")
        .object("user/in", "")
        .object("user/out", "")
        .link("workspace/w", "project/p")
        .link("workspace/w", "user/in")
}

#[test]
fn members_of_a_project_are_members_of_its_workspace_if_that_is_required() {
    let mut comply = members().build();
    assert_eq!(comply.act(&end_user(), &link("project/p", "user/in")).outcome, Allowed);
    let refused = comply.act(&end_user(), &link("project/p", "user/out"));
    let outside = Refusal::NotInScope { object: "user/out".into(), scope: "workspace/w".into() };
    assert_eq!((refused.outcome, refused.refusal), (Invalid, Some(outside)));
    let mut comply = members_if(Membership::Optional).build();
    assert_eq!(comply.act(&end_user(), &link("project/p", "user/out")).outcome, Allowed);
}

#[test]
fn members_of_a_new_project_are_members_of_its_workspace_if_that_is_required() {
    let mut comply = members().build();
    // Whichever is named first.
    for links in [["workspace/w", "user/out"], ["user/out", "workspace/w"]] {
        assert_eq!(comply.act(&end_user(), &create("project/n", "", &links)).outcome, Invalid, "{links:?}");
    }
    assert_eq!(comply.act(&end_user(), &create("project/n", "", &["workspace/w", "user/in"])).outcome, Allowed);
    let both = create("user/new", "", &["project/p", "workspace/w"]);
    assert_eq!(comply.act(&administrator(), &both).outcome, Allowed, "who joins both is a member");
}

#[test]
fn who_leaves_a_workspace_leaves_its_projects() {
    let mut comply = roles().link("workspace/w", "user/u").link("workspace/v", "user/u").build();
    assert_eq!(comply.act(&end_user(), &unlink("workspace/w", "user/u")).outcome, Allowed);
    let scopes: Vec<_> = comply.violations().into_iter().filter_map(|own| own.scope).collect();
    assert_eq!(scopes, ["workspace/v"], "only those");
    assert_eq!(comply.link_count(), 4);
}

#[test]
fn linking_twice_changes_nothing_and_unlinking_takes_all_roles() {
    let mut comply = roles().build();
    let again = comply.act(&end_user(), &link_as("project/p", "user/u", "projectRole/r"));
    assert_eq!((answer(&again), again.version), ((Allowed, Vec::new()), 0));
    let plain = comply.act(&end_user(), &link("project/p", "user/u"));
    assert_eq!((plain.outcome, plain.version), (Allowed, 1), "without the role it is another one");
    assert_eq!(comply.act(&end_user(), &unlink("project/p", "user/u")).outcome, Allowed);
    assert_eq!(comply.act(&end_user(), &unlink("project/p", "user/u")).outcome, Invalid);
    assert_eq!(comply.violations().len(), 1, "in the other workspace");
}

#[test]
fn the_providers_own_workspaces_can_be_left_alone() {
    let world = |partners| {
        let partner = Described { partner: Partner::Yes, ..Described::default() };
        World::new(NaiveEdition::Current, Settings { partners, ..Settings::default() })
            .described("workspace/w", "env=dev", partner)
            .object("project/p", "env=qa")
            .object("landingZone/l", "env=prod")
            .link("workspace/w", "project/p")
            .link("project/p", "landingZone/l")
            .policy("own", "workspace.env", "project.env")
            .policy("zone", "project.env", "landingZone.env")
            .policy("derived", "workspace.env", "landingZone.env")
            .build()
    };
    assert_eq!(world(Partners::Judged).violations().len(), 3);
    assert_eq!(world(Partners::Exempt).violations(), []);
}

#[test]
fn a_policy_that_is_edited_keeps_its_violations() {
    let mut comply = offers().build();
    assert_eq!(
        comply.act(&administrator(), &Action::CreatePolicy(policy("zone", "project.env", "landingZone.env"))).outcome,
        Soft
    );
    let first = comply.seen(&comply.violations()[0]).unwrap();
    assert!(
        comply.act(&administrator(), &Action::Advance { to: upheld_model::Timestamp(BEGIN.0 + 9) }).outcome.is_done()
    );
    let strict = Policy { strategy: Strategy::Subset, ..policy("zone", "project.env", "landingZone.env") };
    let edited = comply.act(&administrator(), &Action::UpdatePolicy(strict.clone()));
    assert_eq!(answer(&edited), (Allowed, Vec::new()), "they are not new");
    assert_eq!(comply.violations()[0].strategy, Strategy::Subset);
    assert_eq!(comply.seen(&comply.violations()[0]), Some(first));
    assert_eq!(comply.resolved(), []);
    // Switched off they end; switched on they are new.
    let off = Policy { level: Level::Off, ..strict.clone() };
    assert_eq!(comply.act(&administrator(), &Action::UpdatePolicy(off)).outcome, Allowed);
    assert_eq!((comply.violations().len(), comply.resolved().len()), (0, 2));
    assert_eq!(comply.act(&administrator(), &Action::UpdatePolicy(strict)).outcome, Soft);
}

#[test]
fn a_value_that_is_bad_in_another_way_keeps_the_violation() {
    let mut comply = offers().policy("zone", "project.env", "landingZone.env").build();
    assert_eq!(answer(&comply.act(&administrator(), &set_tags("landingZone/l", "env=qa"))), (Allowed, Vec::new()));
    let violations = comply.violations();
    assert_eq!(violations.len(), 2);
    assert_eq!(violations[0].b.values, ["qa"], "with the new value");
    assert_eq!(comply.seen(&violations[0]), None, "since the beginning");
}

#[test]
fn records_tell_since_when_and_because_of_what() {
    let mut comply = offers().policy("own", "workspace.env", "project.env").build();
    let later = upheld_model::Timestamp(BEGIN.0 + 3);
    comply.act(&Actor::System, &Action::Advance { to: later });
    assert_eq!(comply.act(&administrator(), &set_tags("workspace/w", "env=qa")).outcome, Soft);
    let seen = comply.seen(&comply.violations()[0]).unwrap();
    let Cause { action, object, change, role, at, .. } = seen.cause;
    assert_eq!((seen.first, at, action.as_str(), object.as_str()), (later, later, "tags", "workspace/w"));
    assert_eq!(change, Some(("env".into(), vec!["dev".into()], vec!["qa".into()])));
    assert_eq!(role.as_deref(), Some("orgAdmin"));
    assert_eq!(comply.act(&administrator(), &set_tags("workspace/w", "env=dev")).outcome, Allowed);
    let resolved = comply.resolved();
    assert_eq!(resolved.len(), 2);
    assert_eq!((resolved[0].2, resolved[0].1.as_ref().map(|seen| seen.first)), (later, Some(later)));
}

#[test]
fn would_says_what_act_does_and_does_nothing() {
    let mut comply = offers().policy("zone", "project.env", "landingZone.env").build();
    for action in [delete("project/p"), unlink("project/q", "landingZone/l"), delete("landingZone/l")] {
        assert_eq!(comply.would(&administrator(), &action).outcome, Allowed);
    }
    // Places that were only thought to be free are not used.
    assert_eq!(comply.act(&administrator(), &create("project/n", "", &["workspace/w"])).outcome, Allowed);
    assert_eq!(comply.link_count(), 5);
    assert_eq!(told(&comply.violations()), ["zone: project/p <> landingZone/l", "zone: project/q <> landingZone/l"]);
}

#[test]
fn ids_may_hold_slashes() {
    let mut comply = offers().build();
    assert_eq!(comply.act(&administrator(), &create("project/a/b", "", &["workspace/w"])).outcome, Allowed);
    assert_eq!(comply.reference(comply.lookup("project/a/b").unwrap()), "project/a/b");
    assert_eq!(comply.act(&administrator(), &create("project/", "", &["workspace/w"])).outcome, Invalid);
}

#[test]
fn a_policy_that_a_plan_changed_counts_as_changed_in_its_next_steps() {
    let mut comply = offers().policy("own", "workspace.env", "project.env").build();
    let create = (end_user(), create("project/n", "env=prod", &["workspace/w"]));
    let outcome = |comply: &mut Tested, first: Action| {
        let plan = comply.what_if(&[(administrator(), first), create.clone()]);
        (plan.decisions[1].outcome, told(&plan.added))
    };
    let off = Policy { level: Level::Off, ..policy("own", "workspace.env", "project.env") };
    assert_eq!(outcome(&mut comply, Action::UpdatePolicy(off)), (Allowed, Vec::new()));
    let other = policy("own", "workspace.unit", "project.unit");
    let mut open =
        offers().open(&["workspace.unit", "project.unit"]).policy("own", "workspace.env", "project.env").build();
    assert_eq!(outcome(&mut open, Action::UpdatePolicy(other)), (Allowed, Vec::new()));
    assert_eq!(outcome(&mut comply, Action::DeletePolicy { policy: "own".into() }), (Allowed, Vec::new()));
    assert_eq!(comply.would(&create.0, &create.1).outcome, Blocked, "it was only a plan");
}

#[test]
fn time_does_not_run_backwards() {
    let mut comply = offers().build();
    let before = Action::Advance { to: upheld_model::Timestamp(BEGIN.0 - 1) };
    assert_eq!(comply.act(&Actor::System, &before).refusal, Some(Refusal::Backwards));
}

#[test]
fn waivers_need_a_reason_a_policy_and_a_name_of_their_own() {
    let mut comply = offers().policy("zone", "project.env", "landingZone.env").waiver(waiver("old", "zone")).build();
    let mut grant = |waiver: Waiver| comply.act(&administrator(), &Action::Grant(waiver)).outcome;
    assert_eq!(grant(Waiver { reason: " ".into(), ..waiver("new", "zone") }), Invalid);
    assert_eq!(grant(waiver("new", "unknown")), Invalid);
    assert_eq!(grant(waiver("old", "zone")), Invalid);
    assert_eq!(grant(waiver("new", "zone")), Allowed);
}

#[test]
fn a_payment_method_that_is_gone_pays_for_nothing() {
    let mut world = World::classic().object("workspace/w", "unit=one cost=w").object("paymentMethod/m", "cost=m");
    let payer = world.refer("paymentMethod/m");
    let described = Described { paid_by: Some(payer), ..Described::default() };
    let mut comply = world.described("project/p", "env=dev", described).link("workspace/w", "project/p").build();
    let project = comply.lookup("project/p").unwrap();
    assert_eq!(comply.effective_tags(project), tags("cost=m env=dev unit=one"), "own, payer's, workspace's");
    assert_eq!(comply.act(&administrator(), &delete("paymentMethod/m")).outcome, Allowed);
    assert_eq!(comply.effective_tags(project), tags("cost=w env=dev unit=one"));
}

#[test]
fn several_defaults_are_judged_each_for_itself() {
    let with = |tag: &str| Definition { default: vec!["dev".into()], ..definition(tag) };
    let mut comply = World::classic()
        .object("workspace/w", "env=dev unit=prod")
        .define(with("project.env"))
        .define(with("project.unit"))
        .define(with("project.cost"))
        .policy("env", "workspace.env", "project.env")
        .with(Policy { level: Level::Warn, ..policy("unit", "workspace.unit", "project.unit") })
        .policy("cost", "workspace.cost", "project.cost")
        .build();
    let created = comply.act(&end_user(), &create("project/n", "", &["workspace/w"]));
    // What only warns leaves no default out; what would break a pair that rests on no values does.
    assert_eq!((created.outcome, created.tags), (Soft, Some(tags("env=dev unit=dev"))));
}
