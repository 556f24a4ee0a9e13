//! May a change be made?

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;
use upheld_engine::comply::{Class, Tags};
use upheld_governance::{Action, Actor, Decision, NewLink, NewObject, Outcome, Seeker, words};
use upheld_model::nearest::nearest;
use upheld_model::{Diagnostic, Fault};

use super::Organisation;
use upheld_report::compliance::{self as report, Ruled, check_of};

/// A change, and who would make it.
#[derive(Clone, Debug, Default, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct ChangeRequest {
    /// In words: link A~B, unlink A~B, tag OBJECT KEY=VALUE,VALUE, create OBJECT KEY=VALUE, or delete OBJECT.
    pub change: Vec<String>,
    /// In this role.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// Where it is to be created.
    #[serde(rename = "in", skip_serializing_if = "Option::is_none")]
    pub inside: Option<String>,
    /// Who would do it; an end-user when left out.
    #[serde(rename = "as", skip_serializing_if = "Option::is_none")]
    pub person: Option<String>,
}

impl Organisation<'_> {
    /// What would become of a change; nothing is changed.
    pub fn would(&self, request: &ChangeRequest) -> Result<(Ruled, Outcome), Vec<Diagnostic>> {
        let actor = self.asker(request.person.as_deref(), Some(Class::EndUser)).map_err(|problem| vec![problem])?;
        let action = action(self, request)?;
        let decision = self.governed.would(self.now, &actor, &action);
        Ok((ruled(self, &actor, &action, &decision), decision.outcome))
    }
}

fn ruled(asked: &Organisation<'_>, actor: &Actor, action: &Action, decision: &Decision) -> Ruled {
    let files = asked.snapshot.files();
    let (mut trial, seeker) = (asked.governed.trial(asked.now), Seeker::new(actor.clone()));
    let profile = asked.comply().profile();
    let mut violations = Vec::new();
    for violation in &decision.violations {
        let mut check = check_of(asked.comply(), files, violation);
        if decision.outcome == Outcome::Blocked {
            check.fixed_by(profile, &trial.ways(&seeker, action, violation));
        }
        violations.push(check);
    }
    let refusal = decision.refusal.as_ref().map(|refusal| words::refusal(profile, refusal));
    let ruled = Ruled::new(decision.outcome, refusal, violations, profile);
    let mut standing = Vec::new();
    for violation in asked.governed.standing_between(asked.now, action) {
        let mut check = report::standing(&asked.governed, files, &violation);
        if violation.waiver.is_none() {
            check.fixed_by(profile, &trial.fixes(&seeker, &violation));
        }
        standing.push(check);
    }
    ruled.already(standing)
}

const VERBS: [&str; 5] = ["link", "unlink", "tag", "create", "delete"];

/// The change that the words mean.
pub(super) fn action(asked: &Organisation<'_>, request: &ChangeRequest) -> Result<Action, Vec<Diagnostic>> {
    let one = |problem: Diagnostic| vec![problem];
    let words: Vec<&str> = request.change.iter().map(String::as_str).collect();
    let reference = |written: &str| asked.object(written).map(|object| asked.comply().reference(object));
    let role = request.role.as_deref().map(reference).transpose().map_err(one)?;
    let incomplete = |example: &str| {
        let message = "the change is not complete";
        vec![Diagnostic::error(Fault::IncompleteQuestion, message).help(format!("for example `upheld can {example}`"))]
    };
    match words.as_slice() {
        [verb @ ("link" | "unlink"), pair] => {
            let (a, b) = asked.pair(pair)?;
            let (a, b) = asked.comply().in_order(a, b);
            let (a, b) = (asked.comply().reference(a), asked.comply().reference(b));
            Ok(if *verb == "link" { Action::Link { a, b, role } } else { Action::Unlink { a, b, role } })
        }
        ["create", object, tags @ ..] => {
            let tags: Tags = tags.iter().map(|tag| tag_of(tag)).collect::<Result<_, _>>().map_err(one)?;
            let inside = request.inside.as_deref().map(|inside| asked.scope(inside)).transpose().map_err(one)?;
            let links = inside.map(|inside| NewLink { other: asked.comply().reference(inside), role: None });
            let (object, links) = (SmolStr::new(object), links.into_iter().collect());
            Ok(Action::Create(NewObject { object, tags, links, ..NewObject::default() }))
        }
        ["delete", object] => Ok(Action::Delete { object: reference(object).map_err(one)? }),
        ["tag", object, tags @ ..] if !tags.is_empty() => {
            let object = reference(object).map_err(one)?;
            let tags: Tags = tags.iter().map(|tag| tag_of(tag)).collect::<Result<_, _>>().map_err(one)?;
            Ok(Action::SetTags { object, tags })
        }
        ["link" | "unlink", ..] => Err(incomplete("link project/a~landingzone/b --as user")),
        ["tag", ..] => Err(incomplete("tag project/a environment=prod --as user")),
        ["create", ..] => Err(incomplete("create project/a environment=dev --in workspace/b --as user")),
        ["delete", ..] => Err(incomplete("delete project/a --as user")),
        _ => {
            let verb = words.first().copied().unwrap_or_default();
            let diagnostic = Diagnostic::error(Fault::IncompleteQuestion, format!("`{verb}` is no change"));
            Err(vec![diagnostic.suggest_or(nearest(verb, VERBS).map(|meant| format!("upheld can {meant}")), || {
                format!("changes: {}", VERBS.join(", "))
            })])
        }
    }
}

/// `environment=dev,qa`; without values the tag is removed.
fn tag_of(written: &str) -> Result<(SmolStr, Vec<SmolStr>), Diagnostic> {
    let Some((key, values)) = written.split_once('=') else {
        let message = format!("`{written}` is no tag");
        let help = "write KEY=VALUE, KEY=VALUE,VALUE or KEY= to remove it";
        return Err(Diagnostic::error(Fault::IncompleteQuestion, message).help(help));
    };
    let values = values.split(',').filter(|value| !value.is_empty()).map(SmolStr::new).collect();
    Ok((SmolStr::new(key), values))
}
