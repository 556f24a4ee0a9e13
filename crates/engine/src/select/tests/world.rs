//! Small random worlds: three tags with two values each, so that policies meet, tie and miss.

use proptest::prelude::*;
use upheld_model::{Draft, Policy, PolicyContent, Selector, SelectorList, Side, TagSet, Timestamp, Want};

use super::super::reference::{NaiveKind, NaivePolicy, NaiveRung, Tags};
use crate::kind::{Choices, Counts, Empty, Grants, Granularity, Match, Resolve, SelectKind};
use crate::ladder::{Best, Ladder, Rung};
use crate::select::{Column, Select};
use crate::snapshot::{KindId, Snapshot};
use crate::support::{NOWHERE, snapshot};

pub(super) const KEYS: [&str; 3] = ["service", "cloud", "version"];
pub(super) const VALUES: [&str; 2] = ["one", "two"];

/// A selector: each key exact, wild or not named.
pub(super) fn selector() -> impl Strategy<Value = Tags> {
    tags_with(&["one", "two", "*"])
}

/// Tags of an object: each key with a value or absent.
pub(super) fn object() -> impl Strategy<Value = Tags> {
    tags_with(&VALUES)
}

/// An end of a connection, if it is asked about: also with values that nobody names, and ones that are not known.
pub(super) fn end() -> impl Strategy<Value = Option<Vec<Tags>>> {
    let part = tags_with(&["one", "two", "three", "four", "?"]);
    proptest::option::weighted(0.9, proptest::collection::vec(part, 0..3))
}

fn tags_with(values: &'static [&'static str]) -> impl Strategy<Value = Tags> {
    let value = proptest::option::weighted(0.5, proptest::sample::select(values));
    proptest::collection::vec(value, KEYS.len()).prop_map(|values| {
        let pairs = KEYS.iter().zip(values).filter_map(|(key, value)| Some(((*key).to_owned(), value?.to_owned())));
        pairs.collect()
    })
}

/// Policies with distinct names.
pub(super) fn policies() -> impl Strategy<Value = Vec<NaivePolicy>> {
    let selectors = || proptest::collection::vec(selector(), 0..3);
    let policy = (proptest::option::of(0_i64..3), selectors(), selectors());
    proptest::collection::vec(policy, 0..8).prop_map(|policies| {
        let named = policies.into_iter().enumerate().map(|(index, (created, sources, destinations))| {
            // Names in another order than arrival.
            NaivePolicy { name: format!("p{}", (index * 5) % 8), created, sources, destinations }
        });
        named.collect()
    })
}

/// Kinds with rungs in any order, each at most once, the name last; and every other choice.
pub(super) fn kind() -> impl Strategy<Value = NaiveKind> {
    let choices = (proptest::option::of(Just("service".to_owned())), any::<bool>(), any::<bool>(), any::<bool>());
    (ladder(), choices).prop_map(|(ladder, (sees, empty_sources_match, sources_do_not_count, split_sources))| {
        NaiveKind { ladder, sees, empty_sources_match, sources_do_not_count, split_sources }
    })
}

fn ladder() -> impl Strategy<Value = Vec<NaiveRung>> {
    let rungs = vec![
        NaiveRung::MoreTags,
        NaiveRung::MoreExactTags,
        NaiveRung::FewerWildcards,
        NaiveRung::MoreTagsInSources,
        NaiveRung::Newest,
        NaiveRung::Oldest,
    ];
    (Just(rungs).prop_shuffle(), 0_usize..=6).prop_map(|(mut rungs, length)| {
        rungs.truncate(length);
        // Two directions of one column: the second could decide nothing.
        if let Some(oldest) = rungs.iter().position(|rung| *rung == NaiveRung::Oldest)
            && rungs.contains(&NaiveRung::Newest)
        {
            rungs.remove(oldest);
        }
        rungs.push(NaiveRung::Name);
        rungs
    })
}

/// The parts of one end.
pub(super) fn parts() -> impl Strategy<Value = Vec<Tags>> {
    proptest::collection::vec(object(), 1..3)
}

/// What the sources of policies are for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Sources {
    /// Who is not among them is not matched.
    Match,
    /// The winner says whether the caller is among them.
    Grant,
}

/// A snapshot with one kind and one scope.
pub(super) struct World {
    pub(super) snapshot: Snapshot,
    pub(super) kind: KindId,
    pub(super) scope: upheld_model::Sym,
}

impl World {
    pub(super) fn new(policies: &[NaivePolicy], naive: &NaiveKind, resolve: Resolve) -> Self {
        Self::reading(Sources::Match, policies, naive, resolve)
    }

    /// The same with another meaning of sources.
    pub(super) fn reading(sources: Sources, policies: &[NaivePolicy], naive: &NaiveKind, resolve: Resolve) -> Self {
        let mut draft = Draft::default();
        let symbols = &mut draft.symbols;
        let (kind, scope) = (symbols.intern("Kind"), symbols.intern("scope"));
        let fields = [symbols.intern("sources"), symbols.intern("destinations")];
        for policy in policies {
            let selectors = [(fields[0], &policy.sources), (fields[1], &policy.destinations)]
                .map(|(field, list)| {
                    let selectors = list.iter().map(|tags| {
                        let wants = tags.iter().map(|(key, value)| {
                            let want = if value == "*" { Want::Any } else { Want::Exactly(symbols.intern(value)) };
                            (symbols.intern(key), want)
                        });
                        Selector::new(wants.collect::<Vec<_>>(), NOWHERE)
                    });
                    SelectorList { field, selectors: selectors.collect() }
                })
                .to_vec();
            draft.policies.push(Policy {
                title: symbols.intern(&policy.name),
                kind,
                scope,
                name: symbols.intern(&policy.name),
                created: policy.created.map(Timestamp),
                at: NOWHERE,
                payload: None,
                says: PolicyContent::Selectors { lists: selectors, numbers: Vec::new() },
            });
        }
        // Every text of a question is known, as it would be after reading objects.
        for text in KEYS.iter().chain(&VALUES) {
            symbols.intern(text);
        }
        let source = Match {
            field: fields[0],
            side: Side::Source,
            sees: None,
            empty: if naive.empty_sources_match { Empty::Everything } else { Empty::Nothing },
            counts: if naive.sources_do_not_count { Counts::No } else { Counts::Yes },
            each: Granularity::Service,
        };
        let destination = Match {
            field: fields[1],
            side: Side::Destination,
            sees: naive.sees.as_ref().map(|key| vec![symbols.intern(key)]),
            empty: Empty::Nothing,
            counts: Counts::Yes,
            each: Granularity::Service,
        };
        let choices = Choices::Select(SelectKind {
            matches: match sources {
                Sources::Match => vec![source, destination],
                Sources::Grant => vec![destination],
            },
            split: naive.split_sources.then_some(fields[0]),
            rank: Ladder::new(naive.ladder.iter().map(|naive| rung(*naive, fields[0])).collect()),
            resolve,
            grants: match sources {
                Sources::Match => None,
                Sources::Grant => Some(Grants::Field(fields[0])),
            },
        });
        Self { snapshot: snapshot(draft, kind, choices), kind: KindId::new(0), scope }
    }

    pub(super) fn select(&self) -> Option<&Select> {
        self.snapshot.select(self.kind, self.scope)
    }

    pub(super) fn tag_sets(&self, parts: &[Tags]) -> Vec<TagSet> {
        let mut lookup = self.snapshot.lookup();
        let set = |tags: &Tags, lookup: &mut upheld_model::Lookup<'_>| {
            TagSet::new(
                tags.iter()
                    .map(|(key, value)| {
                        let value = (value != "?").then(|| lookup.symbol(value));
                        (lookup.symbol(key), value)
                    })
                    .collect::<Vec<_>>(),
            )
        };
        parts.iter().map(|tags| set(tags, &mut lookup)).collect()
    }

    pub(super) fn name(&self, entry: crate::EntryId) -> &str {
        let entry = self.select().and_then(|select| select.entry(entry)).expect("entry of this world");
        self.policy_name(entry.policy)
    }

    pub(super) fn policy_name(&self, policy: crate::PolicyId) -> &str {
        self.snapshot.text(self.snapshot.policy(policy).expect("policy of this world").name)
    }
}

fn rung(naive: NaiveRung, sources: upheld_model::Sym) -> Rung<Column> {
    let (column, best) = match naive {
        NaiveRung::MoreTags => (Column::Tags, Best::Highest),
        NaiveRung::MoreExactTags => (Column::ExactTags, Best::Highest),
        NaiveRung::FewerWildcards => (Column::WildTags, Best::Lowest),
        NaiveRung::MoreTagsInSources => (Column::TagsIn(sources), Best::Highest),
        NaiveRung::Newest => (Column::Created, Best::Highest),
        NaiveRung::Oldest => (Column::Created, Best::Lowest),
        NaiveRung::Name => (Column::Name, Best::Lowest),
    };
    Rung { column, best }
}
