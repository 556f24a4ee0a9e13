//! The state that a case begins with, taken as it is: it may hold violations, and its tags are not checked.

use std::sync::Arc;

use anyhow::{Context, bail, ensure};
use serde_json::Value as Json;
use upheld_engine::comply::{self, Described, Holds, Kind, ObjectId, ObjectState, Partners, Profile};
use upheld_governance::{Draft, Membership, Organisation, Preexisting, Settings};
use upheld_model::Timestamp;

use super::written::{self, readable};
use crate::case::Case;

/// The clock where a case says nothing about it.
const NOW: &str = "2026-01-01T00:00:00Z";

/// An organisation, and the moment at which it begins.
pub(super) fn build(case: &Case) -> anyhow::Result<(Organisation, Timestamp)> {
    let now = case.field("now").as_str().unwrap_or(NOW);
    let now: Timestamp = now.parse().ok().with_context(|| format!("`{now}` is no valid timestamp"))?;
    let profile = profile(case.text("profile")?)?;
    let mut draft = Draft::new(Arc::clone(&profile), settings(case.field("settings"))?);
    for definition in listed(case, "tagDefinitions") {
        let read = written::definition(&profile, definition);
        draft.define(readable("tag definition", definition, read)?);
    }
    for object in listed(case, "objects") {
        describe(&mut draft.facts, object)?;
    }
    for link in listed(case, "relationships") {
        relate(&mut draft.facts, link)?;
    }
    for policy in listed(case, "policies") {
        let read = readable("policy", policy, written::policy(&profile, policy))?;
        ensure!(draft.facts.policy(read), "the case begins with a policy that there cannot be: {policy}");
    }
    for waiver in listed(case, "waivers") {
        let read = readable("waiver", waiver, written::waiver(waiver))?;
        ensure!(draft.facts.waiver(read), "the case begins with two waivers of one name: {waiver}");
    }
    let defaults = case.field("userDefaultTags");
    draft.defaults(readable("map of default tags", defaults, written::tags(defaults))?);
    Ok((draft.build(), now))
}

fn listed<'c>(case: &'c Case, name: &str) -> impl Iterator<Item = &'c Json> {
    case.field(name).as_array().into_iter().flatten()
}

/// The built-in edition that a case asks for.
fn profile(edition: &str) -> anyhow::Result<Arc<Profile>> {
    let name = format!("meshstack/{edition}");
    upheld_loader::load::profile(&name).with_context(|| format!("there is no edition `{name}`"))
}

fn settings(written: &Json) -> anyhow::Result<Settings> {
    let mut settings = Settings::default();
    for (name, value) in written.as_object().into_iter().flatten() {
        match (name.as_str(), value) {
            ("preexisting", Json::String(word)) if word == "tolerate" => settings.preexisting = Preexisting::Tolerated,
            ("exemptPartnerWorkspaces", Json::Bool(true)) => settings.partners = Partners::Exempt,
            ("requireWorkspaceMembership", Json::Bool(true)) => settings.membership = Membership::Required,
            (_, Json::Bool(false) | Json::Null) => {}
            _ => bail!("there is no setting `{name}: {value}`"),
        }
    }
    Ok(settings)
}

fn describe(draft: &mut comply::Draft, written: &Json) -> anyhow::Result<()> {
    let object = refer(draft, written, "ref")?.context("an object has no `ref`")?;
    let says = |name: &str| readable("switch", written, written::switch(written, name)).map(Option::unwrap_or_default);
    let standing = match (says("deleted")?, says("disabled")?) {
        (true, _) => ObjectState::Deleted,
        (false, true) => ObjectState::Disabled,
        (false, false) => ObjectState::Live,
    };
    let partner = written::partner(written);
    let paid_by = refer(draft, written, "paymentMethod")?;
    let described = Described { standing, partner, paid_by, ..Described::default() };
    ensure!(draft.describe(object, described).is_ok(), "the case describes an object twice: {written}");
    let tags = written.get("tags").unwrap_or(&Json::Null);
    for (key, values) in readable("map of tags", written, written::tags(tags))? {
        draft.tag(object, &key, values.iter().map(smol_str::SmolStr::as_str));
    }
    // Only what lives in a workspace is related to it by this field: a group only comes from there.
    if let Some(workspace) = refer(draft, written, "workspace")?
        && draft.so_far().kind_of(object).is_some_and(|kind| lives_in_scope(draft.profile(), kind))
    {
        draft.link(workspace, object, None, None);
    }
    Ok(())
}

/// Whether objects of a kind live in a scope.
pub(super) fn lives_in_scope(profile: &Profile, kind: Kind) -> bool {
    let scope = profile.scope.and_then(|scope| profile.subject_of(scope));
    let own = profile.subject_of(kind);
    let mut relations = profile.relations.iter();
    relations.any(|relation| relation.holds == Holds::Owned && Some(relation.a) == scope && Some(relation.b) == own)
}

fn relate(draft: &mut comply::Draft, written: &Json) -> anyhow::Result<()> {
    let end = |draft: &mut comply::Draft, name: &str| {
        refer(draft, written, name)?.with_context(|| format!("a relationship has no `{name}`"))
    };
    let (a, b) = (end(draft, "a")?, end(draft, "b")?);
    let role = refer(draft, written, "role")?;
    ensure!(draft.link(a, b, role, None), "the case begins with a relationship that there cannot be: {written}");
    Ok(())
}

/// The object that a field refers to, if it is there.
fn refer(draft: &mut comply::Draft, written: &Json, name: &str) -> anyhow::Result<Option<ObjectId>> {
    let Some(reference) = written.get(name).and_then(Json::as_str) else { return Ok(None) };
    let (kind, id) = split(draft.profile(), reference).with_context(|| format!("`{reference}` is no reference"))?;
    Ok(Some(draft.refer(kind, id, None)))
}

/// The kind and id of a reference; the kind is written by its neutral name, exactly.
pub(super) fn split<'r>(profile: &Profile, reference: &'r str) -> Option<(Kind, &'r str)> {
    let (word, id) = reference.split_once('/')?;
    let kind = profile.kind(word).filter(|kind| profile.kind_name(*kind) == word)?;
    (!id.is_empty()).then_some((kind, id))
}
