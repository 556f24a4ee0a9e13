//! What was done between two states, as actions in an order in which they can be done.
//!
//! Nothing is lost on the way if what ends comes before what begins, and what others rest on comes first. What the two states share is
//! not looked at, so it takes as long as the change, not as the organisation.

use std::collections::BTreeSet;

use smol_str::SmolStr;
use upheld_engine::comply::{Described, Link, ObjectId, Partners, Policy, Tags, Waiver};

use crate::action::{Description, Filling};
use crate::definition::Definition;
use crate::{Action, NewLink, NewObject, Organisation, Redefinition};

/// The actions of one phase: those that are still missing in the first state to come to the second.
pub(super) type Phase = fn(&Organisation, &Organisation) -> Vec<Action>;

/// All phases, in order.
pub(super) const PHASES: [Phase; 13] = [
    waivers_end,
    policies_end,
    definitions_begin,
    defaults_change,
    policies_begin,
    definitions_end,
    objects_end,
    links_end,
    objects_begin,
    descriptions_change,
    links_begin,
    tags_change,
    waivers_begin,
];

/// What cannot be told as actions: everything is judged anew by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Foundation {
    /// The kind of policies: its kinds, relations, effects or rights.
    Kind,
    /// The switches of the organisation.
    Settings,
    /// Who is the provider's own, where policies leave those alone.
    Partners,
}

/// Whether two states rest on different things.
pub(super) fn foundation(before: &Organisation, after: &Organisation) -> Option<Foundation> {
    if before.profile() != after.profile() {
        return Some(Foundation::Kind);
    }
    if before.settings() != after.settings() {
        return Some(Foundation::Settings);
    }
    let moves = |name: &SmolStr| match (described(before, name), described(after, name)) {
        (Some(one), Some(other)) => one.partner != other.partner,
        _ => false,
    };
    let looks = before.settings().partners == Partners::Exempt;
    (looks && touched(before, after).iter().any(moves)).then_some(Foundation::Partners)
}

fn waivers_end(before: &Organisation, after: &Organisation) -> Vec<Action> {
    let stays = |own: &Waiver| after.comply().waiver(&own.id).is_some_and(|other| is_same_waiver(own, other));
    let ended = before.comply().waivers().iter().filter(|own| !stays(own));
    ended.map(|own| Action::Revoke { waiver: own.id.clone() }).collect()
}

fn waivers_begin(before: &Organisation, after: &Organisation) -> Vec<Action> {
    let begun = after.comply().waivers().iter().filter(|own| before.comply().waiver(&own.id).is_none());
    begun.cloned().map(Action::Grant).collect()
}

/// Where something is written is no part of what it says.
fn is_same_waiver(one: &Waiver, other: &Waiver) -> bool {
    *one == Waiver { at: one.at, ..other.clone() }
}

fn policies_end(before: &Organisation, after: &Organisation) -> Vec<Action> {
    let ended = before.comply().policies().into_iter().filter(|own| after.comply().policy(&own.id).is_none());
    ended.map(|own| Action::DeletePolicy { policy: own.id.clone() }).collect()
}

fn policies_begin(before: &Organisation, after: &Organisation) -> Vec<Action> {
    let changed = |own: &Policy| match before.comply().policy(&own.id) {
        None => Some(Action::CreatePolicy(own.clone())),
        Some(known) if *known == (Policy { at: known.at, ..own.clone() }) => None,
        Some(_) => Some(Action::UpdatePolicy(own.clone())),
    };
    after.comply().policies().into_iter().filter_map(changed).collect()
}

fn definitions_begin(before: &Organisation, after: &Organisation) -> Vec<Action> {
    let changed = |own: &Definition| match before.schema().definition(own.subject, &own.key) {
        None => Some(Action::Define(own.clone())),
        Some(known) if known == own => None,
        Some(_) => Some(Action::Redefine(Redefinition::to(own))),
    };
    after.schema().definitions().iter().filter_map(changed).collect()
}

fn definitions_end(before: &Organisation, after: &Organisation) -> Vec<Action> {
    let gone = |own: &&Definition| after.schema().definition(own.subject, &own.key).is_none();
    let undefined = |own: &Definition| {
        let subject = SmolStr::new(before.profile().subject_name(own.subject));
        Action::Undefine { subject, key: own.key.clone() }
    };
    before.schema().definitions().iter().filter(gone).map(undefined).collect()
}

fn defaults_change(before: &Organisation, after: &Organisation) -> Vec<Action> {
    let tags = after.schema().defaults();
    if before.schema().defaults() == tags { Vec::new() } else { vec![Action::SetDefaults { tags: tags.clone() }] }
}

/// What lives in another object goes before it.
fn objects_end(before: &Organisation, after: &Organisation) -> Vec<Action> {
    let comply = before.comply();
    let mut ended: Vec<(usize, SmolStr)> = Vec::new();
    for object in comply.differing_objects(after.comply()) {
        let name = comply.reference(object);
        if after.comply().lookup(&name).is_err() {
            ended.push((depth(before, object), name));
        }
    }
    ended.sort_by(|(one, name), (other, same)| other.cmp(one).then_with(|| name.cmp(same)));
    ended.into_iter().map(|(_, object)| Action::Delete { object }).collect()
}

/// What others live in comes before them.
fn objects_begin(before: &Organisation, after: &Organisation) -> Vec<Action> {
    let comply = after.comply();
    let mut begun: Vec<(usize, SmolStr, ObjectId)> = Vec::new();
    for object in comply.differing_objects(before.comply()) {
        let name = comply.reference(object);
        if before.comply().lookup(&name).is_err() {
            begun.push((depth(after, object), name, object));
        }
    }
    begun.sort();
    let created = |(_, name, object): (usize, SmolStr, ObjectId)| {
        let owner = comply.owner_of(object).map(|owner| comply.reference(owner));
        let described = comply.described(object).cloned().unwrap_or_default();
        let is_mentioned_only = described.at.is_none() && described.name.is_none() && comply.tags_of(object).is_empty();
        Action::Create(NewObject {
            object: name,
            tags: comply.tags_of(object),
            links: owner.into_iter().map(|other| NewLink { other, role: None }).collect(),
            name: described.name,
            partner: described.partner,
            // Whoever pays may come later.
            paid_by: None,
            filling: if is_mentioned_only { Filling::Mentioned } else { Filling::AsWritten },
        })
    };
    begun.into_iter().map(created).collect()
}

fn depth(organisation: &Organisation, object: ObjectId) -> usize {
    let owner = |object: &ObjectId| organisation.comply().owner_of(*object);
    std::iter::successors(Some(object), owner).count()
}

fn descriptions_change(before: &Organisation, after: &Organisation) -> Vec<Action> {
    let changed = |name: SmolStr| {
        let description = description(after, &name)?;
        let known = self::description(before, &name)?;
        (known != description).then_some(Action::Describe { object: name, description })
    };
    touched(before, after).into_iter().filter_map(changed).collect()
}

fn description(organisation: &Organisation, name: &str) -> Option<Description> {
    let Described { name, standing, partner, paid_by, .. } = described(organisation, name)?.clone();
    let paid_by = paid_by.map(|payer| organisation.comply().reference(payer));
    Some(Description { name, partner, paid_by, standing })
}

fn described<'o>(organisation: &'o Organisation, name: &str) -> Option<&'o Described> {
    organisation.comply().described(organisation.comply().lookup(name).ok()?)
}

fn tags_change(before: &Organisation, after: &Organisation) -> Vec<Action> {
    let changed = |name: SmolStr| {
        let tags = difference(&tags(before, &name)?, tags(after, &name)?);
        (!tags.is_empty()).then_some(Action::SetTags { object: name, tags })
    };
    touched(before, after).into_iter().filter_map(changed).collect()
}

fn tags(organisation: &Organisation, name: &str) -> Option<Tags> {
    Some(organisation.comply().tags_of(organisation.comply().lookup(name).ok()?))
}

/// The tags that change; those that are gone have no values.
fn difference(before: &Tags, after: Tags) -> Tags {
    let gone = before.iter().filter(|(key, _)| after.iter().all(|(known, _)| known != key));
    let gone: Tags = gone.map(|(key, _)| (key.clone(), Vec::new())).collect();
    after.into_iter().filter(|tag| !before.contains(tag)).chain(gone).collect()
}

/// The objects that are in both states, and not in one and the same page.
fn touched(before: &Organisation, after: &Organisation) -> BTreeSet<SmolStr> {
    let (one, other) = (before.comply(), after.comply());
    let objects = one.differing_objects(other).into_iter().map(|object| one.reference(object));
    objects.filter(|name| other.lookup(name).is_ok()).collect()
}

fn links_end(before: &Organisation, after: &Organisation) -> Vec<Action> {
    let ended = missing(before, after).into_iter();
    ended.map(|(_, (a, b, role))| Action::End { a, b, role }).collect()
}

/// Where somebody lives is known first, then who belongs there: the others rest on that.
fn links_begin(before: &Organisation, after: &Organisation) -> Vec<Action> {
    let mut begun = missing(after, before);
    let comply = after.comply();
    let scope = after.profile().scope;
    begun.sort_by_cached_key(|(link, names)| {
        (!comply.owns(link), comply.kind_of(link.a) != scope, depth(after, link.a), names.clone())
    });
    begun.into_iter().map(|(_, (a, b, role))| Action::Link { a, b, role }).collect()
}

type Named = (SmolStr, SmolStr, Option<SmolStr>);

/// The relationships of one state between those who are in the other, too, and are not related there.
fn missing(one: &Organisation, other: &Organisation) -> Vec<(Link, Named)> {
    let (own, others) = (one.comply(), other.comply());
    let mut missing = Vec::new();
    for link in own.differing_links(others) {
        let [a, b] = [link.a, link.b].map(|end| own.reference(end));
        let (Ok(first), Ok(second)) = (others.lookup(&a), others.lookup(&b)) else { continue };
        let role = link.role.map(|role| own.reference(role));
        let same_role = |found: &Link| found.role.map(|role| others.reference(role)) == role;
        if !others.links_between(first, second).any(|(_, found)| same_role(found)) {
            missing.push((link, (a, b, role)));
        }
    }
    missing.sort_by(|(_, one), (_, other)| one.cmp(other));
    missing
}
