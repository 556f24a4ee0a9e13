//! Who violates, hard or soft?

use serde::{Deserialize, Serialize};
use upheld_engine::comply::{self, Class, Comply};
use upheld_governance::{Actor, words};
use upheld_model::nearest::nearest;
use upheld_model::{Diagnostic, Fault, Files};

use super::passing::PassingChecks;
use super::{Organisation, not_found};
use upheld_report::compliance::{self as report, Audit, Filter, Fixes, MOST_FIXES, Unseen, Wanted};
use upheld_report::{At, Gap};

/// What an audit is cut to, and for whom. Everything may be left out.
#[derive(Clone, Debug, Default, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct AuditQuestion {
    /// Only this workspace, or what the kind of policies calls it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
    /// Only this policy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
    /// Only pairs with an object of this kind.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Only pairs with this object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub object: Option<String>,
    /// Who asks: `user`, `admin`, or a role; with `@workspace/ID` where it holds there only.
    #[serde(rename = "as", skip_serializing_if = "Option::is_none")]
    pub person: Option<String>,
    /// The kind of policy, if there are several whose objects must agree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policies: Option<String>,
    /// Whether to leave out fixes for violations, which take a while where there are thousands.
    pub no_fixes: bool,
    /// Whether reports for Kubernetes list checks that passed, too.
    pub list_passes: bool,
}

/// An audit, and remarks on it.
#[derive(Clone, Debug)]
pub struct Audited {
    /// What was found.
    pub audit: Audit,
    /// For people.
    pub notes: Vec<String>,
}

pub(super) struct Narrowed {
    pub(super) filter: comply::Filter,
    filters: Vec<Filter>,
    viewer: Actor,
    notes: Vec<String>,
}

impl Organisation<'_> {
    /// Holds every pair against every policy.
    pub fn audit(&self, question: &AuditQuestion) -> Result<Audited, Vec<Diagnostic>> {
        let Narrowed { filter, filters, viewer, mut notes } = narrowed(self, question)?;
        let fixes = if question.no_fixes { Fixes::None } else { Fixes::Tried };
        let files = self.snapshot.files();
        let gaps = report::gaps(&self.governed, files, &filter);
        let audit = report::audit(&self.governed, self.now, files, &Wanted { filter, viewer, fixes });
        let audit = Audit { filters, gaps, ..audit }.finished();
        // Last, because somebody may be making it meanwhile.
        let audit = Audit { snapshot: Some(self.snapshot.digest().to_owned()), ..audit };
        let counted = audit.violations().count();
        if fixes == Fixes::Tried && counted > MOST_FIXES {
            notes.push(format!(
                "note: fixes were looked for the first {MOST_FIXES} of {counted} violations; `upheld fix` plans for all"
            ));
        }
        Ok(Audited { audit, notes })
    }

    /// What passes in the same audit, to be told piece by piece.
    pub fn passing(&self, question: &AuditQuestion) -> Result<PassingChecks<'_>, Vec<Diagnostic>> {
        let Narrowed { filter, .. } = narrowed(self, question)?;
        Ok(PassingChecks { organisation: self.clone(), filter })
    }
}

impl Audited {
    /// With what was warned of when documents were read: what lies there and was not read cannot have been looked at.
    #[must_use]
    pub fn beside(mut self, warnings: &[Diagnostic], files: &Files) -> Self {
        let not_read = warnings.iter().filter(|warning| warning.fault == Fault::NotRead);
        self.audit.gaps.extend(not_read.map(|warning| {
            let at = warning.label.as_ref().and_then(|label| At::of_label(files, label));
            Unseen { gap: Gap::NotRead { message: warning.message.clone() }.into(), at }
        }));
        self
    }
}

/// What the audit is cut to, and for whom.
pub(super) fn narrowed(asked: &Organisation<'_>, audit: &AuditQuestion) -> Result<Narrowed, Vec<Diagnostic>> {
    let comply = asked.comply();
    let mut problems = Vec::new();
    let mut filters = Vec::new();
    let mut filter = comply::Filter::default();
    let mut note = |by: &str, value: &str| filters.push(Filter { by: by.to_owned(), value: value.to_owned() });
    if let Some(written) = &audit.workspace {
        match asked.scope(written) {
            Ok(scope) => {
                note(scope_word(comply), &comply.reference(scope));
                filter.scopes = Some(vec![scope]);
            }
            Err(problem) => problems.push(problem),
        }
    }
    if let Some(written) = &audit.object {
        match asked.object(written) {
            Ok(object) => {
                note("object", &comply.reference(object));
                filter.object = Some(object);
            }
            Err(problem) => problems.push(problem),
        }
    }
    if let Some(written) = &audit.policy {
        match comply.policy(written) {
            Some(policy) => {
                note("policy", &policy.id);
                filter.policy = Some(policy.id.clone());
            }
            None => problems.push(unknown_policy(comply, written)),
        }
    }
    if let Some(written) = &audit.kind {
        match asked.governed.kinds_of(written) {
            Ok(kinds) => {
                note("kind", written);
                filter.kinds = Some(kinds);
            }
            Err(not_there) => problems.push(not_found(comply, &not_there)),
        }
    }
    let actor = asked.asker(audit.person.as_deref(), None).unwrap_or_else(|problem| {
        problems.push(problem);
        Actor::System
    });
    if problems.is_empty() {
        let seen = cut_to_visible(asked, &mut filter, &actor).map_err(|problem| vec![problem])?;
        let roles = if actor.roles().len() == 1 { "this role" } else { "these roles" };
        let notes =
            seen.iter().map(|seen| format!("note: cut to {}, which is what {roles} may see", seen.value)).collect();
        filters.extend(seen);
        // Everything is shown to whoever runs it; what would fix it is reported for end-users, who need it most.
        let viewer = match actor {
            Actor::System => asked.asker(None, Some(Class::EndUser)).unwrap_or(Actor::System),
            person @ (Actor::Person { .. } | Actor::Several(_)) => person,
        };
        Ok(Narrowed { filter, filters, viewer, notes })
    } else {
        Err(problems)
    }
}

/// What the kind of policies calls a workspace.
fn scope_word(comply: &Comply) -> &str {
    comply.profile().scope.map_or("workspace", |scope| comply.profile().kind_name(scope))
}

/// Cuts an audit to what somebody may see, and says so.
pub(super) fn cut_to_visible(
    asked: &Organisation<'_>,
    filter: &mut comply::Filter,
    actor: &Actor,
) -> Result<Option<Filter>, Diagnostic> {
    let comply = asked.comply();
    let visible = asked.governed.visibility(actor).map_err(|refusal| {
        let message = words::refusal(comply.profile(), &refusal);
        Diagnostic::error(Fault::Forbidden, message)
    })?;
    let mut told = None;
    if let Some(own) = visible {
        match &filter.scopes {
            Some(scopes) if !scopes.iter().all(|scope| own.contains(scope)) => {
                let names: Vec<String> = own.iter().map(|own| format!("`{}`", comply.reference(*own))).collect();
                let roles = if actor.roles().len() == 1 { "this role" } else { "these roles" };
                let message = format!("only violations of {} can be seen by {roles}", names.join(", "));
                return Err(Diagnostic::error(Fault::Forbidden, message));
            }
            Some(_) => {}
            None => {
                let names: Vec<String> = own.iter().map(|own| comply.reference(*own).to_string()).collect();
                told = Some(Filter { by: scope_word(comply).to_owned(), value: names.join(", ") });
                filter.scopes = Some(own);
            }
        }
    }
    Ok(told)
}

pub(super) fn unknown_policy(comply: &Comply, written: &str) -> Diagnostic {
    let policies = comply.policies();
    let diagnostic = Diagnostic::error(Fault::NotFound, format!("there is no policy `{written}`"));
    diagnostic.suggest_or(nearest(written, policies.iter().map(|policy| policy.id.as_str())), || {
        let names: Vec<&str> = policies.iter().take(12).map(|policy| policy.id.as_str()).collect();
        format!("policies: {}", names.join(", "))
    })
}
