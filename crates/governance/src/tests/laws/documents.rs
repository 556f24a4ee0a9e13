//! What is predicted of documents is what they come to when somebody writes them so: tags, default tags, levels, waivers.

use proptest::prelude::*;
use smol_str::SmolStr;
use upheld_engine::comply::reference::NaiveEdition;
use upheld_engine::comply::reference::random::{OBJECTS, Thing, policies, text, values};
use upheld_engine::comply::{Level, ObjectState, Partner, Tags};

use super::super::super::*;
use super::super::random::{Began, began};
use super::super::world::{Tested, administrator};
use super::identity;

/// A change that somebody could make in documents as well.
fn change(edition: NaiveEdition) -> BoxedStrategy<Action> {
    let tags = || (proptest::sample::subsequence(vec!["env", "unit"], 1..=2), values(), values());
    let named = |(keys, one, other): (Vec<&str>, Vec<SmolStr>, Vec<SmolStr>)| -> Tags {
        keys.into_iter().map(SmolStr::new).zip([one, other]).collect()
    };
    let level = proptest::sample::select(Level::ALL.to_vec());
    prop_oneof![
        5 => (text(&OBJECTS), tags()).prop_map(move |(object, tags)| Action::SetTags { object, tags: named(tags) }),
        3 => tags().prop_map(move |tags| Action::SetDefaults { tags: named(tags) }),
        2 => (policies(edition), level).prop_map(|(policy, level)| {
            Action::UpdatePolicy(upheld_engine::comply::Policy { level, ..policy })
        }),
        1 => policies(edition).prop_map(Action::CreatePolicy),
        1 => policies(edition).prop_map(|policy| Action::DeletePolicy { policy: policy.id }),
    ]
    .boxed()
}

/// The policy of a name as it is, but for its level.
fn with_level(documents: &Began, id: &str, level: Level) -> Option<Action> {
    let known = documents.start.policies.iter().find(|own| own.id == id)?;
    Some(Action::UpdatePolicy(upheld_engine::comply::Policy { level, ..known.clone() }))
}

/// Writes a change down.
fn write(documents: &mut Began, action: &Action) {
    match action {
        Action::SetTags { object, tags } => {
            let place = documents.start.objects.iter().position(|thing| thing.reference == *object);
            let Some(thing) = place.and_then(|place| documents.start.objects.get_mut(place)) else { return };
            for (key, values) in tags {
                thing.tags.retain(|(known, _)| known != key);
                thing.tags.push((key.clone(), values.clone()));
            }
        }
        Action::SetDefaults { tags } => documents.defaults.clone_from(tags),
        Action::CreatePolicy(policy) => documents.start.policies.push(policy.clone()),
        Action::UpdatePolicy(policy) => {
            documents
                .start
                .policies
                .iter_mut()
                .filter(|own| own.id == policy.id)
                .for_each(|own| own.clone_from(policy));
        }
        Action::DeletePolicy { policy } => documents.start.policies.retain(|own| own.id != *policy),
        _ => {}
    }
}

/// The organisation that documents describe; everybody in it is described, once.
fn read(documents: &Began) -> Tested {
    let mut tested = documents.build();
    tested.organisation = tested.organisation.documented();
    tested
}

/// Only those take part whom a document describes.
fn described(mut documents: Began) -> Began {
    let mut seen: Vec<SmolStr> = Vec::new();
    documents.start.objects.retain(|thing| {
        let is_new = !seen.contains(&thing.reference);
        seen.push(thing.reference.clone());
        is_new && thing.standing == ObjectState::Live
    });
    for reference in OBJECTS {
        if !seen.iter().any(|known| known == reference) {
            let thing = Thing {
                reference: SmolStr::new(reference),
                tags: Tags::new(),
                standing: ObjectState::Live,
                partner: Partner::No,
            };
            documents.start.objects.push(thing);
        }
    }
    let mut ids: Vec<SmolStr> = Vec::new();
    documents.start.policies.retain(|policy| {
        let is_new = !ids.contains(&policy.id);
        ids.push(policy.id.clone());
        is_new
    });
    documents.start.waivers.retain(|waiver| ids.contains(&waiver.policy));
    documents
}

fn tags_of(comply: &Tested) -> Vec<(SmolStr, Tags)> {
    let sorted = |object| {
        let mut tags = comply.tags_of(object);
        tags.retain(|(_, values)| !values.is_empty());
        for (_, values) in &mut tags {
            values.sort();
        }
        tags.sort();
        (comply.reference(object), tags)
    };
    comply.objects().into_iter().map(sorted).collect()
}

fn violated(comply: &Tested) -> Vec<String> {
    let tell =
        |own: &upheld_engine::comply::Finding| format!("{} {:?} {}", identity(own), own.level, own.waiver.is_some());
    comply.violations().iter().map(tell).collect()
}

fn cases() -> impl Strategy<Value = (Began, Vec<Action>)> {
    upheld_engine::comply::reference::random::editions()
        .prop_flat_map(|edition| (began(edition).prop_map(described), proptest::collection::vec(change(edition), 1..6)))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, max_shrink_iters: 4000, ..ProptestConfig::default() })]

    #[test]
    fn i5_what_is_predicted_of_documents_is_what_they_say_when_they_are_written_so(
        (mut documents, changes) in cases(), levels_only in any::<bool>()
    ) {
        let mut before = read(&documents);
        for action in &changes {
            let known = match action {
                Action::UpdatePolicy(policy) if levels_only => with_level(&documents, &policy.id, policy.level),
                _ => None,
            };
            let action = known.as_ref().unwrap_or(action);
            let step = (Actor::System, action.clone());
            let plan = before.what_if(std::slice::from_ref(&step));
            let outcome = plan.decisions.first().map(|decision| decision.outcome);
            if !outcome.is_some_and(Outcome::is_done) {
                continue;
            }
            write(&mut documents, action);
            let after = read(&documents);
            let (was, is) = (violated(&before), violated(&after));
            before.act(&Actor::System, action);
            prop_assert_eq!(tags_of(&before), tags_of(&after), "{:?}", action);
            prop_assert_eq!(violated(&before), is.clone(), "{:?}", action);
            // Whatever differs is told, and nothing else.
            let told = plan.added.len() + plan.removed.len() + plan.waived.len() + plan.unwaived.len()
                + plan.raised.len() + plan.lowered.len();
            prop_assert_eq!(told == 0, was == is, "{:?} {:?}", action, plan);
            before = after;
        }
    }

    /// Whoever deletes a policy of which documents waive something is told to look at the waiver first: nobody could read them then.
    #[test]
    fn no_waiver_is_left_without_its_policy((documents, changes) in cases()) {
        let mut comply = read(&documents);
        for action in &changes {
            comply.act(&administrator(), action);
            for waiver in comply.waivers() {
                prop_assert!(comply.policy(&waiver.policy).is_some(), "{:?} {:?}", action, waiver);
            }
        }
    }
}
