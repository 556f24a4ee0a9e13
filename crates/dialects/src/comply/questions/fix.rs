//! Which edits would fix violations?

use serde::{Deserialize, Serialize};
use upheld_engine::comply::{Class, Filter, Finding};
use upheld_model::Diagnostic;

use super::Organisation;
use super::audit::unknown_policy;
use upheld_report::compliance::{FixPlan, fixes_of, standing};

/// Which violations are to be fixed, and by whom. Everything may be left out.
#[derive(Clone, Debug, Default, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct FixQuestion {
    /// Only between two objects, or around one: `project/a~workspace/b`, or `project/a`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub what: Option<String>,
    /// Only in this workspace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// Only this policy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
    /// Who would make the edits; an end-user when left out.
    #[serde(rename = "as", skip_serializing_if = "Option::is_none")]
    pub person: Option<String>,
    /// The kind of policy, if there are several whose objects must agree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policies: Option<String>,
}

impl Organisation<'_> {
    /// Edits that would fix violations, each tried.
    pub fn fix_plan(&self, wanted: &FixQuestion) -> Result<FixPlan, Vec<Diagnostic>> {
        let viewer = self.actor(wanted.person.as_deref(), Some(Class::EndUser)).map_err(|problem| vec![problem])?;
        let mut filter = Filter::default();
        let mut only: Option<(String, String)> = None;
        narrow(self, wanted, &mut filter, &mut only)?;
        // A plan for a whole scope, or all ways for the few violations that were named.
        let mut trial = self.governed.trial(self.now);
        let whole = wanted.what.is_none() && wanted.policy.is_none();
        Ok(if whole {
            let (fixes, left) = trial.remedy(&viewer, filter.scope);
            FixPlan::plan(&self.governed, self.snapshot.files(), &fixes, &left)
        } else {
            let between = |own: &Finding| {
                only.as_ref().is_none_or(|(a, b)| {
                    let (first, second) = (own.a.object.as_str(), own.b.object.as_str());
                    (first, second) == (a, b) || (second, first) == (a, b)
                })
            };
            let open: Vec<Finding> = self.governed.violations(&filter, self.now).into_iter().filter(between).collect();
            let mut checks = Vec::new();
            for violation in open.iter().filter(|own| own.waiver.is_none()) {
                let mut check = standing(&self.governed, self.snapshot.files(), violation);
                check.fixes = fixes_of(&trial.fixes(&viewer, violation));
                checks.push(check);
            }
            FixPlan::ways(checks)
        })
    }
}

fn narrow(
    asked: &Organisation<'_>,
    wanted: &FixQuestion,
    filter: &mut Filter,
    only: &mut Option<(String, String)>,
) -> Result<(), Vec<Diagnostic>> {
    let one = |problem: Diagnostic| vec![problem];
    if let Some(workspace) = &wanted.workspace {
        filter.scope = Some(asked.scope(workspace).map_err(one)?);
    }
    if let Some(policy) = &wanted.policy {
        let known = asked.comply().policy(policy).ok_or_else(|| one(unknown_policy(asked.comply(), policy)))?;
        filter.policy = Some(known.id.clone());
    }
    match wanted.what.as_deref() {
        Some(pair) if pair.contains('~') => {
            let (a, b) = asked.pair(pair)?;
            filter.object = Some(a);
            *only = Some((asked.comply().reference(a).to_string(), asked.comply().reference(b).to_string()));
        }
        Some(object) => filter.object = Some(asked.object(object).map_err(one)?),
        None => {}
    }
    Ok(())
}
