//! Dialect *comply*: objects with tags, relationships, definitions, policies, waivers, changes; of any kind of the family
//! comply, and of meshStack, whose kinds are part of it.
//!
//! - [`documented`]: which documents are ours, and the state that they make
//! - [`mapping`]: where the documents of other systems have what we look for
//! - `objects`, `links`: who there is, and how they are related
//! - `definitions`, `policies`, `values`: what holds
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
pub mod shapes;
mod tagged;
mod values;

use upheld_engine::Snapshot;
use upheld_model::tree::Value;
use upheld_report::Answer;

pub use self::documented::{Documented, Organisations};
use self::shapes::Whole;
use crate::dialect::{Admitted, Builtin, Dialect, DocumentWriter, Inventory, ListedObject, Opening, Reader, WriteTime};
use crate::identity::{Identity, named};
use crate::policy_kind::KindForm;
use crate::question::{Asked, Options, Refused, Thing, Words};
use crate::shape::Shape;

/// What policies are in where others are in a mesh.
pub const SCOPE: &str = "compliance";

/// The edition that is used when users name no other.
pub const DEFAULT_SEMANTICS: &str = "meshstack/classic";

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
        ]
    }

    fn default_editions(&self) -> &'static [&'static str] {
        &[DEFAULT_SEMANTICS]
    }

    fn kind_forms(&self) -> &'static [KindForm] {
        &[kind::FORM]
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

    fn identity<'t>(&self, document: Value<'t>) -> Option<Option<Identity<'t>>> {
        Some(match claim::claim(document)? {
            claim::Claim::Object => {
                let reference = document.get("ref").and_then(|reference| reference.text().split_once('/'));
                reference.and_then(|(kind, name)| named(kind, SCOPE, name))
            }
            claim::Claim::Link => {
                let part = |field: &str| document.get(field).map(Value::text).filter(|text| !text.is_empty());
                let role = part("role").map(|role| format!("~{role}")).unwrap_or_default();
                part("a").zip(part("b")).map(|(a, b)| {
                    let name = format!("{a}~{b}{role}");
                    Identity { kind: LINK.into(), scope: SCOPE.into(), name: name.into() }
                })
            }
        })
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
            all.push((governs.to_owned(), vec![shapes::policy(Whole::Document)]));
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

    fn admit(
        &self,
        before: &Snapshot,
        after: &Snapshot,
        writer: DocumentWriter<'_>,
        time: WriteTime,
    ) -> Option<Admitted> {
        admission::admit(before, after, writer, time)
    }

    fn answer(&self, asked: &Asked<'_>) -> Option<Result<Answer, Refused>> {
        questions::answer(asked)
    }
}

impl Inventory for Compliance {
    fn no_scope(&self) -> Option<&'static str> {
        Some(SCOPE)
    }

    /// What an object lives in stands in place of the mesh.
    fn objects(&self, snapshot: &Snapshot) -> Vec<ListedObject> {
        let mut listed = Vec::new();
        for (_, comply) in snapshot.complies() {
            for object in comply.objects() {
                let reference = comply.reference(object);
                let (kind, name) = reference.split_once('/').unwrap_or(("", &reference));
                let tags = comply.tags_of(object);
                let tags: Vec<String> = tags.iter().map(|(key, all)| format!("{key}={}", all.join("|"))).collect();
                let owner = comply.owner_of(object);
                listed.push(ListedObject {
                    kind: kind.to_owned(),
                    scope: owner.map_or_else(|| SCOPE.to_owned(), |owner| comply.reference(owner).into()),
                    name: name.to_owned(),
                    tags: tags.join(","),
                    at: comply.described(object).and_then(|own| own.at),
                });
            }
        }
        listed
    }
}
