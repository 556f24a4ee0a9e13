//! What else is worth knowing about an answer: references that mean nothing, policies without effect, listings that differ.

use serde_json::{Map, Value as Json};
use upheld_engine::Snapshot;
use upheld_engine::merge::audience::holds;
use upheld_engine::merge::{About, Merged};
use upheld_model::layers::Unresolved;
use upheld_model::tree::Value;
use upheld_model::{Facet, Fault, Lookup, Object, Role, Sym};
use upheld_report::Depth;

use super::edition::Edition;
use super::permission::{self, Enforcement};
use super::resources::Dataplane;
use super::rules::Rules;
use super::subsets::{self, Client, Grouping, Limits, Negations, Subset, cells_with, exact_items};
use crate::document::Resource;

/// Something worth knowing.
#[derive(Clone, Debug, PartialEq)]
pub struct Remark {
    /// Which sort of thing.
    pub fault: Fault,
    /// The names that it is said with.
    pub parameters: Map<String, Json>,
    /// In words.
    pub text: String,
}

impl Remark {
    fn new<const N: usize>(fault: Fault, parameters: [(&str, &str); N], text: String) -> Self {
        let parameters = parameters.into_iter().map(|(name, value)| (name.to_owned(), Json::from(value)));
        Self { fault, parameters: parameters.collect(), text }
    }
}

/// All remarks about an answer.
pub fn of(rules: &Rules<'_>, lookup: &Lookup<'_>, object: &Object, about: About<'_>, depth: Depth) -> Vec<Remark> {
    let mut remarks = dangling(rules, object);
    remarks.extend(without_mutual_tls(rules, object));
    remarks.extend(about.part().and_then(|part| not_ready(rules, object, part)));
    if let (Depth::Explained | Depth::All, About::Client { part, tags }) = (depth, about) {
        let text = |symbol| lookup.text(symbol).to_owned();
        let known = tags.as_slice().iter().filter_map(|tag| Some((text(tag.key), text(tag.value?))));
        remarks.extend(listing_differs(rules, object, part, &known.collect()));
    }
    remarks
}

/// Policies that would be attached here through something that does not exist.
pub fn dangling(rules: &Rules<'_>, object: &Object) -> Vec<Remark> {
    let text = |symbol| rules.snapshot.text(symbol);
    let mut remarks = Vec::new();
    for attached in rules.merge.dangling() {
        let Some(policy) = rules.snapshot.policy(attached.policy) else { continue };
        for dangling in attached.dangling.iter() {
            if !dangling.conditions.iter().all(|condition| holds(*condition, &object.facts)) {
                continue;
            }
            let (kind, name, policy) = (text(dangling.kind), text(dangling.name), text(policy.title));
            if dangling.problem == Unresolved::Shadow {
                let text = format!("{policy} is in shadow mode, so it has no effect");
                remarks.push(Remark::new(Fault::NoEffect, [("policy", policy)], text));
                continue;
            }
            let why = match dangling.problem {
                Unresolved::Missing => format!("{kind} `{name}` does not exist"),
                Unresolved::Cycle => format!("{kind} `{name}` leads back to itself"),
                Unresolved::Empty => format!("it does not say which {kind}"),
                Unresolved::Nowhere => "it is for its own namespace and has none".to_owned(),
                Unresolved::TooMany => "it goes through too many routes".to_owned(),
                Unresolved::Unsupported | Unresolved::Shadow => format!("policies cannot be attached to a {kind}"),
            };
            let text = format!("{policy} is attached to nothing: {why}");
            let parameters = [("policy", policy), ("kind", kind), ("name", name)];
            remarks.push(Remark::new(Fault::DanglingReference, parameters, text));
        }
    }
    remarks
}

/// Policies count whatever the state of an inbound; but nobody is led to one that is not ready.
fn not_ready(rules: &Rules<'_>, object: &Object, part: u32) -> Option<Remark> {
    let place = object.parts.iter().take(part as usize).filter(|part| part.role == Role::Inbound).count();
    let inbound = object.parts.get(part as usize).filter(|part| part.role == Role::Inbound)?;
    let document = rules.snapshot.files().value(object.at).and_then(Resource::of).map(Dataplane::of)?;
    let state = document.inbounds().nth(place)?.value.get("state").map(Value::text)?;
    if !matches!(state, "NotReady" | "Ignored") {
        return None;
    }
    let name = rules.snapshot.text(inbound.section);
    let text = format!("inbound {name} is {state}, so nobody is led to it");
    Some(Remark::new(Fault::NoEffect, [("inbound", name), ("state", state)], text))
}

/// Permissions need the identities that mutual TLS proves.
fn without_mutual_tls(rules: &Rules<'_>, object: &Object) -> Option<Remark> {
    let text = match permission::enforcement(rules, object) {
        _ if !permission::grants(rules) => return None,
        Enforcement::On => return None,
        Enforcement::AtGateway => "a built-in gateway enforces no permissions, so this policy has no effect here",
        Enforcement::Off => "the mesh has no mutual TLS, so this policy has no effect",
        Enforcement::Unknown => "no document describes the mesh; without mutual TLS this policy has no effect",
    };
    Some(Remark::new(Fault::NoEffect, [], text.to_owned()))
}

/// The same for kinds that choose among policies.
pub fn without_certificates(snapshot: &Snapshot, mesh: Sym) -> Option<Remark> {
    let text = match permission::mutual_tls(snapshot, mesh) {
        Enforcement::Off => "the mesh has no mutual TLS, so permissions have no effect",
        Enforcement::Unknown => "no document describes the mesh; without mutual TLS permissions have no effect",
        Enforcement::On | Enforcement::AtGateway => return None,
    };
    Some(Remark::new(Fault::NoEffect, [], text.to_owned()))
}

/// Whether Kuma's own listing of clients leads this one elsewhere.
fn listing_differs(rules: &Rules<'_>, object: &Object, part: u32, client: &Client) -> Option<Remark> {
    if rules.edition == Edition::V3 {
        return None;
    }
    let admitted = rules.matched(object);
    let slots: Vec<u32> = admitted.iter().filter(|admitted| admitted.has(part)).map(|admitted| admitted.slot).collect();
    let entries = rules.entries(&slots, Facet::Clients);
    let subsets: Vec<Subset> = entries.iter().map(|entry| rules.subset(*entry)).collect();
    let meant = exact_items(&subsets, client);
    let result = |items: &[usize]| {
        let best_first: Vec<_> = items.iter().rev().filter_map(|item| entries.get(*item).copied()).collect();
        rules.merge.fold(&best_first).iter().filter_map(Merged::config).collect::<Vec<_>>()
    };
    let listed = subsets::rules(&subsets, Grouping::Cliques, Negations::On, Limits::default(), <[usize]>::to_vec);
    let text = match listed {
        Ok(cells) => {
            let meant = result(&meant);
            if cells_with(&cells, client).all(|cell| result(&cell.conf) == meant) {
                return None;
            }
            "late releases of Kuma 2 list this client in a cell with another result; \
             `upheld inspect` shows the cells under --semantics kuma/2-cliques"
        }
        Err(_) => "too many cells to compare this answer with the listing of late releases of Kuma 2",
    };
    Some(Remark::new(Fault::ListingDiffers, [], text.to_owned()))
}
