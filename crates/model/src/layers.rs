//! What a policy of the merge family says: to whom it is attached, and layers of configuration with what they are about.
//!
//! Dialects translate their own words into these: a `targetRef` becomes an [`Audience`], a `to` item an entry that reaches
//! objects. Nothing here is resolved yet; which objects a reference means is known when all documents are read.

use std::sync::Arc;

use smol_str::SmolStr;

use crate::config::Config;
use crate::draft::Roles;
use crate::source::NodeRef;
use crate::symbols::Sym;
use crate::tags::Want;

/// A policy in layers.
#[derive(Clone, Debug, Default)]
pub struct Layers {
    /// To whom it is attached; any of them may match.
    pub audiences: Vec<Audience>,
    /// What ranks all of its entries.
    pub marks: Vec<Mark>,
    /// Its statements.
    pub entries: Vec<Statement>,
    /// References that mean nothing: they are reported wherever the policy would count.
    pub dangling: Vec<Dangling>,
}

/// Objects, and those of their parts that a policy is attached to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Audience {
    /// What must hold of the object as a whole.
    pub conditions: Vec<Condition>,
    /// Which parts count.
    pub roles: Roles,
    /// Tags that a part must have.
    pub tags: Vec<(Sym, Want)>,
    /// The one part that is meant, by its name or port.
    pub section: Option<Sym>,
}

/// What must hold of the facts of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Condition {
    /// The fact has this value.
    Is(Sym, Sym),
    /// The fact is not there, or has this value.
    AbsentOr(Sym, Sym),
    /// The fact is not there.
    Absent(Sym),
}

impl Condition {
    /// The fact that it looks at.
    pub fn key(self) -> Sym {
        match self {
            Self::Is(key, _) | Self::AbsentOr(key, _) | Self::Absent(key) => key,
        }
    }
}

/// Something that ranks a policy or an entry: a number to compare and the word that people know it by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The column, as kinds name it in their ladder.
    pub column: Sym,
    /// Higher is better.
    pub number: i64,
    /// For sentences, for example `Service`.
    pub word: Sym,
}

/// One statement of a policy: a layer of configuration and what it is about.
#[derive(Clone, Debug)]
pub struct Statement {
    /// Which kind of question it can answer.
    pub facet: Facet,
    /// Its number in its list; later ones count more among equals.
    pub item: u32,
    /// What it is about.
    pub reach: Reach,
    /// What ranks it besides the marks of its policy.
    pub marks: Vec<Mark>,
    /// The configuration.
    pub config: Arc<Config>,
    /// Where it was written.
    pub at: NodeRef,
}

/// The kinds of questions that layers answer about an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Facet {
    /// The object as a whole.
    Whole,
    /// Whom it calls, as objects of their own.
    Objects,
    /// Whom it calls, known by tags alone.
    Services,
    /// Who calls one of its parts, known by tags.
    Clients,
    /// One of its parts, perhaps for some callers only.
    Inbound,
}

impl Facet {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Whole, Self::Objects, Self::Services, Self::Clients, Self::Inbound];

    /// The word in documents of kinds.
    pub fn word(self) -> &'static str {
        match self {
            Self::Whole => "proxy",
            Self::Objects => "resources",
            Self::Services => "services",
            Self::Clients => "clients",
            Self::Inbound => "inbound",
        }
    }
}

/// What a statement is about.
#[derive(Clone, Debug)]
pub enum Reach {
    /// Everything that its facet has.
    Everything,
    /// Objects, or sections of them.
    Objects(Reference),
    /// Those with these tags.
    Tags(Vec<(Sym, Sym)>),
    /// Callers whose facts look like this.
    Callers(Vec<Pattern>),
}

/// A reference to objects of the same scope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// Their type.
    pub kind: Sym,
    /// Facts that they must have; none means all of the type.
    pub facts: Vec<(Sym, Sym)>,
    /// A part of each that is meant instead of the whole.
    pub section: Option<Section>,
}

/// A part of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Section {
    /// By its name, which is its port if it has none.
    Named(Sym),
    /// By its port, whatever its name.
    Port(Sym),
}

/// What a fact of a caller must look like.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pattern {
    /// The fact, for example `spiffeID`.
    pub key: Sym,
    /// The text.
    pub text: SmolStr,
    /// How much of the fact it describes.
    pub extent: Extent,
}

/// How much of a text a pattern describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Extent {
    /// All of it.
    Whole,
    /// Its beginning.
    Beginning,
}

impl Pattern {
    /// Whether a text looks like it.
    pub fn fits(&self, text: &str) -> bool {
        match self.extent {
            Extent::Whole => self.text == text,
            Extent::Beginning => text.starts_with(self.text.as_str()),
        }
    }
}

/// A reference of a policy that means nothing, so that the policy is attached to nobody through it.
#[derive(Clone, Debug)]
pub struct Dangling {
    /// What holds of the objects that would be concerned.
    pub conditions: Vec<Condition>,
    /// The type that was referred to.
    pub kind: Sym,
    /// What it was called.
    pub name: Sym,
    /// Why it means nothing.
    pub problem: Unresolved,
    /// Where it was written.
    pub at: NodeRef,
}

/// Why a reference means nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unresolved {
    /// There is no such thing.
    Missing,
    /// It refers to itself, perhaps through others.
    Cycle,
    /// It names nothing at all.
    Empty,
    /// Policies cannot be attached to this type.
    Unsupported,
    /// The policy is only tried: it is attached to nobody for now.
    Shadow,
    /// The policy is for its own namespace, and has none.
    Nowhere,
    /// Too many ways lead through too many others.
    TooMany,
}
