//! A random world in the engine, and answers back in the words of the naive twin.

use std::collections::BTreeMap;
use std::sync::Arc;

use upheld_model::layers::{Audience, Condition, Extent, Layers, Mark, Pattern, Reach, Reference, Section, Statement};
use upheld_model::{
    Config, Content, Draft, Facet, Lookup, Object, Part, Policy, PolicyContent, Roles, Sym, Symbols, TagSet, Want,
};

use super::super::reference::{
    NaiveAudience, NaiveCondition, NaiveObject, NaivePart, NaivePatch, NaivePolicy, NaiveQuestion, NaiveReach,
    NaiveRung, NaiveSection, NaiveTarget, NaiveValue, NaiveWorld, Texts,
};
use super::super::{
    About, CallerFact, Column, Depth, ItemOrder, Keyed, Layered, Merge, Merged, Nulls, Question, Strategy, Subject,
    Target,
};
use super::random::{CALLER, FACTS, MESH, SECTIONS, TAGS, VALUES};
use crate::kind::{Choices, FacetChoice, MergeKind, Payload};
use crate::ladder::{Best, Ladder, Rung};
use crate::snapshot::{KindId, ObjectId, Snapshot};
use crate::support::{NOWHERE, snapshot};

/// A snapshot with one kind and one scope.
pub(super) struct World {
    pub(super) snapshot: Snapshot,
    pub(super) scope: Sym,
}

impl World {
    pub(super) fn new(naive: &NaiveWorld) -> Self {
        let mut draft = Draft::default();
        // Every text of a question is known, as it would be after reading objects.
        for text in [&FACTS[..], &TAGS, &VALUES, &SECTIONS, &[CALLER, "81"]].concat() {
            draft.symbols.intern(text);
        }
        let (kind, scope) = (draft.symbols.intern("Kind"), draft.symbols.intern("scope"));
        for object in &naive.objects {
            let object = described(object, scope, &mut |text| draft.symbols.intern(text));
            draft.objects.push(object);
        }
        for naive in &naive.policies {
            let policy = policy(naive, &mut draft.symbols);
            draft.policies.push(policy);
        }
        let choices = Choices::Merge(merge_kind(naive, &mut draft.symbols));
        Self { snapshot: snapshot(draft, kind, choices), scope }
    }

    pub(super) fn merge(&self) -> Option<&Merge> {
        self.snapshot.merge(KindId::new(0), self.scope)
    }

    pub(super) fn object(&self, naive: &NaiveObject) -> Object {
        let mut lookup = self.snapshot.lookup();
        described(naive, self.scope, &mut |text| lookup.symbol(text))
    }

    /// Asks the question of an index.
    pub(super) fn with<T>(
        &self,
        proxy: &NaiveObject,
        question: &NaiveQuestion,
        ask: impl FnOnce(&Question<'_>) -> T,
    ) -> T {
        ask(&self.asked(proxy, question).question())
    }

    /// The question in the model.
    pub(super) fn asked<'n>(&self, proxy: &NaiveObject, question: &'n NaiveQuestion) -> Asked<'n> {
        let mut lookup = self.snapshot.lookup();
        let part = |part: usize| u32::try_from(part).unwrap();
        let about = match question {
            NaiveQuestion::Whole => AskedAbout::Whole,
            NaiveQuestion::Targets(targets) => {
                AskedAbout::Targets(targets.iter().filter_map(|target| self.target(target)).collect())
            }
            NaiveQuestion::Service(tags) => AskedAbout::Service(tag_set(tags, &mut |text| lookup.symbol(text))),
            NaiveQuestion::Client(number, tags) => {
                AskedAbout::Client(part(*number), tag_set(tags, &mut |text| lookup.symbol(text)))
            }
            NaiveQuestion::Inbound(number, caller) => {
                let caller = caller.iter().map(|(key, value)| {
                    let known = Some(value.as_str()).filter(|value| *value != "?");
                    (lookup.symbol(key), known)
                });
                AskedAbout::Inbound(part(*number), caller.collect())
            }
        };
        Asked { object: self.object(proxy), about }
    }

    pub(super) fn target(&self, (name, section): &NaiveTarget) -> Option<Target> {
        let mut objects = self.snapshot.objects().iter();
        let (object, _) = objects.find(|(_, object)| self.snapshot.text(object.name) == name)?;
        Some(Target { object, section: section.as_ref().map(|section| self.snapshot.lookup().symbol(section)) })
    }

    /// What surrounds every object.
    pub(super) fn mesh(&self) -> Option<ObjectId> {
        self.target(&(MESH.to_owned(), None)).map(|target| target.object)
    }

    pub(super) fn naive_target(&self, target: Target) -> NaiveTarget {
        let name = self.snapshot.text(self.snapshot.objects().get(target.object).unwrap().name).to_owned();
        (name, target.section.map(|section| self.snapshot.text(section).to_owned()))
    }

    /// The name of a policy and what it says, for each layer of an answer.
    pub(super) fn layers(&self, merge: &Merge, entries: &[crate::EntryId]) -> Vec<(String, NaiveValue)> {
        let entries = entries.iter().map(|id| merge.entry(*id).expect("entry of this world"));
        entries
            .map(|entry| {
                let name = merge.policy(entry.slot).expect("policy of this world").name;
                (self.snapshot.text(name).to_owned(), value(&entry.config))
            })
            .collect()
    }
}

/// A question with all that it is made of.
pub(super) struct Asked<'n> {
    object: Object,
    about: AskedAbout<'n>,
}

enum AskedAbout<'n> {
    Whole,
    Targets(Vec<Target>),
    Service(TagSet),
    Client(u32, TagSet),
    Inbound(u32, Vec<CallerFact<'n>>),
}

impl Asked<'_> {
    pub(super) fn question(&self) -> Question<'_> {
        let about = match &self.about {
            AskedAbout::Whole => About::Whole,
            AskedAbout::Targets(targets) => About::Targets(targets),
            AskedAbout::Service(tags) => About::Service(tags),
            AskedAbout::Client(part, tags) => About::Client { part: *part, tags },
            AskedAbout::Inbound(part, caller) => About::Inbound { part: *part, caller },
        };
        Question { subject: Subject::of(&self.object), about }
    }
}

/// What an answer comes to; the naive twin keeps nothing apart.
pub(super) fn result(answer: &Layered) -> Option<NaiveValue> {
    merged_value(&answer.results)
}

pub(super) fn merged_value(results: &[Merged]) -> Option<NaiveValue> {
    assert!(results.len() <= 1);
    results.first().and_then(Merged::config).map(|config| value(&config))
}

pub(super) fn tag_set(tags: &Texts, symbol: &mut impl FnMut(&str) -> Sym) -> TagSet {
    let tags = tags.iter().map(|(key, value)| {
        let value = (value != "?").then(|| symbol(value));
        (symbol(key), value)
    });
    TagSet::new(tags.collect::<Vec<_>>())
}

fn described(naive: &NaiveObject, scope: Sym, symbol: &mut impl FnMut(&str) -> Sym) -> Object {
    let part = |part: &NaivePart, symbol: &mut dyn FnMut(&str) -> Sym| Part {
        role: part.role,
        section: symbol(&part.section),
        port: part.port.as_ref().map(|port| symbol(port)),
        tags: tag_set(&part.tags, &mut |text| symbol(text)),
    };
    Object {
        kind: symbol(&naive.kind),
        scope,
        name: symbol(&naive.name),
        facts: tag_set(&naive.facts, symbol),
        parts: naive.parts.iter().map(|one| part(one, symbol)).collect(),
        at: NOWHERE,
        created: None,
    }
}

/// A policy in the model; its texts become symbols.
pub(super) fn policy(naive: &NaivePolicy, symbols: &mut Symbols) -> Policy {
    let marks = |naive: &BTreeMap<String, i64>, symbols: &mut Symbols| -> Vec<Mark> {
        let mark = |(column, number): (&String, &i64)| {
            let column = symbols.intern(column);
            Mark { column, number: *number, word: column }
        };
        naive.iter().map(mark).collect()
    };
    let statements = naive.statements.iter().map(|statement| Statement {
        facet: statement.facet,
        item: statement.item,
        reach: reach(&statement.reach, symbols),
        marks: marks(&statement.marks, symbols),
        config: config_of(&statement.config),
        at: NOWHERE,
    });
    let entries: Vec<Statement> = statements.collect();
    let audiences = naive.audiences.iter().map(|one| audience_of(one, symbols)).collect();
    Policy {
        kind: symbols.intern("Kind"),
        scope: symbols.intern("scope"),
        name: symbols.intern(&naive.name),
        title: symbols.intern(&naive.title),
        created: None,
        at: NOWHERE,
        payload: None,
        says: PolicyContent::Layers(Layers {
            audiences,
            marks: marks(&naive.marks, symbols),
            entries,
            dangling: Vec::new(),
        }),
    }
}

fn audience_of(naive: &NaiveAudience, symbols: &mut Symbols) -> Audience {
    let mut symbol = |text: &str| symbols.intern(text);
    let condition = |condition: &NaiveCondition, symbol: &mut dyn FnMut(&str) -> Sym| match condition {
        NaiveCondition::Is(key, value) => Condition::Is(symbol(key), symbol(value)),
        NaiveCondition::AbsentOr(key, value) => Condition::AbsentOr(symbol(key), symbol(value)),
        NaiveCondition::Absent(key) => Condition::Absent(symbol(key)),
    };
    let conditions = naive.conditions.iter().map(|one| condition(one, &mut symbol)).collect();
    let tags = naive.tags.iter().map(|(key, value)| {
        let want = if value == "*" { Want::Any } else { Want::Exactly(symbol(value)) };
        (symbol(key), want)
    });
    let tags = tags.collect();
    Audience {
        conditions,
        roles: Roles::of(&naive.roles),
        tags,
        section: naive.section.as_ref().map(|one| symbol(one)),
    }
}

fn reach(naive: &NaiveReach, symbols: &mut Symbols) -> Reach {
    let mut pairs = |texts: &Texts| -> Vec<(Sym, Sym)> {
        texts.iter().map(|(key, value)| (symbols.intern(key), symbols.intern(value))).collect()
    };
    match naive {
        NaiveReach::Everything => Reach::Everything,
        NaiveReach::Tags(tags) => Reach::Tags(pairs(tags)),
        NaiveReach::Objects(kind, facts, section) => {
            let facts = pairs(facts);
            let section = section.as_ref().map(|section| match section {
                NaiveSection::Named(name) => Section::Named(symbols.intern(name)),
                NaiveSection::Port(port) => Section::Port(symbols.intern(port)),
            });
            Reach::Objects(Reference { kind: symbols.intern(kind), facts, section })
        }
        NaiveReach::Callers(callers) => {
            let pattern = |(key, text): (&String, &String)| {
                let (text, extent) = match text.strip_suffix('*') {
                    Some(beginning) => (beginning, Extent::Beginning),
                    None => (text.as_str(), Extent::Whole),
                };
                Pattern { key: symbols.intern(key), text: text.into(), extent }
            };
            Reach::Callers(callers.iter().map(pattern).collect())
        }
    }
}

fn merge_kind(naive: &NaiveWorld, symbols: &mut Symbols) -> MergeKind {
    let rungs = naive.ladder.iter().map(|rung| match rung {
        NaiveRung::Mark(column) => Rung { column: Column::Mark(symbols.intern(column)), best: Best::Highest },
        NaiveRung::Title => Rung { column: Column::Title, best: Best::Lowest },
        NaiveRung::Item => Rung { column: Column::Item, best: Best::Highest },
        NaiveRung::Name => Rung { column: Column::Identity, best: Best::Lowest },
    });
    let rank = Ladder::new(rungs.collect());
    let field = symbols.intern("field");
    let facet = |facet| FacetChoice { facet, field, instead: None, payload: Payload::Rest, rank: rank.clone() };
    MergeKind {
        facets: Facet::ALL.into_iter().map(facet).collect(),
        rank: rank.clone(),
        strategy: meeting(&naive.patch),
        group: None,
        position: 0,
        defaults: Vec::new(),
    }
}

/// The same choices for the engine.
pub(super) fn meeting(patch: &NaivePatch) -> Strategy {
    let keyed = patch.keyed.iter().map(|keyed| Keyed {
        field: keyed.field.as_str().into(),
        key: keyed.key.as_str().into(),
        payload: keyed.payload.as_str().into(),
        order: if keyed.best_first { ItemOrder::BestFirst } else { ItemOrder::WorstFirst },
    });
    Strategy {
        depth: Depth::Deep,
        nulls: if patch.ignores_nulls { Nulls::Ignore } else { Nulls::Erase },
        chained: Vec::new(),
        append_prefix: patch.append.as_deref().map(Into::into),
        keyed: keyed.collect(),
    }
}

pub(super) fn config_of(naive: &NaiveValue) -> Arc<Config> {
    Config::made(match naive {
        NaiveValue::Null => Content::Null,
        NaiveValue::Text(text) => Content::Text(text.as_str().into()),
        NaiveValue::List(items) => Content::List(items.iter().map(config_of).collect()),
        NaiveValue::Map(fields) => {
            Content::Map(fields.iter().map(|(key, value)| (key.as_str().into(), config_of(value))).collect())
        }
    })
}

/// The order of fields means nothing, so it is lost here.
pub(super) fn value(config: &Config) -> NaiveValue {
    match &config.content {
        Content::Null => NaiveValue::Null,
        Content::Bool(value) => NaiveValue::Text(value.to_string()),
        Content::Number(text) | Content::Text(text) => NaiveValue::Text(text.to_string()),
        Content::List(items) => NaiveValue::List(items.iter().map(|item| value(item)).collect()),
        Content::Map(fields) => {
            NaiveValue::Map(fields.iter().map(|(key, field)| (key.to_string(), value(field))).collect())
        }
    }
}

pub(super) fn lookup(world: &World) -> Lookup<'_> {
    world.snapshot.lookup()
}
