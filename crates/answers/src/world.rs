//! What is asked: everything that was read, and how questions about it are answered.

#[cfg(test)]
mod tests;

use serde_json::{Value as Json, json};
use upheld_dialects::access::reach::{ReachQuestion, reach};
use upheld_dialects::comply::questions::{AuditQuestion, Audited, FixQuestion, Organisation, ShownObject};
use upheld_dialects::question::{Asked, Options, Question, Thing, Words};
use upheld_dialects::{Identity, comply, dialects};
use upheld_engine::{PolicyKind, Snapshot};
use upheld_model::{Diagnostic, Fault};
use upheld_report::compliance::FixPlan;
use upheld_report::{
    Answer, Depth, Drawing, Family, ObjectStatus, Outcome, PolicyStatus, Reach, Refused, Report, Shifts, TestReport,
};

use crate::all_pairs::AllPairs;
use crate::inventory::{self, Listed, Row, Wanted};
use crate::kinds::{self, KindLine};
use crate::progress::Progress;
use crate::resolved::{Resolution, resolution};
use crate::shifts::{more_shifts, shifts};
use crate::shown::{self, Shown};
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

    /// What words mean: parsed once, by the dialect that owns them.
    pub fn question(&self, words: &Words) -> Result<Question, Refused> {
        Question::parse(words, self.options)
    }

    /// What is the result, and why? The whole document, whatever the question is about.
    ///
    /// ```
    /// use upheld_answers::{Options, Words, World};
    /// use upheld_loader::{Format, Input, load::load};
    /// use upheld_model::Timestamp;
    ///
    /// let policy = "{id: admins, effect: permit, subjects: [{role: admin}], resources: [{path: /**}], actions: [{method: '*'}]}";
    /// let loaded = load(vec![Input::text("policies.yaml", Format::Yaml, policy)], &[]).unwrap();
    /// let options = Options::at(Timestamp(0));
    /// let words: Words = serde_json::from_str(
    ///     r#"{"subject": "role=admin", "action": "DELETE", "resource": "/api/audit/123"}"#,
    /// )?;
    /// let world = World::new(&loaded.snapshot, &options);
    /// let answer = world.explain(&world.question(&words).unwrap()).unwrap();
    /// assert_eq!(answer["answers"][0]["verdict"], "permit");
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn explain(&self, question: &Question) -> Result<Json, Refused> {
        if question.thing == Thing::AllConnections {
            let kind = question.kind.as_deref().ok_or_else(without_kind)?;
            return Ok(self.all_pairs(kind, &())?.document());
        }
        Ok(self.answer(question)?.document(self.snapshot))
    }

    /// The reports of [`World::explain`], without what stands around them; none for all pairs.
    pub fn answer(&self, question: &Question) -> Result<Answer, Refused> {
        self.answer_to(question, Depth::Explained)
    }

    /// As [`World::answer`], with as much as is wanted.
    pub fn answer_to(&self, question: &Question, depth: Depth) -> Result<Answer, Refused> {
        if question.thing == Thing::AllConnections {
            return Ok(Answer::default());
        }
        Asked { snapshot: self.snapshot, question, options: self.options, depth }.answer()
    }

    /// Just the result: a configuration or a field of it, a decision, a verdict, or a list of several.
    pub fn resolve(&self, question: &Question) -> Result<Resolution, Refused> {
        self.resolve_with(question).map(|(resolution, _)| resolution)
    }

    /// The same, with the answer that it is the result of.
    pub fn resolve_with(&self, question: &Question) -> Result<(Resolution, Answer), Refused> {
        // Which field is asked for matters only to the result.
        let whole = Question { field: None, ..question.clone() };
        if let (Some(_), None, Thing::Connection(_)) = (&question.field, &question.kind, &question.thing) {
            return Err(field_without_kind().into());
        }
        let mut answer = self.answer_to(&whole, Depth::Answer)?;
        let is_default = |report: &Report| {
            report.outcome == Outcome::Default && matches!(report.family, Family::Select | Family::Merge)
        };
        if answer.reports.iter().any(is_default) {
            // A note on a result that no policy gives names the one that comes closest.
            answer = self.answer_to(&whole, Depth::Headline)?;
        }
        Ok((resolution(self.snapshot, &answer, question)?, answer))
    }

    /// Which of all known requests are permitted? What a question leaves out is looked for in the directory.
    pub fn reach(&self, question: &ReachQuestion) -> Result<Reach, Refused> {
        reach(self.snapshot, self.options, question)
    }

    /// Every proxy and every service under a kind of policy.
    pub fn all_pairs(&self, kind: &str, progress: &dyn Progress) -> Result<AllPairs<'s>, Refused> {
        Ok(AllPairs::new(self.snapshot, self.options.mesh.as_deref(), kind, progress)?)
    }

    /// What is answered otherwise in another world: results that change, grouped by what makes them so.
    pub fn shifts(&self, after: &World<'_>, progress: &dyn Progress) -> Shifts {
        shifts(self, after, progress)
    }

    /// The same, with the invariants beside the other world that say what must not change.
    pub fn review(&self, after: &World<'_>, progress: &dyn Progress) -> Shifts {
        let mut shifts = self.shifts(after, progress);
        shifts.notes.extend(testing::unkept(self, after).into_iter().map(Into::into));
        shifts
    }

    /// What changes at places after so many questions, where an answer ended before ([`Shifts::next`]).
    pub fn more_shifts(&self, after: &World<'_>, from: usize) -> Shifts {
        more_shifts(self, after, from)
    }

    /// What is odd about what was read, where questions are asked about it.
    pub fn warnings(&self) -> Vec<Diagnostic> {
        dialects().flat_map(|dialect| dialect.warnings(self.snapshot)).collect()
    }

    /// Objects and what leads where, with their policies, to be drawn.
    pub fn graph(&self) -> Result<Drawing, Refused> {
        let drawing = dialects().find_map(|dialect| dialect.drawing(self.snapshot));
        Ok(drawing.unwrap_or_else(|| Err(Diagnostic::error(Fault::NotFound, "there is nothing to draw")))?)
    }

    /// What controllers would report of the objects that policies are attached to.
    pub fn object_statuses(&self) -> Vec<ObjectStatus> {
        dialects().flat_map(|dialect| dialect.object_statuses(self.snapshot)).collect()
    }

    /// What controllers would report of each policy.
    pub fn statuses(&self) -> Vec<PolicyStatus> {
        dialects().flat_map(|dialect| dialect.statuses(self.snapshot)).collect()
    }

    /// The objects whose tags must agree under a kind of policy, or under the only one there is.
    pub fn organisation(&self, named: Option<&str>) -> Result<Organisation<'s>, Refused> {
        Ok(Organisation::of(self.snapshot, named, self.options.now)?)
    }

    /// Who violates, hard or soft?
    pub fn audit(&self, question: &AuditQuestion) -> Result<Audited, Refused> {
        Ok(self.organisation(question.policies.as_deref())?.audit(question)?)
    }

    /// Which edits would fix violations?
    pub fn fix(&self, question: &FixQuestion) -> Result<FixPlan, Refused> {
        Ok(self.organisation(question.policies.as_deref())?.fix_plan(question, &mut |_, _| {})?)
    }

    /// Do policies decide as the tests beside them expect?
    pub fn test(&self, question: &TestQuestion, progress: &dyn Progress) -> Result<TestReport, Refused> {
        testing::run(self, None, question, progress)
    }

    /// The same, and does what must not change say what it said in another world?
    pub fn test_since(
        &self,
        before: &World<'_>,
        question: &TestQuestion,
        progress: &dyn Progress,
    ) -> Result<TestReport, Refused> {
        testing::run(self, Some(before), question, progress)
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

    /// An object that its dialect keeps apart from those of others, by the id that lists have.
    pub fn show_listed(&self, identity: &Identity) -> Option<Json> {
        shown::listed(self.snapshot, identity, self.options.now)
    }

    /// An object whose tags must agree with others, by its reference or a name that only one has.
    pub fn show_related(&self, name: &str) -> Option<ShownObject> {
        comply::questions::shown(self.snapshot, name, self.options.now)
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

fn field_without_kind() -> Diagnostic {
    let message = "`--field` needs `--kind`: fields of different kinds have nothing in common";
    Diagnostic::error(Fault::IncompleteQuestion, message)
}
