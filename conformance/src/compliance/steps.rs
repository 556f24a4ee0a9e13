//! What a step asks for, put to the engine, and its answer in the words of the corpus.

use anyhow::{Context, bail};
use serde_json::{Map, Value as Json, json};
use smol_str::SmolStr;
use upheld_engine::comply::{Class, Comply, Finding, ObjectId, Tags};
use upheld_governance::{Action, Actor, NewLink, NewObject, Organisation, Outcome, Refusal};
use upheld_model::{State, Timestamp};

use super::organisation::{lives_in_scope, split};
use super::written::{self, Misshapen, Read, shown, text};

/// Takes a step; time may pass.
pub(super) fn take(
    organisation: &mut Organisation,
    now: &mut Timestamp,
    verb: &str,
    step: &Json,
) -> anyhow::Result<Json> {
    let actor = actor(organisation.comply(), step.get("by").unwrap_or(&Json::Null))?;
    if let Some(answer) = question(organisation, *now, &actor, verb, step) {
        return Ok(answer.unwrap_or_else(|Misshapen| refused(Outcome::Invalid)));
    }
    let Some(action) = action(organisation.comply(), verb, step) else { bail!("there is no such step") };
    let Ok(action) = action else { return Ok(refused(Outcome::Invalid)) };
    let tried = organisation.commit(*now, &actor, &action);
    *now = tried.at;
    let decision = organisation.decision(tried);
    let tags = decision.tags.unwrap_or_default();
    Ok(json!({
        "outcome": decision.outcome.word(),
        "violations": violations(decision.violations.iter()),
        "tags": tagged(&tags),
    }))
}

/// The answer to what was not even done: what is not there violates nothing.
fn refused(outcome: Outcome) -> Json {
    json!({"outcome": outcome.word(), "compliant": true, "violations": [], "waived": []})
}

fn actor(comply: &Comply, by: &Json) -> anyhow::Result<Actor> {
    let (class, role, scope) = match by {
        Json::Null => return Ok(Actor::System),
        Json::String(class) => (class.as_str(), None, None),
        by => {
            let field = |name: &str| by.get(name).and_then(Json::as_str);
            (field("class").context("who acts has no class")?, field("role"), field("workspace"))
        }
    };
    let class = match class {
        "endUser" => Class::EndUser,
        "admin" => Class::Administrator,
        other => bail!("there is no class `{other}`"),
    };
    let role = match role {
        Some(name) => comply.profile().role(name),
        None => comply.profile().role_of(class),
    };
    let role = role.with_context(|| format!("there is no such role: {by}"))?;
    Ok(Actor::Person { role, scope: scope.map(SmolStr::new), name: None })
}

/// The answer to a verb that changes nothing; nothing if the verb is another one.
fn question(organisation: &Organisation, now: Timestamp, actor: &Actor, verb: &str, step: &Json) -> Option<Read<Json>> {
    let comply = organisation.comply();
    Some(match verb {
        "check" => check(comply, now, step),
        "audit" => Ok(listing(&comply.violations(now))),
        "listViolations" => Ok(match organisation.violations_for(actor, now) {
            Ok(found) => listing(&found),
            Err(Refusal::Right { .. } | Refusal::Scope { .. }) => refused(Outcome::Forbidden),
            Err(_) => refused(Outcome::Invalid),
        }),
        "candidates" => candidates(organisation, now, step),
        "allowedValues" => allowed_values(organisation, now, actor, step),
        "effectiveTenantTags" => {
            resolve(comply, step, "project").map(|project| json!({"tags": tagged(&comply.effective_tags(project))}))
        }
        _ => return None,
    })
}

fn check(comply: &Comply, now: Timestamp, step: &Json) -> Read<Json> {
    let (a, b) = (resolve(comply, step, "a")?, resolve(comply, step, "b")?);
    let found = comply.findings_between(a, b, now);
    let violations = violations(found.iter().filter(|finding| matches!(finding.state, State::Hard | State::Soft)));
    Ok(json!({"compliant": violations.as_array().is_some_and(Vec::is_empty), "violations": violations}))
}

fn candidates(organisation: &Organisation, now: Timestamp, step: &Json) -> Read<Json> {
    let comply = organisation.comply();
    let object = resolve(comply, step, "for")?;
    let role = role(comply, step)?.map(|role| comply.lookup(&role).map_err(|_| Misshapen)).transpose()?;
    let (kind, profile) = (text(step, "kind")?, comply.profile());
    let known = profile.kinds.iter().any(|own| own.name == kind) || profile.subjects.iter().any(|own| own.name == kind);
    if !known {
        return Err(Misshapen);
    }
    let offered = organisation.candidates(now, &Actor::System, object, &kind, role).map_err(|_| Misshapen)?;
    let offered: Vec<String> = offered.into_iter().map(|object| comply.reference(object).to_string()).collect();
    Ok(json!({"candidates": offered}))
}

/// Options only: what other tags could be given is not asked for.
fn allowed_values(organisation: &Organisation, now: Timestamp, actor: &Actor, step: &Json) -> Read<Json> {
    let comply = organisation.comply();
    let (object, tag) = (resolve(comply, step, "object")?, text(step, "tag")?);
    let values = organisation.allowed_values(now, actor, object, &tag).map_err(|_| Misshapen)?;
    let kind = comply.kind_of(object).and_then(|kind| comply.profile().subject_of(kind));
    let definition = kind.and_then(|subject| organisation.schema().definition(subject, &tag));
    let options = definition.map_or(&[][..], |definition| &definition.options);
    let values: Vec<SmolStr> = values.into_iter().filter(|value| options.contains(value)).collect();
    Ok(json!({"values": shown(&values)}))
}

fn listing(found: &[Finding]) -> Json {
    let (waived, counted): (Vec<_>, Vec<_>) = found.iter().partition(|violation| violation.waiver.is_some());
    json!({"violations": violations(counted.into_iter()), "waived": violations(waived.into_iter())})
}

fn violations<'v>(found: impl Iterator<Item = &'v Finding>) -> Json {
    let told = found.map(|violation| {
        let sides = [&violation.a, &violation.b];
        let [a, b] = sides.map(|side| json!(side.object.as_str()));
        let policy = json!(violation.policy.as_str());
        written::violation(&policy, &json!(violation.rule), [&a, &b], sides.map(|side| side.values.as_slice()))
    });
    told.collect()
}

fn tagged(tags: &Tags) -> Json {
    Json::Object(tags.iter().map(|(key, values)| (key.to_string(), shown(values))).collect::<Map<_, _>>())
}

/// The live object that a field of a step refers to.
fn resolve(comply: &Comply, step: &Json, name: &str) -> Read<ObjectId> {
    let reference = reference(comply, step, name)?;
    comply.lookup(&reference).map_err(|_| Misshapen)
}

/// A reference whose kind is known; whether there is such an object is for the engine to ask.
fn reference(comply: &Comply, map: &Json, name: &str) -> Read<SmolStr> {
    let reference = text(map, name)?;
    split(comply.profile(), &reference).ok_or(Misshapen)?;
    Ok(reference)
}

/// A reference that may be left out.
fn optional_reference(comply: &Comply, map: &Json, name: &str) -> Read<Option<SmolStr>> {
    match map.get(name) {
        None | Some(Json::Null) => Ok(None),
        Some(_) => reference(comply, map, name).map(Some),
    }
}

/// What a verb wants to change; nothing if there is no such verb.
fn action(comply: &Comply, verb: &str, step: &Json) -> Option<Read<Action>> {
    let profile = comply.profile();
    let part = |name: &str| step.get(name).unwrap_or(&Json::Null);
    let ends = || Ok((reference(comply, step, "a")?, reference(comply, step, "b")?, role(comply, step)?));
    Some(match verb {
        "createProject" => new_object(comply, step, Some("project")).map(Action::Create),
        "createWorkspace" => new_object(comply, step, Some("workspace")).map(Action::Create),
        "createObject" => new_object(comply, step, None).map(Action::Create),
        "setTags" => set_tags(comply, step),
        "link" => ends().map(|(a, b, role)| Action::Link { a, b, role }),
        "unlink" => ends().map(|(a, b, role)| Action::Unlink { a, b, role }),
        "deleteObject" => reference(comply, step, "object").map(|object| Action::Delete { object }),
        "createPolicy" => written::policy(profile, part("policy")).map(Action::CreatePolicy),
        "updatePolicy" => written::policy(profile, part("policy")).map(Action::UpdatePolicy),
        "deletePolicy" => text(step, "policy").map(|policy| Action::DeletePolicy { policy }),
        "createTagDefinition" => written::definition(profile, part("definition")).map(Action::Define),
        "updateTagDefinition" => written::redefinition(profile, part("definition")).map(Action::Redefine),
        "deleteTagDefinition" => written::undefinition(profile, part("definition")),
        "setUserDefaultTags" => written::tags(part("tags")).map(|tags| Action::SetDefaults { tags }),
        "grantWaiver" => written::waiver(part("waiver")).map(Action::Grant),
        "revokeWaiver" => text(step, "waiver").map(|waiver| Action::Revoke { waiver }),
        "advance" => written::moment(step, "to").and_then(|to| Ok(Action::Advance { to: to.ok_or(Misshapen)? })),
        _ => return None,
    })
}

fn role(comply: &Comply, map: &Json) -> Read<Option<SmolStr>> {
    optional_reference(comply, map, "role")
}

fn set_tags(comply: &Comply, step: &Json) -> Read<Action> {
    let tags = written::tags(step.get("tags").unwrap_or(&Json::Null))?;
    Ok(Action::SetTags { object: reference(comply, step, "object")?, tags })
}

/// An object that is to be, of a kind if the verb says so.
fn new_object(comply: &Comply, step: &Json, kind: Option<&str>) -> Read<NewObject> {
    let written = step.get("object").ok_or(Misshapen)?;
    let object = reference(comply, written, "ref")?;
    let (own, _) = split(comply.profile(), &object).ok_or(Misshapen)?;
    if kind.is_some_and(|kind| comply.profile().kind_name(own) != kind) {
        return Err(Misshapen);
    }
    let mut links = Vec::new();
    if let Some(other) = optional_reference(comply, written, "workspace")?
        && lives_in_scope(comply.profile(), own)
    {
        links.push(NewLink { other, role: None });
    }
    for zone in listed(step, "landingZones")? {
        links.push(new_link(comply, zone, "landingZone")?);
    }
    for principal in listed(step, "principals")? {
        links.push(new_link(comply, principal, "principal")?);
    }
    let tags = written::tags(written.get("tags").unwrap_or(&Json::Null))?;
    let partner = written::partner(written);
    let paid_by = optional_reference(comply, written, "paymentMethod")?;
    Ok(NewObject { object, name: None, tags, links, partner, paid_by, ..NewObject::default() })
}

/// A relationship to an object of a subject, written as a reference or with a role.
fn new_link(comply: &Comply, written: &Json, subject: &str) -> Read<NewLink> {
    let link = match written {
        Json::String(reference) => NewLink { other: SmolStr::new(reference), role: None },
        written => NewLink { other: reference(comply, written, "ref")?, role: role(comply, written)? },
    };
    let profile = comply.profile();
    let (kind, _) = split(profile, &link.other).ok_or(Misshapen)?;
    let fits = profile.subject_of(kind).is_some_and(|own| profile.subject_name(own) == subject);
    if fits { Ok(link) } else { Err(Misshapen) }
}

fn listed<'j>(step: &'j Json, name: &str) -> Read<&'j [Json]> {
    match step.get(name) {
        None | Some(Json::Null) => Ok(&[]),
        Some(Json::Array(items)) => Ok(items),
        Some(_) => Err(Misshapen),
    }
}
