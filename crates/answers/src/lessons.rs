//! Lessons: small worlds that grow by one policy a step. Each step is asked like any other question, so what a lesson shows is what the
//! engine does.

use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use serde::Deserialize;
use serde_json::{Value as Json, json};
use upheld_dialects::question::{Options, Question, Words};
use upheld_loader::load::{Loaded, load};
use upheld_loader::{Format, Input};
use upheld_model::nearest::nearest;
use upheld_model::{Diagnostic, Fault, Timestamp};
use upheld_report::{Answer, Refused};

use crate::World;

/// A question that is asked again after each step.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lesson {
    /// How it is called.
    pub name: String,
    /// In a few words.
    pub title: String,
    /// The family whose way of resolving it shows.
    pub family: String,
    /// In full.
    pub about: String,
    /// What is asked after each step.
    pub question: Words,
    /// Documents that are there from the beginning.
    given: String,
    /// What happens, one after the other.
    pub steps: Vec<Step>,
}

/// One more policy.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// What to look at.
    pub say: String,
    /// The document that comes in; none where one only looks.
    #[serde(default)]
    pub add: String,
}

static ALL: LazyLock<Vec<Lesson>> = LazyLock::new(|| {
    let texts = [
        include_str!("lessons/select.yaml"),
        include_str!("lessons/merge.yaml"),
        include_str!("lessons/hierarchy.yaml"),
        include_str!("lessons/decide.yaml"),
        include_str!("lessons/comply.yaml"),
    ];
    texts.iter().filter_map(|text| serde_saphyr::from_str(text).ok()).collect()
});

/// All lessons, one for each family.
pub fn all() -> &'static [Lesson] {
    &ALL
}

/// The lesson of a name.
pub fn named(name: &str) -> Result<&'static Lesson, Diagnostic> {
    all().iter().find(|lesson| lesson.name.eq_ignore_ascii_case(name)).ok_or_else(|| {
        let diagnostic = Diagnostic::error(Fault::NotFound, format!("there is no lesson `{name}`"));
        let names = all().iter().map(|lesson| lesson.name.as_str());
        diagnostic.suggest_or(nearest(name, names).map(|name| format!("upheld learn {name}")), || {
            "`upheld learn` lists all of them".to_owned()
        })
    })
}

/// A lesson after some of its steps.
#[derive(Debug)]
pub struct Taught {
    /// The lesson.
    pub lesson: &'static Lesson,
    /// How many steps were taken; at least one.
    pub step: usize,
    /// Everything that is there.
    pub loaded: Loaded,
    /// The question as it was understood.
    pub question: Question,
    /// What the engine says.
    pub answer: Answer,
}

impl Lesson {
    /// What it is about, for lists.
    pub fn json(&self) -> Json {
        let Self { name, title, family, about, steps, .. } = self;
        json!({"name": name, "title": title, "family": family, "about": about, "steps": steps.len()})
    }

    /// The world after some steps, and what it answers.
    pub fn after(&'static self, step: usize) -> Result<Taught, Refused> {
        if !(1..=self.steps.len()).contains(&step) {
            let message = format!("the lesson `{}` has no step {step}", self.name);
            let help = format!("its steps are 1 to {}", self.steps.len());
            return Err(Diagnostic::error(Fault::NotFound, message).help(help).into());
        }
        let text = |name: &str, text: &str| Input::text(name, Format::Yaml, text);
        let added = self.added(step).map(|(number, step)| text(&file(number), &step.add));
        let inputs = std::iter::once(text("given.yaml", &self.given)).chain(added).collect();
        let loaded = load(inputs, &[]).map_err(|broken| Refused {
            question: Some(broken.files),
            diagnostics: broken.diagnostics.into_iter().collect(),
        })?;
        // Lessons have no clock: they say the same to everybody.
        let options = Options::at(Timestamp(0));
        let world = World::new(&loaded.snapshot, &options);
        let question = world.question(&self.question)?;
        let answer = world.answer(&question)?;
        Ok(Taught { lesson: self, step, loaded, question, answer })
    }

    /// Everything after some steps, for programs and pages. It is made once.
    pub fn document(&'static self, step: usize) -> Result<Arc<Json>, Refused> {
        /// The documents that were asked for. Lessons have few steps, and say the same to everybody.
        static MADE: Mutex<BTreeMap<(&str, usize), Arc<Json>>> = Mutex::new(BTreeMap::new());
        // Nothing in here stops half-way.
        let made = || MADE.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = made().get(&(self.name.as_str(), step)) {
            return Ok(Arc::clone(known));
        }
        let document = Arc::new(self.after(step)?.document()?);
        made().insert((self.name.as_str(), step), Arc::clone(&document));
        Ok(document)
    }

    /// The documents that came in up to a step, with the numbers of theirs.
    fn added(&self, step: usize) -> impl Iterator<Item = (usize, &Step)> {
        (1..).zip(&self.steps).take(step).filter(|(_, step)| !step.add.is_empty())
    }
}

/// What the document of a step is called, in places that answers name.
fn file(step: usize) -> String {
    format!("step-{step}.yaml")
}

impl Taught {
    /// What was done in this step.
    pub fn says(&self) -> &'static Step {
        static NOTHING: Step = Step { say: String::new(), add: String::new() };
        self.lesson.steps.get(self.step - 1).unwrap_or(&NOTHING)
    }

    /// The rungs that order policies here, the most important first; none where votes or tags are counted.
    pub fn ladder(&self) -> Vec<String> {
        let Some(report) = self.answer.reports.first() else { return Vec::new() };
        if matches!(self.lesson.family.as_str(), "decide" | "comply") {
            return Vec::new();
        }
        let told = report.ranking.as_ref().and_then(|ranking| ranking.parameters.get("rungs")?.as_array());
        if let Some(rungs) = told {
            return rungs.iter().filter_map(Json::as_str).map(str::to_owned).collect();
        }
        let options = Options::at(Timestamp(0));
        let kinds = World::new(&self.loaded.snapshot, &options).kind_lines();
        let own = kinds.iter().find(|line| line.name == report.kind);
        own.map(|line| line.rank.split(", ").map(str::to_owned).collect()).unwrap_or_default()
    }

    /// Everything, for programs and pages.
    pub fn document(&self) -> Result<Json, Refused> {
        let Self { lesson, step, loaded, answer, .. } = self;
        let before = match step - 1 {
            0 => None,
            before => lesson.after(before)?.answer.reports.first().map(|report| report.headline.text.clone()),
        };
        let added = |(number, step): (usize, &Step)| json!({"step": number, "file": file(number), "text": step.add});
        let mut document = lesson.json();
        if let Some(fields) = document.as_object_mut() {
            fields.extend([
                ("kind".to_owned(), json!("Lesson")),
                ("step".to_owned(), json!(step)),
                ("says".to_owned(), json!(self.says().say)),
                ("given".to_owned(), json!(lesson.given)),
                ("added".to_owned(), json!(lesson.added(*step).map(added).collect::<Vec<_>>())),
                ("question".to_owned(), json!(lesson.question)),
                ("ladder".to_owned(), json!(self.ladder())),
                ("before".to_owned(), json!(before)),
                ("answer".to_owned(), answer.document(&loaded.snapshot)),
            ]);
        }
        Ok(document)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn p11_the_document_of_a_step_is_made_once() {
        let lesson = named("select").unwrap();
        let (first, second) = (lesson.document(3).unwrap(), lesson.document(3).unwrap());
        assert!(Arc::ptr_eq(&first, &second));
        assert_eq!(*first, lesson.after(3).unwrap().document().unwrap());
        assert!(lesson.document(0).is_err() && lesson.document(2).unwrap() != first);
    }

    #[test]
    fn every_family_has_a_lesson_and_every_step_an_answer() {
        let families: Vec<&str> = all().iter().map(|lesson| lesson.family.as_str()).collect();
        assert_eq!(families, ["select", "merge", "hierarchy", "decide", "comply"]);
        for lesson in all() {
            for step in 1..=lesson.steps.len() {
                let taught = lesson.after(step).unwrap_or_else(|refused| panic!("{} {step}: {refused:?}", lesson.name));
                let reports = &taught.answer.reports;
                assert_eq!(reports.len(), 1, "{} {step}", lesson.name);
                assert_eq!(reports[0].family.name(), lesson.family);
                let asked = reports[0].candidates.len();
                assert_eq!(asked, lesson.added(step).count(), "{} {step}: every policy is looked at", lesson.name);
            }
            assert!(lesson.after(0).is_err() && lesson.after(lesson.steps.len() + 1).is_err());
        }
        assert!(named("selct").unwrap_err().help.iter().any(|help| help.contains("upheld learn select")));
    }

    /// What steps say in words, held against what the engine says.
    #[test]
    fn what_is_said_is_what_happens() {
        let deciding = |name: &str| -> Vec<String> {
            let lesson = named(name).unwrap();
            (1..=lesson.steps.len())
                .map(|step| {
                    let report = lesson.after(step).unwrap().answer.reports.remove(0);
                    let rung = report.rung.as_ref().map(|rung| format!(" {}", rung.number)).unwrap_or_default();
                    format!("{}{rung}", report.policies.join(" "))
                })
                .collect()
        };
        let select = [
            "",
            "baseline",
            "from-web 2",
            "from-web-on-aws 1",
            "from-web-on-aws 1",
            "another-from-web 3",
            "web-to-backend 1",
        ];
        assert_eq!(deciding("select"), select);
        assert_eq!(
            deciding("merge"),
            ["whole-mesh", "for-backend whole-mesh", "web-only whole-mesh", "web-only whole-mesh"]
        );
        let verdicts = |name: &str| -> Vec<String> {
            let lesson = named(name).unwrap();
            let reports = (1..=lesson.steps.len()).map(|step| lesson.after(step).unwrap().answer.reports.remove(0));
            reports.map(|report| report.verdict.word().to_owned()).collect()
        };
        assert_eq!(verdicts("decide"), ["permit", "permit", "deny", "deny"]);
        assert_eq!(verdicts("comply").last().unwrap(), "hard");
    }
}
