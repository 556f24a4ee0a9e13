//! From policies to the index: all of them, or those that changed.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use smol_str::SmolStr;

use super::atoms::{AtomKind, Atoms, Patterns};
use super::{ANY, Combination, Entry, Index, Kinds, List, Methods, NONE, PathIs, SHORT};
use crate::decide::glob::{Glob, Wild};
use crate::decide::rule::{ANY_METHOD, FactOf, Matcher, Operator, PathPattern, Rule, Status, Test};
use crate::decide::truth::Truth;

/// Policies with more combinations of alternatives than this are looked at whole.
const MOST_COMBINATIONS: usize = 1024;

/// Nodes that the paths of a policy may need; most need fewer.
const NODES: usize = 16;

/// What became of the policies of an index.
#[derive(Debug)]
pub(in crate::decide) struct Renumbered {
    /// The new number of each that was there; [`NONE`] if it is gone.
    pub(in crate::decide) kept: Vec<u32>,
    /// The numbers of those that were not there.
    pub(in crate::decide) added: Vec<u32>,
}

impl Renumbered {
    /// Compares by identity: a policy that changed is another one.
    pub(in crate::decide) fn of(before: &[Arc<Rule>], after: &[Arc<Rule>]) -> Self {
        let same = |(before, after): (&Arc<Rule>, &Arc<Rule>)| Arc::ptr_eq(before, after);
        let start = before.iter().zip(after).take_while(|pair| same(*pair)).count();
        let (old, new) = (before.get(start..).unwrap_or_default(), after.get(start..).unwrap_or_default());
        let end = old.iter().rev().zip(new.iter().rev()).take_while(|pair| same(*pair)).count();
        let middle = old.len() - end;
        // Most changes are small, and all before and after them is as it was.
        let mut places: FxHashMap<*const Rule, u32> =
            (number(start)..).zip(new).take(new.len() - end).map(|(place, rule)| (Arc::as_ptr(rule), place)).collect();
        let mut kept: Vec<u32> = (0..number(start)).collect();
        kept.extend(old.iter().take(middle).map(|rule| places.remove(&Arc::as_ptr(rule)).unwrap_or(NONE)));
        kept.extend(number(after.len() - end)..number(after.len()));
        let mut added: Vec<u32> = places.into_values().collect();
        added.sort_unstable();
        Self { kept, added }
    }

    /// Whether all is as it was.
    pub(in crate::decide) fn is_nothing(&self) -> bool {
        self.added.is_empty() && (0..).zip(&self.kept).all(|(before, after)| before == *after)
    }

    fn changes(&self) -> usize {
        self.added.len() + self.kept.iter().filter(|number| **number == NONE).count()
    }
}

impl Index {
    /// For policies in the order of their numbers.
    pub(in crate::decide) fn new(rules: &[Arc<Rule>]) -> Self {
        let mut builder = IndexBuilder::default();
        for rule in rules {
            builder.count(rule, |count| *count += 1);
        }
        for (number, rule) in (0..).zip(rules) {
            builder.add(number, rule);
        }
        builder.index.trie.shrink();
        builder.finish()
    }

    /// For policies of which most were there before. What only those asked for that are gone stays behind as empty lists and
    /// unused atoms; when this has become too much, all is built anew.
    pub(in crate::decide) fn after(&self, changed: &Renumbered, before: &[Arc<Rule>], rules: &[Arc<Rule>]) -> Self {
        let changes = self.changes + changed.changes();
        if changes > rules.len() / 2 {
            return Self::new(rules);
        }
        let mut builder = IndexBuilder::of(self, changed);
        builder.index.changes = changes;
        for (rule, _) in before.iter().zip(&changed.kept).filter(|(_, number)| **number == NONE) {
            builder.count(rule, |count| *count = count.saturating_sub(1));
        }
        let added = || changed.added.iter().filter_map(|number| Some((*number, rules.get(*number as usize)?)));
        for (_, rule) in added() {
            builder.count(rule, |count| *count += 1);
        }
        for (number, rule) in added() {
            builder.add(number, rule);
        }
        builder.finish()
    }
}

/// An index whose entries are not in order yet.
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
    /// Whether no more is asked of the path.
    path: PathIs,
    methods: Methods,
    /// Whether something is asked for that no number can tell.
    verify: bool,
}

impl IndexBuilder {
    /// What stays of an index when policies change.
    fn of(index: &Index, changed: &Renumbered) -> Self {
        let Index { atoms, roles, apps, counts, trie, combinations, changes, .. } = index;
        let mut entries = Vec::with_capacity(index.entries.len() + changed.added.len());
        for (list, List { start, length }) in (0..).zip(&index.lists) {
            let own = index.entries.iter().skip(*start as usize).take(*length as usize);
            let numbered = own.map(|entry| (changed.kept.get(entry.rule as usize).copied().unwrap_or(NONE), entry));
            let kept = numbered.filter(|(rule, _)| *rule != NONE);
            entries.extend(kept.map(|(rule, entry)| (list, Entry { rule, ..*entry })));
        }
        let index = Index {
            atoms: atoms.clone(),
            roles: roles.clone(),
            apps: apps.clone(),
            counts: counts.clone(),
            // Growing by one would double what all others take.
            trie: trie.with_room(changed.added.len() * NODES),
            combinations: combinations.clone(),
            changes: *changes,
            ..Index::default()
        };
        Self { index, entries }
    }

    /// Changes how often the atoms of a policy are asked for.
    fn count(&mut self, rule: &Rule, change: impl Fn(&mut u32)) {
        if rule.status == Status::Off {
            return;
        }
        for (_, alternatives) in rule.target.clauses() {
            for test in alternatives.iter().flat_map(|matcher| &matcher.tests) {
                for atom in self.atoms_of(test).into_iter().flatten() {
                    let (place, counts) = (atom as usize, &mut self.index.counts);
                    if counts.len() <= place {
                        counts.resize(place + 1, 0);
                    }
                    counts.get_mut(place).into_iter().for_each(&change);
                }
            }
        }
    }

    fn add(&mut self, number: u32, rule: &Rule) {
        if rule.status == Status::Off {
            return;
        }
        let target = &rule.target;
        let actions = actions(&target.actions);
        let combinations =
            target.subjects.len().max(1).saturating_mul(target.resources.len().max(1)).saturating_mul(actions.len());
        if combinations > MOST_COMBINATIONS {
            self.add_whole(number, rule);
            return;
        }
        for (subject_number, subject) in numbered(&target.subjects) {
            for (resource_number, resource) in numbered(&target.resources) {
                for (action_number, methods, action) in &actions {
                    let matchers = [subject, resource, *action].into_iter().flatten();
                    let asks = self.asks(matchers, *methods);
                    let verify = Combination {
                        subject: subject_number,
                        resource: resource_number,
                        action: *action_number,
                        path: asks.path,
                    };
                    self.add_combination(number, &asks, verify);
                }
            }
        }
    }

    /// Each alternative alone is looked at; rare enough to be slow.
    fn add_whole(&mut self, number: u32, rule: &Rule) {
        let target = &rule.target;
        for (subject, _) in numbered(&target.subjects) {
            for (resource, _) in numbered(&target.resources) {
                for (action, _) in numbered(&target.actions) {
                    let verify = Combination { subject, resource, action, path: PathIs::Open };
                    let asks = Asks {
                        lists: Vec::new(),
                        paths: Vec::new(),
                        path: PathIs::Open,
                        methods: Methods::ALL,
                        verify: true,
                    };
                    self.add_combination(number, &asks, verify);
                }
            }
        }
    }

    fn add_combination(&mut self, rule: u32, asks: &Asks<'_>, combination: Combination) {
        let key = self.rarest(&asks.lists);
        let keys = key.and_then(|place| asks.lists.get(place)).map_or(&[ANY][..], Vec::as_slice);
        let others = || asks.lists.iter().enumerate().filter(|(place, _)| Some(*place) != key);
        let also = others().find_map(|(place, list)| match list.as_slice() {
            [only] => Some((place, *only)),
            _ => None,
        });
        let verify_atoms = others().any(|(place, _)| also.is_none_or(|(known, _)| known != place));
        let put = |builder: &mut Self, list: u32, verify: bool, combination: Combination| {
            let verify = if verify { builder.combination(combination) } else { NONE };
            let also = also.map_or(ANY, |(_, atom)| atom);
            for key in keys {
                let needs = builder.about(*key).with(builder.about(also));
                builder.entries.push((list, Entry { key: *key, also, rule, verify, methods: asks.methods, needs }));
            }
        };
        let verify = asks.verify || verify_atoms;
        if asks.paths.is_empty() {
            put(self, 0, verify, combination);
        }
        for pattern in &asks.paths {
            match pattern {
                PathPattern::Glob(glob) => {
                    let list = self.list_of(glob);
                    put(self, list, verify, combination);
                }
                PathPattern::Foreign(..) | PathPattern::Broken(_) => {
                    put(self, 0, true, Combination { path: PathIs::Open, ..combination });
                }
            }
        }
    }

    fn about(&self, atom: u32) -> Kinds {
        self.index.atoms.kind(atom).map_or(Kinds::default(), Kinds::one)
    }

    fn list_of(&mut self, glob: &Glob) -> u32 {
        self.index.trie.list_of(glob)
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

    fn asks<'r>(&mut self, matchers: impl Iterator<Item = &'r Matcher>, methods: Methods) -> Asks<'r> {
        let mut asks = Asks { lists: Vec::new(), paths: Vec::new(), path: PathIs::Told, methods, verify: false };
        for test in matchers.flat_map(|matcher| &matcher.tests) {
            match test {
                // Nothing looks like one of none.
                Test::Path(patterns) if patterns.is_empty() => asks.lists.push(Vec::new()),
                Test::Path(patterns) if asks.paths.is_empty() => asks.paths.extend(patterns),
                // The tree tells of the first only.
                Test::Path(_) => (asks.path, asks.verify) = (PathIs::Open, true),
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
            Test::Role(wanted) | Test::App(wanted) if wanted.iter().any(Wild::is_broken) => None,
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

    fn finish(self) -> Index {
        let Self { mut index, mut entries } = self;
        // What was sorted before still is, and costs nothing.
        entries.sort_by_key(|(list, entry)| (*list, entry.key, entry.rule));
        index.lists = vec![List::default(); index.trie.lists()];
        index.entries = entries.iter().map(|(_, entry)| *entry).collect();
        for (at, (list, _)) in entries.iter().enumerate() {
            if let Some(list) = index.lists.get_mut(*list as usize) {
                if list.length == 0 {
                    list.start = number(at);
                }
                list.length += 1;
            }
        }
        for (at, (list, entry)) in entries.iter().enumerate() {
            if index.lists.get(*list as usize).is_some_and(|list| list.length > SHORT) {
                index.runs.entry((*list, entry.key)).or_insert((number(at), 0)).1 += 1;
            }
        }
        index
    }
}

fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(NONE)
}

fn pattern_atom(atoms: &mut Atoms, patterns: &mut Patterns, kinds: (AtomKind, AtomKind), wanted: &Wild) -> u32 {
    match wanted {
        Wild::Exact(text) => atoms.intern(kinds.0, text.as_bytes()),
        Wild::Runs(text, _) => {
            let atom = atoms.intern(kinds.1, text.as_bytes());
            patterns.add(wanted, atom);
            atom
        }
        // Another system may mean something else by the same text.
        Wild::Foreign(text, _) | Wild::Broken(text) => {
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
