//! Documents that were read, and the questions that they answer.

use std::path::Path;

use serde_json::Value as Json;
use upheld_answers::report::{Depth, Report, Skipped, Verdict};
use upheld_answers::{Answer, Options, Refused, Resolution, World};
use upheld_engine::Snapshot;
use upheld_loader::load::{Change, Choices, Loaded};
use upheld_loader::{Input, discover};
use upheld_model::{Diagnostic, Fault, SourceId, Timestamp};

use crate::decider::{Clock, Decider};
use crate::{Problems, Question};

/// Policies with everything that they are about, read and indexed.
///
/// They never change and many threads may ask at once. [`Self::put`] and [`Self::remove`] make the next ones, which share
/// whatever did not change.
#[derive(Debug)]
pub struct Policies {
    loaded: Loaded,
    semantics: Vec<String>,
    mesh: Option<String>,
    now: Option<Timestamp>,
    skipped: Skipped,
}

impl Policies {
    /// Documents in a text: YAML, JSON or JSON Lines, as it looks.
    pub fn from_text(text: impl Into<String>) -> Result<Self, Problems> {
        Self::load(vec![Input::bytes("text", text.into().into_bytes())], Choices::default())
    }

    /// Files, folders and patterns (`policies/**/*.yaml`).
    pub fn from_paths(paths: &[impl AsRef<Path>]) -> Result<Self, Problems> {
        let (mut inputs, missing) = discover(paths);
        // Settings of the command line are not documents; a folder that has both is the usual case.
        let is_named = |file: &Path| paths.iter().any(|path| path.as_ref() == file);
        inputs.retain(|input| is_named(Path::new(input.name())) || !Path::new(input.name()).ends_with("upheld.yaml"));
        match Self::load(inputs, Choices::default()) {
            Ok(policies) if missing.is_empty() => Ok(policies),
            Ok(_) => Err(Problems::default().and(missing)),
            Err(problems) => Err(problems.and(missing)),
        }
    }

    /// Any inputs, read in any way: the editions of the rules, for example, are among the choices.
    pub fn load(inputs: Vec<Input>, choices: Choices) -> Result<Self, Problems> {
        let semantics = choices.semantics.clone();
        Ok(Self { loaded: choices.load(inputs)?, semantics, mesh: None, now: None, skipped: Skipped::default() })
    }

    /// Only this mesh is asked about; else all of them.
    #[must_use]
    pub fn in_mesh(self, mesh: impl Into<String>) -> Self {
        Self { mesh: Some(mesh.into()), ..self }
    }

    /// Questions are asked at this moment; else when they are asked.
    #[must_use]
    pub fn at(self, now: Timestamp) -> Self {
        Self { now: Some(now), ..self }
    }

    /// Explanations list so many of the policies that do not match, and count the others; else 20, the nearest first.
    ///
    /// ```
    /// use upheld::report::Skipped;
    /// use upheld::{Policies, Question};
    ///
    /// let policies = Policies::from_paths(&["../../examples/access"])?.listing(Skipped::AtMost(0));
    /// let answer = policies.explain(&Question::may("role=admin", "DELETE", "/api/audit/7"))?;
    /// let [report] = answer.reports.as_slice() else { unreachable!("one request, one report") };
    /// let skipped = report.candidates.iter().filter(|candidate| !candidate.matched()).count();
    /// assert_eq!((skipped, report.left_out), (0, 1));
    /// # Ok::<(), upheld::Problems>(())
    /// ```
    #[must_use]
    pub fn listing(self, skipped: Skipped) -> Self {
        Self { skipped, ..self }
    }

    /// What is the result, and why? A report for each kind of policy and each thing that the question is about.
    pub fn explain(&self, question: &Question) -> Result<Answer, Problems> {
        if question.is_about_all_pairs() {
            let message = "all pairs have no reports";
            return Err(Diagnostic::error(Fault::IncompleteQuestion, message).help("ask for their document").into());
        }
        self.answer(question, Depth::All)
    }

    /// Just the result: a configuration or a field of it, a decision, a verdict.
    pub fn resolve(&self, question: &Question) -> Result<Resolution, Problems> {
        let words = question.read()?;
        self.ask(|world| world.resolve(&world.question(&words)?))
    }

    /// Just what it comes to: `Permit` or `Deny`, `Pass` or `Hard`, `Set` or `Unset`. A question with several answers is refused, so
    /// that none of them is overlooked.
    pub fn verdict(&self, question: &Question) -> Result<Verdict, Problems> {
        match self.answer(question, Depth::Answer)?.reports.as_slice() {
            [Report { verdict, .. }] => Ok(*verdict),
            several => {
                let message = format!("the question has {} answers, and one is needed", several.len());
                Err(Diagnostic::error(Fault::Ambiguous, message)
                    .help("name a kind of policy, or explain them all")
                    .into())
            }
        }
    }

    /// The whole answer as the command line and the server write it, with the digest of what was read; for all pairs, too.
    pub fn document(&self, question: &Question) -> Result<Json, Problems> {
        let words = question.read()?;
        self.ask(|world| world.explain(&world.question(&words)?))
    }

    /// Any other question: audits, fixes, tests, lists, the state of gateways.
    ///
    /// ```
    /// use upheld::{Policies, compliance::AuditQuestion};
    ///
    /// let policies = Policies::from_paths(&["../../examples/compliance"])?;
    /// let audited = policies.ask(|world| world.audit(&AuditQuestion::default()))?;
    /// assert_eq!(audited.audit.summary.hard, 1);
    /// # Ok::<(), upheld::Problems>(())
    /// ```
    pub fn ask<T>(&self, ask: impl FnOnce(&World<'_>) -> Result<T, Refused>) -> Result<T, Problems> {
        let options = self.options();
        let answer = ask(&World::new(self.snapshot(), &options));
        answer.map_err(|refused| Problems::refused(refused, self.snapshot()))
    }

    /// The policies after a text has changed or come; it is known by its name.
    ///
    /// ```
    /// use upheld::{Format, Input, Policies, Question, Verdict};
    ///
    /// let may = Question::may("role=admin", "GET", "/api");
    /// let text = |effect| format!("{{id: admins, effect: {effect}, subjects: [{{role: admin}}], resources: [], actions: []}}");
    /// let first = Policies::from_text(text("permit"))?;
    /// let next = first.put(Input::text("text", Format::Yaml, text("deny")))?;
    /// assert_eq!((first.verdict(&may)?, next.verdict(&may)?), (Verdict::Permit, Verdict::Deny));
    /// # Ok::<(), upheld::Problems>(())
    /// ```
    pub fn put(&self, input: Input) -> Result<Self, Problems> {
        self.after(match self.source(input.name()) {
            Some(known) => Change::Replaced(known, input),
            None => Change::New(input),
        })
    }

    /// The policies without a text.
    pub fn remove(&self, name: &str) -> Result<Self, Problems> {
        let source = self
            .source(name)
            .ok_or_else(|| Diagnostic::error(Fault::NotFound, format!("no text of the name `{name}` was read")))?;
        self.after(Change::Gone(source))
    }

    /// What is odd about the documents, though nothing is wrong.
    pub fn warnings(&self) -> Problems {
        Problems::new(self.snapshot().files(), self.loaded.warnings.as_slice().to_vec())
    }

    /// Everything that was read, indexed.
    pub fn snapshot(&self) -> &Snapshot {
        &self.loaded.snapshot
    }

    /// Decides requests: for enforcement points, where every microsecond counts. Which policies decide must be clear: name their
    /// kind with [`Self::decider_of`] where there are several.
    pub fn decider(&self) -> Result<Decider<'_>, Problems> {
        Decider::new(self, None)
    }

    /// Decides requests by the policies of one kind.
    pub fn decider_of(&self, kind: &str) -> Result<Decider<'_>, Problems> {
        Decider::new(self, Some(kind))
    }

    /// How questions are answered, at this moment.
    pub(crate) fn options(&self) -> Options {
        let now = self.clock().read();
        let (mesh, semantics) = (self.mesh.clone(), self.semantics.clone());
        Options { mesh, semantics, skipped: self.skipped.clone(), ..Options::at(now) }
    }

    pub(crate) fn clock(&self) -> Clock {
        self.now.map_or(Clock::Now, Clock::At)
    }

    fn answer(&self, question: &Question, depth: Depth) -> Result<Answer, Problems> {
        let words = question.read()?;
        self.ask(|world| world.answer_to(&world.question(&words)?, depth))
    }

    fn source(&self, name: &str) -> Option<SourceId> {
        self.snapshot().files().iter().find(|(_, file)| file.name == name).map(|(source, _)| source)
    }

    fn after(&self, change: Change) -> Result<Self, Problems> {
        let Self { loaded, semantics, mesh, now, skipped } = self;
        let (semantics, mesh) = (semantics.clone(), mesh.clone());
        Ok(Self { loaded: loaded.after(vec![change])?, semantics, mesh, now: *now, skipped: skipped.clone() })
    }
}
