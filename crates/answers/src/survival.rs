//! Where each field of a policy lives and where it dies: counted over the answers in which the policy has a say, and over nothing else.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde::Serialize;
use upheld_dialects::dialect::Listing;
use upheld_dialects::dialects;
use upheld_engine::{PolicyId, Snapshot};
use upheld_model::{Diagnostic, Fault, Policy};
use upheld_report::{At, Depth, Field, Refused, Report, Skipped};

use crate::all_pairs::{ends_of_policy, tally_ends};
use crate::shown::node_of;
use crate::{Options, Words, World};

/// So many answers are looked at; beyond that nobody waits for it.
const MOST: usize = 4000;

/// So many pairs are few.
const FEW: usize = 16;

/// What becomes of a policy and of its fields.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Survival {
    /// Results in which it matches.
    pub results: u64,
    /// Of these, those that come from it, as a whole or in part.
    pub stands: u64,
    /// Where it loses as a whole, to whom and why.
    pub loses: Vec<Death>,
    /// Its fields, in the order in which they are written.
    pub fields: Vec<Fate>,
}

/// What becomes of a field.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Fate {
    /// Its path in results.
    pub field: String,
    /// Where it is written.
    pub at: At,
    /// In how many results it is what holds.
    pub lives: u64,
    /// Of how many that it could be in.
    pub of: u64,
    /// Where it does not, because of whom.
    pub dies: Vec<Death>,
}

/// Results in which somebody else goes before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Death {
    /// Who.
    pub to: String,
    /// Why.
    pub because: String,
    /// In how many results.
    pub results: u64,
}

impl World<'_> {
    /// What becomes of a policy and of its fields, wherever it matches; nothing for policies about requests and related objects, whose results
    /// nobody can list.
    pub fn survival(&self, policy: &str) -> Result<Option<Survival>, Refused> {
        let snapshot = self.snapshot();
        let at = node_of(snapshot, policy, self.options().mesh.as_deref())?;
        let found = snapshot.policies().of_source(at.source).find(|(_, policy)| policy.at == at);
        let Some((id, found)) = found else { return Ok(None) };
        let (questions, listing) = questions(snapshot, id, found);
        if listing == Listing::Cut {
            let message = format!("{} has a say in too many results to count them", snapshot.text(found.name));
            return Err(Diagnostic::error(Fault::IncompleteQuestion, message)
                .help("`upheld affected` says what would change without it")
                .into());
        }
        if questions.is_empty() {
            return Ok(None);
        }
        let mut counted =
            Counted { document: Document::of(snapshot, found), all: Survival::default(), fields: BTreeMap::new() };
        for Asked { words, mesh, count } in questions {
            let mesh = mesh.or(self.options().mesh.clone());
            let options = Options { mesh, skipped: Skipped::AtMost(0), ..self.options().clone() };
            let world = World::new(snapshot, &options);
            // Where it does not match it has no say.
            let answer = world.question(&words).and_then(|question| world.answer_to(&question, Depth::Answer));
            let Ok(answer) = answer else { continue };
            for report in &answer.reports {
                counted.add(report, count);
            }
        }
        Ok(Some(counted.finished()))
    }
}

/// A question, and for how many it stands.
struct Asked {
    words: Words,
    mesh: Option<String>,
    count: u64,
}

/// What can be asked of the kinds that a policy is of.
fn questions(snapshot: &Snapshot, policy_id: PolicyId, policy: &Policy) -> (Vec<Asked>, Listing) {
    let mut all = Vec::new();
    for (id, kind) in snapshot.kinds().iter().filter(|(_, kind)| kind.governs == policy.kind) {
        let name = Some(snapshot.text(kind.name).to_owned());
        let mesh = || Some(snapshot.text(policy.scope).to_owned());
        let end = |name: &str| Some(name.to_owned());
        if kind.merge().is_some() {
            // Layers are asked for with all that a proxy gets from them, which is more than what it calls.
            let classes =
                dialects().find_map(|dialect| dialect.attached_classes(snapshot, policy_id)).unwrap_or_default();
            if classes.len() > MOST {
                return (Vec::new(), Listing::Cut);
            }
            all.extend(classes.into_iter().map(|(proxy, count)| {
                let words = Words { kind: name.clone(), what: Some(proxy), ..Words::default() };
                Asked { words, mesh: mesh(), count }
            }));
        }
        if let Some((_, ends)) = kind.select().and_then(|_| ends_of_policy(snapshot, id, policy_id)) {
            // Classes cost what all policies want, so few pairs are asked one by one.
            let few = ends.callers.len() * ends.called.len() <= FEW;
            let pairs = (!few).then(|| tally_ends(snapshot, id, policy.scope, &ends, &()));
            let (callers, called) = match &pairs {
                Some(pairs) => (classes(pairs.callers()), classes(pairs.called())),
                None => {
                    let callers = ends.callers.iter().enumerate().map(|(place, (name, _))| (*name, place));
                    let called = ends.called.iter().enumerate().map(|(place, (name, _))| (name.as_str(), place));
                    (classes(callers), classes(called))
                }
            };
            if callers.len() * called.len() > MOST {
                return (Vec::new(), Listing::Cut);
            }
            for (from, proxies) in callers.values() {
                for (to, destinations) in called.values() {
                    let (from, to) = (end(snapshot.text(*from)), end(to));
                    let words = Words { kind: name.clone(), from, to, ..Words::default() };
                    all.push(Asked { words, mesh: mesh(), count: proxies * destinations });
                }
            }
        }
        if kind.hierarchy().is_some() {
            for dialect in dialects() {
                let (questions, listing) = dialect.questions_about(snapshot, policy_id, MOST);
                if listing == Listing::Cut {
                    return (Vec::new(), Listing::Cut);
                }
                let asked = |words| Asked { words: Words { kind: name.clone(), ..words }, mesh: None, count: 1 };
                all.extend(questions.into_iter().map(asked));
            }
        }
    }
    (all, Listing::Whole)
}

/// The first of each class, and how many there are.
fn classes<N>(ends: impl Iterator<Item = (N, usize)>) -> BTreeMap<usize, (N, u64)> {
    let mut all: BTreeMap<usize, (N, u64)> = BTreeMap::new();
    for (name, class) in ends {
        all.entry(class).or_insert((name, 0)).1 += 1;
    }
    all
}

/// A document, as places name it.
struct Document {
    name: String,
    file: String,
    first: usize,
    last: usize,
}

impl Document {
    fn of(snapshot: &Snapshot, policy: &Policy) -> Self {
        let at = At::of(snapshot.files(), policy.at).unwrap_or_default();
        let end = snapshot.files().value(policy.at).zip(snapshot.files().get(policy.at.source));
        let last = end.map_or(at.line(), |(value, file)| file.tree.position(value.span().end).0);
        Self { name: snapshot.text(policy.name).to_owned(), file: at.file().to_owned(), first: at.line(), last }
    }

    /// Whether a policy that a report names is this one: answers call it by its name alone or with its namespace, and with the number of a part.
    fn is(&self, written: &str, at: Option<&At>) -> bool {
        let plain = written.split_once('[').map_or(written, |(plain, _)| plain);
        let named = plain == self.name || plain.strip_suffix(&self.name).is_some_and(|rest| rest.ends_with('/'));
        named && at.is_none_or(|at| at.file() == self.file && (self.first..=self.last).contains(&at.line()))
    }
}

/// What was counted so far.
struct Counted {
    document: Document,
    all: Survival,
    fields: BTreeMap<(usize, usize, String), Fate>,
}

impl Counted {
    fn add(&mut self, report: &Report, count: u64) {
        let own = |one: &&upheld_report::Candidate| one.matched() && self.document.is(&one.policy, one.at.as_ref());
        let matched: Vec<&upheld_report::Candidate> = report.candidates.iter().filter(own).collect();
        if matched.is_empty() {
            return;
        }
        self.all.results += count;
        let winner = report.standing().first().map(|name| (*name).to_owned()).unwrap_or_default();
        if matched.iter().any(|one| one.stands()) {
            self.all.stands += count;
        } else if let Some(lost) = matched.first() {
            add(&mut self.all.loses, &winner, &lost.reason.text, count);
            // It loses with all that it says, and what reports tell field by field is counted below.
            let told = |path: &str| {
                let over = report.fields.iter().filter(|field| field.path == path).flat_map(|field| &field.over);
                over.into_iter().any(|over| self.document.is(&over.policy, over.at.as_ref()))
            };
            let own: Vec<&Field> = lost.fields.iter().filter(|field| !told(&field.path)).collect();
            for field in own {
                for at in field.from.iter().filter_map(|source| source.at.as_ref()) {
                    self.dies(&field.path, at, &winner, &lost.reason.text, count);
                }
            }
        }
        for field in &report.fields {
            self.field(field, count);
        }
    }

    fn field(&mut self, field: &Field, count: u64) {
        let own = field.from.iter().find(|source| self.document.is(&source.policy, source.at.as_ref()));
        if let Some(at) = own.and_then(|source| source.at.clone()) {
            let fate = self.fate(&field.path, &at);
            fate.lives += count;
            fate.of += count;
        }
        for over in field.over.iter().filter(|over| over.at.is_some()) {
            if self.document.is(&over.policy, over.at.as_ref())
                && let Some(at) = &over.at
            {
                let to = over.taken_by.clone().unwrap_or_default();
                self.dies(&field.path, at, &to, &over.reason.text, count);
            }
        }
    }

    fn dies(&mut self, field: &str, at: &At, to: &str, because: &str, count: u64) {
        let fate = self.fate(field, at);
        fate.of += count;
        add(&mut fate.dies, to, because, count);
    }

    fn fate(&mut self, field: &str, at: &At) -> &mut Fate {
        let key = (at.line(), at.column(), field.to_owned());
        let new = || Fate { field: field.to_owned(), at: at.clone(), lives: 0, of: 0, dies: Vec::new() };
        self.fields.entry(key).or_insert_with(new)
    }

    fn finished(self) -> Survival {
        let mut all = Survival { fields: self.fields.into_values().collect(), ..self.all };
        let most_first = |deaths: &mut Vec<Death>| {
            deaths.sort_by(|one, other| {
                (other.results, &one.to, &one.because).cmp(&(one.results, &other.to, &other.because))
            });
        };
        most_first(&mut all.loses);
        all.fields.iter_mut().for_each(|fate| most_first(&mut fate.dies));
        all
    }
}

fn add(deaths: &mut Vec<Death>, to: &str, because: &str, results: u64) {
    match deaths.iter_mut().find(|known| known.to == to && known.because == because) {
        Some(known) => known.results += results,
        None => deaths.push(Death { to: to.to_owned(), because: because.to_owned(), results }),
    }
}
