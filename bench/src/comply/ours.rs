//! Our side: the organisation in the engine.

use std::collections::HashMap;
use std::sync::Arc;

use smol_str::SmolStr;
use upheld_engine::comply::{
    Class, Defaults, DerivedPair, Described, Effect, EffectRow, End, Holds, Keys, KindSpec, NeedsScope, Order,
    PairKind, Policy, Profile, Relation, Right, Role, RoleSpec, Rule as Tags, Rules, Selectors, Strategy, Subject,
    SubjectSpec, Trigger,
};
use upheld_governance::{Actor, Definition, Draft, Organisation as Governed, Settings, TagType};
use upheld_model::Timestamp;

use super::organisation::{Of, Organisation, Rule};

/// When everything happens.
pub(super) const NOW: Timestamp = Timestamp(0);

/// Who works in a workspace: policies can refuse what they do.
pub(super) fn end_user() -> Actor {
    Actor::Person { role: Role(0), scope: None, name: None }
}

/// Who looks after all of them.
pub(super) fn administrator() -> Actor {
    Actor::Person { role: Role(1), scope: None, name: None }
}

/// Reads what was made up, without any text.
pub(super) fn draft(organisation: &Organisation) -> Result<Draft, String> {
    let profile = Arc::new(profile());
    let mut draft = Draft::new(Arc::clone(&profile), Settings::default());
    for of in Of::ALL {
        define(&mut draft, organisation, subject(&profile, of)?);
    }
    let mut ids = Vec::with_capacity(organisation.things.len());
    for thing in &organisation.things {
        let reference = thing.reference();
        let (word, id) = reference.split_once('/').unwrap_or_default();
        let kind = profile.kind(word).ok_or("an unknown kind")?;
        let object = draft.facts.refer(kind, id, None);
        draft.facts.describe(object, Described::default()).map_err(|_| "described twice")?;
        for (tag, values) in organisation.tags_of(thing) {
            let values: Vec<String> = values.iter().map(|value| tag.value(*value)).collect();
            draft.facts.tag(object, &tag.key, values.iter().map(String::as_str));
        }
        ids.push(object);
    }
    let owned = organisation.owners.iter().enumerate().filter_map(|(thing, owner)| Some(((*owner)?, thing)));
    for (a, b) in owned.chain(organisation.links.iter().copied()) {
        let (Some(a), Some(b)) = (ids.get(a), ids.get(b)) else { return Err("a link to nobody".to_owned()) };
        if !draft.facts.link(*a, *b, None, None) {
            return Err("a link that cannot be".to_owned());
        }
    }
    for rule in &organisation.rules {
        draft.facts.policy(policy(&profile, organisation, rule)?);
    }
    Ok(draft)
}

fn subject(profile: &Profile, of: Of) -> Result<Subject, String> {
    profile.subject(of.subject()).ok_or_else(|| format!("there is no subject {}", of.subject()))
}

fn define(draft: &mut Draft, organisation: &Organisation, subject: Subject) {
    for tag in &organisation.tags {
        let numbers = if tag.open { 0 } else { u32::try_from(tag.values).unwrap_or(0) };
        let sort = if tag.open { TagType::Text } else { TagType::MultiSelect };
        let options = (0..numbers).map(|number| SmolStr::new(tag.value(number))).collect();
        draft.define(Definition { options, ..Definition::new(subject, SmolStr::new(&tag.key), sort) });
    }
}

/// A rule as a policy of its own.
pub(super) fn policy(profile: &Profile, organisation: &Organisation, rule: &Rule) -> Result<Policy, String> {
    let key = organisation.tags.get(rule.tag).map(|tag| SmolStr::new(&tag.key)).ok_or("an unknown tag")?;
    let sides = [subject(profile, rule.a)?, subject(profile, rule.b)?];
    let strategy = if rule.subset { Strategy::Subset } else { Strategy::Intersection };
    Ok(Policy { strategy, ..Policy::new(SmolStr::new(&rule.name), sides, vec![Tags { a: key.clone(), b: key }]) })
}

/// The organisation in the engine, judged.
pub(super) fn build(organisation: &Organisation) -> Result<Governed, String> {
    Ok(draft(organisation)?.build())
}

/// The same facts from the beginning.
pub(super) fn again(organisation: &Governed) -> Result<Governed, String> {
    let comply = organisation.comply();
    let mut draft = Draft::new(Arc::clone(comply.profile()), organisation.settings());
    let mut ids = HashMap::new();
    for object in comply.objects() {
        let reference = comply.reference(object);
        let (word, id) = reference.split_once('/').ok_or("a bad reference")?;
        let kind = comply.profile().kind(word).ok_or("an unknown kind")?;
        let own = draft.facts.refer(kind, id, None);
        draft.facts.describe(own, Described::default()).map_err(|_| "described twice")?;
        for (key, values) in comply.tags_of(object) {
            draft.facts.tag(own, &key, values.iter().map(SmolStr::as_str));
        }
        ids.insert(object, own);
    }
    for object in comply.objects() {
        for (_, link) in comply.links_of(object).filter(|(_, link)| link.a == object) {
            let (Some(a), Some(b)) = (ids.get(&link.a), ids.get(&link.b)) else {
                return Err("a link to nobody".to_owned());
            };
            draft.facts.link(*a, *b, None, None);
        }
    }
    for policy in comply.policies() {
        draft.facts.policy(policy.clone());
    }
    Ok(draft.build())
}

/// Workspaces hold projects; people have access to both; projects use landing zones, and so do their workspaces.
fn profile() -> Profile {
    let subjects = Of::ALL.map(|of| SubjectSpec {
        name: SmolStr::new_static(of.subject()),
        title: None,
        aliases: Vec::new(),
        keys: Keys::Defined,
    });
    let number = |of: Of| Subject(u8::try_from(of.place()).unwrap_or(0));
    let kinds = Of::ALL.map(|of| KindSpec {
        name: SmolStr::new_static(of.word()),
        title: None,
        aliases: Vec::new(),
        subject: number(of),
        defaults: Defaults::None,
    });
    let pairs = [
        (Of::Workspace, Of::Project),
        (Of::Workspace, Of::User),
        (Of::Project, Of::User),
        (Of::Project, Of::Zone),
        (Of::Workspace, Of::Zone),
    ];
    let direct = |pair| DerivedPair { pair: PairKind(pair), a: End::A, b: End::B };
    let relation = |(a, b): (Of, Of), holds, needs_scope, gives| Relation {
        a: number(a),
        b: number(b),
        role: None,
        holds,
        needs_scope,
        gives,
    };
    let [owned, access, member, tenant, _] = pairs;
    let relations = vec![
        relation(owned, Holds::Owned, NeedsScope::No, vec![direct(0)]),
        relation(access, Holds::Related, NeedsScope::No, vec![direct(1)]),
        relation(member, Holds::Related, NeedsScope::Yes, vec![direct(2)]),
        relation(
            tenant,
            Holds::Related,
            NeedsScope::No,
            vec![direct(3), DerivedPair { pair: PairKind(4), a: End::Scope, b: End::B }],
        ),
    ];
    let effects =
        vec![EffectRow { on: Trigger::Link, of: None, with: None, by: Some(Class::EndUser), effect: Effect::Block }];
    let everything = vec![
        Right::Create(None),
        Right::Delete(None),
        Right::Tag(None),
        Right::Link,
        Right::Policies,
        Right::Violations,
    ];
    let role =
        |name, class| RoleSpec { name: SmolStr::new_static(name), aliases: Vec::new(), class, may: everything.clone() };
    Profile {
        name: SmolStr::new_static("bench"),
        kinds: kinds.to_vec(),
        subjects: subjects.to_vec(),
        scope: Some(upheld_engine::comply::Kind(0)),
        relations,
        pairs: pairs.map(|(a, b)| (number(a), number(b))).to_vec(),
        order: Order::Fixed,
        rules: Rules::Many,
        strategies: Strategy::BETWEEN.to_vec(),
        selectors: Selectors::None,
        effects,
        roles: vec![role("manager", Class::EndUser), role("administrator", Class::Administrator)],
    }
}
