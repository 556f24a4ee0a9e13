//! What is asked: everything that was read, and how questions about it are answered.

#[cfg(test)]
mod tests;

use serde::Serialize;
use serde_json::{Value as Json, json};
use upheld_dialects::gateway_api::Network;
use upheld_engine::decide::Request;
use upheld_engine::{PolicyKind, Snapshot};
use upheld_model::{Diagnostic, Fault};

use crate::all_pairs::{AllPairs, Progress};
use crate::compliance::{self, AuditQuestion, Audited, FixQuestion, Organisation, ShownObject};
use crate::connections::{self, Answers};
use crate::decisions;
use crate::gateways::{self, GatewayAnswers};
use crate::graph::Drawn;
use crate::inventory::{self, Listed, Row, Wanted};
use crate::kinds::{self, KindLine};
use crate::options::Options;
use crate::question::{About, Question};
use crate::refused::Refused;
use crate::report::compliance::Remedy;
use crate::report::{Decision, Detail, TestReport};
use crate::resolved::{Resolution, Resolved, resolved};
use crate::shown::{self, Shown};
use crate::stamp::{Stamp, document};
use crate::status::{self, PolicyStatus};
use crate::testing::{self, TestQuestion};

/// Answers questions about one snapshot.
#[derive(Debug)]
pub struct World<'s> {
    snapshot: &'s Snapshot,
    options: &'s Options,
}

impl<'s> World<'s> {
    /// What a snapshot says under these options.
    pub fn new(snapshot: &'s Snapshot, options: &'s Options) -> Self {
        Self { snapshot, options }
    }

    /// What was read.
    pub fn snapshot(&self) -> &'s Snapshot {
        self.snapshot
    }

    /// How questions are answered.
    pub fn options(&self) -> &'s Options {
        self.options
    }

    /// What is the result, and why? The whole document, whatever the question is about.
    ///
    /// ```
    /// use upheld_answers::{Options, Question, World};
    /// use upheld_input::{Format, Input, load::load};
    /// use upheld_model::Timestamp;
    ///
    /// let policy = "{id: admins, effect: permit, subjects: [{role: admin}], resources: [{path: /**}], actions: [{method: '*'}]}";
    /// let loaded = load(vec![Input::text("policies.yaml", Format::Yaml, policy)], &[]).unwrap();
    /// let options = Options::at(Timestamp(0));
    /// let question: Question = serde_json::from_str(
    ///     r#"{"subject": "role=admin", "action": "DELETE", "resource": "/api/audit/123"}"#,
    /// )?;
    /// let answer = World::new(&loaded.snapshot, &options).explain(&question).unwrap();
    /// assert_eq!(answer["answers"][0]["decision"], "permit");
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn explain(&self, question: &Question) -> Result<Json, Refused> {
        if question.about() == About::AllPairs {
            let kind = question.kind.as_deref().ok_or_else(without_kind)?;
            return Ok(self.all_pairs(kind, &())?.document());
        }
        let kind = if question.about() == About::Gateways { "GatewayExplanation" } else { "Explanation" };
        Ok(document(self.snapshot, kind, &self.answers(question)?))
    }

    /// The answers of [`World::explain`], without what stands around them; none for all pairs.
    pub fn answers(&self, question: &Question) -> Result<Vec<Json>, Refused> {
        match question.about() {
            About::AllPairs => Ok(Vec::new()),
            About::Decision => {
                let requests = decisions::asked(question, self.options)?;
                Ok(listed(&self.decisions(&requests, question.kind.as_deref(), Detail::All)?))
            }
            About::Relation => {
                let organisation = self.organisation(question.kind.as_deref())?;
                Ok(vec![json!(organisation.relation(question.what.as_deref().unwrap_or_default())?)])
            }
            About::Gateways => Ok(listed(&self.gateways(question)?.reports)),
            About::Connection => self.connections(question).map(|(answers, _)| answers.listed()),
        }
    }

    /// Just the result: a configuration or a field of it, or a decision, or a list of several.
    pub fn resolve(&self, question: &Question) -> Result<Resolution, Refused> {
        if question.about() == About::Decision {
            let requests = decisions::asked(question, self.options)?;
            let decided = self.decisions(&requests, question.kind.as_deref(), Detail::Answer)?;
            let short = |decision: &Decision| decisions::short(self.snapshot, decision);
            let result = match decided.as_slice() {
                [one] => short(one),
                several => several.iter().map(short).collect(),
            };
            let stamp = Stamp::new(self.snapshot, decided.iter().map(|decision| decision.semantics.as_str()));
            return Ok(Resolution { result, stamp });
        }
        let (Resolved { value, notes, semantics, .. }, _) = self.resolved(question)?;
        let stamp = Stamp::new(self.snapshot, semantics.iter().map(String::as_str));
        let result = value.ok_or_else(|| Diagnostic::error(Fault::NotFound, notes.join("; ")))?;
        Ok(Resolution { result, stamp })
    }

    /// The result of a connection with remarks on it, and who stands: `Kind/policy`.
    pub fn resolved(&self, question: &Question) -> Result<(Resolved, Vec<String>), Refused> {
        let answers = connections::answer(self.snapshot, self.options.mesh.as_deref(), question)?;
        Ok((resolved(&answers, question)?, answers.names()))
    }

    /// What holds for a connection or a proxy, and remarks for people.
    pub fn connections(&self, question: &Question) -> Result<(Answers, Vec<String>), Refused> {
        Ok(connections::told(self.snapshot, self.options.mesh.as_deref(), question)?)
    }

    /// Every proxy and every service under a kind of policy.
    pub fn all_pairs(&self, kind: &str, progress: &dyn Progress) -> Result<AllPairs<'s>, Refused> {
        Ok(AllPairs::new(self.snapshot, self.options.mesh.as_deref(), kind, progress)?)
    }

    /// What becomes of requests under the policies of a kind, or under the only ones there are.
    pub fn decisions(
        &self,
        requests: &[Request],
        kind: Option<&str>,
        detail: Detail,
    ) -> Result<Vec<Decision>, Refused> {
        Ok(decisions::told(self.snapshot, requests, kind, detail)?)
    }

    /// What holds at places of gateways.
    pub fn gateways(&self, question: &Question) -> Result<GatewayAnswers, Refused> {
        Ok(gateways::told(self.network()?, question)?)
    }

    /// The gateways, as their controller sees them.
    pub fn network(&self) -> Result<Network<'s>, Refused> {
        Ok(gateways::network(self.snapshot)?)
    }

    /// What is odd about gateways.
    pub fn gateway_warnings(&self) -> Vec<Diagnostic> {
        Network::of(self.snapshot).map(Network::warnings).unwrap_or_default()
    }

    /// Policies of gateways that have no effect.
    pub fn unattached_policies(&self) -> Vec<Diagnostic> {
        Network::of(self.snapshot).map(gateways::unattached).unwrap_or_default()
    }

    /// Gateways, routes and backends with their policies, to be drawn.
    pub fn graph(&self) -> Result<Drawn, Refused> {
        Ok(Drawn::new(self.network()?)?)
    }

    /// What controllers would report of each gateway policy.
    pub fn statuses(&self) -> Result<Vec<PolicyStatus>, Refused> {
        Ok(status::statuses(self.network()?))
    }

    /// The objects whose tags must agree under a kind of policy, or under the only one there is.
    pub fn organisation(&self, named: Option<&str>) -> Result<Organisation<'s>, Refused> {
        Ok(Organisation::of(self.snapshot, named, self.options.now)?)
    }

    /// Who violates, hard or soft?
    pub fn audit(&self, question: &AuditQuestion) -> Result<Audited, Refused> {
        Ok(self.organisation(question.policies.as_deref())?.audit(question)?)
    }

    /// Which edits would mend violations?
    pub fn fix(&self, question: &FixQuestion) -> Result<Remedy, Refused> {
        Ok(self.organisation(question.policies.as_deref())?.remedy(question)?)
    }

    /// Do policies decide as the tests beside them expect?
    pub fn test(&self, question: &TestQuestion) -> Result<TestReport, Refused> {
        testing::run(self, question)
    }

    /// What was read.
    pub fn list(&self, wanted: &Wanted) -> Result<Vec<Row>, Refused> {
        Ok(inventory::rows(self.snapshot, self.options.mesh.as_deref(), wanted)?)
    }

    /// All policies, or those of a type.
    pub fn policies(&self, kind: Option<&str>) -> Result<Vec<Row>, Refused> {
        self.rows(Listed::Policies, kind)
    }

    /// All objects, or those of a type.
    pub fn objects(&self, kind: Option<&str>) -> Result<Vec<Row>, Refused> {
        self.rows(Listed::Objects, kind)
    }

    fn rows(&self, what: Listed, kind: Option<&str>) -> Result<Vec<Row>, Refused> {
        self.list(&Wanted { what, kind: kind.map(str::to_owned), tallies: false })
    }

    /// A policy or an object by `name`, `kind/name` or `kind/mesh/name`, with where it counts.
    pub fn show(&self, name: &str) -> Result<Shown, Refused> {
        Ok(shown::shown(self.snapshot, name, self.options.mesh.as_deref())?)
    }

    /// An object whose tags must agree with others, by its reference or a name that only one has.
    pub fn show_related(&self, name: &str) -> Option<ShownObject> {
        compliance::shown(self.snapshot, name)
    }

    /// The documents of all kinds of policies.
    pub fn kinds(&self) -> Vec<Json> {
        kinds::documents(self.snapshot)
    }

    /// All kinds of policies, in words.
    pub fn kind_lines(&self) -> Vec<KindLine> {
        kinds::lines(self.snapshot)
    }

    /// The kind of a name.
    pub fn kind(&self, name: &str) -> Result<&'s PolicyKind, Refused> {
        Ok(kinds::find(self.snapshot, name)?)
    }

    /// The document of a kind.
    pub fn kind_document(&self, name: &str) -> Result<Json, Refused> {
        Ok(json!(self.snapshot.files().value(self.kind(name)?.at)))
    }
}

fn without_kind() -> Refused {
    let message = "all pairs are asked under one kind of policy";
    Diagnostic::error(Fault::IncompleteQuestion, message).help("add `--kind`, for example `--kind TrafficLog`").into()
}

fn listed(reports: &[impl Serialize]) -> Vec<Json> {
    reports.iter().map(|report| json!(report)).collect()
}
