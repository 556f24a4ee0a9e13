//! Saying less and more leads where saying everything anew leads.

use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::Strategy;

use super::super::super::reference::random::{OBJECTS, Tie, editions, policies, refer, tags, text, tie, waivers};
use super::*;

/// One thing that is said.
#[derive(Clone, Debug)]
enum Said {
    Object { reference: SmolStr, tags: Tags, standing: ObjectState, partner: Partner, paid_by: Option<SmolStr> },
    Implied(SmolStr),
    Tie(Tie),
    Policy(Box<Policy>),
    Waiver(Box<Waiver>),
}

impl Said {
    /// Tells it; whether it could be reported.
    fn tell(&self, draft: &mut Draft) -> bool {
        match self {
            Self::Object { reference, tags, standing, partner, paid_by } => {
                let (object, paid_by) = (refer(draft, reference), paid_by.as_deref().map(|payer| refer(draft, payer)));
                let (standing, partner) = (*standing, *partner);
                let described = Described { standing, partner, paid_by, ..Described::default() };
                for (key, values) in tags {
                    draft.tag(object, key, values.iter().map(SmolStr::as_str));
                }
                draft.describe(object, described).is_ok()
            }
            Self::Implied(reference) => {
                let object = refer(draft, reference);
                draft.imply(object);
                true
            }
            Self::Tie(Tie { a, b, role }) => {
                let role = role.as_deref().map(|role| refer(draft, role));
                let (a, b) = (refer(draft, a), refer(draft, b));
                draft.link(a, b, role, None)
            }
            Self::Policy(policy) => draft.policy((**policy).clone()),
            Self::Waiver(_) => true,
        }
    }
}

fn said(edition: NaiveEdition) -> impl Strategy<Value = Said> {
    let standing =
        prop_oneof![6 => Just(ObjectState::Live), 1 => Just(ObjectState::Disabled), 1 => Just(ObjectState::Deleted)];
    let partner = prop_oneof![4 => Just(Partner::No), 1 => Just(Partner::Yes)];
    let payer = proptest::option::weighted(0.2, text(&["user/u1", "workspace/w2"]));
    let object = (text(&OBJECTS), tags(), standing, partner, payer);
    prop_oneof![
        5 => object.prop_map(|(reference, tags, standing, partner, paid_by)| {
            Said::Object { reference, tags, standing, partner, paid_by }
        }),
        1 => text(&["projectRole/r1", "projectRole/r2"]).prop_map(Said::Implied),
        6 => tie().prop_map(Said::Tie),
        2 => policies(edition).prop_map(|policy| Said::Policy(Box::new(policy))),
        1 => waivers().prop_map(|waiver| Said::Waiver(Box::new(waiver))),
    ]
}

/// All that is said, as a draft, and whether there is nothing wrong with it.
fn draft(edition: NaiveEdition, partners: Partners, all: &[Said]) -> (Draft, bool) {
    let mut draft = Draft::new(Arc::new(edition.profile()), partners);
    let mut sound = true;
    for one in all {
        sound &= one.tell(&mut draft);
    }
    let mut waivers: Vec<&Waiver> = Vec::new();
    waivers.extend(all.iter().filter_map(|one| if let Said::Waiver(waiver) = one { Some(&**waiver) } else { None }));
    waivers.sort_by(|a, b| a.id.cmp(&b.id));
    for waiver in waivers {
        sound &= draft.waiver(waiver.clone());
    }
    (draft, sound)
}

/// What a full build makes of it; nothing if something is wrong.
fn anew(edition: NaiveEdition, partners: Partners, all: &[Said]) -> Option<(Comply, Mentions)> {
    let (draft, sound) = draft(edition, partners, all);
    let known = draft.so_far();
    let names = |waiver: &Waiver| {
        let sides = [&waiver.a, &waiver.b, &waiver.scope].into_iter().flatten();
        known.policy(&waiver.policy).is_some() && sides.into_iter().all(|side| known.lookup(side).is_ok())
    };
    let exist = |policy: &Policy| policy.named().all(|reference| known.lookup(reference).is_ok());
    let sound = sound && draft.problems().is_empty() && known.waivers().iter().all(names);
    let sound = sound && known.each_policy().all(exist);
    sound.then(|| draft.build_with_mentions())
}

type Change = (Vec<prop::sample::Index>, Vec<Said>);

fn worlds() -> impl Strategy<Value = (NaiveEdition, Partners, Vec<Said>, Vec<Change>)> {
    editions().prop_flat_map(|edition| {
        let partners = select(vec![Partners::Judged, Partners::Exempt]);
        let gone = prop::collection::vec(any::<prop::sample::Index>(), 0..3);
        let changes = prop::collection::vec((gone, prop::collection::vec(said(edition), 0..3)), 1..12);
        (Just(edition), partners, prop::collection::vec(said(edition), 0..8), changes)
    })
}

/// Everybody is there, and says nothing else.
fn everybody() -> Vec<Said> {
    let object = |reference: &&str| Said::Object {
        reference: SmolStr::new(reference),
        tags: Tags::new(),
        standing: ObjectState::Live,
        partner: Partner::No,
        paid_by: None,
    };
    OBJECTS.iter().map(object).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn saying_less_and_more_leads_where_saying_everything_leads((edition, partners, more, changes) in worlds()) {
        let mut all = everybody();
        for one in more {
            all.push(one);
            if anew(edition, partners, &all).is_none() {
                all.pop();
            }
        }
        let (mut comply, mut mentions) = anew(edition, partners, &all).unwrap();
        for (gone, came) in changes {
            let mut rest: Vec<Option<Said>> = all.iter().cloned().map(Some).collect();
            let gone: Vec<Said> = gone.iter().filter_map(|index| rest[index.index(all.len().max(1))].take()).collect();
            let after: Vec<Said> = rest.into_iter().flatten().chain(came.iter().cloned()).collect();
            let expected = anew(edition, partners, &after);
            let (gone, _) = draft(edition, partners, &gone);
            let (came, sound) = draft(edition, partners, &came);
            let revised = comply.revised(&mentions, &gone, &came).filter(|_| sound);
            prop_assert!(revised.is_none() || expected.is_some(), "something is wrong, and nobody said so");
            let Some((expected, counted)) = expected else { continue };
            if let Some((revised, _)) = &revised {
                prop_assert_eq!(export(revised), export(&expected));
                audited(revised, edition)?;
                prop_assert_eq!(revised.link_count(), expected.link_count());
            }
            (comply, mentions) = revised.unwrap_or((expected, counted));
            all = after;
            if all.is_empty() {
                break;
            }
        }
    }
}

fn world() -> Vec<Said> {
    let mut all = everybody();
    for (a, b) in [("workspace/w1", "project/p1"), ("workspace/w2", "project/p2"), ("workspace/w1", "project/p1")] {
        all.push(Said::Tie(Tie { a: a.into(), b: b.into(), role: None }));
    }
    all.push(Said::Policy(Box::new(policy("one", "workspace.env", "project.env"))));
    all
}

/// What becomes of the world when some of it is said no more, and something else is.
fn revised(gone: &[Said], came: &[Said]) -> Option<Comply> {
    let (edition, partners) = (NaiveEdition::Classic, Partners::Judged);
    let (comply, mentions) = anew(edition, partners, &world()).unwrap();
    let [gone, came] = [gone, came].map(|all| draft(edition, partners, all).0);
    comply.revised(&mentions, &gone, &came).map(|(comply, _)| comply)
}

fn project(env: &str) -> Said {
    Said::Object {
        reference: "project/p1".into(),
        tags: if env.is_empty() { Tags::new() } else { vec![("env".into(), vec![env.into()])] },
        standing: ObjectState::Live,
        partner: Partner::No,
        paid_by: None,
    }
}

fn lives(workspace: &str) -> Said {
    Said::Tie(Tie { a: workspace.into(), b: "project/p1".into(), role: None })
}

#[test]
fn another_description_changes_tags() {
    let after = revised(&[project("")], &[project("x")]).unwrap();
    assert_eq!(after.violations(NOW).len(), 1);
}

#[test]
fn what_was_said_twice_is_still_said() {
    let after = revised(&[lives("workspace/w1")], &[]).unwrap();
    assert_eq!(after.link_count(), 2);
    let after = revised(&[lives("workspace/w1"), lives("workspace/w1")], &[]).unwrap();
    assert_eq!(after.link_count(), 1);
}

#[test]
fn nobody_comes_to_live_in_two_places() {
    assert!(revised(&[], &[lives("workspace/w2")]).is_none());
    assert!(revised(&[lives("workspace/w1"), lives("workspace/w1")], &[lives("workspace/w2")]).is_some());
}

#[test]
fn whoever_is_mentioned_must_be_described_once() {
    assert!(revised(&[project("")], &[]).is_none(), "a relationship mentions it");
    assert!(revised(&[project(""), lives("workspace/w1"), lives("workspace/w1")], &[]).is_some());
    assert!(revised(&[], &[project("x")]).is_none(), "it is described already");
}

#[test]
fn a_policy_that_a_waiver_names_must_stay() {
    let one = || Said::Policy(Box::new(policy("one", "workspace.env", "project.env")));
    let waiver = || Said::Waiver(Box::new(super::super::super::reference::random::waiver("first", "one")));
    assert!(revised(&[one()], &[]).is_some());
    assert!(revised(&[one()], &[waiver()]).is_none());
    assert!(revised(&[], &[waiver()]).is_some_and(|after| after.waivers().len() == 1));
}
