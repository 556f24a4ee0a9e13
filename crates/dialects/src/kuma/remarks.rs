//! What else is worth knowing about an answer: references that mean nothing, policies without effect, listings that differ.

use upheld_engine::ObjectId;
use upheld_engine::merge::audience::holds;
use upheld_engine::merge::{About, Layered, Merged};
use upheld_model::layers::Unresolved;
use upheld_model::tree::Value;
use upheld_model::{Facet, Fault, Lookup, Object};

use super::edition::Edition;
use super::permission;
use super::rules::{Rules, mesh_object};
use super::subsets::{Client, Grouping, Limits, Negations, Subset, cells_with, rules};
use crate::document::Resource;

/// All remarks about an answer.
pub fn of(
    rules: &Rules<'_>,
    lookup: &Lookup<'_>,
    subject: ObjectId,
    about: About<'_>,
    answer: &Layered,
) -> Vec<(Fault, String)> {
    let Some(object) = rules.snapshot.objects().get(subject) else { return Vec::new() };
    let mut remarks = dangling(rules, object);
    remarks.extend(without_mutual_tls(rules, object, answer));
    if let About::Client { part, tags } = about {
        let text = |symbol| lookup.text(symbol).to_owned();
        let known = tags.as_slice().iter().filter_map(|tag| Some((text(tag.key), text(tag.value?))));
        remarks.extend(listing_differs(rules, object, part, &known.collect()));
    }
    remarks
}

/// Policies that would be attached here through something that does not exist.
pub fn dangling(rules: &Rules<'_>, object: &Object) -> Vec<(Fault, String)> {
    let text = |symbol| rules.snapshot.text(symbol);
    let mut remarks = Vec::new();
    for (_, attached) in rules.merge.policies() {
        let Some(policy) = rules.snapshot.policy(attached.policy) else { continue };
        for dangling in attached.dangling.iter() {
            if !dangling.conditions.iter().all(|condition| holds(*condition, &object.facts)) {
                continue;
            }
            let (kind, name, policy) = (text(dangling.kind), text(dangling.name), text(policy.title));
            let why = match dangling.problem {
                Unresolved::Missing => format!("{kind} `{name}` does not exist"),
                Unresolved::Cycle => format!("{kind} `{name}` leads back to itself"),
                Unresolved::Empty => format!("it does not say which {kind}"),
                Unresolved::Unsupported => format!("policies cannot be attached to a {kind}"),
            };
            remarks.push((Fault::DanglingReference, format!("{policy} is attached to nothing: {why}")));
        }
    }
    remarks
}

/// Permissions need the identities that mutual TLS proves.
fn without_mutual_tls(rules: &Rules<'_>, object: &Object, answer: &Layered) -> Option<(Fault, String)> {
    if rules.name() != permission::KIND || answer.entries.is_empty() {
        return None;
    }
    let mesh = mesh_object(rules.snapshot, object.scope)?;
    let document = rules.snapshot.files().value(rules.snapshot.objects().get(mesh)?.at)?;
    let backend = Resource::of(document)?.field("mtls").and_then(|mtls| mtls.get("enabledBackend"));
    let enabled = backend.map(Value::text).is_some_and(|backend| !backend.is_empty());
    // Identities may come from elsewhere, too.
    let identity = rules
        .snapshot
        .objects()
        .iter()
        .any(|(_, other)| other.scope == object.scope && rules.snapshot.text(other.kind) == "MeshIdentity");
    let text = "the mesh has no mutual TLS, so this policy has no effect".to_owned();
    (!enabled && !identity).then_some((Fault::NoEffect, text))
}

/// Whether Kuma's own listing of clients leads this one elsewhere.
fn listing_differs(rules: &Rules<'_>, object: &Object, part: u32, client: &Client) -> Option<(Fault, String)> {
    if rules.edition == Edition::V3 {
        return None;
    }
    let admitted = rules.matched(object);
    let slots: Vec<u32> = admitted.iter().filter(|admitted| admitted.has(part)).map(|admitted| admitted.slot).collect();
    let entries = rules.entries(&slots, Facet::Clients);
    let subsets: Vec<Subset> = entries.iter().map(|entry| rules.subset(*entry)).collect();
    let exact: Vec<usize> =
        (0..subsets.len()).filter(|place| subsets.get(*place).is_some_and(|one| one.has(client))).collect();
    let result = |items: &[usize]| {
        let best_first: Vec<_> = items.iter().rev().filter_map(|item| entries.get(*item).copied()).collect();
        rules.merge.fold(&best_first).iter().filter_map(Merged::config).collect::<Vec<_>>()
    };
    let listed = self::rules(&subsets, Grouping::Cliques, Negations::On, Limits::default(), <[usize]>::to_vec).ok()?;
    let meant = result(&exact);
    let differs = cells_with(&listed, client).any(|cell| result(&cell.conf) != meant);
    differs.then(|| {
        let text = "late releases of Kuma 2 list this client in a cell with another result; --semantics kuma/2-cliques shows it";
        (Fault::ListingDiffers, text.to_owned())
    })
}
