//! The naive twin of the family: plain maps of strings, every policy looked at, layers patched one over the other from the
//! worst to the best. Obviously right, and slow.
//!
//! It shares no code with the engine. Tests compare the two; benches print the ratio.

mod patch;

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use upheld_model::{Facet, Role};

pub use patch::{NaiveKeyed, NaivePatch, NaiveValue, merged};

/// Facts or tags, or what is wanted of them (`*` is any value).
pub type Texts = BTreeMap<String, String>;

/// Something that policies speak about.
#[derive(Clone, Debug, Default)]
pub struct NaiveObject {
    /// Its type.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// What is known of it as a whole.
    pub facts: Texts,
    /// Its parts.
    pub parts: Vec<NaivePart>,
}

/// A part of an object.
#[derive(Clone, Debug)]
pub struct NaivePart {
    /// What it is to its object.
    pub role: Role,
    /// Its name.
    pub section: String,
    /// Its port.
    pub port: Option<String>,
    /// Its tags.
    pub tags: Texts,
}

/// What must hold of a fact.
#[derive(Clone, Debug)]
pub enum NaiveCondition {
    /// It has this value.
    Is(String, String),
    /// It is not there, or has this value.
    AbsentOr(String, String),
    /// It is not there.
    Absent(String),
}

/// To whom a policy is attached.
#[derive(Clone, Debug)]
pub struct NaiveAudience {
    /// What must hold of the object.
    pub conditions: Vec<NaiveCondition>,
    /// Which parts count.
    pub roles: Vec<Role>,
    /// What a part must have.
    pub tags: Texts,
    /// The one part that is meant.
    pub section: Option<String>,
}

/// A policy as people write it.
#[derive(Clone, Debug)]
pub struct NaivePolicy {
    /// Its name.
    pub name: String,
    /// How people call it.
    pub title: String,
    /// To whom it is attached; any of them may match.
    pub audiences: Vec<NaiveAudience>,
    /// What ranks it.
    pub marks: BTreeMap<String, i64>,
    /// What it says.
    pub statements: Vec<NaiveStatement>,
}

/// One statement of a policy.
#[derive(Clone, Debug)]
pub struct NaiveStatement {
    /// Which questions it answers.
    pub facet: Facet,
    /// Its number in its list.
    pub item: u32,
    /// What it is about.
    pub reach: NaiveReach,
    /// What ranks it.
    pub marks: BTreeMap<String, i64>,
    /// The configuration.
    pub config: NaiveValue,
}

/// What a statement is about.
#[derive(Clone, Debug)]
pub enum NaiveReach {
    /// Everything.
    Everything,
    /// Objects of a type with these facts, or a section of each.
    Objects(String, Texts, Option<NaiveSection>),
    /// Those with these tags.
    Tags(Texts),
    /// Callers whose facts have these values, or begin with them where the value ends with `*`.
    Callers(Texts),
}

/// A section of an object.
#[derive(Clone, Debug)]
pub enum NaiveSection {
    /// By its name.
    Named(String),
    /// By its port.
    Port(String),
}

/// A rung of a ladder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NaiveRung {
    /// A mark; higher is better.
    Mark(String),
    /// The title; the first in the alphabet is better.
    Title,
    /// The number of the item; later is better.
    Item,
    /// The name; the first in the alphabet is better.
    Name,
}

/// A target: the name of an object, and of its section.
pub type NaiveTarget = (String, Option<String>);

/// A question.
#[derive(Clone, Debug)]
pub enum NaiveQuestion {
    /// The object as a whole.
    Whole,
    /// Called objects.
    Targets(Vec<NaiveTarget>),
    /// A called service.
    Service(Texts),
    /// A caller of a part.
    Client(usize, Texts),
    /// A part, and what is known of the caller.
    Inbound(usize, Texts),
}

impl NaiveQuestion {
    fn facet(&self) -> Facet {
        match self {
            Self::Whole => Facet::Whole,
            Self::Targets(_) => Facet::Objects,
            Self::Service(_) => Facet::Services,
            Self::Client(..) => Facet::Clients,
            Self::Inbound(..) => Facet::Inbound,
        }
    }

    fn part(&self) -> Option<usize> {
        match self {
            Self::Client(part, _) | Self::Inbound(part, _) => Some(*part),
            _ => None,
        }
    }
}

/// Everything there is: objects, policies of one kind, and the choices of the kind.
#[derive(Clone, Debug, Default)]
pub struct NaiveWorld {
    /// What references may mean.
    pub objects: Vec<NaiveObject>,
    /// The policies.
    pub policies: Vec<NaivePolicy>,
    /// How statements rank.
    pub ladder: Vec<NaiveRung>,
    /// How layers meet.
    pub patch: NaivePatch,
}

/// A statement with its policy.
pub type Spoken<'w> = (&'w NaivePolicy, usize, &'w NaiveStatement);

impl NaiveWorld {
    /// The parts of an object to which a policy is attached; none if it is not attached at all.
    pub fn attached(policy: &NaivePolicy, object: &NaiveObject) -> BTreeSet<usize> {
        let mut attached = BTreeSet::new();
        for audience in &policy.audiences {
            let holds = |condition: &NaiveCondition| match condition {
                NaiveCondition::Is(key, value) => object.facts.get(key) == Some(value),
                NaiveCondition::AbsentOr(key, value) => object.facts.get(key).is_none_or(|known| known == value),
                NaiveCondition::Absent(key) => !object.facts.contains_key(key),
            };
            if !audience.conditions.iter().all(holds) {
                continue;
            }
            for (number, part) in object.parts.iter().enumerate() {
                let named = audience.section.as_ref().is_none_or(|section| *section == part.section);
                if audience.roles.contains(&part.role) && named && has(&part.tags, &audience.tags) {
                    attached.insert(number);
                }
            }
        }
        attached
    }

    /// All statements that speak to a question, the best first.
    pub fn speaking(&self, object: &NaiveObject, question: &NaiveQuestion) -> Vec<Spoken<'_>> {
        let mut speaking: Vec<Spoken<'_>> = Vec::new();
        for policy in &self.policies {
            let attached = Self::attached(policy, object);
            if question.part().map_or(attached.is_empty(), |part| !attached.contains(&part)) {
                continue;
            }
            for (number, statement) in policy.statements.iter().enumerate() {
                if statement.facet == question.facet() && self.is_about(statement, question) {
                    speaking.push((policy, number, statement));
                }
            }
        }
        speaking.sort_by(|a, b| self.compare(*a, *b));
        speaking
    }

    /// What the statements come to.
    pub fn answer(&self, object: &NaiveObject, question: &NaiveQuestion) -> Option<NaiveValue> {
        let speaking = self.speaking(object, question);
        merged(speaking.iter().rev().map(|(_, _, statement)| &statement.config), &self.patch)
    }

    /// The targets that some statement for an object names.
    pub fn named(&self, object: &NaiveObject) -> BTreeSet<NaiveTarget> {
        let policies = self.policies.iter().filter(|policy| !Self::attached(policy, object).is_empty());
        policies.flat_map(|policy| &policy.statements).flat_map(|statement| self.targets(statement)).collect()
    }

    /// The targets that a statement names.
    fn targets(&self, statement: &NaiveStatement) -> Vec<NaiveTarget> {
        let (Facet::Objects, NaiveReach::Objects(kind, facts, section)) = (statement.facet, &statement.reach) else {
            return Vec::new();
        };
        let meant = self.objects.iter().filter(|object| object.kind == *kind && has(&object.facts, facts));
        let target = |object: &NaiveObject| {
            let Some(section) = section else { return Some((object.name.clone(), None)) };
            let mut ports = object.parts.iter().filter(|part| part.role == Role::Port);
            let port = ports.find(|part| match section {
                NaiveSection::Named(name) => part.section == *name,
                NaiveSection::Port(port) => part.port.as_ref() == Some(port),
            });
            port.map(|port| (object.name.clone(), Some(port.section.clone())))
        };
        meant.filter_map(target).collect()
    }

    fn is_about(&self, statement: &NaiveStatement, question: &NaiveQuestion) -> bool {
        match (&statement.reach, question) {
            (NaiveReach::Objects(..), NaiveQuestion::Targets(asked)) => {
                self.targets(statement).iter().any(|target| asked.contains(target))
            }
            (NaiveReach::Tags(wanted), NaiveQuestion::Service(tags) | NaiveQuestion::Client(_, tags)) => {
                wanted.iter().all(|(key, value)| tags.get(key) == Some(value))
            }
            (NaiveReach::Callers(wanted), NaiveQuestion::Inbound(_, caller)) => wanted.iter().all(|(key, wanted)| {
                let fits = |value: &String| match wanted.strip_suffix('*') {
                    Some(beginning) => value.starts_with(beginning),
                    None => value == wanted,
                };
                caller.get(key).is_some_and(fits)
            }),
            _ => true,
        }
    }

    /// The rung, by number, on which one statement is better than another; nothing if it is worse on the first on which they differ.
    pub fn margin(&self, one: Spoken<'_>, other: Spoken<'_>) -> Option<usize> {
        let differs = |rung: &NaiveRung| Self::on_rung(one, other, rung).is_ne();
        // The identity is added below, unless the ladder ends with what tells any two policies apart; statements of one policy have it in common.
        let is_complete =
            matches!(self.ladder.last(), Some(NaiveRung::Title)) || self.ladder.contains(&NaiveRung::Name);
        let below = || (!is_complete && one.0.name != other.0.name).then_some(self.ladder.len());
        let found = self.ladder.iter().position(differs).or_else(below);
        found.filter(|_| self.compare(one, other).is_lt())
    }

    /// Less is better.
    fn compare(&self, one: Spoken<'_>, another: Spoken<'_>) -> Ordering {
        let decided = self.ladder.iter().map(|rung| Self::on_rung(one, another, rung)).find(|order| order.is_ne());
        let (policy, number, statement) = one;
        let (other, other_number, other_statement) = another;
        let below =
            || policy.name.cmp(&other.name).then((other_statement.item, other_number).cmp(&(statement.item, number)));
        decided.unwrap_or_else(below)
    }

    fn on_rung(
        (policy, _, statement): Spoken<'_>,
        (other, _, other_statement): Spoken<'_>,
        rung: &NaiveRung,
    ) -> Ordering {
        let mark = |policy: &NaivePolicy, statement: &NaiveStatement, column: &String| {
            statement.marks.get(column).or(policy.marks.get(column)).copied().unwrap_or(0)
        };
        match rung {
            NaiveRung::Mark(column) => mark(other, other_statement, column).cmp(&mark(policy, statement, column)),
            NaiveRung::Title => policy.title.cmp(&other.title),
            NaiveRung::Item => other_statement.item.cmp(&statement.item),
            NaiveRung::Name => policy.name.cmp(&other.name),
        }
    }
}

fn has(texts: &Texts, wanted: &Texts) -> bool {
    wanted.iter().all(|(key, wanted)| texts.get(key).is_some_and(|value| wanted == "*" || wanted == value))
}
