//! The family: policies and sets in evaluation order, with their index.

mod duties;
mod numbering;
mod tell;

use std::sync::Arc;

use upheld_model::{Code, Reason};

use self::numbering::Numbering;
use super::examine::Examined;
use super::index::{self, Index, Renumbered, Room};
use super::path::{self, BadPath};
use super::request::{Asked, Maybe, Request};
use super::rule::{Rule, Set, Status};
use super::truth::Truth;
use super::value::{Algorithm, Combined, Could, Effect, Tally, Value, Vote};
use crate::ask::{EntryId, Family, Fit, Hit, Place};
use crate::witness::Witness;

/// Policies that decide requests.
#[derive(Clone, Debug)]
pub struct Decide {
    rules: Vec<Arc<Rule>>,
    heads: Vec<Head>,
    /// Parents first; the root is the first.
    sets: Vec<Node>,
    index: Arc<Index>,
    manner: Manner,
}

/// How requests are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// Paths in their normal form; what cannot be told of one policy does not touch the others.
    Sound,
    /// As the original system does: paths as they are given, and the first thing that cannot be told ends it all.
    Original,
}

/// What resolving reads of a policy.
#[derive(Clone, Copy, Debug)]
struct Head {
    set: u32,
    order: u32,
    rank: u32,
    effect: Effect,
    conditions: Conditions,
}

/// Whether a policy has conditions; most have none, and their documents need not be touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Conditions {
    None,
    Some,
}

/// A set without its members.
#[derive(Clone, Debug)]
struct Node {
    set: Set,
    parent: Option<u32>,
    order: u32,
    rank: u32,
    /// Whether it must be asked also when none of its policies matches.
    always: bool,
}

/// What a request gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decided {
    /// What the policies say together, before any default.
    pub value: Value,
    /// What becomes of the request.
    pub outcome: Outcome,
    /// Who decided.
    pub by: By,
    /// Whether some policy is about the request, whatever its conditions say.
    pub about: bool,
}

/// What becomes of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// It goes on.
    Permit,
    /// It is stopped.
    Deny,
    /// Nobody can tell; enforcement stops it.
    Undecided,
    /// A policy says a word that no algorithm knows; only the compatibility edition has it.
    Foreign,
}

impl Outcome {
    /// The word that users see.
    pub fn word(self) -> &'static str {
        match self {
            Self::Permit => "permit",
            Self::Deny => "deny",
            Self::Undecided => "undecided",
            Self::Foreign => "foreign",
        }
    }
}

/// Who decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// A policy.
    Policy(EntryId),
    /// The default effect, because no policy says anything.
    Default,
    /// The algorithm itself, which speaks also when nobody else does.
    Algorithm,
    /// Nobody: what a policy says is not known, or policies clash.
    Nobody,
}

/// How a policy fits a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measure {
    /// Whether it is about the request.
    pub target: Truth,
    /// Whether its conditions hold.
    pub conditions: Truth,
}

impl Measure {
    /// Whether it applies.
    pub fn applies(self) -> Truth {
        self.target.and(self.conditions)
    }
}

/// Room for one asker.
#[derive(Debug, Default)]
pub struct DecideScratch {
    room: Room,
    path: String,
    tallies: Vec<Tally>,
    /// What each set says.
    said: Vec<Combined>,
    /// Whether each set is about the request.
    targets: Vec<Truth>,
    /// Whether the path has no normal form.
    bad_path: bool,
}

impl Decide {
    /// Numbers everything in the order of evaluation (priority, then position) and builds the index.
    pub fn new(root: Set, manner: Manner) -> Self {
        let Numbering { rules, heads, sets, .. } = Numbering::of(root);
        let index = Arc::new(Index::new(&rules));
        Self { rules, heads, sets, index, manner }
    }

    /// As [`Decide::new`], where most policies are those of another time: only those that are not, by identity, are indexed.
    #[must_use]
    pub fn after(&self, root: Set, manner: Manner) -> Self {
        let Numbering { rules, heads, sets, .. } = Numbering::of(root);
        let changed = Renumbered::of(&self.rules, &rules);
        let index = if changed.is_nothing() {
            Arc::clone(&self.index)
        } else {
            Arc::new(self.index.after(&changed, &self.rules, &rules))
        };
        Self { rules, heads, sets, index, manner }
    }

    /// The index, built once more: for measuring.
    #[cfg(feature = "reference")]
    pub fn index_again(&self) -> impl Sized + use<> {
        Index::new(&self.rules)
    }

    /// The policies, by their numbers.
    pub fn rules(&self) -> &[Arc<Rule>] {
        &self.rules
    }

    /// One policy.
    pub fn rule(&self, entry: EntryId) -> Option<&Rule> {
        self.rules.get(entry.index()).map(Arc::as_ref)
    }

    /// How the outermost set combines.
    pub fn algorithm(&self) -> Algorithm {
        self.sets.first().map_or(Algorithm::default(), |root| root.set.algorithm)
    }

    /// What stands when no policy says anything.
    pub fn default_effect(&self) -> Effect {
        self.sets.first().and_then(|root| root.set.default).unwrap_or(Effect::Deny)
    }

    /// The sets, outermost first, without their members.
    pub fn sets(&self) -> impl Iterator<Item = &Set> {
        self.sets.iter().map(|node| &node.set)
    }

    /// The set that a policy is in.
    pub fn set_of(&self, entry: EntryId) -> Option<&Set> {
        let head = self.heads.get(entry.index())?;
        self.sets.get(head.set as usize).map(|node| &node.set)
    }

    /// The form in which the path of a request is matched.
    pub fn asked<'r>(&self, request: &'r Request, buffer: &'r mut String) -> Asked<'r> {
        let path = match (&request.resource.path, self.manner) {
            (Maybe::Is(path), Manner::Original) => Maybe::Is(path.as_str()),
            (Maybe::Is(path), Manner::Sound) => path::normal(path, buffer).map_or(Maybe::Unknown, Maybe::Is),
            (Maybe::Absent, _) => Maybe::Absent,
            (Maybe::Unknown, _) => Maybe::Unknown,
        };
        Asked { request, path }
    }

    /// Why the path of a request cannot be matched.
    pub fn bad_path(&self, request: &Request) -> Option<BadPath> {
        match (&request.resource.path, self.manner) {
            (Maybe::Is(path), Manner::Sound) => path::normal(path, &mut String::new()).err(),
            _ => None,
        }
    }

    /// Every part of a policy held against a request.
    pub fn examine(&self, entry: EntryId, request: &Request) -> Option<Examined> {
        let mut buffer = String::new();
        let asked = self.asked(request, &mut buffer);
        self.rule(entry).map(|rule| Examined::of(rule, asked))
    }
}

impl Family for Decide {
    type Question<'q> = &'q Request;
    type Measure = Measure;
    type Answer = Decided;
    type Scratch = DecideScratch;

    fn entries(&self) -> impl Iterator<Item = EntryId> {
        (0..self.rules.len()).map(EntryId::new)
    }

    fn find<W: Witness<Measure>>(
        &self,
        question: &Self::Question<'_>,
        scratch: &mut DecideScratch,
        hits: &mut Vec<Hit<Measure>>,
    ) {
        let DecideScratch { room, path, bad_path, .. } = scratch;
        let asked = self.asked(question, path);
        *bad_path = matches!((asked.path, &question.resource.path), (Maybe::Unknown, Maybe::Is(_)));
        let mut sit = |rule: u32, target: Truth| {
            let entry = EntryId::new(rule as usize);
            let conditions = match self.heads.get(rule as usize).map(|head| head.conditions) {
                Some(Conditions::None) => Truth::True,
                _ => self.rules.get(rule as usize).map_or(Truth::Error, |rule| conditions(rule, asked)),
            };
            let measure = Measure { target, conditions };
            hits.push(Hit { entry, place: Place::default(), certain: measure.applies() != Truth::Error, measure });
        };
        if index::is_known(asked) {
            self.index.find(asked, &self.rules, room, sit);
        } else {
            for (number, rule) in (0..).zip(&self.rules).filter(|(_, rule)| rule.status == Status::On) {
                match rule.target.covers(asked) {
                    Truth::False => {}
                    target => sit(number, target),
                }
            }
        }
        once_each(hits);
    }

    fn check<W: Witness<Measure>>(
        &self,
        entry: EntryId,
        question: &Self::Question<'_>,
        witness: &mut W,
        mut sit: impl FnMut(Place, Fit<Measure>),
    ) {
        let Some(rule) = self.rule(entry) else { return };
        if rule.status == Status::Off {
            witness.off(entry, || Reason::new(Code::DecideOff, &[]));
            return;
        }
        let mut buffer = String::new();
        let asked = self.asked(question, &mut buffer);
        let target = rule.target.covers(asked);
        if target == Truth::False {
            let examined = Examined::of(rule, asked);
            witness.miss(entry, examined.distance(), || Reason::new(examined.first_code(), &[]));
            return;
        }
        let measure = Measure { target, conditions: conditions(rule, asked) };
        let fit = if measure.applies() == Truth::Error { Fit::Unknown(measure) } else { Fit::Yes(measure) };
        sit(Place::default(), fit);
    }

    fn resolve<W: Witness<Measure>>(
        &self,
        question: &Self::Question<'_>,
        scratch: &mut DecideScratch,
        hits: &mut Vec<Hit<Measure>>,
        witness: &mut W,
    ) -> Decided {
        // Most requests match nothing in one flat set: then there is nothing to count.
        let nothing = hits.is_empty() && self.sets.len() == 1 && !self.algorithm().always_speaks();
        let (root, about) = if nothing {
            scratch.said.clear();
            (Combined::NOTHING, false)
        } else {
            self.fold(question, scratch, hits, self.algorithm())
        };
        if W::SWEEPS {
            scratch.bad_path = self.bad_path(question).is_some();
        }
        let decided = if self.ends_in_error(question, scratch) {
            Decided { value: Value::Unknown(Could::Either), outcome: Outcome::Undecided, by: By::Nobody, about }
        } else {
            self.decided(root, about)
        };
        if W::RECORDS {
            self.tell(&decided, scratch, hits, witness);
        }
        decided
    }
}

struct OfSet {
    value: Combined,
    target: Truth,
}

impl Decide {
    /// Whether nothing can be told of a request as a whole: its path has no normal form, or the original would fail on it.
    fn ends_in_error(&self, request: &Request, scratch: &DecideScratch) -> bool {
        match self.manner {
            Manner::Sound => scratch.bad_path,
            Manner::Original => {
                let mut buffer = String::new();
                let asked = self.asked(request, &mut buffer);
                let first = self.algorithm() == Algorithm::FirstApplicable;
                for rule in self.rules.iter().filter(|rule| rule.status == Status::On) {
                    match rule.in_order(asked) {
                        Truth::Error => return true,
                        Truth::True if first => return false,
                        Truth::True | Truth::False => {}
                    }
                }
                false
            }
        }
    }

    /// What would be decided if only these policies matched, and the outermost set were combined in this way.
    pub fn decide_among(&self, request: &Request, hits: &[Hit<Measure>], outermost: Algorithm) -> Decided {
        let (root, about) = self.fold(request, &mut DecideScratch::default(), hits, outermost);
        self.decided(root, about)
    }

    /// Tallies the votes set by set, inner ones first.
    fn fold(
        &self,
        request: &Request,
        scratch: &mut DecideScratch,
        hits: &[Hit<Measure>],
        outermost: Algorithm,
    ) -> (Combined, bool) {
        let DecideScratch { tallies, said, targets, path, .. } = scratch;
        tallies.clear();
        tallies.resize(self.sets.len(), Tally::default());
        said.clear();
        said.resize(self.sets.len(), Combined::NOTHING);
        targets.clear();
        targets.resize(self.sets.len(), Truth::True);
        for hit in hits {
            let Some(head) = self.heads.get(hit.entry.index()) else { continue };
            let Measure { target, .. } = hit.measure;
            let value = Value::of(head.effect, hit.measure.applies());
            if let Some(tally) = tallies.get_mut(head.set as usize) {
                tally.add(Vote { order: head.order, rank: head.rank, target, value, by: Some(hit.entry) });
            }
        }
        let mut root = Combined::NOTHING;
        let mut about = false;
        for (number, node) in self.sets.iter().enumerate().rev() {
            let Some((parents, [tally, ..])) = tallies.split_at_mut_checked(number) else { continue };
            if !node.always && !tally.is_about() {
                continue;
            }
            let algorithm = if number == 0 { outermost } else { node.set.algorithm };
            let combined = self.combine(node, algorithm, tally, request, path);
            if let (Some(said), Some(target)) = (said.get_mut(number), targets.get_mut(number)) {
                (*said, *target) = (combined.value, combined.target);
            }
            match node.parent.and_then(|parent| parents.get_mut(parent as usize)) {
                Some(parent) => parent.add(Vote {
                    order: node.order,
                    rank: node.rank,
                    target: combined.target,
                    value: combined.value.value,
                    by: combined.value.by,
                }),
                None => {
                    root = combined.value;
                    about = tally.is_about();
                }
            }
        }
        (root, about)
    }

    fn combine(
        &self,
        node: &Node,
        algorithm: Algorithm,
        tally: &Tally,
        request: &Request,
        buffer: &mut String,
    ) -> OfSet {
        let combined = tally.combine(algorithm);
        let target = if node.set.target.is_everything() {
            Truth::True
        } else {
            node.set.target.covers(self.asked(request, buffer))
        };
        let Combined { value, by } = match (combined.value, node.set.default, node.parent) {
            // The default of the outermost set is a row of its own.
            (Value::NotApplicable, Some(default), Some(_)) => Combined { value: default.into(), by: None },
            _ => combined,
        };
        OfSet { value: Combined { value: value.under(target), by }, target }
    }

    fn decided(&self, root: Combined, about: bool) -> Decided {
        let by = root.by.map_or(By::Algorithm, By::Policy);
        let (outcome, by) = match root.value {
            Value::Permit => (Outcome::Permit, by),
            Value::Deny => (Outcome::Deny, by),
            Value::Foreign => (Outcome::Foreign, by),
            Value::Unknown(_) => (Outcome::Undecided, By::Nobody),
            Value::NotApplicable => match self.default_effect() {
                Effect::Permit => (Outcome::Permit, By::Default),
                Effect::Deny => (Outcome::Deny, By::Default),
                Effect::Foreign => (Outcome::Foreign, By::Default),
            },
        };
        Decided { value: root.value, outcome, by, about }
    }
}

/// Of several ways in which a policy fits, the best counts.
fn once_each(hits: &mut Vec<Hit<Measure>>) {
    if hits.len() < 2 {
        return;
    }
    let doubt = |hit: &Hit<Measure>| u8::from(hit.measure.target != Truth::True);
    hits.sort_unstable_by_key(|hit| (hit.entry, doubt(hit)));
    hits.dedup_by_key(|hit| hit.entry);
}

fn conditions(rule: &Rule, asked: Asked<'_>) -> Truth {
    rule.conditions.iter().fold(Truth::True, |truth, condition| match truth {
        Truth::False => Truth::False,
        truth => truth.and(condition.holds(asked)),
    })
}

impl Decided {
    /// The effects that were possible, for an undecided answer.
    pub fn could(&self) -> Option<Could> {
        match self.value {
            Value::Unknown(could) => Some(could),
            _ => None,
        }
    }
}
