//! Which documents are about access, and the policies that they make together.

use std::sync::Arc;

use rustc_hash::{FxBuildHasher, FxHashMap};
use smol_str::SmolStr;
use upheld_engine::decide::{Algorithm, Decide, Effect, Manner, Member, Rule, Set, Status, Target};
use upheld_model::nearest::nearest;
use upheld_model::tree::{Kind, Span, Value};
use upheld_model::{Diagnostic, Diagnostics, Fault, Files, NodeRef, SourceId};

use super::authzen::directory::DIRECTORY;
use super::manifest::{self, Manifest};
use super::policy::{PolicyReader, Reading};
use super::seeding::DEFAULT_ENVIRONMENT;
use super::shapes::{self, Fields};
use super::{Edition, OnlyIfEmpty, Seeds, compat};
use crate::shape::{Checker, Shape, list, optional, required};

/// What a document without a type is, if it is about access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// One policy.
    Policy,
    /// A list of policies.
    List,
    /// Settings.
    Manifest,
    /// Policies with an algorithm of their own.
    Set,
    /// Questions with their answers.
    Tests,
    /// What is known of subjects, resources and actions.
    Directory,
}

/// What a document is, if it is about access.
pub fn claim(document: Value<'_>, file: &str) -> Option<Claim> {
    match document.kind() {
        Kind::List => (is_empty_list(document) || document.items().any(looks_like_policy)).then_some(Claim::List),
        Kind::Map => {
            let has = |key: &str| document.get(key).is_some();
            let typed = document.get("kind").map_or("", Value::text);
            // A misspelt word is a mistake in the tests, and told where they are run.
            if typed == TESTS || (has("cases") && nearest(typed, [TESTS]).is_some()) {
                return Some(Claim::Tests);
            }
            if typed == DIRECTORY && !has("apiVersion") {
                return Some(Claim::Directory);
            }
            if typed == POLICY_SET && !has("apiVersion") {
                return Some(Claim::Set);
            }
            if has("apiVersion") || (has("type") && !has("effect")) || has("kind") {
                return None;
            }
            if manifest::OWN_KEYS.iter().any(|key| has(key)) {
                return Some(Claim::Manifest);
            }
            if has("algorithm") && (has("policies") || has("sets")) {
                return Some(Claim::Set);
            }
            if looks_like_policy(document) {
                return Some(Claim::Policy);
            }
            let holds_policies = |list: Value<'_>| is_empty_list(list) || list.items().any(looks_like_policy);
            let policies = document.get("policies").is_some_and(holds_policies);
            let misspelt = || {
                let keys = document.entries().map(|(key, _)| key.text());
                is_manifest(file) && keys.into_iter().any(near_own_key)
            };
            (policies || misspelt()).then_some(Claim::Manifest)
        }
        _ => None,
    }
}

/// The value of `kind:` of a set of policies.
pub const POLICY_SET: &str = "PolicySet";
/// The value of `kind:` of tests.
pub const TESTS: &str = "PolicyTests";

/// Whether a file is one that a manifest names. Documents of a store are no files.
pub(crate) fn is_named(file: &str, by_manifest: &str) -> bool {
    if file.starts_with(STORED) {
        return false;
    }
    let named = by_manifest.trim_start_matches("./");
    file == named || file.strip_suffix(named).is_some_and(|folder| folder.ends_with(['/', '\\']))
}

/// How the names of documents begin that come out of a store.
pub const STORED: &str = "store:";

/// A store that has lost its last policy.
fn is_empty_list(value: Value<'_>) -> bool {
    value.kind() == Kind::List && value.items().next().is_none()
}

fn is_manifest(file: &str) -> bool {
    let name = file.rsplit(['/', '\\', ':']).next().unwrap_or(file);
    name.split('.').next() == Some("manifest")
}

fn near_own_key(key: &str) -> bool {
    nearest(key, manifest::OWN_KEYS).is_some()
}

/// Two of the fields that only policies of ours have together.
fn looks_like_policy(item: Value<'_>) -> bool {
    let fields = ["id", "effect", "subjects", "resources", "actions"];
    fields.iter().filter(|field| item.get(field).is_some()).count() >= 2
}

/// What the policies of one kind come to.
#[derive(Debug)]
pub struct Book {
    /// The policies with their index.
    pub decide: Decide,
    /// The settings beside them.
    pub manifest: Manifest,
}

/// Collects documents of one kind.
#[derive(Debug)]
pub struct Collector<'f> {
    files: &'f Files,
    edition: Edition,
    reader: PolicyReader,
    algorithm: Algorithm,
    default: Effect,
    members: Vec<(NodeRef, Member)>,
    manifest: Option<Manifest>,
    seen: FxHashMap<SmolStr, NodeRef>,
    known: Known<'f>,
    environment: SmolStr,
    seeds: Seeds,
    /// Whether some list says that there are no policies.
    nothing: bool,
}

impl<'f> Collector<'f> {
    /// For policies with these fields, combined like this where no manifest says otherwise.
    pub fn new(files: &'f Files, edition: Edition, fields: Fields, algorithm: Algorithm, default: Effect) -> Self {
        let reader = PolicyReader::new(fields);
        let (members, seen, known) = (Vec::new(), FxHashMap::default(), Known::default());
        let environment = SmolStr::new_static(DEFAULT_ENVIRONMENT);
        let (manifest, seeds, nothing) = (None, Seeds::Counted, false);
        Self { files, edition, reader, algorithm, default, members, manifest, seen, known, environment, seeds, nothing }
    }

    /// In which environment seeds are read.
    #[must_use]
    pub fn in_environment(self, environment: &str) -> Self {
        Self { environment: SmolStr::new(environment), ..self }
    }

    /// What seeds are.
    #[must_use]
    pub fn with_seeds(self, seeds: Seeds) -> Self {
        Self { seeds, ..self }
    }

    /// Knows what these policies are that were read before, and their index. Sources that others have must be as they were.
    #[must_use]
    pub fn knowing(self, before: &'f Decide, same: impl Fn(SourceId) -> bool) -> Self {
        // What the original makes of policies may depend on all of them; whether those of files count, on manifests.
        let stored = |source| self.files.get(source).is_some_and(|file| file.name.starts_with(STORED));
        let as_read = |rule: &Rule| rule.status == Status::On || stored(rule.at.source);
        let is_known = |rule: &&Arc<Rule>| self.edition == Edition::Strict && same(rule.at.source) && as_read(rule);
        let mut rules = FxHashMap::with_capacity_and_hasher(before.rules().len(), FxBuildHasher);
        rules.extend(before.rules().iter().filter(is_known).map(|rule| (rule.at, rule)));
        let mut known = Self { known: Known { rules, decide: Some(before) }, ..self };
        known.members.reserve(before.rules().len() + 1);
        known.seen.reserve(before.rules().len() + 1);
        known
    }

    /// Reads a document.
    pub fn document(&mut self, source: SourceId, document: Value<'_>, claim: Claim, found: &mut Diagnostics) {
        self.nothing |= matches!(claim, Claim::List | Claim::Manifest);
        match claim {
            Claim::Policy => self.policy(source, document, Again::Refused, found),
            Claim::List => document.items().for_each(|item| self.policy(source, item, Again::Refused, found)),
            Claim::Manifest => self.settings(source, document, found),
            Claim::Set => {
                if let Some(set) = self.set(source, document, 1, found) {
                    let at = NodeRef { source, node: document.number() };
                    self.members.push((at, set.into()));
                }
            }
            // They are no policies; others read them.
            Claim::Tests | Claim::Directory => {}
        }
    }

    /// Whether the policy at a place is as it was when it was read before.
    pub fn is_known(&self, at: NodeRef) -> bool {
        self.known.rules.contains_key(&at)
    }

    /// A policy that is as it was when it was read before; whether there is one at a place.
    pub fn as_before(&mut self, at: NodeRef, found: &mut Diagnostics) -> bool {
        let Some(rule) = self.known.at(at) else { return false };
        self.keep(rule, Again::Refused, found);
        true
    }

    /// A policy that another reader has checked, given its id.
    pub fn named(&mut self, source: SourceId, body: Value<'_>, name: &str, at: NodeRef, found: &mut Diagnostics) {
        if let Some(rule) = self.reader.body(source, body, SmolStr::new(name), found) {
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
        known.or_else(|| self.reader.read(source, policy, found).map(Arc::new))
    }

    fn keep(&mut self, rule: Arc<Rule>, again: Again, found: &mut Diagnostics) {
        let at = rule.at;
        match self.is_new(&rule.name, at, again, found) {
            New::Yes => self.members.push((at, Member::Rule(rule))),
            New::Replaces(first) => {
                if let Some(place) = self.members.iter_mut().find(|(known, _)| *known == first) {
                    // It takes the place of the first, as in the original's store.
                    place.1 = Member::Rule(rule);
                }
            }
            New::No => {}
        }
    }

    fn is_new(&mut self, name: &SmolStr, at: NodeRef, again: Again, found: &mut Diagnostics) -> New {
        let Some(first) = self.seen.get(name).copied() else {
            self.seen.insert(name.clone(), at);
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
        let diagnostic = diagnostic.at(at.source, span(at), "second definition");
        found.push(diagnostic.related(first.source, span(first), "first definition"));
        if self.edition == Edition::Compat { New::Replaces(first) } else { New::No }
    }

    fn settings(&mut self, source: SourceId, document: Value<'_>, found: &mut Diagnostics) {
        let Some(manifest) = manifest::read(source, document, self.edition, found) else { return };
        let before = self.members.len();
        for item in document.get("policies").into_iter().flat_map(Value::items) {
            self.policy(source, item, Again::Refused, found);
        }
        let kept = self.members.len() > before && manifest.seed.only_if_empty == OnlyIfEmpty::Yes;
        let seeds = document.get("policySeed").and_then(|seed| seed.get("policies"));
        for item in seeds.into_iter().flat_map(Value::items) {
            if self.seeds == Seeds::Counted && manifest.seed.applies(&self.environment) && !kept {
                self.policy(source, item, Again::Replaces, found);
            } else {
                // What does not count must still be right.
                self.read(source, item, found);
            }
        }
        // Files that are no more than a list of policies say nothing else.
        if document.entries().all(|(key, _)| key.text() == "policies") {
            return;
        }
        if let Some(first) = self.manifest.as_ref().and_then(|manifest| manifest.at) {
            let span = |at: NodeRef| self.files.value(at).map(first_span).unwrap_or_default();
            let here = NodeRef { source, node: document.number() };
            let diagnostic = Diagnostic::error(Fault::DefinedTwice, "there are two manifests with settings")
                .at(source, span(here), "second manifest")
                .related(first.source, span(first), "first manifest");
            found.push(diagnostic.help("read one of them at a time"));
            return;
        }
        self.manifest = Some(manifest);
    }

    fn set(&mut self, source: SourceId, document: Value<'_>, depth: usize, found: &mut Diagnostics) -> Option<Set> {
        if depth > MOST_DEPTH {
            let message = format!("sets are nested more than {MOST_DEPTH} deep");
            found.push(Diagnostic::error(Fault::Limit, message).at(source, first_span(document), "here"));
            return None;
        }
        if !Checker::new(source, found).check(document, &set_shape()) {
            return None;
        }
        let before = found.errors();
        let get = |field: &str| document.get(field).filter(|value| value.kind() != Kind::Null);
        let word = get("algorithm")?;
        let algorithm = Algorithm::of(word.text());
        if algorithm.is_none() {
            found.push(unknown_algorithm(source, word));
        }
        let mut members = Vec::new();
        for item in get("policies").into_iter().flat_map(Value::items) {
            if let Some(rule) = self.read_strictly(source, item, found)
                && matches!(self.is_new(&rule.name, rule.at, Again::Refused, found), New::Yes)
            {
                members.push(Member::Rule(rule));
            }
        }
        for item in get("sets").into_iter().flat_map(Value::items) {
            members.extend(self.set(source, item, depth + 1, found).map(Member::from));
        }
        let mut reading = Reading::new(source, found);
        let target = get("target").map_or_else(Target::default, |target| Target {
            subjects: reading.matchers(target.get("subjects"), Reading::subject),
            resources: reading.matchers(target.get("resources"), Reading::resource),
            actions: reading.matchers(target.get("actions"), Reading::action),
        });
        let duties = reading.duties(get("duties"));
        let id = get("id")?;
        reading.id(id);
        let priority = get("priority").map_or(Some(0.0), |priority| reading.priority(priority));
        if found.errors() > before {
            return None;
        }
        Some(Set {
            name: SmolStr::new(id.text()),
            algorithm: algorithm?,
            default: get("default").and_then(|word| Effect::of(word.text())),
            target,
            duties,
            priority: priority?,
            members,
            at: Some(NodeRef { source, node: document.number() }),
        })
    }

    /// Whether anything was read.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty() && self.manifest.is_none() && !self.nothing
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

    /// The policies of a file that a manifest names count only where the manifest is for.
    fn switch_off_seeds(&mut self) {
        let Some(manifest) = self.manifest.as_ref().filter(|manifest| !manifest.seed.applies(&self.environment)) else {
            return;
        };
        let (files, named) = (self.files, manifest.seed.file.as_deref());
        let seeded = |source: SourceId| {
            let name = files.get(source).map_or("", |file| file.name.as_str());
            named.is_some_and(|file| is_named(name, file))
        };
        for (at, member) in &mut self.members {
            if let Member::Rule(rule) = member
                && seeded(at.source)
            {
                Arc::make_mut(rule).status = Status::Off;
            }
        }
    }

    /// All together, in the order of files and places in them.
    pub fn finish(mut self) -> Book {
        self.switch_off_seeds();
        let Self { files, mut members, manifest, algorithm, default, edition, known, .. } = self;
        // Documents of a store are one place, and have the order in which they came into it.
        let place = |at: &NodeRef| match files.get(at.source).map_or("", |file| file.name.as_str()) {
            name if name.starts_with(STORED) => (STORED, at.source.index(), at.node),
            name => (name, 0, at.node),
        };
        members.sort_by(|(a, _), (b, _)| place(a).cmp(&place(b)));
        let mut members: Vec<Member> = members.into_iter().map(|(_, member)| member).collect();
        if edition == Edition::Compat {
            sort_as_the_original(&mut members);
        }
        let manifest = manifest.unwrap_or_default();
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
        let paths = match edition {
            Edition::Strict => Manner::Sound,
            Edition::Compat => Manner::Original,
        };
        let decide = match known.decide {
            Some(before) => before.after(root, paths),
            None => Decide::new(root, paths),
        };
        Book { decide, manifest }
    }
}

/// What need not be read again.
#[derive(Debug, Default)]
struct Known<'f> {
    /// Policies that are as they were.
    rules: FxHashMap<NodeRef, &'f Arc<Rule>>,
    /// All of that time, with their index.
    decide: Option<&'f Decide>,
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

/// The most that sets may be nested.
const MOST_DEPTH: usize = 16;

/// What a set looks like; its members are checked one by one.
pub fn set_shape() -> Shape {
    let target = Shape::Object(vec![
        optional("subjects", list(shapes::subject()), "who asks"),
        optional("resources", list(shapes::resource()), "with what"),
        optional("actions", list(shapes::action()), "what is to be done"),
    ]);
    Shape::Object(vec![
        optional("kind", Shape::Choice(&[POLICY_SET]), "marks the document"),
        required("id", Shape::Name, "the id of the set"),
        required("algorithm", Shape::Text, "how its members are combined"),
        optional("default", Shape::Choice(&["permit", "deny"]), "what it says when no member says anything"),
        optional("description", Shape::Text, "why it is there"),
        optional("target", target, "which requests it is about"),
        optional("priority", Shape::Number, "the higher, the earlier"),
        optional("policies", list(Shape::Opaque), "policies"),
        optional("sets", list(Shape::Opaque), "sets within it"),
        optional("duties", list(shapes::duty()), "what comes with its answer"),
    ])
}

/// A priority that is no number equals every other in the original's sort, which keeps what was there before.
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

/// An algorithm that does not exist, with the one that was probably meant.
pub(crate) fn unknown_algorithm(source: SourceId, word: Value<'_>) -> Diagnostic {
    let words = shapes::algorithms();
    let message = format!("there is no algorithm `{}`", word.text());
    let diagnostic = Diagnostic::error(Fault::WrongValue, message).at_value(source, word, "unknown algorithm");
    match nearest(word.text(), words.iter().copied()) {
        Some(meant) => diagnostic.help(format!("did you mean `{meant}`?")),
        None => diagnostic.help(format!("algorithms: {}", words.join(", "))),
    }
}
