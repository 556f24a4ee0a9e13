//! Which documents are ours, and the state that they make.

mod after;
mod build;
mod identity;
mod superseded;
mod taken;
mod written;

use std::sync::Arc;

use smol_str::SmolStr;
use upheld_engine::PolicyKind;
use upheld_engine::comply::{Mentions, Profile};
use upheld_governance::Organisation;
use upheld_model::tree::Value;
use upheld_model::{Diagnostics, Draft, Files, NodeRef, Policy, PolicyContent, SourceId, Sym, Symbols, Timestamp};

use self::after::{Listing, Related};
use self::build::Twice;
pub(super) use self::superseded::superseded;
pub(super) use self::taken::ComplianceReader;
pub(super) use self::written::written_between;
use super::SCOPE;
use super::accepted::{ACCEPTED, AcceptedRecords};
use super::changes::{CHANGES, Change};
use super::claim::{Claim, claim, has_own_fields};
use super::definitions::defined;
use super::mapping::Mapping;
use super::shapes::Whole;
use crate::dialect::Taken;
use crate::document::Header;
use crate::recognise::Surroundings;

/// The value of `kind:` of a document that collects everything.
pub const COLLECTION: &str = "Compliance";
/// The value of `kind:` of a tag definition.
pub const DEFINITION: &str = "TagDefinition";
/// The value of `kind:` of a waiver.
pub const WAIVER: &str = "Waiver";
/// The value of `kind:` of a tag definition of meshStack's object API.
pub const MANIFEST_DEFINITION: &str = "meshTagDefinition";

/// Documents that are about objects which their name does not tell.
pub(super) const NOTES: [&str; 4] = [COLLECTION, CHANGES, WAIVER, ACCEPTED];

/// What documents of ours say that they are, whatever the kind of policies.
const OWN: [&str; 5] = [COLLECTION, CHANGES, DEFINITION, WAIVER, ACCEPTED];

/// An organisation as its documents say it.
#[derive(Clone, Debug)]
pub struct Documented {
    /// All that they say together.
    pub organisation: Organisation,
    /// The same before anything happened.
    base: Organisation,
    /// How often they say what they say of that.
    told: Mentions,
    /// How many there are.
    documents: usize,
    /// Where documents with changes stand.
    changes: Vec<NodeRef>,
    /// Everything that happened, in the order of time.
    history: Vec<(Timestamp, Arc<Change>)>,
    /// When the last of it was over.
    last: Timestamp,
    /// How much of it policies would refuse today: that depends on all documents together.
    refused_today: usize,
    /// What was let through, and where that is written.
    accepted: AcceptedRecords,
}

impl Documented {
    /// All that documents say together.
    pub(super) fn organisation(&self) -> &Organisation {
        &self.organisation
    }

    /// What they said together at a moment: what happened later had not happened yet.
    pub fn at(&self, now: Timestamp) -> Organisation {
        if self.last <= now { self.organisation.clone() } else { self.replayed_until(now) }
    }

    /// What was let through.
    pub(super) fn accepted(&self) -> &AcceptedRecords {
        &self.accepted
    }

    /// The policies that documents describe, each with its place.
    fn policies(&self) -> impl Iterator<Item = (&SmolStr, NodeRef)> {
        self.base.comply().each_policy().filter_map(|policy| Some((&policy.id, policy.at?)))
    }
}

/// All organisations, by the name of the kind of their policies.
#[derive(Clone, Debug, Default)]
pub struct Organisations {
    by_kind: Vec<(Sym, Documented)>,
}

impl Organisations {
    /// That of a kind.
    pub fn get(&self, kind: Sym) -> Option<&Documented> {
        self.by_kind.iter().find(|(own, _)| *own == kind).map(|(_, documented)| documented)
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = (Sym, &Documented)> {
        self.by_kind.iter().map(|(kind, documented)| (*kind, documented))
    }
}

impl OfKind<'_> {
    /// The kind of policies.
    pub(super) fn name(&self) -> Sym {
        self.name
    }

    /// The rules of the game.
    pub(super) fn profile(&self) -> &Arc<Profile> {
        &self.profile
    }

    /// Where documents of other systems have what we look for.
    pub(super) fn mapping(&self) -> &Mapping {
        &self.mapping
    }
}

type Documents<'f> = Vec<(SourceId, Value<'f>)>;

/// Collects the documents of all kinds of the family.
#[derive(Debug)]
pub(crate) struct Collector<'f> {
    files: &'f Files,
    /// What lies beside them.
    surroundings: Surroundings,
    /// Those of users come first: a built-in kind takes what they leave.
    kinds: Vec<OfKind<'f>>,
    /// Which kind knows relationships between two words: a million of them have few.
    linked: Vec<([SmolStr; 2], usize)>,
}

/// What a document with a type is, with the places of the kinds that it belongs to.
#[derive(Debug)]
enum What<'d> {
    Nothing,
    Policy(usize),
    /// An object in our own form, with the word for its kind.
    Object(usize, &'d str),
    /// A definition, with the word for the objects that have the tag.
    Definition(usize, Option<Value<'d>>),
    Own(usize, Own),
    /// A document of another system, by its type.
    Mapped(Vec<usize>, &'d str),
}

/// What is ours, whatever the kind of policies.
#[derive(Clone, Copy, Debug)]
enum Own {
    Collection,
    Changes,
    Accepted,
    Waiver,
}

impl What<'_> {
    fn taken(&self) -> Taken {
        match self {
            Self::Nothing => Taken::No,
            Self::Mapped(..) => Taken::Shared,
            Self::Policy(_) | Self::Object(..) | Self::Definition(..) | Self::Own(..) => Taken::Yes,
        }
    }
}

/// What belongs to one kind.
#[derive(Debug)]
pub(super) struct OfKind<'f> {
    name: Sym,
    governs: Sym,
    /// The type of its policies.
    typed: String,
    builtin: bool,
    profile: Arc<Profile>,
    mapping: Mapping,
    definitions: Vec<(SourceId, Value<'f>, Whole)>,
    policies: Vec<(SourceId, Value<'f>, Whole)>,
    waivers: Vec<(SourceId, Value<'f>, Whole)>,
    objects: Vec<(SourceId, Value<'f>, Whole)>,
    mapped: Documents<'f>,
    /// Places alone, because there can be a million of them.
    links: Vec<NodeRef>,
    changes: Documents<'f>,
    accepted: Documents<'f>,
    collections: Documents<'f>,
}

impl<'f> Collector<'f> {
    /// For the kinds in force.
    pub(crate) fn new(
        files: &'f Files,
        kinds: &[PolicyKind],
        symbols: &Symbols,
        is_builtin: impl Fn(NodeRef) -> bool,
    ) -> Self {
        let mut own: Vec<OfKind<'f>> = Vec::new();
        for kind in kinds {
            let Some(comply) = kind.comply() else { continue };
            let Some(document) = files.value(kind.at) else { continue };
            // What is wrong with it was said when the kind was read.
            let mapping = Mapping::read(kind.at.source, document, &comply.profile, &mut Diagnostics::default());
            own.push(OfKind {
                name: kind.name,
                governs: kind.governs,
                typed: symbols.text(kind.governs).to_owned(),
                builtin: is_builtin(kind.at),
                profile: Arc::clone(&comply.profile),
                mapping,
                definitions: Vec::new(),
                policies: Vec::new(),
                waivers: Vec::new(),
                objects: Vec::new(),
                mapped: Vec::new(),
                links: Vec::new(),
                changes: Vec::new(),
                accepted: Vec::new(),
                collections: Vec::new(),
            });
        }
        own.sort_by(|a, b| (a.builtin, &a.typed).cmp(&(b.builtin, &b.typed)));
        Self { files, surroundings: Surroundings::Own, kinds: own, linked: Vec::new() }
    }

    /// With documents of others between those that are meant.
    #[must_use]
    fn beside(self, surroundings: Surroundings) -> Self {
        Self { surroundings, ..self }
    }

    /// Reads a document without a type; whether it was ours.
    pub(crate) fn untyped(&mut self, source: SourceId, document: Value<'f>, claim: Claim) -> bool {
        // Most folders have one kind only, and a million relationships: it need not be looked for.
        if claim == Claim::Link
            && let Some(only) = self.known_home(document).and_then(|home| self.kinds.get_mut(home))
        {
            only.links.push(NodeRef { source, node: document.number() });
            return true;
        }
        let homes = self.homes(document, claim);
        if let (Claim::Link, [only]) = (claim, homes.as_slice()) {
            let words = ["a", "b"].map(|field| kind_word(document, field));
            // What nobody knows is told each time.
            if self.kinds.get(*only).is_some_and(|kind| words.iter().all(|word| kind.profile.kind(word).is_some())) {
                self.linked.push((words.map(SmolStr::new), *only));
            }
        }
        for home in &homes {
            let Some(home) = self.kinds.get_mut(*home) else { continue };
            match claim {
                Claim::Object => home.objects.push((source, document, Whole::Item)),
                Claim::Link => home.links.push(NodeRef { source, node: document.number() }),
            }
        }
        !homes.is_empty()
    }

    /// The kind that a relationship belongs to, if one like it was seen, or if there is no other.
    fn known_home(&self, document: Value<'_>) -> Option<usize> {
        if self.kinds.len() == 1 {
            return Some(0);
        }
        let words = ["a", "b"].map(|field| kind_word(document, field));
        let known = self.linked.iter().find(|(known, _)| known.iter().zip(words).all(|(known, word)| known == word));
        known.map(|(_, home)| *home)
    }

    /// The kinds of users that know a document without a type; without one the built-in ones. What nobody knows is a mistake
    /// if it has only fields of ours.
    fn homes(&self, document: Value<'_>, claim: Claim) -> Vec<usize> {
        let fields: &[&str] = match claim {
            Claim::Object => &["ref"],
            Claim::Link => &["a", "b"],
        };
        let knows =
            |kind: &OfKind<'_>| fields.iter().all(|field| kind.profile.kind(kind_word(document, field)).is_some());
        let homes = self.users_or_builtin(knows);
        let builtin = self.kinds.iter().position(|kind| kind.builtin);
        match builtin.or(self.kinds.len().checked_sub(1)) {
            Some(usual) if homes.is_empty() && has_own_fields(document) => vec![usual],
            _ => homes,
        }
    }

    /// The places of kinds of users that know something; without one those of the built-in ones.
    fn users_or_builtin(&self, knows: impl Fn(&OfKind<'_>) -> bool) -> Vec<usize> {
        let users = self.kinds.iter().any(|kind| !kind.builtin && knows(kind));
        let fits = |kind: &OfKind<'_>| kind.builtin != users && knows(kind);
        self.kinds.iter().enumerate().filter(|(_, kind)| fits(kind)).map(|(place, _)| place).collect()
    }

    /// Reads a document with a type; whose it was.
    pub(crate) fn typed(&mut self, source: SourceId, header: Header<'f>) -> Taken {
        let document = header.document;
        let what = self.what(header);
        let taken = what.taken();
        let homes = match &what {
            What::Nothing => return taken,
            What::Mapped(homes, _) => homes.as_slice(),
            What::Policy(home) | What::Object(home, _) | What::Definition(home, _) | What::Own(home, _) => {
                std::slice::from_ref(home)
            }
        };
        for home in homes {
            let Some(home) = self.kinds.get_mut(*home) else { continue };
            match what {
                What::Nothing => {}
                What::Policy(_) => home.policies.push((source, document, Whole::Document)),
                What::Object(..) => home.objects.push((source, document, Whole::Document)),
                What::Definition(..) => home.definitions.push((source, document, Whole::Document)),
                What::Mapped(..) => home.mapped.push((source, document)),
                What::Own(_, Own::Collection) => home.collections.push((source, document)),
                What::Own(_, Own::Changes) => home.changes.push((source, document)),
                What::Own(_, Own::Accepted) => home.accepted.push((source, document)),
                What::Own(_, Own::Waiver) => home.waivers.push((source, document, Whole::Document)),
            }
        }
        taken
    }

    /// The kinds that a document is of; none if it belongs to others.
    pub(super) fn homes_of(&self, document: Value<'_>) -> Vec<&OfKind<'f>> {
        let homes = match claim(document) {
            Some(claim) => self.homes(document, claim),
            None => match self.what(Header::of(document)) {
                What::Nothing => Vec::new(),
                What::Mapped(homes, _) => homes,
                What::Policy(home) | What::Object(home, _) | What::Definition(home, _) | What::Own(home, _) => {
                    vec![home]
                }
            },
        };
        homes.into_iter().filter_map(|home| self.kinds.get(home)).collect()
    }

    /// Whether documents of a type are those of another system.
    pub(super) fn is_mapped(&self, word: &str) -> bool {
        self.kinds.iter().any(|kind| kind.mapping.of(word).is_some() || kind.mapping.keeps_as(word))
    }

    /// What a document with a type is to us, and to which kinds.
    fn what<'d>(&self, header: Header<'d>) -> What<'d> {
        // A tag definition has a `type`, too: that of its values.
        let own = header.kind.filter(|kind| OWN.contains(&kind.text()));
        let Some(word) = own.or(header.universal_type.filter(|_| header.api_version.is_none())).or(header.kind) else {
            return What::Nothing;
        };
        let (word, document) = (word.text(), header.document);
        let named = |kind: &OfKind<'_>| kind.typed.eq_ignore_ascii_case(word);
        if let Some(home) = self.kinds.iter().position(named) {
            return What::Policy(home);
        }
        let ours = header.api_version.is_none_or(|version| version.text() == "upheld/v1");
        if ours && OWN.contains(&word) {
            return self.own(document, word);
        }
        if word == MANIFEST_DEFINITION {
            let target = document.get("spec").and_then(|spec| spec.get("targetKind"));
            let known = target.map_or("", Value::text);
            if let Some(home) = self.home(document, |kind| knows(&kind.profile, known)) {
                return What::Definition(home, target);
            }
        }
        let homes = self.users_or_builtin(|kind| {
            kind.mapping.of(word).is_some() && (header.universal_type.is_none() || kind.profile.kind(word).is_none())
        });
        if !homes.is_empty() {
            return What::Mapped(homes, word);
        }
        let is_object = header.api_version.is_none() && document.get("name").is_some();
        match self.kinds.iter().position(|kind| kind.profile.kind(word).is_some()).filter(|_| is_object) {
            Some(home) => What::Object(home, word),
            None => What::Nothing,
        }
    }

    fn own<'d>(&self, document: Value<'d>, word: &str) -> What<'d> {
        if word == DEFINITION {
            let of = defined(document);
            let known = document.get("of").map_or("", Value::text);
            let home = self.home(document, |kind| knows(&kind.profile, known));
            return home.map_or(What::Nothing, |home| What::Definition(home, of));
        }
        let own = match word {
            COLLECTION => Own::Collection,
            CHANGES => Own::Changes,
            ACCEPTED => Own::Accepted,
            _ => Own::Waiver,
        };
        // A waiver may name objects that only one kind knows.
        let named = document.get("match").filter(|_| word == WAIVER);
        let words = ["a", "b"].map(|side| named.map_or("", |named| kind_word(named, side)));
        let knows = |kind: &OfKind<'_>| {
            words.iter().filter(|word| !word.is_empty()).all(|word| kind.profile.kind(word).is_some())
        };
        self.home(document, knows).map_or(What::Nothing, |home| What::Own(home, own))
    }

    /// The kind that a document names, or the first that knows it, or any.
    fn home(&self, document: Value<'_>, knows: impl Fn(&OfKind<'_>) -> bool) -> Option<usize> {
        let named = document.get("policyKind").map(Value::text);
        let by_name = |kind: &OfKind<'_>| named.is_some_and(|named| kind.typed.eq_ignore_ascii_case(named));
        let place = self.kinds.iter().position(by_name).or_else(|| self.kinds.iter().position(knows)).unwrap_or(0);
        (place < self.kinds.len()).then_some(place)
    }

    /// The words in `kind` or `type` that are known, for those who made a typo.
    pub(crate) fn words(&self) -> Vec<String> {
        let own = OWN.map(str::to_owned).into_iter();
        let typed = self.kinds.iter().map(|kind| kind.typed.clone());
        own.chain(typed).chain(self.kinds.iter().flat_map(|kind| kind.mapping.words().map(str::to_owned))).collect()
    }

    /// The state of every kind that has any documents; its policies are listed with all others.
    pub(crate) fn finish(self, draft: &mut Draft, found: &mut Diagnostics) -> Organisations {
        let mut organisations = Organisations::default();
        let scope = draft.symbols.intern(SCOPE);
        for kind in self.kinds {
            let (name, governs) = (kind.name, kind.governs);
            let Some((documented, policies)) =
                kind.build(Twice { files: self.files, surroundings: self.surroundings }, found)
            else {
                continue;
            };
            for (id, at) in policies {
                let id = draft.symbols.intern(&id);
                draft.policies.push(listed(governs, scope, id, at));
            }
            organisations.by_kind.extend(documented.map(|documented| (name, documented)));
        }
        organisations
    }
}

/// The kind of a reference in a field.
fn kind_word<'d>(document: Value<'d>, field: &str) -> &'d str {
    let reference = document.get(field).map_or("", Value::text);
    reference.split_once('/').map_or(reference, |(kind, _)| kind)
}

/// A policy as it is listed with those of all families.
fn listed(kind: Sym, scope: Sym, name: Sym, at: NodeRef) -> Policy {
    Policy { kind, scope, name, title: name, created: None, at, payload: None, says: PolicyContent::Document }
}

fn knows(profile: &Profile, word: &str) -> bool {
    profile.subject(word).is_some() || profile.kind(word).is_some()
}
