//! What a refusal says, and in which order actions are looked at: shape, rights, tags, policies.

use smol_str::SmolStr;

use upheld_engine::comply::*;

use super::super::*;
use super::world::{
    World, administrator, create, definition, delete, end_user, link, link_as, person, person_in, policy, set_tags,
    tags,
};

use Outcome::{Allowed, Blocked, Forbidden, Invalid};

fn world() -> World {
    let named = |name: &str| Described { name: Some(name.into()), ..Described::default() };
    World::classic()
        .open(&["workspace.env", "project.env", "landingZone.env"])
        .described("workspace/w", "env=dev,test,qa", named("managed-customer"))
        .described("project/p", "env=dev", named("my project"))
        .object("workspace/v", "")
        .object("user/u", "")
        .object("landingZone/l", "")
        .link("workspace/w", "project/p")
        .policy("env", "project.env", "workspace.env")
}

#[test]
fn a_violation_tells_policy_strategy_and_both_sides() {
    let mut comply = world().build();
    let decision = comply.act(&end_user(), &set_tags("project/p", "env=prod"));
    let values = |values: &[&str]| values.iter().copied().map(SmolStr::new).collect();
    let expected = Finding {
        scope: Some("workspace/w".into()),
        policy: "env".into(),
        rule: 0,
        a: SideOf {
            object: "project/p".into(),
            name: Some("my project".into()),
            tag: "env".into(),
            values: values(&["prod"]),
        },
        b: SideOf {
            object: "workspace/w".into(),
            name: Some("managed-customer".into()),
            tag: "env".into(),
            values: values(&["dev", "test", "qa"]),
        },
        strategy: Strategy::Intersection,
        level: Level::Enforce,
        verdict: Verdict::Disjoint,
        state: upheld_model::State::Hard,
        waiver: None,
    };
    assert_eq!((decision.outcome, decision.violations), (Blocked, vec![expected]), "with the values that were refused");
}

#[test]
fn a_side_without_values_has_none() {
    let decision = world().build().act(&end_user(), &set_tags("project/p", "env="));
    assert_eq!(decision.violations[0].a.values, Vec::<SmolStr>::new());
    assert_eq!(decision.violations[0].b.values.len(), 3);
}

#[test]
fn a_project_that_is_not_created_is_told_with_its_name() {
    let Action::Create(new) = create("project/n", "env=prod", &["workspace/w"]) else { return };
    let new = NewObject { name: Some("my-example-project-prod".into()), ..new };
    let decision = world().build().act(&end_user(), &Action::Create(new));
    assert_eq!(decision.outcome, Blocked);
    assert_eq!(decision.violations[0].a.name.as_deref(), Some("my-example-project-prod"));
}

#[test]
fn shapes_that_make_no_sense_are_invalid() {
    let mut comply = world().build();
    let mut refusal = |action: &Action| {
        let decision = comply.act(&administrator(), action);
        assert_eq!(decision.outcome, Invalid, "{action:?}");
        decision.refusal.unwrap()
    };
    let unknown = Refusal::NotFound(NotFound::Kind { written: "projct".into(), nearest: Some("project".into()) });
    assert_eq!(refusal(&delete("projct/p")), unknown);
    let unknown =
        Refusal::NotFound(NotFound::Object { written: "workspace/ww".into(), nearest: Some("workspace/w".into()) });
    assert_eq!(refusal(&link("workspace/ww", "user/u")), unknown);
    let not = |a: &str, b: &str| Refusal::NotRelated { a: a.into(), b: b.into() };
    assert_eq!(refusal(&link("workspace/w", "landingZone/l")), not("workspace/w", "landingZone/l"));
    assert_eq!(refusal(&link("project/p", "workspace/w")), not("project/p", "workspace/w"));
    assert_eq!(refusal(&link("project/p", "project/p")), not("project/p", "project/p"));
    assert_eq!(refusal(&link_as("project/p", "user/u", "landingZone/l")), not("project/p", "user/u"));
    assert_eq!(
        refusal(&create("project/p", "", &["workspace/w"])),
        Refusal::ObjectExists { object: "project/p".into() }
    );
    assert_eq!(refusal(&create("project/n", "", &[])), Refusal::NoOwner { object: "project/n".into() });
}

#[test]
fn policies_that_make_no_sense_are_invalid() {
    let mut classic = world().build();
    let current = World::current().open(&["workspace.env", "project.env", "landingZone.env"]).build();
    let env = || policy("new", "workspace.env", "project.env");
    let none = Policy { rules: Vec::new(), ..env() };
    let two = Policy { rules: [env().rules, env().rules].concat(), ..env() };
    let subset = Policy { strategy: Strategy::Subset, ..env() };
    let unknown = Policy { rules: vec![Rule { a: "env".into(), b: "Env".into() }], ..env() };
    let same = policy("new", "project.env", "project.env");
    let turned = policy("new", "project.env", "workspace.env");
    let zone = policy("new", "workspace.env", "landingZone.env");
    let payment = policy("new", "workspace.env", "paymentMethod.env");
    let user = policy("new", "workspace.env", "principal.anything");
    for (policy, in_classic, in_current) in [
        (&env(), Allowed, Allowed),
        (&none, Invalid, Invalid),
        (&two, Allowed, Invalid),
        (&subset, Invalid, Allowed),
        (&unknown, Invalid, Invalid),
        (&same, Invalid, Invalid),
        (&turned, Allowed, Invalid),
        (&zone, Invalid, Allowed),
        (&payment, Invalid, Invalid),
        (&user, Allowed, Allowed),
    ] {
        let action = Action::CreatePolicy(policy.clone());
        assert_eq!(classic.would(&administrator(), &action).outcome, in_classic, "{policy:?}");
        assert_eq!(current.would(&administrator(), &action).outcome, in_current, "{policy:?}");
    }
    let twice = classic.act(&administrator(), &Action::CreatePolicy(policy("env", "workspace.env", "project.env")));
    assert_eq!(twice.refusal, Some(Refusal::PolicyExists { policy: "env".into() }));
    let nearest = Some("env".into());
    let missing = classic.act(&administrator(), &Action::DeletePolicy { policy: "emv".into() });
    assert_eq!(missing.refusal, Some(Refusal::UnknownPolicy { written: "emv".into(), nearest }));
}

#[test]
fn shape_comes_before_rights_and_rights_before_tags_and_tags_before_policies() {
    let restricted = Definition { restricted: Restricted::Yes, ..definition("project.cost") };
    let mut comply = world().define(restricted).build();
    let member = person("workspaceMember");
    assert_eq!(comply.act(&member, &set_tags("project/unknown", "size=1")).outcome, Invalid);
    assert_eq!(comply.act(&member, &set_tags("project/p", "size=1")).outcome, Forbidden);
    assert_eq!(comply.act(&end_user(), &set_tags("project/p", "size=1 env=prod")).outcome, Invalid);
    assert_eq!(comply.act(&end_user(), &set_tags("project/p", "cost=dev env=prod")).outcome, Forbidden);
    assert_eq!(comply.act(&end_user(), &set_tags("project/p", "env=prod")).outcome, Blocked);
}

#[test]
fn end_users_act_in_their_own_workspace() {
    let mut comply = world().build();
    let here = person_in("workspaceOwner", "workspace/w");
    let there = person_in("workspaceOwner", "workspace/v");
    for action in [
        set_tags("project/p", "env=qa"),
        set_tags("workspace/w", "env=qa"),
        create("project/n", "env=qa", &["workspace/w"]),
        link("workspace/w", "user/u"),
        delete("project/p"),
    ] {
        let refused = comply.act(&there, &action);
        assert_eq!(refused.refusal, Some(Refusal::Scope { own: "workspace/v".into() }), "{action:?}");
        assert!(comply.act(&here, &action).outcome.is_done(), "{action:?}");
    }
}

#[test]
fn everybody_may_what_their_role_may() {
    let may = |role: &str, action: &Action| {
        let outcome = world().build().act(&person(role), action).outcome;
        assert!(matches!(outcome, Allowed | Outcome::Soft | Forbidden), "{role} {outcome:?} {action:?}");
        outcome != Forbidden
    };
    let owners = ["workspaceManager", "workspaceOwner", "orgAdmin", "orgUser"];
    let administrators = ["orgAdmin", "orgUser"];
    let compliance = ["orgAdmin", "complianceManager"];
    let waivers = ["orgAdmin", "orgUser", "complianceManager"];
    let table: [(Action, &[&str]); 12] = [
        (create("project/n", "env=dev", &["workspace/w"]), &owners),
        (link("project/p", "user/u"), &owners),
        (set_tags("workspace/w", "env=dev"), &owners),
        (delete("project/p"), &owners),
        (
            set_tags("project/p", "env=qa"),
            &["workspaceManager", "workspaceOwner", "orgAdmin", "orgUser", "platformEngineer"],
        ),
        (set_tags("landingZone/l", "env=qa"), &["orgAdmin", "orgUser", "platformEngineer"]),
        (set_tags("user/u", "env=qa"), &administrators),
        (create("workspace/n", "", &[]), &administrators),
        (delete("user/u"), &administrators),
        (Action::DeletePolicy { policy: "env".into() }, &compliance),
        (Action::SetDefaults { tags: tags("env=qa") }, &compliance),
        (Action::Grant(super::world::waiver("new", "env")), &waivers),
    ];
    let roles = [
        "workspaceManager",
        "workspaceOwner",
        "workspaceMember",
        "orgAdmin",
        "orgUser",
        "complianceManager",
        "platformEngineer",
    ];
    for (action, expected) in table {
        let granted: Vec<&str> = roles.into_iter().filter(|role| may(role, &action)).collect();
        let expected: Vec<&str> = roles.into_iter().filter(|role| expected.contains(role)).collect();
        assert_eq!(granted, expected, "{action:?}");
    }
}

#[test]
fn violations_are_for_those_who_may_see_them() {
    let comply = world().object("project/q", "env=prod").link("workspace/v", "project/q").build();
    let seen = |actor: &Actor| comply.violations_for(actor).map(|violations| violations.len());
    for role in ["orgAdmin", "orgUser", "complianceManager"] {
        assert_eq!(seen(&person(role)), Ok(1), "{role}");
    }
    assert_eq!(seen(&person_in("workspaceOwner", "workspace/v")), Ok(1));
    assert_eq!(seen(&person_in("workspaceManager", "workspace/w")), Ok(0));
    assert!(seen(&person_in("workspaceMember", "workspace/v")).is_err());
    assert!(seen(&person("platformEngineer")).is_err());
}
