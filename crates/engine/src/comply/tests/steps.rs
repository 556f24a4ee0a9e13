//! Random steps, of which some make no sense.

use std::sync::Arc;

use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::Strategy;
use smol_str::SmolStr;

use super::super::reference::NaiveEdition;
use super::super::reference::random::{
    OBJECTS, POLICIES, Start, Tie, WAIVERS, editions, policies, start, tags, text, tie, waivers,
};
use super::super::*;

/// One step.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Tag(SmolStr, Tags),
    Link(Tie),
    Unlink(Tie),
    Create(SmolStr, Partner),
    Delete(SmolStr),
    Put(Box<Policy>),
    Drop(&'static str),
    Grant(Box<Waiver>),
    Revoke(&'static str),
}

impl Step {
    /// Takes the step, if it makes sense: who takes it sees to that otherwise.
    pub(super) fn take(&self, comply: &mut Comply) {
        match self {
            Self::Tag(object, tags) => {
                let Ok(object) = comply.lookup(object) else { return };
                let tags: Vec<_> = tags.iter().map(|(key, own)| (comply.key(key), comply.values(own))).collect();
                comply.retag(object, &tags);
            }
            Self::Link(tie) => {
                let Some(link) = link(comply, tie) else { return };
                let known = comply.links_between(link.a, link.b).any(|(_, own)| own.role == link.role);
                let moves = comply.owns(&link) && comply.owner_of(link.b).is_some();
                if !known && !moves {
                    comply.relate(link);
                }
            }
            Self::Unlink(tie) => {
                let Some(link) = link(comply, tie) else { return };
                let links: Vec<LinkId> = comply.links_between(link.a, link.b).map(|(id, _)| id).collect();
                for link in links {
                    comply.unlink(link);
                }
            }
            Self::Create(object, partner) => {
                let (kind, id) = object.split_once('/').unwrap();
                let kind = comply.profile().kind(kind).unwrap();
                if comply.object(kind, id).is_none() {
                    comply.create(kind, id, Described { partner: *partner, ..Described::default() });
                }
            }
            Self::Delete(object) => {
                let Ok(object) = comply.lookup(object) else { return };
                let holds = comply.links_of(object).any(|(_, link)| link.a == object && comply.owns(link));
                if !holds {
                    comply.delete(object);
                }
            }
            Self::Put(policy) => {
                if comply.profile().pair(policy.a, policy.b).is_some() {
                    comply.put_policy(&policy.id, Some(Arc::new((**policy).clone())));
                }
            }
            Self::Drop(policy) => comply.put_policy(&SmolStr::new_static(policy), None),
            Self::Grant(waiver) => _ = comply.grant((**waiver).clone()),
            Self::Revoke(waiver) => _ = comply.revoke(waiver),
        }
    }
}

fn link(comply: &Comply, tie: &Tie) -> Option<Link> {
    let end = |reference: &SmolStr| comply.lookup(reference).ok();
    let role = match &tie.role {
        Some(role) => Some(end(role)?),
        None => None,
    };
    comply.relationship(end(&tie.a)?, end(&tie.b)?, role)
}

fn step(edition: NaiveEdition) -> impl Strategy<Value = Step> {
    let partner = select(vec![Partner::Yes, Partner::No]);
    prop_oneof![
        4 => (text(&OBJECTS), tags()).prop_map(|(object, tags)| Step::Tag(object, tags)),
        5 => tie().prop_map(Step::Link),
        3 => tie().prop_map(Step::Unlink),
        1 => (text(&OBJECTS), partner).prop_map(|(object, partner)| Step::Create(object, partner)),
        2 => text(&OBJECTS).prop_map(Step::Delete),
        3 => policies(edition).prop_map(|policy| Step::Put(Box::new(policy))),
        1 => select(POLICIES.to_vec()).prop_map(Step::Drop),
        2 => waivers().prop_map(|waiver| Step::Grant(Box::new(waiver))),
        1 => select(WAIVERS.to_vec()).prop_map(Step::Revoke),
    ]
}

/// An organisation and what happens to it.
pub(super) fn steps(most: usize) -> impl Strategy<Value = (Start, Vec<Step>)> {
    editions().prop_flat_map(move |edition| (start(edition), proptest::collection::vec(step(edition), 1..=most)))
}
