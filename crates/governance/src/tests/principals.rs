//! Users and groups: judged by their own tags, and what default tags do.

use upheld_engine::comply::*;

use super::super::*;
use super::world::{Tested, World, administrator, answer, create, end_user, link, set_tags, tags, told};

fn world() -> World {
    World::classic()
        .open(&["workspace.env", "project.env"])
        .object("workspace/w", "env=dev,prod")
        .object("project/p", "env=prod")
        .link("workspace/w", "project/p")
        .policy("access", "project.env", "principal.env")
}

fn tags_of(comply: &Tested, object: &str) -> Tags {
    comply.tags_of(comply.lookup(object).unwrap())
}

#[test]
fn a_policy_counts_for_users_and_groups() {
    let mut comply = world().object("user/u", "env=dev").object("group/g", "env=dev").build();
    for who in ["user/u", "group/g"] {
        assert_eq!(comply.act(&end_user(), &link("project/p", who)).outcome, Outcome::Blocked, "{who}");
    }
}

#[test]
fn a_group_is_judged_by_its_own_tags() {
    // Who is in it does not matter: its members are not even known here.
    let mut comply = world().object("user/u", "env=dev").object("group/g", "env=prod").build();
    assert_eq!(comply.act(&end_user(), &link("project/p", "group/g")).outcome, Outcome::Allowed);
    assert_eq!(comply.act(&end_user(), &link("project/p", "user/u")).outcome, Outcome::Blocked);
}

#[test]
fn tags_of_a_user_count_in_all_workspaces() {
    let mut comply = world()
        .object("workspace/v", "env=prod")
        .object("project/q", "env=prod")
        .link("workspace/v", "project/q")
        .object("user/u", "env=prod")
        .build();
    for project in ["project/p", "project/q"] {
        assert_eq!(comply.act(&end_user(), &link(project, "user/u")).outcome, Outcome::Allowed);
    }
    let soft = comply.act(&administrator(), &set_tags("user/u", "env=dev"));
    let both = ["access: project/q <> user/u", "access: project/p <> user/u"];
    assert_eq!(answer(&soft), (Outcome::Soft, both.map(str::to_owned).to_vec()), "by workspace");
}

#[test]
fn default_tags_are_added_to_all_users_at_the_start() {
    let comply = world()
        .defaults("env=dev,qa")
        .object("user/u", "env=prod,dev")
        .object("user/v", "")
        .object("group/g", "env=prod")
        .build();
    assert_eq!(tags_of(&comply, "user/u"), tags("env=prod,dev,qa"));
    assert_eq!(tags_of(&comply, "user/v"), tags("env=dev,qa"));
    assert_eq!(tags_of(&comply, "group/g"), tags("env=prod"));
}

#[test]
fn default_tags_are_added_when_a_user_is_created() {
    let mut comply = world().defaults("env=dev").build();
    let decision = comply.act(&administrator(), &create("user/u", "env=prod", &[]));
    assert_eq!((decision.outcome, decision.tags), (Outcome::Allowed, Some(tags("env=prod,dev"))));
    let decision = comply.act(&administrator(), &create("group/g", "", &[]));
    assert_eq!((decision.outcome, decision.tags), (Outcome::Allowed, Some(Tags::new())));
}

#[test]
fn default_tags_are_added_when_a_user_joins_a_workspace() {
    let mut comply =
        world().defaults("env=dev").object("user/u", "").policy("join", "workspace.env", "principal.env").build();
    assert!(comply.act(&administrator(), &set_tags("user/u", "env=")).outcome.is_done());
    assert_eq!(tags_of(&comply, "user/u"), Tags::new(), "nothing keeps them from being removed");
    // Judged with them: without any, it would be blocked.
    assert_eq!(comply.act(&end_user(), &link("workspace/w", "user/u")).outcome, Outcome::Allowed);
    assert_eq!(tags_of(&comply, "user/u"), tags("env=dev"));
}

#[test]
fn default_tags_are_added_to_the_first_members_of_a_workspace() {
    let mut comply =
        world().defaults("env=dev").object("user/u", "").policy("join", "workspace.env", "principal.env").build();
    comply.act(&administrator(), &set_tags("user/u", "env="));
    assert_eq!(comply.act(&administrator(), &create("workspace/v", "env=dev", &["user/u"])).outcome, Outcome::Allowed);
    assert_eq!(tags_of(&comply, "user/u"), tags("env=dev"));
}

#[test]
fn new_default_tags_are_added_and_old_ones_stay() {
    let mut comply =
        world().defaults("env=dev").object("user/u", "").object("group/g", "").link("project/p", "user/u").build();
    assert_eq!(told(&comply.violations()), ["access: project/p <> user/u"]);
    let decision = comply.act(&administrator(), &Action::SetDefaults { tags: tags("env=prod") });
    assert_eq!(decision.outcome, Outcome::Allowed);
    assert_eq!(tags_of(&comply, "user/u"), tags("env=dev,prod"));
    assert_eq!(tags_of(&comply, "group/g"), Tags::new());
    assert_eq!(comply.violations(), []);
}

#[test]
fn principals_take_any_key_until_one_is_defined() {
    let mut comply = world().object("user/u", "").build();
    assert_eq!(comply.act(&administrator(), &set_tags("user/u", "anything=goes")).outcome, Outcome::Allowed);
    let define = Action::Define(super::world::definition("principal.env"));
    assert_eq!(comply.act(&administrator(), &define).outcome, Outcome::Allowed);
    assert_eq!(comply.act(&administrator(), &set_tags("user/u", "something=else")).outcome, Outcome::Invalid);
    assert_eq!(tags_of(&comply, "user/u"), tags("anything=goes"), "what is there stays");
}
