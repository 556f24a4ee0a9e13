//! I9: every fix that is suggested, made by the role that it names, is accepted, ends its violation and begins none.

use proptest::prelude::*;

use upheld_engine::comply::{Filter, Finding, Level, Rule};

use super::super::super::*;
use super::super::random::steps;
use super::super::world::{Tested, World, administrator, end_user, person_in};
use super::{after, export, identities, identity, same};

fn viewer() -> impl Strategy<Value = Actor> {
    prop_oneof![Just(administrator()), Just(end_user()), Just(person_in("workspaceManager", "workspace/w1"))]
}

fn allowed() -> impl Strategy<Value = Vec<Harm>> {
    proptest::sample::subsequence(Harm::ALL.to_vec(), 0..=2)
}

/// Who makes the edits of a fix.
fn who(comply: &Tested, seeker: &Seeker, fix: &Fix) -> Actor {
    comply.organisation.actor_for(&seeker.viewer, fix.by)
}

/// Makes a fix for good.
fn make(comply: &mut Tested, seeker: &Seeker, fix: &Fix) -> Result<(), TestCaseError> {
    let actor = who(comply, seeker, fix);
    for action in comply.actions_of(&fix.edits) {
        let decision = comply.act(&actor, &action);
        prop_assert_eq!(decision.outcome, Outcome::Allowed, "{:?} {:?}", fix, decision);
    }
    Ok(())
}

/// Values come only to those who do not grant, and nothing protects less, unless somebody allows it.
fn harmless(comply: &Tested, seeker: &Seeker, fix: &Fix) -> Result<(), TestCaseError> {
    prop_assert!(fix.harms.iter().all(|harm| seeker.allowed.contains(harm)), "{:?}", fix);
    if fix.harms.contains(&Harm::Widens) {
        return Ok(());
    }
    for edit in &fix.edits {
        let Edit::Tag { object, tag, add, remove } = edit else { continue };
        let own = comply.lookup(object).unwrap();
        let (kind, subject) = (comply.kind_of(own), comply.subject_of(own));
        // What only single objects are asked for grants nothing to others.
        let grants = comply.policies().into_iter().any(|policy| {
            let sides = |rule: &Rule| [(policy.a, rule.a.clone()), (policy.b, rule.b.clone())];
            let looks = |rule: &Rule| sides(rule).iter().any(|(side, key)| Some(*side) == subject && key == tag);
            policy.a != policy.b && policy.level != Level::Off && policy.rules.iter().any(looks)
        });
        let kept_by_administrators = ["landingZone", "user", "group", "buildingBlockDefinition", "projectRole"];
        let kept = kept_by_administrators.iter().any(|name| comply.profile().kind(name) == kind);
        // So does what projects live in, where they are held against it.
        let [workspace, project] = ["workspace", "project"].map(|name| comply.profile().subject(name));
        let hosts = subject == workspace
            && comply.policies().into_iter().any(|policy| {
                let (own, other) =
                    if Some(policy.a) == workspace { (policy.a, policy.b) } else { (policy.b, policy.a) };
                let key = |rule: &Rule| if Some(policy.a) == workspace { rule.a.clone() } else { rule.b.clone() };
                let looks = |rule: &Rule| key(rule) == *tag;
                Some(own) == workspace
                    && Some(other) == project
                    && policy.level != Level::Off
                    && policy.rules.iter().any(looks)
            });
        let kept = kept || hosts;
        let spells =
            |value: &&smol_str::SmolStr| !remove.iter().any(|gone| gone.to_lowercase() == value.to_lowercase());
        prop_assert!(!(kept && grants) || add.iter().filter(spells).count() == 0, "{:?} opens what grants", fix);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, max_shrink_iters: 4000, ..ProptestConfig::default() })]

    #[test]
    fn i9_a_fix_is_accepted_ends_its_violation_and_begins_none(
        (start, steps) in steps(6), viewer in viewer(), allowed in allowed(), documented in any::<bool>()
    ) {
        let mut comply = after(&start, &steps);
        if documented {
            comply.organisation = comply.organisation.documented();
        }
        let seeker = Seeker { allowed, ..Seeker::new(viewer) };
        let (before, open) = (export(&comply), comply.violations());
        let listed = identities(&comply);
        for violation in open.iter().step_by(5).take(2) {
            let Fixes { ways, obstacles } = comply.sought(&seeker, violation);
            prop_assert_eq!(ways.is_empty(), !obstacles.is_empty());
            let own = identity(violation);
            for fix in ways.iter().take(6) {
                harmless(&comply, &seeker, fix)?;
                let mut mended = comply.clone();
                make(&mut mended, &seeker, fix)?;
                let left = identities(&mended);
                prop_assert!(!left.contains(&own), "{:?} leaves {}", fix, own);
                let new: Vec<&String> = left.iter().filter(|left| !listed.contains(left)).collect();
                prop_assert!(new.is_empty(), "{:?} adds {:?}", fix, new);
                // What a waiver covers was no trouble before.
                let counted = open.iter().filter(|own| own.waiver.is_none()).map(identity);
                prop_assert_eq!(counted.filter(|own| !left.contains(own)).count(), fix.ends);
            }
        }
        same(&before, &export(&comply))?;
    }

    #[test]
    fn a_way_out_of_a_refusal_is_accepted_as_it_was_asked_for((start, steps) in steps(5), viewer in viewer()) {
        let comply = after(&start, &steps);
        let seeker = Seeker::new(viewer);
        let before = export(&comply);
        for (_, action) in &steps {
            let decision = comply.would(&seeker.viewer, action);
            if decision.outcome != Outcome::Blocked {
                continue;
            }
            let mut past = comply.organisation.clone();
            let anyway = past.commit_past(comply.now(), &seeker.viewer, action);
            let anyway: Vec<String> = past.decision(anyway).violations.iter().map(identity).collect();
            for violation in decision.violations.iter().take(2) {
                let mut trial = comply.organisation.trial(comply.now());
                for fix in trial.ways(&seeker, action, violation).ways.iter().take(4) {
                    let mut done = comply.clone();
                    let asked = comply.organisation.asked_with(action, &fix.edits);
                    if asked.is_none() {
                        make(&mut done, &seeker, fix)?;
                    }
                    let decision = done.act(&seeker.viewer, asked.as_ref().unwrap_or(action));
                    prop_assert!(decision.outcome.is_done(), "{:?} {:?} {:?}", action, fix, decision);
                    prop_assert!(decision.violations.iter().all(|own| !own.is_same(violation)), "{:?} {:?}", action, fix);
                    let begun: Vec<String> = decision.violations.iter().map(identity).collect();
                    prop_assert!(begun.iter().all(|own| anyway.contains(own)), "{:?} {:?} {:?}", action, fix, begun);
                }
            }
        }
        same(&before, &export(&comply))?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, max_shrink_iters: 4000, ..ProptestConfig::default() })]

    #[test]
    fn a_remedy_leaves_what_it_says((start, steps) in steps(6), viewer in viewer(), allowed in allowed()) {
        let mut comply = after(&start, &steps);
        let before = export(&comply);
        let seeker = Seeker { allowed, ..Seeker::new(viewer) };
        let all = Filter::default();
        let open = comply.organisation.open_violations(&all, comply.now()).len();
        let Remedy { fixes, left } = comply.remedy(&seeker, &all);
        same(&before, &export(&comply))?;
        for fix in &fixes {
            harmless(&comply, &seeker, fix)?;
            make(&mut comply, &seeker, fix)?;
        }
        let then = comply.organisation.open_violations(&all, comply.now());
        prop_assert_eq!(open - then.len(), fixes.iter().map(|fix| fix.ends).sum::<usize>());
        // What is left is told as it is now.
        prop_assert!(left.iter().all(|(_, obstacles)| !obstacles.is_empty()));
        let left: Vec<String> = left.iter().map(|(own, _)| identity(own)).collect();
        prop_assert_eq!(then.iter().map(identity).collect::<Vec<_>>(), left);
    }

    /// Whatever is shared between scopes, a fix counts what it ends where somebody looks, and nothing else.
    #[test]
    fn a_fix_of_what_scopes_share_counts_the_scope_that_was_asked_for(
        values in proptest::array::uniform5(proptest::sample::select(vec!["dev", "Dev", "qa"])),
    ) {
        let [one, two, three, zone, user] = values.map(|value| format!("env={value}"));
        let comply = World::classic()
            .open(&["project.env", "landingZone.env", "principal.env"])
            .object("workspace/w1", "")
            .object("workspace/w2", "")
            .object("project/one", &one)
            .object("project/two", &two)
            .object("project/three", &three)
            .object("landingZone/z", &zone)
            .object("user/u", &user)
            .link("workspace/w1", "project/one")
            .link("workspace/w2", "project/two")
            .link("workspace/w2", "project/three")
            .link("project/one", "landingZone/z")
            .link("project/two", "landingZone/z")
            .link("project/one", "user/u")
            .link("project/three", "user/u")
            .policy("zone", "project.env", "landingZone.env")
            .policy("access", "project.env", "principal.env")
            .build();
        let here = |own: &Finding| own.scope.as_deref() == Some("workspace/w1");
        let scope = comply.lookup("workspace/w1").ok();
        let seeker = Seeker { viewer: administrator(), allowed: Harm::ALL.to_vec(), scopes: scope.map(|scope| vec![scope]) };
        for violation in comply.violations().iter().filter(|own| here(own)) {
            for fix in &comply.sought(&seeker, violation).ways {
                let mut mended = comply.clone();
                make(&mut mended, &seeker, fix)?;
                let count = |comply: &Tested| comply.violations().iter().filter(|own| here(own)).count();
                prop_assert_eq!(count(&comply) - count(&mended), fix.ends, "{:?}", fix);
            }
        }
    }

    #[test]
    fn a_remedy_for_one_scope_counts_what_is_there((start, steps) in steps(5)) {
        let mut comply = after(&start, &steps);
        let Ok(scope) = comply.lookup("workspace/w1") else { return Ok(()) };
        let filter = Filter { scopes: Some(vec![scope]), ..Filter::default() };
        // Whoever may edit what others share ends violations elsewhere, too: they do not count here.
        let seeker = Seeker { viewer: administrator(), allowed: Harm::ALL.to_vec(), scopes: Some(vec![scope]) };
        let open = comply.organisation.open_violations(&filter, comply.now()).len();
        let Remedy { fixes, left } = comply.remedy(&seeker, &filter);
        for fix in &fixes {
            make(&mut comply, &seeker, fix)?;
        }
        let then = comply.organisation.open_violations(&filter, comply.now());
        prop_assert_eq!(then.len(), left.len());
        prop_assert_eq!(open - then.len(), fixes.iter().map(|fix| fix.ends).sum::<usize>());
    }
}
