//! What a dialect is, and which there are: the one line that a new one adds outside of its folder is in `DIALECTS`.
//!
//! ```text
//! kinds, editions        which kinds of policies it ships, and which edition is in force unless somebody names another
//! claims, reader         which documents are its own, and what they come to
//! identities, shapes     who a document is; what documents look like
//! answer                 what its users' questions mean
//! endpoints              which shapes and addresses of the original system it answers in
//! ```

mod admission;
mod finding;
mod inventory;
mod native;
mod reader;
mod settings;
mod visibility;

use std::collections::BTreeSet;
use std::fmt::Debug;

use smol_str::SmolStr;
use upheld_engine::digest::Fingerprint;
use upheld_engine::{Companions, PolicyKind, Snapshot};
use upheld_model::tree::Value;
use upheld_model::{Diagnostic, Files, SourceId, Symbols, Timestamp};
use upheld_report::{Answer, ChangedDocument, Drawing, ObjectStatus, PolicyStatus, Shifts};

pub use self::admission::{Admitted, DocumentWriter, RecordChange, WriteTime, WrittenDocument};
pub use self::finding::{CouldGo, Finding};
pub use self::inventory::{
    Chosen, Ends, Inventory, LayeredCells, LayeredReach, LayeredStanding, ListedObject, Listing, ProxyNames, Reached,
    Service, SomePairs,
};
pub use self::native::{Endpoint, Native, NativeProblem};
pub use self::reader::{Document, Known, Opening, Reader, Side, Taken};
pub use self::settings::{SystemSettings, read_settings, system_settings};
pub use self::visibility::Visibility;
use crate::identity::{Identify, Identity, KindsInForce};
use crate::policy_kind::KindForm;
use crate::question::{Asked, Options, Refused, Thing, Words};
use crate::recognise::{Before, Documents, Reading, Recognised};
use crate::shape::Shape;

/// All dialects, in the order in which they are offered a document.
const DIALECTS: [&dyn Dialect; 5] = [
    &crate::access::Access,
    &crate::comply::Compliance,
    &crate::kuma::Kuma,
    &crate::gateways::GatewayApi,
    &crate::network_policy::NetworkPolicy,
];

/// All dialects.
pub fn dialects() -> impl Iterator<Item = &'static dyn Dialect> {
    DIALECTS.into_iter()
}

/// The formats, kinds and questions of one policy system.
pub trait Dialect: Inventory + Debug + Sync {
    /// Its name: that of its folder.
    fn name(&self) -> &'static str;

    /// The kinds of policies that it ships, as documents.
    fn kinds(&self) -> &'static [Builtin];

    /// What is known of the fields of its documents, as data; see [`schemas`](crate::schemas).
    fn schemas(&self) -> &'static [Builtin] {
        &[]
    }

    /// The editions that its kinds belong to.
    fn editions(&self) -> &'static [&'static str];

    /// The editions in force where nobody names another.
    fn default_editions(&self) -> &'static [&'static str];

    /// The forms of `PolicyKind` documents that it reads.
    fn kind_forms(&self) -> &'static [KindForm] {
        &[]
    }

    /// Settings of its systems that stand in no document.
    fn settings(&self) -> &'static [SystemSettings] {
        &[]
    }

    /// What settings beside the documents make of a kind.
    fn configure(&self, _kind: &mut PolicyKind, _symbols: &Symbols, _settings: &Companions) {}

    /// What settings become where a program keeps documents in a store of its own.
    fn for_store(&self, settings: Companions) -> Companions {
        settings
    }

    /// Adds kinds for types that only the documents tell of.
    fn add_kinds(&self, _documents: &Documents<'_>, _recognised: &mut Recognised) {}

    /// Whether documents of a type have a form of their own, which only this dialect reads, whatever kind governs them.
    fn owns_type(&self, _kind: &str) -> bool {
        false
    }

    /// Whether a document that needs no type is one of its own. Every document is held against this, so it must be quick.
    fn claims(&self, _document: Value<'_>, _file: &str) -> bool {
        false
    }

    /// Whether the items of a list, which is not a document for others, are its own documents.
    fn claims_items(&self, _list: Value<'_>) -> bool {
        false
    }

    /// Whom a stored document names besides itself, so that only those may read it who may read these: by its type and text.
    fn names(&self, _kind: &str, _text: &str) -> Vec<Identity> {
        Vec::new()
    }

    /// Whether a document that nobody reads looks as if its author meant this system: then it is a mistake, else it belongs to
    /// somebody else.
    fn resembles(&self, _document: Value<'_>) -> bool {
        false
    }

    /// Types that its documents have, besides those that kinds govern and readers know.
    fn own_types(&self) -> Vec<&'static str> {
        Vec::new()
    }

    /// Whether a text that cannot be parsed looks as if it held documents of its own that need no type.
    fn resembles_text(&self, _text: &str) -> bool {
        false
    }

    /// Types of Kubernetes that are in no namespace, each with its API group.
    fn cluster_wide(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    /// What nobody reads, but is known: types, and an API group of which all types are known.
    fn known_types(&self) -> KnownTypes {
        KnownTypes::default()
    }

    /// Reads documents.
    fn reader<'f>(&self, opening: Opening<'f, '_>) -> Box<dyn Reader<'f> + 'f>;

    /// Says who its documents are. It must agree with its reader: what that takes for one thing has one identity, and what is
    /// listed is called by it.
    fn identities<'k>(&self, kinds: KindsInForce<'k>) -> Box<dyn Identify + 'k>;

    /// Documents that nobody wrote but that exist all the same, as YAML.
    fn implied(&self, _documents: &Documents<'_>, _settings: &Companions) -> Option<String> {
        None
    }

    /// Other files that must be read again because some changed; `None` if all must be.
    fn concerned(
        &self,
        _before: Before<'_>,
        _reading: Reading<'_>,
        _files: &Files,
        _changed: &BTreeSet<SourceId>,
    ) -> Option<BTreeSet<SourceId>> {
        Some(BTreeSet::new())
    }

    /// Adds what is known of all documents together, once everything is indexed.
    fn complete(&self, snapshot: Snapshot, _other_editions: Vec<PolicyKind>, _settings: &Companions) -> Snapshot {
        snapshot
    }

    /// The same for a snapshot that was made out of another one.
    fn complete_after(&self, _before: &Snapshot, next: Snapshot, _changed: &BTreeSet<SourceId>) -> Snapshot {
        next
    }

    /// Settings that stand in no document and can change an answer all the same.
    fn fingerprint(&self, _settings: &Companions) -> Option<Fingerprint> {
        None
    }

    /// What its documents look like under the kinds of a snapshot, by the names under which `upheld schema` prints them. Any
    /// of several shapes will do.
    fn shapes(&self, _snapshot: &Snapshot) -> Vec<(String, Vec<Shape>)> {
        Vec::new()
    }

    /// What words mean, if they are words of this dialect. Names are looked up when the question is answered.
    fn parse(&self, _words: &Words, _options: &Options) -> Option<Result<Thing, Refused>> {
        None
    }

    /// How a question is asked here, if a snapshot has anything to ask about.
    fn example(&self, _snapshot: &Snapshot) -> Option<&'static str> {
        None
    }

    /// How a question is asked where nothing was read.
    fn usual_example(&self) -> Option<&'static str> {
        None
    }

    /// The command that asks about an object, if this dialect answers questions about objects of its type.
    fn command_about(&self, _object: &Identity) -> Option<String> {
        None
    }

    /// Answers a question, if it is about something that this dialect knows.
    fn answer(&self, asked: &Asked<'_>) -> Option<Result<Answer, Refused>>;

    /// What is answered otherwise in one snapshot than in another, among everything that could ever be asked and not only about
    /// the objects that there are; nothing if this dialect cannot tell.
    fn possible_shifts(&self, _before: &Snapshot, _after: &Snapshot, _changed: &[ChangedDocument]) -> Option<Shifts> {
        None
    }

    /// What is wrong with its policies, each of which can be read: what can never count, what others always outweigh.
    fn findings(&self, _snapshot: &Snapshot) -> Vec<Finding> {
        Vec::new()
    }

    /// Whether documents may be written that lead from one snapshot to another; nothing if this dialect has no say in it.
    fn admit(
        &self,
        _before: &Snapshot,
        _after: &Snapshot,
        _writer: DocumentWriter<'_>,
        _time: WriteTime,
    ) -> Option<Admitted> {
        None
    }

    /// Whether roles keep documents from whoever has them: asked before everything else, so it must be quick.
    fn limits(&self, _snapshot: &Snapshot, _roles: &[SmolStr]) -> bool {
        false
    }

    /// Which documents somebody with these roles may know of at a moment; nothing if their roles keep none from them.
    fn visibility<'s>(
        &self,
        _snapshot: &'s Snapshot,
        _roles: &[SmolStr],
        _now: Timestamp,
    ) -> Option<Box<dyn Visibility + 's>> {
        None
    }

    /// What becomes of stored notes about the past when documents are written: nothing that happened before may undo them.
    fn superseded(&self, _before: &Snapshot, _written: &[WrittenDocument<'_>]) -> Vec<RecordChange> {
        Vec::new()
    }

    /// Objects and what leads where, with the policies that they carry, to be drawn.
    fn drawing(&self, _snapshot: &Snapshot) -> Option<Result<Drawing, Diagnostic>> {
        None
    }

    /// What controllers would report of the objects that policies are attached to.
    fn object_statuses(&self, _snapshot: &Snapshot) -> Vec<ObjectStatus> {
        Vec::new()
    }

    /// What controllers would report of each policy.
    fn statuses(&self, _snapshot: &Snapshot) -> Vec<PolicyStatus> {
        Vec::new()
    }

    /// What is odd about a snapshot, where questions about it are asked.
    fn warnings(&self, _snapshot: &Snapshot) -> Vec<Diagnostic> {
        Vec::new()
    }

    /// Addresses and shapes of the original system.
    fn native(&self) -> Option<&'static dyn Native> {
        None
    }
}

/// Types that a dialect knows and does not read.
#[derive(Clone, Copy, Debug, Default)]
pub struct KnownTypes {
    /// An API group: any other type in it is a mistake.
    pub group: Option<&'static str>,
    /// Types that no policy is and that no policy speaks about.
    pub ignored: &'static [&'static str],
    /// What the author of a document without a type could have meant.
    pub hint: Option<&'static str>,
}

/// A document that is part of the program.
#[derive(Clone, Copy, Debug)]
pub struct Builtin {
    /// How messages call it.
    pub name: &'static str,
    /// YAML.
    pub text: &'static str,
}

/// The built-in kinds of all dialects.
pub fn builtin() -> impl Iterator<Item = &'static Builtin> {
    dialects().flat_map(Dialect::kinds)
}

/// The editions that built-in kinds belong to, by name.
pub fn editions() -> BTreeSet<&'static str> {
    dialects().flat_map(Dialect::editions).copied().collect()
}

/// The editions in force where nobody names others.
pub fn default_editions() -> impl Iterator<Item = &'static str> {
    dialects().flat_map(Dialect::default_editions).copied()
}

/// The APIs of original systems.
pub fn natives() -> impl Iterator<Item = &'static dyn Native> {
    dialects().filter_map(Dialect::native)
}
