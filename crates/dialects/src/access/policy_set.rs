//! The policies that documents make together.

mod after;
mod nested;

use std::sync::Arc;

use rustc_hash::{FxBuildHasher, FxHashMap};
use smol_str::SmolStr;
use upheld_engine::decide::{
    Algorithm, Decide, Effect, MOST_WEIGHT, Member, Rule, Set, Status, Strictness, Target, Unknowns,
};
use upheld_model::tree::{Span, Value};
use upheld_model::{Diagnostic, Diagnostics, Fault, Files, NodeRef, SourceId, TextShards};

pub use self::after::Withdrawn;
pub use self::nested::set_shape;
use super::claim::{Claim, STORED, is_named};
use super::manifest::{self, Manifest};
use super::policy::{PolicyReader, Standing};
use super::seeding::DEFAULT_ENVIRONMENT;
use super::shapes::Fields;
use super::{Edition, OnlyIfEmpty, Seeds, compat};
use crate::recognise::Surroundings;

/// Whether there are policies in a set, or in sets within it.
fn has_policies(set: &Set) -> bool {
    set.members.iter().any(|member| match member {
        Member::Rule(_) => true,
        Member::Set(set) => has_policies(set),
    })
}

/// Whether a document of a set has policies, as far as it says.
fn names_policies(document: Value<'_>) -> bool {
    let items = |field: &str| document.get(field).into_iter().flat_map(Value::items);
    items("policies").next().is_some() || items("sets").any(names_policies)
}

/// What the policies of one kind come to, with what is needed to change them.
#[derive(Clone, Debug)]
pub struct PolicySet {
    /// The policies with their index.
    pub decide: Arc<Decide>,
    /// The settings beside them.
    pub manifest: Arc<Manifest>,
    /// The policy of each name, those in sets too.
    names: TextShards<SmolStr, Arc<Rule>>,
    /// How many documents list policies, even if they list none.
    lists: usize,
    places: Places,
}

/// Whether policies stand where they were written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Places {
    /// All of them do.
    Own,
    /// Some took the place of another one of the same name.
    Taken,
}

/// Collects documents of one kind.
#[derive(Debug)]
pub struct PolicySetBuilder<'f> {
    files: &'f Files,
    edition: Edition,
    unknowns: Unknowns,
    reader: PolicyReader,
    algorithm: Algorithm,
    default: Effect,
    members: Vec<(NodeRef, Member)>,
    manifest: Option<Manifest>,
    /// The first policy of each name.
    names: TextShards<SmolStr, Arc<Rule>>,
    known: Known<'f>,
    environment: SmolStr,
    seeds: Seeds,
    surroundings: Surroundings,
    /// How many documents list policies, even if they list none.
    lists: usize,
    /// How many documents have seeds.
    seeded: usize,
    places: Places,
}

impl<'f> PolicySetBuilder<'f> {
    /// For policies with these fields, combined like this where no manifest says otherwise.
    pub fn new(files: &'f Files, edition: Edition, fields: Fields, algorithm: Algorithm, default: Effect) -> Self {
        Self {
            files,
            edition,
            unknowns: Unknowns::default(),
            reader: PolicyReader::new(fields),
            algorithm,
            default,
            members: Vec::new(),
            manifest: None,
            names: TextShards::default(),
            known: Known::default(),
            environment: SmolStr::new_static(DEFAULT_ENVIRONMENT),
            seeds: Seeds::Counted,
            surroundings: Surroundings::Own,
            lists: 0,
            seeded: 0,
            places: Places::Own,
        }
    }

    /// What seeds are.
    #[must_use]
    pub fn with_seeds(self, seeds: Seeds) -> Self {
        Self { seeds, ..self }
    }

    /// How unknown policies are treated.
    #[must_use]
    pub fn treating_unknowns(self, unknowns: Unknowns) -> Self {
        Self { unknowns, ..self }
    }

    /// With documents of others between those that are meant.
    #[must_use]
    pub fn beside(self, surroundings: Surroundings) -> Self {
        Self { surroundings, ..self }
    }

    /// Reuses policies that were read before from other files, and their index. Sources that are the same must be as they were.
    #[must_use]
    pub fn reusing(self, decide: &'f Decide, files: &'f Files, same: impl Fn(SourceId) -> bool) -> Self {
        if self.edition == Edition::Compat {
            // What the original makes of a policy may depend on all of them.
            return self;
        }
        // Whether policies of files count depends on manifests.
        let stored = |source| self.standing(source) == Standing::Stored;
        let as_read = |rule: &Rule| rule.status == Status::On || stored(rule.at.source);
        let is_known = |rule: &&Arc<Rule>| same(rule.at.source) && as_read(rule);
        let mut rules = FxHashMap::with_capacity_and_hasher(decide.rules().len(), FxBuildHasher);
        rules.extend(decide.rules().iter().filter(is_known).map(|rule| (rule.at, rule)));
        let mut builder = Self { known: Known { rules, before: Some((decide, files)) }, ..self };
        builder.members.reserve(decide.rules().len() + 1);
        builder
    }

    /// Whether a store holds the documents of a source. What of them may be written is decided where they are written.
    fn standing(&self, source: SourceId) -> Standing {
        let is_stored = self.files.get(source).is_some_and(|file| file.name.starts_with(STORED));
        if is_stored { Standing::Stored } else { Standing::New }
    }

    /// Reads a document.
    pub fn document(&mut self, source: SourceId, document: Value<'_>, claim: Claim, found: &mut Diagnostics) {
        self.lists += usize::from(claim.lists_policies());
        match claim {
            Claim::Policy => self.policy(source, document, Again::Refused, found),
            Claim::List => document.items().for_each(|item| self.policy(source, item, Again::Refused, found)),
            Claim::Manifest => self.settings(source, document, found),
            Claim::Set => {
                let set = self.set(source, document, 1, found);
                // Of a set whose policies all were defined before nothing is left that could count.
                if let Some(set) = set.filter(|set| has_policies(set) || !names_policies(document)) {
                    let at = NodeRef { source, node: document.number() };
                    self.members.push((at, set.into()));
                }
            }
            // They are not policies; others read them.
            Claim::Directory => {}
        }
    }

    /// A policy that is as it was when it was read before; whether there is one at a place.
    pub fn as_before(&mut self, at: NodeRef, found: &mut Diagnostics) -> bool {
        let Some(rule) = self.known.at(at) else { return false };
        self.keep(rule, Again::Refused, found);
        true
    }

    /// A policy that another reader has checked, given its id.
    pub fn named(&mut self, source: SourceId, body: Value<'_>, name: &str, at: NodeRef, found: &mut Diagnostics) {
        if let Some(rule) = self.reader.body(source, body, SmolStr::new(name), self.standing(source), found) {
            self.keep(Arc::new(Rule { at, ..rule }), Again::Refused, found);
        }
    }

    fn policy(&mut self, source: SourceId, policy: Value<'_>, again: Again, found: &mut Diagnostics) {
        if let Some(rule) = self.read(source, policy, found) {
            self.keep(rule, again, found);
        }
    }

    fn read(&self, source: SourceId, policy: Value<'_>, found: &mut Diagnostics) -> Option<Arc<Rule>> {
        match self.edition {
            Edition::Strict => self.read_strictly(source, policy, found),
            Edition::Compat => compat::read(source, policy, found).map(Arc::new),
        }
    }

    fn read_strictly(&self, source: SourceId, policy: Value<'_>, found: &mut Diagnostics) -> Option<Arc<Rule>> {
        let known = self.known.at(NodeRef { source, node: policy.number() });
        known.or_else(|| self.reader.read(source, policy, self.standing(source), found).map(Arc::new))
    }

    fn keep(&mut self, rule: Arc<Rule>, again: Again, found: &mut Diagnostics) {
        match self.is_new(&rule, again, found) {
            New::Yes => self.members.push((rule.at, Member::Rule(rule))),
            New::Replaces(first) => {
                self.places = Places::Taken;
                if let Some(place) = self.members.iter_mut().find(|(known, _)| *known == first) {
                    // It takes the place of the first, as in the original's store.
                    place.1 = Member::Rule(rule);
                }
            }
            New::No => {}
        }
    }

    fn is_new(&mut self, rule: &Arc<Rule>, again: Again, found: &mut Diagnostics) -> New {
        let Rule { name, at, .. } = &**rule;
        let Some(first) = self.names.get(name).map(|first| first.at) else {
            self.names.insert(name.clone(), Arc::clone(rule));
            return New::Yes;
        };
        if again == Again::Replaces {
            return New::Replaces(first);
        }
        let span = |at: NodeRef| self.files.value(at).map(id_span).unwrap_or_default();
        let message = format!("the policy `{name}` is defined twice");
        let diagnostic = match self.edition {
            Edition::Strict => Diagnostic::error(Fault::DefinedTwice, message).help("rename or remove one of them"),
            Edition::Compat => Diagnostic::warning(Fault::DefinedTwice, message).help("the second replaces the first"),
        };
        let diagnostic = diagnostic.at(at.source, span(*at), "second definition");
        let diagnostic = diagnostic.related(first.source, span(first), "first definition");
        found.push(match self.edition {
            Edition::Strict => self.surroundings.twice(self.files, diagnostic),
            Edition::Compat => diagnostic,
        });
        if self.edition == Edition::Compat { New::Replaces(first) } else { New::No }
    }

    fn settings(&mut self, source: SourceId, document: Value<'_>, found: &mut Diagnostics) {
        let Some(manifest) = manifest::read(source, document, self.edition, self.standing(source), found) else {
            return;
        };
        let before = self.members.len();
        for item in document.get("policies").into_iter().flat_map(Value::items) {
            self.policy(source, item, Again::Refused, found);
        }
        let kept = self.members.len() > before && manifest.seed.only_if_empty == OnlyIfEmpty::Yes;
        let seed = document.get("policySeed");
        self.seeded += usize::from(seed.is_some());
        let seeds = seed.and_then(|seed| seed.get("policies"));
        for item in seeds.into_iter().flat_map(Value::items) {
            if self.seeds == Seeds::Counted && manifest.seed.applies(&self.environment) && !kept {
                self.policy(source, item, Again::Replaces, found);
            } else {
                // What does not count must still be right.
                self.read(source, item, found);
            }
        }
        if is_list(document) {
            return;
        }
        if let Some(first) = self.manifest.as_ref().and_then(|manifest| manifest.at) {
            let span = |at: NodeRef| self.files.value(at).map(first_span).unwrap_or_default();
            let here = NodeRef { source, node: document.number() };
            let diagnostic = Diagnostic::error(Fault::DefinedTwice, "there are two manifests with settings")
                .at(source, span(here), "second manifest")
                .related(first.source, span(first), "first manifest");
            found.push(self.surroundings.twice(self.files, diagnostic.help("read one of them at a time")));
            return;
        }
        self.manifest = Some(manifest);
    }

    /// Whether anything was read.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty() && self.manifest.is_none() && self.lists == 0
    }

    /// Where each policy was written, with its id.
    pub fn policies(&self) -> impl Iterator<Item = (&SmolStr, NodeRef)> {
        let mut found = Vec::new();
        let mut waiting: Vec<&Member> = self.members.iter().rev().map(|(_, member)| member).collect();
        while let Some(member) = waiting.pop() {
            match member {
                Member::Rule(rule) => found.push((&rule.name, rule.at)),
                Member::Set(set) => waiting.extend(set.members.iter().rev()),
            }
        }
        found.into_iter()
    }

    /// All together, in the order of files and places in them.
    pub fn finish(mut self) -> PolicySet {
        let manifest = Arc::new(self.manifest.take().unwrap_or_default());
        self.switch_off_seeds(&manifest);
        let Self { files, mut members, algorithm, default, edition, unknowns, known, names, lists, places, .. } = self;
        let place = place_in(files, files);
        members.sort_by(|(a, _), (b, _)| place(*a).cmp(&place(*b)));
        let mut members: Vec<Member> = members.into_iter().map(|(_, member)| member).collect();
        if edition == Edition::Compat {
            sort_as_the_original(&mut members);
        }
        let root = Set {
            name: SmolStr::default(),
            algorithm: manifest.algorithm.unwrap_or(algorithm),
            default: Some(manifest.default.unwrap_or(default)),
            target: Target::default(),
            duties: Vec::new(),
            priority: 0.0,
            members,
            at: manifest.at,
        };
        let strictness = match edition {
            Edition::Strict => Strictness::Strict,
            Edition::Compat => Strictness::Compat,
        };
        let reused = known.before.and_then(|(before, before_files)| after::reused(before, before_files, &root, files));
        let decide = reused.unwrap_or_else(|| Decide::new(root, strictness));
        let decide = decide.reading_paths(manifest.paths).treating_unknowns(unknowns);
        let decide = Arc::new(decide);
        PolicySet { decide, manifest, names, lists, places }
    }

    fn switch_off_seeds(&mut self, manifest: &Manifest) {
        for (at, member) in &mut self.members {
            if let Member::Rule(rule) = member
                && is_switched_off(*at, manifest, &self.environment, self.files)
            {
                Arc::make_mut(rule).status = Status::Off;
                self.names.insert(rule.name.clone(), Arc::clone(rule));
            }
        }
    }
}

impl PolicySet {
    /// Refuses policies whose patterns are too large together, at the one that has most of it.
    pub(super) fn light_enough(&self, files: &Files, found: &mut Diagnostics) {
        let weight = self.decide.weight();
        if weight <= MOST_WEIGHT {
            return;
        }
        let heaviest = self.decide.rules().into_iter().max_by_key(|rule| rule.weight());
        let Some(rule) = heaviest else { return };
        let message =
            format!("the patterns of all policies are too large together: their automata have about {weight} states");
        let label = format!("expected at most {MOST_WEIGHT}; this policy has about {}", rule.weight());
        let span = files.value(rule.at).map(first_span).unwrap_or_default();
        let help = "write `+` or `*` instead of large repetitions, and texts instead of patterns where they are known";
        found.push(Diagnostic::error(Fault::Limit, message).at(rule.at.source, span, label).help(help));
    }
}

/// The policies of a file that a manifest names count only where the manifest is for.
fn is_switched_off(at: NodeRef, manifest: &Manifest, environment: &str, files: &Files) -> bool {
    let name = || files.get(at.source).map_or("", |file| file.name.as_str());
    !manifest.seed.applies(environment) && manifest.seed.file.as_deref().is_some_and(|file| is_named(name(), file))
}

/// Whether a manifest is no more than a list of policies, and says nothing else.
fn is_list(manifest: Value<'_>) -> bool {
    manifest.entries().all(|(key, _)| key.text() == "policies")
}

/// Where members stand that have the same priority.
pub fn written_in<'f>(files: &'f Files) -> impl Fn(NodeRef) -> (&'f str, usize, u32, usize) + Copy {
    place_in(files, files)
}

/// Where members stand that have the same priority: by the names of files. Documents of a store are one place, and have the order
/// in which they came into it. What is in neither set of files stands before all.
fn place_in<'f>(files: &'f Files, before: &'f Files) -> impl Fn(NodeRef) -> (&'f str, usize, u32, usize) + Copy {
    move |at| {
        let file = files.get(at.source).or_else(|| before.get(at.source));
        match file.map_or("", |file| file.name.as_str()) {
            name if name.starts_with(STORED) => (STORED, at.source.index(), at.node, 0),
            name => (name, 0, at.node, at.source.index()),
        }
    }
}

/// What need not be read again.
#[derive(Debug, Default)]
struct Known<'f> {
    /// Policies that are as they were.
    rules: FxHashMap<NodeRef, &'f Arc<Rule>>,
    /// All of that time with their index, and the files of that time.
    before: Option<(&'f Decide, &'f Files)>,
}

impl Known<'_> {
    fn at(&self, at: NodeRef) -> Option<Arc<Rule>> {
        self.rules.get(&at).map(|rule| Arc::clone(rule))
    }
}

/// What a second policy with the same id does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Again {
    /// Nothing: it is a mistake, where the edition knows mistakes.
    Refused,
    /// It takes the place of the first.
    Replaces,
}

enum New {
    Yes,
    Replaces(NodeRef),
    No,
}

/// A priority that is not a number equals every other in the original's sort, which keeps what was there before.
fn sort_as_the_original(members: &mut Vec<Member>) {
    let priority = |member: &Member| match member {
        Member::Rule(rule) => rule.priority,
        Member::Set(set) => set.priority,
    };
    if !members.iter().any(|member| priority(member).is_nan()) {
        return;
    }
    let mut sorted: Vec<Member> = Vec::with_capacity(members.len());
    for member in members.drain(..) {
        let (mut low, mut high) = (0, sorted.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            let earlier = sorted.get(middle).is_some_and(|other| priority(&member) > priority(other));
            if earlier { high = middle } else { low = middle + 1 }
        }
        sorted.insert(low, member);
    }
    for member in &mut sorted {
        if let Member::Rule(rule) = member {
            Arc::make_mut(rule).priority = 0.0;
        }
    }
    *members = sorted;
}

fn id_span(document: Value<'_>) -> Span {
    document.get("id").map_or_else(|| first_span(document), Value::span)
}

fn first_span(document: Value<'_>) -> Span {
    document.entries().next().map_or(document.span(), |(key, _)| key.span())
}
