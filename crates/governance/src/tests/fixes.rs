//! What is proposed where something violates: nothing that harms others, spelled right first, and a reason where there is nothing.

use upheld_engine::comply::{Filter, Level};

use super::super::*;
use super::world::{Tested, World, administrator, definition, end_user, link, person_in, policy, set_tags};

/// All ways to fix the only violation, in words.
fn ways(comply: &Tested, seeker: &Seeker) -> Vec<String> {
    let violations = comply.violations();
    let [only] = violations.as_slice() else { panic!("{violations:?}") };
    told(&comply.sought(seeker, only).ways)
}

fn told(ways: &[Fix]) -> Vec<String> {
    let tell = |fix: words::ReportedFix| match fix.by {
        By::Viewer => fix.text,
        By::Administrator => format!("{} (administrator)", fix.text),
    };
    words::fixes(ways).into_iter().map(tell).collect()
}

fn reasons(comply: &Tested, seeker: &Seeker) -> String {
    let violations = comply.violations();
    let [only] = violations.as_slice() else { panic!("{violations:?}") };
    let Fixes { ways, obstacles } = comply.sought(seeker, only);
    assert_eq!(told(&ways), Vec::<String>::new());
    words::obstacles(comply.profile(), &obstacles)
}

fn user() -> Seeker {
    Seeker::new(end_user())
}

fn allowing(harm: Harm) -> Seeker {
    Seeker { allowed: vec![harm], ..user() }
}

fn single(tag: &str, options: &[&str]) -> Definition {
    let options = options.iter().map(|option| (*option).into()).collect();
    Definition { tag: TagType::SingleSelect, options, ..definition(tag) }
}

fn text(tag: &str) -> Definition {
    Definition { tag: TagType::Text, options: Vec::new(), ..definition(tag) }
}

/// A project in a workspace that does not have its environment.
fn elsewhere() -> World {
    World::classic()
        .open(&["workspace.env"])
        .define(single("project.env", &["dev", "test", "qa", "prod"]))
        .object("workspace/w", "env=dev,test")
        .object("project/p", "env=prod")
        .link("workspace/w", "project/p")
        .policy("env", "workspace.env", "project.env")
}

#[test]
fn the_side_that_grants_is_opened_only_if_somebody_allows_it() {
    let comply = elsewhere().build();
    let pick = "choose dev or test instead of prod as env of project/p";
    assert_eq!(ways(&comply, &user()), [pick]);
    let opened = ways(&comply, &allowing(Harm::Widens));
    assert_eq!(opened, [pick, "add prod to env of workspace/w"]);
}

#[test]
fn a_landing_zone_a_user_and_a_group_grant() {
    for (other, subject) in [("landingZone/z", "landingZone"), ("user/u", "principal"), ("group/g", "principal")] {
        let comply = World::classic()
            .open(&["project.env", "landingZone.env"])
            .object("workspace/w", "")
            .object("project/p", "env=prod")
            .object(other, "env=dev")
            .link("workspace/w", "project/p")
            .link("project/p", other)
            .policy("env", "project.env", &format!("{subject}.env"))
            .build();
        let ended = format!("end the relationship project/p ~ {other}");
        assert_eq!(ways(&comply, &user()), ["add dev to env of project/p".to_owned(), ended.clone()]);
        let opened = ways(&comply, &Seeker { allowed: vec![Harm::Widens], ..Seeker::new(administrator()) });
        assert!(opened.contains(&format!("add prod to env of {other}")), "{opened:?}");
    }
}

/// A workspace is not opened for its projects, whichever of its policies asks for it.
#[test]
fn c7_what_projects_live_in_is_not_opened_because_of_a_landing_zone() {
    let world = || {
        World::current()
            .open(&["workspace.env", "project.env", "landingZone.env"])
            .object("workspace/w", "env=dev")
            .object("project/p", "env=dev")
            .object("landingZone/z", "env=prod")
            .link("workspace/w", "project/p")
            .link("project/p", "landingZone/z")
            .policy("zone", "workspace.env", "landingZone.env")
    };
    let ended = "end the relationship project/p ~ landingZone/z";
    let added = "add prod to env of workspace/w";
    assert_eq!(ways(&world().build(), &user()), [added, ended], "it grants nothing to anybody");
    let granting = world().policy("env", "workspace.env", "project.env").build();
    assert_eq!(ways(&granting, &user()), [ended], "projects for prod could be made in it then");
    assert!(ways(&granting, &allowing(Harm::Widens)).contains(&added.to_owned()));
}

fn secret() -> World {
    World::classic()
        .define(single("project.data", &["public", "internal", "secret"]))
        .define(single("landingZone.data", &["public", "internal", "secret"]))
        .object("workspace/w", "")
        .object("project/p", "data=secret")
        .object("landingZone/z", "data=public")
        .link("workspace/w", "project/p")
        .link("project/p", "landingZone/z")
        .policy("data", "project.data", "landingZone.data")
}

#[test]
fn what_is_secret_is_not_made_public() {
    let comply = secret().build();
    let ended = "end the relationship project/p ~ landingZone/z";
    assert_eq!(ways(&comply, &user()), [ended]);
    let lower = ways(&comply, &allowing(Harm::Lowers));
    assert_eq!(lower, ["choose public instead of secret as data of project/p", ended]);
}

#[test]
fn what_protects_more_is_said_by_the_definition_where_words_do_not() {
    let zones = |protects| {
        let defined = Definition { protects, ..single("project.data", &["c1", "c2", "c3"]) };
        World::classic()
            .define(defined)
            .define(single("landingZone.data", &["c1", "c2", "c3"]))
            .object("workspace/w", "")
            .object("project/p", "data=c3")
            .object("landingZone/z", "data=c1")
            .link("workspace/w", "project/p")
            .link("project/p", "landingZone/z")
            .policy("data", "project.data", "landingZone.data")
            .build()
    };
    let ended = "end the relationship project/p ~ landingZone/z";
    assert_eq!(ways(&zones(Protects::Yes), &user()), [ended]);
    assert_eq!(ways(&zones(Protects::No), &user()), ["choose c1 instead of c3 as data of project/p", ended]);
}

#[test]
fn what_is_spelled_otherwise_is_spelled_right_first() {
    let comply = World::classic()
        .define(text("project.env"))
        .define(text("workspace.env"))
        .object("workspace/w", "env=prod")
        .object("project/p", "env=PROD")
        .link("workspace/w", "project/p")
        .policy("env", "workspace.env", "project.env")
        .build();
    let first = "choose prod instead of PROD as env of project/p";
    assert_eq!(ways(&comply, &user()).first().map(String::as_str), Some(first));
    // Nobody is let in who was not meant before.
    assert!(ways(&comply, &user()).iter().all(|way| !way.starts_with("add")));
}

#[test]
fn tags_of_one_object_change_together_where_one_alone_is_not_enough() {
    let comply = World::classic()
        .open(&["project.env", "project.unit", "workspace.env", "workspace.unit"])
        .object("workspace/w", "env=dev unit=test")
        .object("project/p", "env=prod unit=qa")
        .link("workspace/w", "project/p")
        .policy("env", "workspace.env", "project.env")
        .policy("unit", "workspace.unit", "project.unit")
        .build();
    // One of them alone is refused, because the other would still violate.
    assert_eq!(comply.would(&end_user(), &set_tags("project/p", "env=dev")).outcome, Outcome::Blocked);
    for violation in comply.violations() {
        let fixes = comply.sought(&user(), &violation).ways;
        let [fix] = fixes.as_slice() else { panic!("{fixes:?}") };
        assert_eq!((fix.edits.len(), fix.by, fix.ends), (2, By::Viewer, 2));
    }
    let remedy = comply.remedy(&user(), &Filter::default());
    assert_eq!((remedy.fixes.len(), remedy.left.len()), (1, 0));
}

#[test]
fn where_nothing_helps_the_reason_is_told() {
    let fixed = Definition { immutable: Immutable::Yes, ..single("project.env", &["dev", "prod"]) };
    let comply = World::classic()
        .open(&["workspace.env"])
        .define(fixed)
        .object("workspace/w", "env=dev")
        .object("project/p", "env=prod")
        .link("workspace/w", "project/p")
        .policy("env", "workspace.env", "project.env")
        .build();
    let told = reasons(&comply, &user());
    assert!(told.contains("the tag `env` cannot change after it was set"), "{told}");
    assert!(told.contains("`add prod to env of workspace/w` would do"), "{told}");
    assert!(told.contains("only with --allow widen"), "{told}");
}

#[test]
fn a_violation_of_a_policy_that_only_watches_is_in_nobodys_way() {
    let comply = World::classic()
        .open(&["project.env", "project.unit", "landingZone.env", "landingZone.unit"])
        .object("workspace/w", "")
        .object("project/p", "env=prod unit=test")
        .object("landingZone/z", "env=dev unit=qa")
        .link("workspace/w", "project/p")
        .policy("env", "project.env", "landingZone.env")
        .with(upheld_engine::comply::Policy {
            level: Level::Audit,
            ..policy("unit", "project.unit", "landingZone.unit")
        })
        .build();
    let asked = link("project/p", "landingZone/z");
    let decision = comply.would(&end_user(), &asked);
    assert_eq!((decision.outcome, decision.violations.len()), (Outcome::Blocked, 1));
    let mut trial = comply.organisation.trial(comply.now());
    let ways = trial.ways(&user(), &asked, &decision.violations[0]).ways;
    assert_eq!(told(&ways), ["add dev to env of project/p"]);
}

#[test]
fn a_value_that_another_policy_refuses_is_not_proposed() {
    let comply = elsewhere()
        .open(&["landingZone.env"])
        .object("landingZone/z", "env=dev")
        .object("project/q", "env=dev")
        .link("workspace/w", "project/q")
        .link("project/q", "landingZone/z")
        .policy("zone", "project.env", "landingZone.env")
        .build();
    let asked = set_tags("project/q", "env=prod");
    let decision = comply.would(&end_user(), &asked);
    assert_eq!(decision.violations.len(), 2, "{decision:?}");
    for violation in &decision.violations {
        let mut trial = comply.organisation.trial(comply.now());
        let ways = trial.ways(&user(), &asked, violation).ways;
        assert_eq!(told(&ways), ["choose dev instead of prod as env of project/q"], "test is not of the landing zone");
    }
}

#[test]
fn fixes_are_within_the_rights_of_who_asks() {
    let comply = elsewhere().object("workspace/v", "").build();
    let stranger = Seeker::new(person_in("workspaceManager", "workspace/v"));
    let pick = "choose dev or test instead of prod as env of project/p";
    assert_eq!(ways(&comply, &stranger), [format!("{pick} (administrator)")]);
    let own = Seeker::new(person_in("workspaceManager", "workspace/w"));
    assert_eq!(ways(&comply, &own), [pick]);
}

#[test]
fn what_is_violated_already_is_known_where_nothing_would_change() {
    let comply = World::classic()
        .open(&["project.env", "landingZone.env"])
        .object("workspace/w", "")
        .object("project/p", "env=prod")
        .object("landingZone/z", "env=dev")
        .link("workspace/w", "project/p")
        .link("project/p", "landingZone/z")
        .policy("env", "project.env", "landingZone.env")
        .build();
    let again = link("project/p", "landingZone/z");
    assert_eq!(comply.would(&end_user(), &again).outcome, Outcome::Allowed);
    let standing = comply.organisation.standing_between(comply.now(), &again);
    assert_eq!(standing, comply.violations());
    assert!(comply.organisation.standing_between(comply.now(), &set_tags("project/p", "env=dev")).is_empty());
}

#[test]
fn a_level_that_rises_is_told_although_nothing_begins() {
    let warns = upheld_engine::comply::Policy { level: Level::Warn, ..policy("env", "workspace.env", "project.env") };
    let enforced = policy("env", "workspace.env", "project.env");
    let world = World::classic()
        .open(&["project.env", "workspace.env"])
        .object("workspace/w", "env=dev")
        .object("project/p", "env=prod")
        .link("workspace/w", "project/p");
    let comply = world.with(warns.clone()).build();
    let plan = comply.what_if(&[(administrator(), Action::UpdatePolicy(enforced))]);
    assert_eq!((plan.added.len(), plan.raised.len(), plan.lowered.len(), plan.kept), (0, 1, 0, 1));
    let plan = comply.what_if(&[(administrator(), Action::UpdatePolicy(warns))]);
    assert_eq!((plan.raised.len(), plan.lowered.len()), (0, 0));
}

#[test]
fn a_policy_that_documents_waive_cannot_go_before_the_waiver() {
    let mut comply = elsewhere().waiver(super::world::waiver("legacy", "env")).build();
    comply.organisation = comply.organisation.documented();
    let gone = Action::DeletePolicy { policy: "env".into() };
    let refused = comply.act(&administrator(), &gone);
    assert_eq!(refused.outcome, Outcome::Invalid);
    assert_eq!(refused.refusal, Some(Refusal::PolicyWaived { policy: "env".into(), waiver: "legacy".into() }));
    comply.act(&administrator(), &Action::Revoke { waiver: "legacy".into() });
    assert_eq!(comply.act(&administrator(), &gone).outcome, Outcome::Allowed);
}
