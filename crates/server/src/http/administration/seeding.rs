//! Policies that the store begins with: `policySeed` of the manifest.
//!
//! Seeds are written like everything else, once: after that they belong to the store, and whoever changes or deletes one is not
//! overruled by the next start. Of two servers that start at once on one store, one writes; the other sees it.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use smol_str::SmolStr;
use upheld_dialects::access::claim::STORED;
use upheld_dialects::access::manifest::Manifest;
use upheld_dialects::access::seeding::{PolicyList, listed};
use upheld_dialects::access::{POLICY, Plan, PolicyStore, SCOPE, Seed, Skipped};
use upheld_loader::{Input, read};
use upheld_model::tree::Value;
use upheld_model::{Diagnostic, Fault, Files, Severity};
use upheld_store::{Change, Key, machine};
use upheld_syntax::json;

use super::policy_list::decider;
use crate::app::Shared;
use crate::view::View;
use crate::writer::{Author, Condition, Mode, Refusal, Write};

/// A policy as it will be stored.
type Text = Arc<str>;

/// How often it is tried again because somebody wrote in between.
const TRIES: usize = 8;

/// Puts the seeds of the manifest into the store, if that is wanted here and now. What is wrong with them is logged; the server starts anyway.
pub(crate) async fn seed(app: &Shared) {
    for _ in 0..TRIES {
        match try_seed(app).await {
            // Somebody wrote in between, perhaps the same seeds: look again.
            Err(Refusal::Condition(..)) => {}
            Err(Refusal::Broken(broken)) => {
                let first = broken.diagnostics.as_slice().first().map_or("", |first| first.message.as_str());
                tracing::error!(
                    problems = broken.diagnostics.errors(),
                    first,
                    "the policy seed is invalid and was not stored"
                );
                return;
            }
            Err(Refusal::NotAdmitted(refused)) => {
                tracing::error!(answer = refused.ruled.answer, "the policy seed may not be stored");
                return;
            }
            Err(Refusal::NotPermitted(problem)) => {
                tracing::error!(problem.detail, "the policy seed may not be stored");
                return;
            }
            Err(Refusal::Undone(undone)) => {
                tracing::error!(because = undone.sentence(), "the policy seed could not be stored");
                return;
            }
            Err(Refusal::Store(error)) => {
                tracing::error!(%error, "the policy seed could not be stored");
                return;
            }
            Ok(()) => return,
        }
    }
    tracing::error!("the policy seed could not be stored because of constant writes by others");
}

async fn try_seed(app: &Shared) -> Result<(), Refusal> {
    let view = app.live.view();
    let environment = app.config.access.environment.clone();
    let wanted = Arc::clone(&view);
    // It may read a file.
    let planned = machine::aside(move || plan(&wanted, &environment)).await;
    let Ok(Some(planned)) = planned else { return Ok(()) };
    let Plan { policies, problem } = match planned {
        Ok(plan) => plan,
        Err(skipped) => {
            tracing::info!(?skipped, "the policy seed is not used");
            return Ok(());
        }
    };
    if let Some(problem) = problem {
        tracing::warn!(problem = problem.message, "the file of the policy seed cannot be used");
    }
    // Of one id, the last holds in the place of the first.
    let policies: PolicyStore<Text> = policies.into_iter().collect();
    let changes: Vec<Change> = (policies.iter())
        .filter_map(|(id, text)| Some(Change::Put { key: Key::new(POLICY, SCOPE, id).ok()?, text: Arc::clone(text) }))
        .collect();
    if changes.is_empty() {
        return Ok(());
    }
    let count = changes.len();
    let write = Write {
        author: Author::Server("seed"),
        message: Some("policies that the store begins with".to_owned()),
        changes,
        conditions: vec![Condition::At(view.revision())],
        idempotency: None,
        mode: Mode::Commit,
    };
    let written = app.writer.write(write).await?;
    tracing::info!(policies = count, revision = written.revision.0, "the store was seeded");
    Ok(())
}

/// What the manifest wants; `None` if it says nothing of seeds.
fn plan(view: &View, environment: &str) -> Option<Result<Plan<Text>, Skipped>> {
    let decider = decider(view)?;
    let manifest = decider.manifest;
    let settings = decider.files.value(manifest.at?)?.get("policySeed")?;
    let inline = settings.get("policies").into_iter().flat_map(Value::items);
    let inline = inline.filter_map(|policy| Some((SmolStr::new(policy.get("id")?.text()), json::write(policy).into())));
    let there = decider.decide.rules().iter().map(|rule| (rule.name.clone(), Text::from("")));
    let seed = Seed {
        enabled: manifest.seed.enabled,
        only_if_empty: manifest.seed.only_if_empty,
        environments: manifest.seed.environments.clone(),
        file: manifest.seed.file.as_deref().map(|file| policies_of(decider.files, manifest, file)),
        policies: inline.collect(),
    };
    Some(seed.plan(&there.collect(), environment))
}

/// The policies of the file that a manifest names, which lies beside it. A manifest out of the store has nothing beside it, and
/// must not make the server read files.
fn policies_of(files: &Files, manifest: &Manifest, file: &str) -> Result<PolicyList<Text>, Diagnostic> {
    let unusable = |message: String| Diagnostic::warning(Fault::Unreadable, message);
    let beside = manifest.at.and_then(|at| files.get(at.source)).map_or("", |file| file.name.as_str());
    if beside.starts_with(STORED) {
        return Err(unusable(format!("`{file}` is not read: the manifest that names it is in the store")));
    }
    let path = Path::new(beside).parent().unwrap_or(Path::new("")).join(file);
    let bytes = fs::read(&path).map_err(|error| unusable(format!("cannot read `{}`: {error}", path.display())))?;
    let (files, problems) = read(vec![Input::bytes(file, bytes)]);
    if let Some(problem) = problems.as_slice().iter().find(|problem| problem.severity == Severity::Error) {
        return Err(problem.clone());
    }
    let documents = files.iter().flat_map(|(_, file)| file.tree.documents());
    Ok(documents.flat_map(listed).map(|(id, policy)| (id, json::write(policy).into())).collect())
}
