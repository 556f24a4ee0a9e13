//! Dialect *comply*: objects with tags, relationships, definitions, policies, waivers, changes; of any kind of the family
//! comply, and of meshStack, whose kinds are part of it.
//!
//! - [`documented`]: which documents are ours, and the state that they make
//! - [`mapping`]: where the documents of other systems have what we look for
//! - `objects`, `links`: who there is, and how they are related
//! - `definitions`, `policies`, `tag_policies`, `selections`, `values`: what holds
//! - [`changes`]: what was done, or what somebody thinks of doing
//! - `admission`: whether documents may be written, as what their writer does; `accepted`: what was let through
//! - [`shapes`]: what all of these look like
//! - `kind`: kinds of the family; `kinds/*.yaml`: those that are built in, by edition
//! - [`questions`]: what is asked about them

mod accepted;
mod admission;
pub mod changes;
mod claim;
mod definitions;
pub mod documented;
mod kind;
mod links;
pub mod mapping;
mod objects;
mod policies;
mod problems;
pub mod questions;
mod reader;
mod selections;
pub mod shapes;
mod tag_policies;
mod tagged;
mod values;
mod visible;

use smol_str::SmolStr;
use upheld_engine::Snapshot;
use upheld_engine::comply::{Comply, ObjectId};
use upheld_model::Timestamp;
use upheld_model::tree::Value;
use upheld_report::Answer;

pub use self::documented::{Documented, Organisations};
use self::shapes::Whole;
use crate::dialect::{
    Admitted, Builtin, Dialect, DocumentWriter, Inventory, ListedObject, Opening, Reader, RecordChange, Visibility,
    WriteTime, WrittenDocument,
};
use crate::identity::{Identify, Identity, KindsInForce};
use crate::policy_kind::KindForm;
use crate::question::{Asked, Options, Refused, Thing, Words};
use crate::shape::Shape;

/// What policies are in where others are in a mesh.
pub const SCOPE: &str = "compliance";

/// The edition that is used when users name no other.
pub const DEFAULT_SEMANTICS: &str = "meshstack/classic";

/// The edition of policies about the tags of single objects.
pub const TAG_SEMANTICS: &str = "upheld/tags";

/// The type of the policies.
pub const POLICY: &str = "MeshPolicy";

/// The type of a relationship between two objects.
const LINK: &str = "Link";

/// The dialect.
#[derive(Debug)]
pub struct Compliance;

impl Dialect for Compliance {
    fn name(&self) -> &'static str {
        "comply"
    }

    fn kinds(&self) -> &'static [Builtin] {
        &[
            Builtin { name: "builtin:meshstack/classic.yaml", text: include_str!("comply/kinds/classic.yaml") },
            Builtin { name: "builtin:meshstack/current.yaml", text: include_str!("comply/kinds/current.yaml") },
            Builtin { name: "builtin:upheld/tags.yaml", text: include_str!("comply/kinds/tags.yaml") },
        ]
    }

    fn editions(&self) -> &'static [&'static str] {
        &["meshstack/classic", "meshstack/current", "upheld/tags"]
    }

    fn default_editions(&self) -> &'static [&'static str] {
        &[DEFAULT_SEMANTICS, TAG_SEMANTICS]
    }

    fn kind_forms(&self) -> &'static [KindForm] {
        &[kind::FORM]
    }

    fn resembles_text(&self, text: &str) -> bool {
        claim::resembles_text(text)
    }

    fn claims(&self, document: Value<'_>, _file: &str) -> bool {
        claim::claim(document).is_some()
    }

    fn claims_items(&self, list: Value<'_>) -> bool {
        claim::is_list_of_ours(list)
    }

    fn reader<'f>(&self, opening: Opening<'f, '_>) -> Box<dyn Reader<'f> + 'f> {
        Box::new(documented::ComplianceReader::new(opening))
    }

    fn identities<'k>(&self, kinds: KindsInForce<'k>) -> Box<dyn Identify + 'k> {
        Box::new(documented::Collector::new(kinds.files, kinds.kinds, kinds.symbols, |at| kinds.is_builtin(at)))
    }

    fn shapes(&self, snapshot: &Snapshot) -> Vec<(String, Vec<Shape>)> {
        let mut all = vec![
            (documented::COLLECTION.to_owned(), vec![shapes::collection()]),
            (changes::CHANGES.to_owned(), vec![shapes::changes()]),
            (documented::DEFINITION.to_owned(), vec![shapes::definition(Whole::Document)]),
            (accepted::ACCEPTED.to_owned(), vec![shapes::accepted()]),
        ];
        let kinds = snapshot.kinds().iter().filter_map(|(_, kind)| Some((snapshot.text(kind.governs), kind.comply()?)));
        for (place, (governs, own)) in kinds.enumerate() {
            let profile = &own.profile;
            let two = profile.has_two_objects().then(|| shapes::policy(profile, Whole::Document));
            let single = profile.has_single_objects().then(|| shapes::tag_policy(profile, Whole::Document));
            all.push((governs.to_owned(), two.into_iter().chain(single).collect()));
            // Waivers of all kinds are alike but for what their scope is called.
            if place == 0 {
                all.push((documented::WAIVER.to_owned(), vec![shapes::waiver(&own.profile, Whole::Document)]));
            }
        }
        all
    }

    fn parse(&self, words: &Words, _options: &Options) -> Option<Result<Thing, Refused>> {
        questions::parse(words)
    }

    fn example(&self, snapshot: &Snapshot) -> Option<&'static str> {
        snapshot.complies().next().map(|_| questions::EXAMPLE)
    }

    fn usual_example(&self) -> Option<&'static str> {
        Some(questions::EXAMPLE)
    }

    fn command_about(&self, object: &Identity) -> Option<String> {
        (object.scope == SCOPE).then(|| format!("upheld audit --object {}/{}", object.kind, object.name))
    }

    fn admit(
        &self,
        before: &Snapshot,
        after: &Snapshot,
        writer: DocumentWriter<'_>,
        time: WriteTime,
    ) -> Option<Admitted> {
        admission::admit(before, after, writer, time)
    }

    fn names(&self, kind: &str, text: &str) -> Vec<Identity> {
        if kind == accepted::ACCEPTED { accepted::policies_named(text) } else { Vec::new() }
    }

    fn limits(&self, snapshot: &Snapshot, roles: &[SmolStr]) -> bool {
        visible::limits(snapshot, roles)
    }

    fn visibility<'s>(
        &self,
        snapshot: &'s Snapshot,
        roles: &[SmolStr],
        now: Timestamp,
    ) -> Option<Box<dyn Visibility + 's>> {
        visible::visibility(snapshot, roles, now)
    }

    fn superseded(&self, before: &Snapshot, written: &[WrittenDocument<'_>]) -> Vec<RecordChange> {
        documented::superseded(before, written)
    }

    fn answer(&self, asked: &Asked<'_>) -> Option<Result<Answer, Refused>> {
        questions::answer(asked)
    }
}

impl Inventory for Compliance {
    fn is_in_no_scope(&self, _kind: &str, scope: &str) -> bool {
        scope == SCOPE
    }

    fn objects(&self, snapshot: &Snapshot) -> Vec<ListedObject> {
        let complies = snapshot.complies();
        complies.flat_map(|(_, comply)| comply.objects().into_iter().map(|object| listed(comply, object))).collect()
    }

    fn object(&self, snapshot: &Snapshot, identity: &Identity) -> Option<ListedObject> {
        let Identity { kind, scope, name } = identity;
        if scope != SCOPE {
            return None;
        }
        let found = |comply: &Comply| comply.lookup(&format!("{kind}/{name}")).ok();
        snapshot.complies().find_map(|(_, comply)| found(comply).map(|object| listed(comply, object)))
    }
}

/// An object by its reference: that tells it apart, wherever it belongs.
fn listed(comply: &Comply, object: ObjectId) -> ListedObject {
    let reference = comply.reference(object);
    let (kind, name) = reference.split_once('/').unwrap_or(("", &reference));
    let tags = comply.tags_of(object);
    let texts = |values: &[SmolStr]| values.iter().map(ToString::to_string).collect();
    ListedObject {
        kind: kind.to_owned(),
        scope: SCOPE.to_owned(),
        name: name.to_owned(),
        owner: comply.owner_of(object).map(|owner| comply.reference(owner).into()),
        tags: tags.iter().map(|(key, values)| (key.to_string(), texts(values))).collect(),
        at: comply.described(object).and_then(|own| own.at),
    }
}
