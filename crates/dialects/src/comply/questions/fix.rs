//! Which edits would fix violations?

use serde::{Deserialize, Serialize};
use upheld_engine::comply::{Class, Filter, Finding};
use upheld_governance::{Fix, Harm, Remedy, Seeker};
use upheld_model::nearest::nearest;
use upheld_model::{Diagnostic, Fault};

use super::Organisation;
use super::audit::{cut_to_visible, unknown_policy};
use upheld_report::compliance::{Filter as Cut, FixPlan, standing_since};

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
    /// What fixes may do although others are concerned: `widen` what grants, `lower` what protects.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allow: Vec<String>,
    /// The kind of policy, if there are several whose objects must agree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policies: Option<String>,
}

/// The violations that are to be fixed, and by whom.
struct Asked {
    seeker: Seeker,
    open: Vec<Finding>,
    cut: Option<Cut>,
}

impl Organisation<'_> {
    /// Edits that would fix violations, each tried: all ways for the few violations that were named, or else a plan.
    pub fn fix_plan(
        &self,
        wanted: &FixQuestion,
        tell: &mut dyn FnMut(usize, usize),
    ) -> Result<FixPlan, Vec<Diagnostic>> {
        if wanted.what.is_none() && wanted.policy.is_none() {
            return self.remedy(wanted, tell).map(|(plan, _)| plan);
        }
        let Asked { seeker, open, cut } = asked(self, wanted)?;
        let (mut trial, history, files) =
            (self.governed.trial(self.now), self.governed.history(), self.snapshot.files());
        let mut checks = Vec::with_capacity(open.len());
        for (place, violation) in open.iter().enumerate() {
            tell(place, open.len());
            let mut check = standing_since(self.comply(), files, violation, &history);
            check.fixed_by(self.comply().profile(), &trial.fixes(&seeker, violation));
            checks.push(check);
        }
        tell(open.len(), open.len());
        Ok(FixPlan::ways(checks).within(cut))
    }

    /// A plan that fixes as much as possible of what was named, and the edits that it has.
    pub fn remedy(
        &self,
        wanted: &FixQuestion,
        tell: &mut dyn FnMut(usize, usize),
    ) -> Result<(FixPlan, Vec<Fix>), Vec<Diagnostic>> {
        let Asked { seeker, open, cut } = asked(self, wanted)?;
        let Remedy { fixes, left } = self.governed.trial(self.now).remedy(&seeker, &open, tell);
        let plan = FixPlan::plan(&self.governed, self.snapshot.files(), &fixes, &left);
        Ok((plan.within(cut), fixes))
    }
}

fn asked(asked: &Organisation<'_>, wanted: &FixQuestion) -> Result<Asked, Vec<Diagnostic>> {
    let one = |problem: Diagnostic| vec![problem];
    let viewer = asked.asker(wanted.person.as_deref(), Some(Class::EndUser)).map_err(one)?;
    let allowed = wanted.allow.iter().map(|word| harm(word)).collect::<Result<_, _>>().map_err(one)?;
    let (mut filter, mut only) = (Filter::default(), None);
    narrow(asked, wanted, &mut filter, &mut only)?;
    // Whoever was named sees what that role may see; who runs this sees all.
    let cut = if wanted.person.is_some() || asked.is_asked_by_somebody() {
        cut_to_visible(asked, &mut filter, &viewer).map_err(one)?
    } else {
        None
    };
    let between = |own: &Finding| {
        only.as_ref().is_none_or(|(a, b): &(String, String)| {
            let (first, second) = (own.a.object.as_str(), own.b.object.as_str());
            (first, second) == (a, b) || (second, first) == (a, b)
        })
    };
    let mut open = asked.governed.open_violations(&filter, asked.now);
    open.retain(between);
    Ok(Asked { seeker: Seeker { viewer, allowed, scopes: filter.scopes }, open, cut })
}

fn harm(word: &str) -> Result<Harm, Diagnostic> {
    Harm::of(word).ok_or_else(|| {
        let words = Harm::ALL.map(Harm::word);
        let diagnostic = Diagnostic::error(Fault::NotFound, format!("nothing is allowed by the word `{word}`"));
        diagnostic.suggest_or(nearest(word, words), || format!("write {}", words.join(" or ")))
    })
}

fn narrow(
    asked: &Organisation<'_>,
    wanted: &FixQuestion,
    filter: &mut Filter,
    only: &mut Option<(String, String)>,
) -> Result<(), Vec<Diagnostic>> {
    let one = |problem: Diagnostic| vec![problem];
    if let Some(workspace) = &wanted.workspace {
        filter.scopes = Some(vec![asked.scope(workspace).map_err(one)?]);
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
