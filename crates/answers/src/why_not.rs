//! What stands in the way of a policy, and which edits would let it count; each is tried, and told with what else it changes.

use serde::Serialize;
use serde_json::{Value as Json, json};
use smol_str::SmolStr;
use upheld_dialects::Identity;
use upheld_loader::load::Loaded;
use upheld_model::{Diagnostic, Fault, Side, State};
use upheld_report::{Answer, At, Phrase, Refused, Report, Shifts, Skipped};

use crate::shifts::shifts;
use crate::shown::{named, node_of};
use crate::{Options, Question, World};

/// So many edits of selectors are made one after the other.
const MOST_EDITS: usize = 6;

/// Why a policy does not count for a question.
#[derive(Debug)]
pub struct WhyNot {
    /// `KIND/SCOPE/NAME`.
    pub policy: String,
    /// What became of it, for each thing that the question is about.
    pub places: Vec<Standing>,
    /// Edits that would let it count, those that change least else first.
    pub edits: Vec<Tried>,
}

/// What became of a policy.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Standing {
    /// What it is about.
    pub about: String,
    /// `WON`, `LOST`, `SKIP` and so on; nothing if it was not looked at.
    pub state: Option<&'static str>,
    /// Why.
    pub reason: Option<Phrase>,
    /// Who stands in its place.
    pub instead: Vec<String>,
    /// Where it was written.
    pub at: Option<At>,
}

/// An edit that was tried, and lets the policy count.
#[derive(Debug)]
pub struct Tried {
    /// What is edited.
    pub edit: String,
    /// All that it changes, the wanted answer among it.
    pub shifts: Shifts,
}

impl WhyNot {
    /// Whether it counts somewhere already.
    pub fn counts(&self) -> bool {
        let stands = [State::Won, State::Kept].map(State::word);
        self.places.iter().any(|place| place.state.is_some_and(|state| stands.contains(&state)))
    }

    /// As programs get it.
    pub fn document(&self, digest: &str) -> Json {
        let edits = self.edits.iter().map(|tried| json!({"edit": tried.edit, "shifts": tried.shifts}));
        json!({
            "apiVersion": "upheld/v2", "kind": "WhyNot", "policy": self.policy, "places": self.places,
            "edits": edits.collect::<Vec<_>>(), "snapshot": digest,
        })
    }
}

impl World<'_> {
    /// Why a policy does not count for a question, and what would let it. `loaded` is what this world was read from.
    pub fn why_not(&self, loaded: &Loaded, policy: &str, question: &Question) -> Result<WhyNot, Refused> {
        let (found, _) = named(self.snapshot(), policy, self.options().mesh.as_deref())?;
        let options = about(&found, self.options());
        World::new(self.snapshot(), &options).why_one_does_not(loaded, &found, question)
    }

    fn why_one_does_not(&self, loaded: &Loaded, found: &Identity, question: &Question) -> Result<WhyNot, Refused> {
        let answer = self.answer(question)?;
        let reports = reports_about(&answer, found);
        if reports.is_empty() {
            let message = format!("{found} has no say in this: the question is about other kinds of policies");
            return Err(Diagnostic::error(Fault::IncompleteQuestion, message)
                .help("ask about something that its kind looks at")
                .into());
        }
        let mut why = WhyNot { policy: found.to_string(), places: Vec::new(), edits: Vec::new() };
        why.places.extend(reports.iter().map(|report| standing(report, &found.name)));
        if !why.counts() {
            why.edits = self.edits(loaded, found, question, &reports);
            why.edits.sort_by_key(|tried| (tried.shifts.counts.widened, tried.shifts.counts.changed));
        }
        Ok(why)
    }

    fn edits(&self, loaded: &Loaded, found: &Identity, question: &Question, reports: &[&Report]) -> Vec<Tried> {
        let mut edits = Vec::new();
        let name = &found.name;
        let blockers: Vec<&String> = upheld_report::each_once(reports.iter().flat_map(|report| &report.policies));
        for blocker in blockers.iter().filter(|blocker| **blocker != name) {
            let kind = reports.first().map_or("", |report| report.kind.as_str());
            let removed = node_of(self.snapshot(), &format!("{kind}/{blocker}"), self.options().mesh.as_deref())
                .or_else(|_| node_of(self.snapshot(), blocker, self.options().mesh.as_deref()))
                .ok()
                .and_then(|at| loaded.without(at))
                .and_then(Result::ok);
            edits.extend(removed.and_then(|after| self.tried(&after, name, question, format!("remove {blocker}"))));
        }
        edits.extend(self.selectors_edited(loaded, found, question));
        edits
    }

    /// Edits its selectors, one wanted tag after the other, until it counts.
    fn selectors_edited(&self, loaded: &Loaded, found: &Identity, question: &Question) -> Option<Tried> {
        let (name, identity) = (&found.name, found.to_string());
        let mesh = self.options().mesh.as_deref();
        let (mut after, mut said): (Option<Loaded>, Vec<String>) = (None, Vec::new());
        for _ in 0..MOST_EDITS {
            let now = after.as_ref().unwrap_or(loaded);
            let world = World::new(&now.snapshot, self.options());
            let answer = world.answer(question).ok()?;
            let candidate =
                answer.reports.iter().flat_map(|report| &report.candidates).find(|one| one.policy == *name)?;
            if candidate.stands() {
                break;
            }
            let text = |name: &str| candidate.reason.parameters.get(name).and_then(Json::as_str);
            if candidate.state != State::Skip || !candidate.reason.code.starts_with("skip.tag") {
                return None;
            }
            let (side, key, have) = (text("side")?, text("key")?, text("have"));
            let (found, at) = named(&now.snapshot, &identity, mesh).ok()?;
            let field = field_of(&world, &found.kind, side)?;
            let mut document = serde_json::to_value(now.snapshot.files().value(at)?).ok()?;
            let selectors = selectors(&mut document, &field)?;
            for selector in selectors {
                let tags = selector.get_mut("match").and_then(Json::as_object_mut)?;
                match have {
                    Some(have) if tags.contains_key(key) => drop(tags.insert(key.to_owned(), json!(have))),
                    _ => drop(tags.shift_remove(key)),
                }
            }
            said.push(match have {
                Some(have) => format!("{field}: {key}: {have}"),
                None => format!("{field}: without {key}"),
            });
            after = Some(now.instead(at, &document.to_string())?.ok()?);
        }
        let after = after.filter(|_| !said.is_empty())?;
        self.tried(&after, name, question, format!("in {name}, {}", said.join(", ")))
    }

    /// An edit, if it lets the policy count.
    fn tried(&self, after: &Loaded, name: &str, question: &Question, edit: String) -> Option<Tried> {
        let world = World::new(&after.snapshot, self.options());
        let answer = world.answer(question).ok()?;
        let stands =
            answer.reports.iter().flat_map(|report| &report.candidates).any(|one| one.policy == name && one.stands());
        stands.then(|| Tried { edit, shifts: shifts(self, &world, &()) })
    }
}

/// A policy may be any of those that do not match: of these it is the only one that is told.
fn about(policy: &Identity, options: &Options) -> Options {
    Options { skipped: Skipped::Named(SmolStr::new(&policy.name)), ..options.clone() }
}

/// The reports that say something of a policy, or of its kind.
fn reports_about<'a>(answer: &'a Answer, policy: &Identity) -> Vec<&'a Report> {
    let is_about =
        |report: &&Report| report.kind == policy.kind || report.candidates.iter().any(|one| one.policy == policy.name);
    answer.reports.iter().filter(is_about).collect()
}

fn standing(report: &Report, name: &str) -> Standing {
    let own = report.candidates.iter().find(|candidate| candidate.policy == name);
    let instead = report.standing().into_iter().filter(|standing| *standing != name).map(str::to_owned);
    Standing {
        about: report.about.holds_for.first().unwrap_or(&report.about.what).clone(),
        state: own.map(|candidate| candidate.state.word()),
        reason: own.map(|candidate| candidate.reason.clone()),
        instead: instead.collect(),
        at: own.and_then(|candidate| candidate.at.clone()),
    }
}

/// The field in which documents of a type have their selectors for one side.
fn field_of(world: &World<'_>, kind: &str, side: &str) -> Option<String> {
    let snapshot = world.snapshot();
    let side = Side::BOTH.into_iter().find(|known| known.word() == side)?;
    let mut kinds = snapshot.kinds().iter().filter(|(_, known)| snapshot.text(known.governs) == kind);
    kinds.find_map(|(_, known)| Some(snapshot.text(known.select()?.side(side)?.field).to_owned()))
}

/// The selectors of a document, in its own form or in that of Kubernetes.
fn selectors<'d>(document: &'d mut Json, field: &str) -> Option<&'d mut Vec<Json>> {
    let holder = if document.get(field).is_some() { document } else { document.get_mut("spec")? };
    holder.get_mut(field)?.as_array_mut()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::{Options, Question, Skipped, Standing, World, about, named, reports_about, standing};

    /// What becomes of a policy for a question, where it alone is told and where all are; nothing of what has no name here.
    pub(crate) fn alone_and_among_all(
        world: &World<'_>,
        policy: &str,
        question: &Question,
    ) -> Option<[Vec<Standing>; 2]> {
        let (found, _) = named(world.snapshot(), policy, None).ok()?;
        let all = Options { skipped: Skipped::All, ..world.options().clone() };
        Some([about(&found, world.options()), all].map(|options| {
            let answer = World::new(world.snapshot(), &options).answer(question).unwrap_or_default();
            reports_about(&answer, &found).into_iter().map(|report| standing(report, &found.name)).collect()
        }))
    }
}
