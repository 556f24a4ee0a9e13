//! `buntime-pep/seeding` and `buntime-pep/service`: which policies a store begins with.

use anyhow::Context;
use serde_json::{Map, Value as Json, json};
use upheld_dialects::access::policy::Standing;
use upheld_dialects::access::seeding::{DEFAULT_ENVIRONMENT, PolicyList, listed, seed};
use upheld_dialects::access::{Edition, OnlyIfEmpty, PolicyStore, Seed, manifest};
use upheld_loader::Format;
use upheld_model::{Diagnostic, Diagnostics, Fault, SourceId};
use upheld_server::Config;

use super::store::all_with_ids;
use crate::case::Case;
use crate::difference::differences;
use crate::outcome::Outcome;
use crate::served::{Server, both};

/// A process that starts: kept policies, then those of its settings, then its seed.
pub(super) fn run(case: &Case) -> anyhow::Result<Outcome> {
    let config = case.field("config");
    let source = SourceId::new(0);
    let (file, _) = upheld_syntax::parse("manifest.json", Format::Json, config.to_string(), source);
    let document = file.tree.documents().next().context("the case has no config")?;
    let mut found = Diagnostics::default();
    let read = manifest::read(source, document, Edition::Compat, Standing::New, &mut found);
    let settings = read.context("the settings of the case were refused")?;

    let mut store: PolicyStore<Json> = PolicyStore::new();
    let mut reported = Vec::new();
    let files = case.field("files");
    if let Some(path) = &settings.store
        && files.get(path.as_str()).is_some()
    {
        match read_file(files, path) {
            Ok(policies) => store.extend(policies),
            Err(problem) => reported.push(problem.message),
        }
    }
    store.extend(all_with_ids(config.get("policies").unwrap_or(&Json::Null))?);
    let inline = config.get("policySeed").and_then(|seed| seed.get("policies"));
    let wanted = Seed {
        enabled: settings.seed.enabled,
        only_if_empty: settings.seed.only_if_empty,
        environments: settings.seed.environments.clone(),
        file: settings.seed.file.as_ref().map(|file| read_file(files, file)),
        policies: all_with_ids(inline.unwrap_or(&Json::Null))?,
    };
    match wanted.plan(&store, case.field("environment").as_str().unwrap_or(DEFAULT_ENVIRONMENT)) {
        Ok(plan) => {
            reported.extend(plan.problem.map(|problem| problem.message));
            seed(&mut store, plan.policies, OnlyIfEmpty::No);
        }
        Err(skipped) => reported.push(format!("{skipped:?}")),
    }
    let expected = case.field("expect");
    let mut lines = compare(expected, &store);
    if let Some(log) = expected.get("log").filter(|_| reported.is_empty()) {
        lines.push(format!("log: expected something like {log}, but nothing is said"));
    }
    let in_library = if lines.is_empty() { Outcome::Passed } else { Outcome::Failed(lines) };
    Ok(both(in_library, served(case, settings.store.as_deref())))
}

/// A server that starts with the settings in a folder. What it logs is not looked at.
fn served(case: &Case, kept: Option<&str>) -> anyhow::Result<Outcome> {
    let folder = tempfile::tempdir()?;
    let manifest = folder.path().join("manifest.json");
    std::fs::write(&manifest, case.field("config").to_string())?;
    let mut watch = vec![manifest];
    for (name, content) in case.field("files").as_object().into_iter().flatten() {
        let text = content.get("$raw").and_then(Json::as_str).map_or_else(|| content.to_string(), str::to_owned);
        std::fs::write(folder.path().join(name), text)?;
        if kept == Some(name) {
            watch.push(folder.path().join(name));
        }
    }
    let mut config = Config { watch, semantics: vec![Edition::Compat.name().to_owned()], ..Config::default() };
    let environment = case.field("environment").as_str().unwrap_or(DEFAULT_ENVIRONMENT);
    environment.clone_into(&mut config.access.environment);
    let listed = Server::with(config)?.get("/authz/api/policies")?.json();
    let store: PolicyStore<Json> = all_with_ids(&listed)?.into_iter().collect();
    let lines = compare(case.field("expect"), &store);
    Ok(if lines.is_empty() { Outcome::Passed } else { Outcome::Failed(lines) })
}

/// A program that puts policies into a store.
pub(super) fn run_call(case: &Case) -> anyhow::Result<Outcome> {
    let mut store: PolicyStore<Json> = all_with_ids(case.field("given_policies"))?.into_iter().collect();
    let call = case.field("call");
    let policies = all_with_ids(call.get("policies").context("the call has no policies")?)?;
    let only_if_empty = match call.get("onlyIfEmpty").and_then(Json::as_bool) {
        Some(false) => OnlyIfEmpty::No,
        _ => OnlyIfEmpty::Yes,
    };
    let returned = seed(&mut store, policies, only_if_empty);
    let expected = case.field("expect");
    let mut lines = compare(expected, &store);
    if let Some(count) = expected.get("returned") {
        lines.extend(differences(&json!({"returned": count}), &json!({"returned": returned})));
    }
    Ok(if lines.is_empty() { Outcome::Passed } else { Outcome::Failed(lines) })
}

/// What a case says of a store: which policies are there, which are not, and what they look like.
fn compare(expected: &Json, store: &PolicyStore<Json>) -> Vec<String> {
    let part = |name: &str| expected.get(name).unwrap_or(&Json::Null);
    let (mut want, mut have) = (Map::new(), Map::new());
    for (list, present) in [("present", true), ("absent", false)] {
        for id in part(list).as_array().into_iter().flatten().filter_map(Json::as_str) {
            want.insert(id.to_owned(), json!(present));
            have.insert(id.to_owned(), json!(store.get(id).is_some()));
        }
    }
    for (path, value) in part("fields").as_object().into_iter().flatten() {
        want.insert(path.clone(), value.clone());
        have.insert(path.clone(), field(store, path).cloned().unwrap_or_default());
    }
    differences(&Json::Object(want), &Json::Object(have))
}

/// A field of a policy: `id.field`.
fn field<'s>(store: &'s PolicyStore<Json>, path: &str) -> Option<&'s Json> {
    let (id, policy) = store.iter().find(|(id, _)| path.strip_prefix(id).is_some_and(|rest| rest.starts_with('.')))?;
    let names = path.strip_prefix(id)?.split('.').skip(1);
    names.into_iter().try_fold(policy, |value, name| value.get(name))
}

fn read_file(files: &Json, name: &str) -> Result<PolicyList<Json>, Diagnostic> {
    let Some(content) = files.get(name) else {
        return Err(Diagnostic::warning(Fault::Unreadable, format!("`{name}` does not exist")));
    };
    let text = match content.get("$raw").and_then(Json::as_str) {
        Some(text) => text.to_owned(),
        None => content.to_string(),
    };
    let (file, problems) = upheld_syntax::parse(name, Format::Json, text, SourceId::new(0));
    if let Some(problem) = problems.into_iter().next() {
        return Err(problem);
    }
    let policies = file.tree.documents().next().map(listed).unwrap_or_default();
    Ok(policies.into_iter().map(|(id, policy)| (id, serde_json::to_value(policy).unwrap_or_default())).collect())
}
