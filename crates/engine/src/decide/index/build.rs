//! From policies to the index: all of them, or those that came and went.

use smol_str::SmolStr;

use super::atoms::{AtomKind, Atoms, Patterns};
use super::entry_list::EntryList;
use super::layers::Settle;
use super::{ANY, Combination, Entry, Index, Kinds, Methods, NONE, PathIs, WITH_PATH, WITHOUT_PATH};
use crate::decide::fact_test::{FactOf, Operator};
use crate::decide::glob::Wildcard;
use crate::decide::rule::{ANY_METHOD, Matcher, PathPattern, Rule, Status, Test};
use crate::decide::truth::Truth;
use crate::order::number;

/// Policies with more combinations of alternatives than this are looked at whole.
const MOST_COMBINATIONS: usize = 1024;

impl Index {
    /// For policies with their slots.
    pub(in crate::decide) fn new<'r>(rules: impl Iterator<Item = (u32, &'r Rule)> + Clone) -> Self {
        let mut builder = IndexBuilder::default();
        for (_, rule) in rules.clone() {
            builder.count(rule, |count| *count += 1);
        }
        for (slot, rule) in rules {
            builder.add(slot, rule);
        }
        builder.finish(Settle::Now)
    }

    /// Without some policies and with some others. What only those asked for that are gone stays behind as empty lists and
    /// unused atoms; when this has become too much, all is to be built anew.
    pub(in crate::decide) fn with(&self, gone: &[(u32, &Rule)], came: &[(u32, &Rule)]) -> Self {
        let mut builder = IndexBuilder { index: self.clone(), entries: Vec::new() };
        for (slot, rule) in gone {
            builder.remove(*slot, rule);
            builder.count(rule, |count| *count = count.saturating_sub(1));
        }
        for (_, rule) in came {
            builder.count(rule, |count| *count += 1);
        }
        for (slot, rule) in came {
            builder.add(*slot, rule);
        }
        builder.finish(Settle::Later)
    }
}

/// An index with entries that are not in their lists yet.
#[derive(Default)]
struct IndexBuilder {
    index: Index,
    /// With their lists.
    entries: Vec<(u32, Entry)>,
}

/// What one combination of alternatives asks for.
struct Asks<'r> {
    /// Values that can be looked up, one list for each test; one value of each list must be there.
    lists: Vec<Vec<u32>>,
    paths: Vec<&'r PathPattern>,
    methods: Methods,
    /// Whether something is asked for that no number can tell.
    verify: bool,
    /// Which alternatives they are.
    combination: Combination,
}

impl IndexBuilder {
    /// Changes how often the atoms of a policy are asked for.
    fn count(&mut self, rule: &Rule, change: impl Fn(&mut u32)) {
        if rule.status == Status::Off {
            return;
        }
        for (_, alternatives) in rule.target.clauses() {
            for test in alternatives.iter().flat_map(|matcher| &matcher.tests) {
                for atom in self.atoms_of(test).into_iter().flatten() {
                    let (place, counts) = (atom as usize, &mut self.index.counts);
                    counts.reach(place + 1, || 0);
                    counts.get_mut(place).into_iter().for_each(&change);
                }
            }
        }
    }

    fn add(&mut self, slot: u32, rule: &Rule) {
        self.each_combination(rule, |builder, asks| builder.add_combination(slot, asks));
    }

    fn remove(&mut self, slot: u32, rule: &Rule) {
        self.each_combination(rule, |builder, asks| {
            for list in builder.lists_of(asks).into_iter().chain([WITH_PATH]) {
                if let Some(list) = builder.index.lists.get_mut(list as usize) {
                    // What was rarest when it came need not be now.
                    *list = list.without(slot, asks.lists.iter().flatten().copied().chain([ANY]));
                }
            }
        });
    }

    /// Calls back with what each combination of alternatives of a policy asks for.
    fn each_combination(&mut self, rule: &Rule, act: impl Fn(&mut Self, &Asks<'_>)) {
        if rule.status == Status::Off {
            return;
        }
        let target = &rule.target;
        let actions = actions(&target.actions);
        let combinations =
            target.subjects.len().max(1).saturating_mul(target.resources.len().max(1)).saturating_mul(actions.len());
        if combinations > MOST_COMBINATIONS {
            // Clause by clause that is a sum, and not a product.
            let combination = Combination { subject: NONE, resource: NONE, action: NONE, path: PathIs::Whole };
            act(self, &Asks { verify: true, ..Asks::nothing(Methods::ALL, combination) });
            return;
        }
        for (subject, subject_matcher) in numbered(&target.subjects) {
            for (resource, resource_matcher) in numbered(&target.resources) {
                for (action, methods, action_matcher) in &actions {
                    let combination = Combination { subject, resource, action: *action, path: PathIs::Told };
                    let matchers = [subject_matcher, resource_matcher, *action_matcher].into_iter().flatten();
                    let asks = self.asks(matchers, Asks::nothing(*methods, combination));
                    act(self, &asks);
                }
            }
        }
    }

    fn add_combination(&mut self, slot: u32, asks: &Asks<'_>) {
        let key = self.rarest(&asks.lists);
        let keys = key.and_then(|place| asks.lists.get(place)).map_or(&[ANY][..], Vec::as_slice);
        let others = || asks.lists.iter().enumerate().filter(|(place, _)| Some(*place) != key);
        let also = others().find_map(|(place, list)| match list.as_slice() {
            [only] => Some((place, *only)),
            _ => None,
        });
        let verify_atoms = others().any(|(place, _)| also.is_none_or(|(known, _)| known != place));
        let also = also.map_or(ANY, |(_, atom)| atom);
        let lists = self.lists_of(asks);
        if lists.iter().any(|list| *list != WITHOUT_PATH) {
            for key in keys {
                let needs = self.about(*key).with(self.about(also));
                let entry = Entry { key: *key, also, slot, verify: NONE, methods: asks.methods, needs };
                self.entries.push((WITH_PATH, entry));
            }
        }
        for (list, pattern) in lists.into_iter().zip(asks.patterns()) {
            let (verify, combination) = match pattern {
                None | Some(PathPattern::Glob(_)) => (asks.verify || verify_atoms, asks.combination),
                Some(PathPattern::Foreign(..) | PathPattern::Broken(_)) => {
                    (true, Combination { path: PathIs::Open, ..asks.combination })
                }
            };
            let verify = if verify { self.combination(combination) } else { NONE };
            for key in keys {
                let needs = self.about(*key).with(self.about(also));
                self.entries.push((list, Entry { key: *key, also, slot, verify, methods: asks.methods, needs }));
            }
        }
    }

    /// The list for each of the paths; the first one of all if the tree cannot tell.
    fn lists_of(&mut self, asks: &Asks<'_>) -> Vec<u32> {
        let list = |pattern: Option<&PathPattern>| match pattern {
            Some(PathPattern::Glob(glob)) => self.index.trie.list_of(glob),
            None | Some(PathPattern::Foreign(..) | PathPattern::Broken(_)) => WITHOUT_PATH,
        };
        asks.patterns().map(list).collect()
    }

    fn about(&self, atom: u32) -> Kinds {
        self.index.atoms.kind(atom).map_or(Kinds::default(), Kinds::one)
    }

    fn combination(&mut self, combination: Combination) -> u32 {
        self.index.combinations.push(combination);
        number(self.index.combinations.len() - 1)
    }

    /// The test whose values are asked for least often.
    fn rarest(&self, lists: &[Vec<u32>]) -> Option<usize> {
        let count = |atom: &u32| u64::from(self.index.counts.get(*atom as usize).copied().unwrap_or_default());
        let all = lists.iter().enumerate();
        all.min_by_key(|(_, list)| list.iter().map(count).sum::<u64>()).map(|(place, _)| place)
    }

    fn asks<'r>(&mut self, matchers: impl Iterator<Item = &'r Matcher>, nothing: Asks<'r>) -> Asks<'r> {
        let mut asks = nothing;
        for test in matchers.flat_map(|matcher| &matcher.tests) {
            match test {
                // Nothing looks like one of none.
                Test::Path(patterns) if patterns.is_empty() => asks.lists.push(Vec::new()),
                Test::Path(patterns) if asks.paths.is_empty() => asks.paths.extend(patterns),
                // The tree tells of the first only.
                Test::Path(_) => (asks.combination.path, asks.verify) = (PathIs::Open, true),
                Test::Method(names) => {
                    asks.methods = asks.methods.both(self::methods(names));
                    let other = |name: &SmolStr| Methods::one(name) == Methods::OTHER && name != ANY_METHOD;
                    asks.verify |= names.iter().any(other);
                }
                test => match self.atoms_of(test) {
                    Some(atoms) => asks.lists.push(atoms),
                    None => asks.verify = true,
                },
            }
        }
        asks
    }

    /// The values of a test, if all of them can be looked up.
    fn atoms_of(&mut self, test: &Test) -> Option<Vec<u32>> {
        let Index { atoms, roles, apps, .. } = &mut self.index;
        let mut texts = |kind: AtomKind, texts: &[SmolStr]| {
            Some(texts.iter().map(|text| atoms.intern(kind, text.as_bytes())).collect())
        };
        match test {
            Test::Id(wanted) => texts(AtomKind::Id, wanted),
            Test::SubjectType(wanted) => texts(AtomKind::SubjectType, wanted),
            Test::Group(wanted) => texts(AtomKind::Group, wanted),
            Test::Type(wanted) => texts(AtomKind::Type, wanted),
            Test::ResourceId(wanted) => texts(AtomKind::ResourceId, wanted),
            Test::Operation(wanted) => texts(AtomKind::Operation, wanted),
            Test::Role(wanted) | Test::App(wanted) if wanted.iter().any(Wildcard::is_broken) => None,
            Test::Role(wanted) => {
                let kinds = (AtomKind::Role, AtomKind::RolePattern);
                Some(wanted.iter().map(|wanted| pattern_atom(atoms, roles, kinds, wanted)).collect())
            }
            Test::App(wanted) => {
                let kinds = (AtomKind::App, AtomKind::AppPattern);
                Some(wanted.iter().map(|wanted| pattern_atom(atoms, apps, kinds, wanted)).collect())
            }
            Test::Fact(test) => match &test.operator {
                // Who has no such claim has no atom, so an absent one must not fit.
                Operator::In(values)
                    if test.of == FactOf::Subject && test.path.len() == 1 && test.absent == Truth::False =>
                {
                    values.iter().map(|value| atoms.intern_claim(&test.name, value)).collect()
                }
                _ => None,
            },
            Test::Path(_) | Test::OwnedBySubject | Test::Method(_) | Test::Not(_) => None,
        }
    }

    fn finish(self, settle: Settle) -> Index {
        let Self { mut index, mut entries } = self;
        index.lists.reach(index.trie.lists(), EntryList::default);
        entries.sort_by_key(|(list, entry)| (*list, entry.key, entry.slot));
        for same in entries.chunk_by(|(one, _), (other, _)| one == other) {
            let own: Vec<Entry> = same.iter().map(|(_, entry)| *entry).collect();
            if let Some(list) = same.first().and_then(|(list, _)| index.lists.get_mut(*list as usize)) {
                *list = list.with(&own);
            }
        }
        index.atoms.settle(settle);
        index.roles.settle(settle);
        index.apps.settle(settle);
        index.trie.settle(settle);
        index
    }
}

impl<'r> Asks<'r> {
    fn nothing(methods: Methods, combination: Combination) -> Self {
        Self { lists: Vec::new(), paths: Vec::new(), methods, verify: false, combination }
    }

    /// The patterns of paths; one that is none if nothing is asked of the path.
    fn patterns(&self) -> impl Iterator<Item = Option<&'r PathPattern>> {
        let none = if self.paths.is_empty() { Some(None) } else { None };
        self.paths.iter().copied().map(Some).chain(none)
    }
}

fn pattern_atom(atoms: &mut Atoms, patterns: &mut Patterns, kinds: (AtomKind, AtomKind), wanted: &Wildcard) -> u32 {
    match wanted {
        Wildcard::Exact(text) => atoms.intern(kinds.0, text.as_bytes()),
        Wildcard::Runs(text, _) => {
            let atom = atoms.intern(kinds.1, text.as_bytes());
            patterns.add(wanted, atom);
            atom
        }
        // Another system may mean something else by the same text.
        Wildcard::Foreign(text, _) | Wildcard::Broken(text) => {
            let atom = atoms.intern(kinds.1, format!("\0{text}").as_bytes());
            patterns.add(wanted, atom);
            atom
        }
    }
}

fn numbered(matchers: &[Matcher]) -> Vec<(u32, Option<&Matcher>)> {
    if matchers.is_empty() { vec![(0, None)] } else { (0..).zip(matchers.iter().map(Some)).collect() }
}

/// Alternatives that ask for nothing but methods become one.
fn actions(matchers: &[Matcher]) -> Vec<(u32, Methods, Option<&Matcher>)> {
    if matchers.is_empty() {
        return vec![(0, Methods::ALL, None)];
    }
    let mut together = Methods(0);
    let mut apart = Vec::new();
    for (number, matcher) in (0..).zip(matchers) {
        match matcher.tests.as_slice() {
            [Test::Method(names)]
                if names.iter().all(|name| name == ANY_METHOD || Methods::one(name) != Methods::OTHER) =>
            {
                together = together.with(methods(names));
            }
            tests => {
                let given = tests.iter().find_map(|test| match test {
                    Test::Method(names) => Some(methods(names)),
                    _ => None,
                });
                apart.push((number, given.unwrap_or(Methods::ALL), Some(matcher)));
            }
        }
    }
    if together != Methods(0) {
        apart.push((NONE, together, None));
    }
    apart
}

fn methods(names: &[SmolStr]) -> Methods {
    names
        .iter()
        .fold(Methods(0), |all, name| all.with(if name == ANY_METHOD { Methods::ALL } else { Methods::one(name) }))
}
