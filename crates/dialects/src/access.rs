//! Dialect *access*: policies that permit and deny requests.
//!
//! - [`claim`]: which documents are ours
//! - `documents`: who they are
//! - [`policy_set`]: the policies that they make together
//! - [`policy`], [`compat`]: one policy, read strictly or as the original system reads it
//! - [`manifest`]: the settings beside policies
//! - [`request`]: requests as documents have them
//! - [`proxies`]: requests that wait in a proxy, and whom to believe what it says
//! - [`decider`]: who decides, and the last step of every request before that
//! - [`host`]: hosts in the one form in which they are compared
//! - [`reach`]: which of all known requests are permitted
//! - `shifts`: which of all possible requests other policies decide otherwise
//! - [`invariants`]: what all possible requests of a region must get
//! - [`logs`]: requests out of logs
//! - [`arrivals`]: how tests describe requests that arrive from outside
//! - [`view`]: answers in the shape of the original
//! - [`enforce`]: what an enforcement point does with a request
//! - [`token_claims`]: whom verified tokens name
//! - [`authzen`]: requests and answers of the Authorization API of `AuthZEN`
//! - [`javascript`]: patterns of the original, which are JavaScript regular expressions
//! - [`store`]: policies by id, in the order in which they came
//! - [`seeding`]: which policies a store begins with

pub mod arrivals;
pub mod authzen;
pub mod claim;
pub mod compat;
pub mod decider;
mod documents;
pub mod enforce;
pub mod facts;
mod findings;
pub mod host;
pub mod identity;
pub mod invariants;
pub mod javascript;
mod kind;
pub mod logs;
pub mod manifest;
pub mod policy;
pub mod policy_set;
pub mod proxies;
pub mod questions;
pub mod reach;
mod reader;
pub mod request;
pub mod seeding;
pub mod shapes;
mod shifts;
pub mod store;
pub mod token_claims;
pub mod view;
mod window;

pub use javascript::JavaScriptRegex;
pub use seeding::{OnlyIfEmpty, Plan, Seed, Seeds, Skipped};
pub use shifts::words as request_words;
pub use store::PolicyStore;

use std::sync::Arc;

use upheld_engine::decide::Unknowns;
use upheld_engine::{Companions, Snapshot};
use upheld_model::tree::Value;
use upheld_report::{Answer, ChangedDocument, Shifts};

pub use self::reader::Deciding;
use crate::dialect::{Builtin, Dialect, Finding, Inventory, Opening, Reader};
use crate::identity::{Identify, KindsInForce};
use crate::policy_kind::KindForm;
use crate::question::{Asked, Options, Refused, Thing, Words};
use crate::shape::Shape;

/// The dialect.
#[derive(Debug)]
pub struct Access;

impl Dialect for Access {
    fn name(&self) -> &'static str {
        "access"
    }

    fn kinds(&self) -> &'static [Builtin] {
        &[Builtin { name: "builtin:access.yaml", text: include_str!("access/kinds/access.yaml") }]
    }

    fn editions(&self) -> &'static [&'static str] {
        &["access/strict", "access/xacml", "access/compat"]
    }

    fn default_editions(&self) -> &'static [&'static str] {
        &[DEFAULT_SEMANTICS]
    }

    fn kind_forms(&self) -> &'static [KindForm] {
        &[kind::FORM]
    }

    /// What a manifest wants a store to begin with is no policy before it is in there.
    fn for_store(&self, settings: Companions) -> Companions {
        settings.with(Arc::new(Seeds::Apart))
    }

    fn own_types(&self) -> Vec<&'static str> {
        vec![POLICY, claim::POLICY_SET, authzen::directory::DIRECTORY]
    }

    fn resembles_text(&self, text: &str) -> bool {
        claim::resembles_text(text)
    }

    fn claims(&self, document: Value<'_>, file: &str) -> bool {
        claim::claim(document, file).is_some()
    }

    fn reader<'f>(&self, opening: Opening<'f, '_>) -> Box<dyn Reader<'f> + 'f> {
        Box::new(reader::AccessReader::new(opening))
    }

    fn identities<'k>(&self, kinds: KindsInForce<'k>) -> Box<dyn Identify + 'k> {
        Box::new(documents::AccessDocuments::new(kinds))
    }

    fn shapes(&self, snapshot: &Snapshot) -> Vec<(String, Vec<Shape>)> {
        let mut shapes: Vec<(String, Vec<Shape>)> = reader::governed(snapshot).collect();
        shapes.push((claim::POLICY_SET.to_owned(), vec![policy_set::set_shape()]));
        shapes.push(("manifest.yaml".to_owned(), vec![manifest::shape()]));
        shapes.push((authzen::directory::DIRECTORY.to_owned(), vec![authzen::directory::shape()]));
        shapes
    }

    fn parse(&self, words: &Words, options: &Options) -> Option<Result<Thing, Refused>> {
        questions::parse(words, options)
    }

    fn example(&self, snapshot: &Snapshot) -> Option<&'static str> {
        decider::deciders(snapshot).next().map(|_| questions::EXAMPLE)
    }

    fn usual_example(&self) -> Option<&'static str> {
        Some(questions::EXAMPLE)
    }

    fn answer(&self, asked: &Asked<'_>) -> Option<Result<Answer, Refused>> {
        questions::answer(asked)
    }

    fn findings(&self, snapshot: &Snapshot) -> Vec<Finding> {
        findings::findings(snapshot)
    }

    fn possible_shifts(&self, before: &Snapshot, after: &Snapshot, changed: &[ChangedDocument]) -> Option<Shifts> {
        shifts::possible_shifts(before, after, changed)
    }
}

impl Inventory for Access {
    fn is_in_no_scope(&self, _kind: &str, scope: &str) -> bool {
        scope == SCOPE
    }
}

/// The edition that is used when users name no other.
pub const DEFAULT_SEMANTICS: &str = "access/strict";

/// The type of access policies.
pub const POLICY: &str = "AccessPolicy";

/// The id of those who do not say who they are.
pub const ANONYMOUS: &str = "anonymous";

/// What access policies are in where others are in a mesh.
pub const SCOPE: &str = "access";

/// How policies are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Edition {
    /// What could mean something else than its author thinks is refused.
    #[default]
    Strict,
    /// As the original system does it, its openings included.
    Compat,
}

impl Edition {
    /// The edition of a named semantics.
    pub fn of(name: &str) -> Option<Self> {
        SEMANTICS.into_iter().find(|(known, ..)| *known == name).map(|(_, edition, _)| edition)
    }

    /// The first semantics that reads like this.
    pub fn name(self) -> &'static str {
        SEMANTICS.into_iter().find(|(_, known, _)| *known == self).map_or("", |(name, ..)| name)
    }
}

/// The named semantics: how policies are read, and how unknown ones are treated.
pub const SEMANTICS: [(&str, Edition, Unknowns); 3] = [
    (DEFAULT_SEMANTICS, Edition::Strict, Unknowns::Union),
    ("access/xacml", Edition::Strict, Unknowns::Xacml),
    ("access/compat", Edition::Compat, Unknowns::Union),
];

/// How the first of these semantics that is known here treats unknown policies.
fn unknowns_of(semantics: &[impl AsRef<str>]) -> Unknowns {
    let named = |name: &str| SEMANTICS.into_iter().find(|(known, ..)| *known == name);
    semantics.iter().find_map(|name| named(name.as_ref())).map(|(_, _, unknowns)| unknowns).unwrap_or_default()
}

/// The type of settings beside policies.
pub const MANIFEST: &str = "AccessManifest";
