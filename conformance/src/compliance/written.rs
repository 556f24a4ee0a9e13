//! How values, tags, policies, definitions, waivers and violations are written. What cannot be read makes a step invalid.
//!
//! The corpus is narrower than the documents of users, which have other names for kinds, and wider, with fields that nobody
//! reads; so it is read here.

use anyhow::bail;
use serde_json::{Value as Json, json};
use smol_str::SmolStr;
use upheld_engine::comply::{Level, Partner, Policy, Profile, Rule, Strategy, Subject, Tags, Waiver};
use upheld_governance::{
    Action, Definition, Immutable, Mandatory, Pattern, Protects, Redefinition, Restricted, TagType, canonical_number,
};
use upheld_model::Timestamp;

/// What the types of the engine cannot hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Misshapen;

pub(super) type Read<T> = Result<T, Misshapen>;

/// A list of values as texts: nothing, one, or several.
pub(super) fn texts(values: &Json) -> Read<Vec<SmolStr>> {
    let mut texts: Vec<SmolStr> = Vec::new();
    let items = match values {
        Json::Array(items) => items.as_slice(),
        one => std::slice::from_ref(one),
    };
    for item in items {
        let value = match item {
            Json::Null => continue,
            Json::Bool(truth) => SmolStr::new(if *truth { "true" } else { "false" }),
            Json::Number(number) => {
                let text = number.to_string();
                canonical_number(&text).map_or_else(|| SmolStr::new(&text), SmolStr::from)
            }
            Json::String(text) => SmolStr::new(text),
            Json::Array(_) | Json::Object(_) => return Err(Misshapen),
        };
        if !texts.contains(&value) {
            texts.push(value);
        }
    }
    Ok(texts)
}

/// Tags by key; none if nothing is written.
pub(super) fn tags(written: &Json) -> Read<Tags> {
    match written {
        Json::Null => Ok(Tags::new()),
        Json::Object(tags) => tags.iter().map(|(key, values)| Ok((SmolStr::new(key), texts(values)?))).collect(),
        _ => Err(Misshapen),
    }
}

/// Values as a list of texts.
pub(super) fn shown(values: &[SmolStr]) -> Json {
    json!(values.iter().map(SmolStr::as_str).collect::<Vec<_>>())
}

/// A violation in the words of the corpus.
pub(super) fn violation(policy: &Json, rule: &Json, sides: [&Json; 2], values: [&[SmolStr]; 2]) -> Json {
    let ([a, b], [a_values, b_values]) = (sides, values.map(shown));
    json!({"policy": policy, "rule": rule, "a": a, "b": b, "aValues": a_values, "bValues": b_values})
}

fn field<'j>(map: &'j Json, name: &str) -> &'j Json {
    map.get(name).unwrap_or(&Json::Null)
}

/// A text that must be there.
pub(super) fn text(map: &Json, name: &str) -> Read<SmolStr> {
    field(map, name).as_str().map(SmolStr::new).ok_or(Misshapen)
}

/// A text that may be left out.
pub(super) fn optional_text(map: &Json, name: &str) -> Read<Option<SmolStr>> {
    match field(map, name) {
        Json::Null => Ok(None),
        Json::String(text) => Ok(Some(SmolStr::new(text))),
        _ => Err(Misshapen),
    }
}

/// A moment that may be left out.
pub(super) fn moment(map: &Json, name: &str) -> Read<Option<Timestamp>> {
    optional_text(map, name)?.map(|text| text.parse().map_err(|_| Misshapen)).transpose()
}

/// A switch that may be left out.
pub(super) fn switch(map: &Json, name: &str) -> Read<Option<bool>> {
    match field(map, name) {
        Json::Null => Ok(None),
        Json::Bool(truth) => Ok(Some(*truth)),
        _ => Err(Misshapen),
    }
}

/// Whether an object is the provider's own.
pub(super) fn partner(object: &Json) -> Partner {
    match field(object, "class").as_str() {
        Some("partner") => Partner::Yes,
        _ => Partner::No,
    }
}

/// What a policy or a definition is about: the neutral name, exactly.
pub(super) fn subject(profile: &Profile, map: &Json) -> Read<Subject> {
    let name = text(map, "kind")?;
    profile.subject(&name).filter(|subject| profile.subject_name(*subject) == name).ok_or(Misshapen)
}

/// A policy.
pub(super) fn policy(profile: &Profile, written: &Json) -> Read<Policy> {
    let (a, b) = (field(written, "a"), field(written, "b"));
    let rules = match field(written, "rules") {
        Json::Null => vec![Rule { a: text(a, "tag")?, b: text(b, "tag")? }],
        Json::Array(rules) => {
            let rule = |rule: &Json| Ok(Rule { a: text(rule, "a")?, b: text(rule, "b")? });
            rules.iter().map(rule).collect::<Read<_>>()?
        }
        _ => return Err(Misshapen),
    };
    let strategy = match optional_text(written, "strategy")? {
        Some(word) => Strategy::of(&word).ok_or(Misshapen)?,
        None => Strategy::Intersection,
    };
    let level = match optional_text(written, "enforcement")? {
        Some(word) => Level::of(&word).ok_or(Misshapen)?,
        None => Level::Enforce,
    };
    let plain = Policy::new(text(written, "id")?, [subject(profile, a)?, subject(profile, b)?], rules);
    Ok(Policy {
        strategy,
        level,
        enforce_from: moment(written, "enforceFrom")?,
        description: optional_text(written, "description")?,
        how_to_fix: optional_text(written, "howToFix")?,
        severity: optional_text(written, "severity")?,
        ..plain
    })
}

/// A tag definition.
pub(super) fn definition(profile: &Profile, written: &Json) -> Read<Definition> {
    let changes = redefinition(profile, written)?;
    Ok(Definition {
        subject: changes.subject,
        key: changes.key,
        tag: changes.tag.ok_or(Misshapen)?,
        options: changes.options.unwrap_or_default(),
        withdrawn: Vec::new(),
        regex: changes.regex,
        default: changes.default.unwrap_or_default(),
        mandatory: changes.mandatory.unwrap_or_default(),
        restricted: changes.restricted.unwrap_or_default(),
        immutable: changes.immutable.unwrap_or_default(),
        protects: Protects::default(),
        at: None,
    })
}

/// What changes of a tag definition.
pub(super) fn redefinition(profile: &Profile, written: &Json) -> Read<Redefinition> {
    let values = |name: &str| written.get(name).map(texts).transpose();
    let tag = optional_text(written, "type")?.map(|word| TagType::of(&word).ok_or(Misshapen)).transpose()?;
    let regex =
        optional_text(written, "regex")?.map(|pattern| Pattern::new(&pattern).map_err(|_| Misshapen)).transpose()?;
    let switched = |name: &str| switch(written, name);
    Ok(Redefinition {
        subject: subject(profile, written)?,
        key: text(written, "key")?,
        tag,
        options: values("options")?,
        regex,
        default: values("default")?,
        mandatory: switched("mandatory")?.map(|yes| if yes { Mandatory::Yes } else { Mandatory::No }),
        restricted: switched("restricted")?.map(|yes| if yes { Restricted::Yes } else { Restricted::No }),
        immutable: switched("immutable")?.map(|yes| if yes { Immutable::Yes } else { Immutable::No }),
    })
}

/// The end of a tag definition.
pub(super) fn undefinition(profile: &Profile, written: &Json) -> Read<Action> {
    let subject = SmolStr::new(profile.subject_name(subject(profile, written)?));
    Ok(Action::Undefine { subject, key: text(written, "key")? })
}

/// A waiver; whether it has a reason is for the engine to ask.
pub(super) fn waiver(written: &Json) -> Read<Waiver> {
    let matched = field(written, "match");
    Ok(Waiver {
        id: text(written, "id")?,
        policy: text(written, "policy")?,
        a: optional_text(matched, "a")?,
        b: optional_text(matched, "b")?,
        scope: optional_text(matched, "workspace")?,
        category: optional_text(written, "category")?,
        reason: optional_text(written, "reason")?.unwrap_or_default(),
        approved_by: optional_text(written, "approvedBy")?,
        ticket: optional_text(written, "ticket")?,
        not_before: moment(written, "notBefore")?,
        expires: moment(written, "expiresAt")?,
        at: None,
    })
}

/// What a case begins with has to be readable.
pub(super) fn readable<T>(what: &str, written: &Json, read: Read<T>) -> anyhow::Result<T> {
    match read {
        Ok(read) => Ok(read),
        Err(Misshapen) => bail!("the case begins with a {what} that makes no sense: {written}"),
    }
}
