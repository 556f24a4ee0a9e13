//! Dialect *network policy*: which pods of Kubernetes may reach which.
//!
//! - `reader`: which documents are read; `network`: what they come to together
//! - `shapes`: what a policy looks like
//! - `rules`: a policy as rules that permit and deny
//! - `workloads`: pods, what makes pods, and namespaces
//! - `ends`: what users call the ends of a connection, and what policies see of them
//! - `questions`: a connection as two decisions, one at each end; `reached`: those that a change can reach

mod ends;
mod network;
mod questions;
mod reached;
mod reader;
mod rules;
mod shapes;
mod workloads;

use upheld_engine::Snapshot;
use upheld_model::tree::Value;
use upheld_report::{Answer, ChangedDocument};

use self::network::Network;
use crate::dialect::{Builtin, Dialect, Inventory, ListedObject, Listing, Opening, Reached, Reader};
use crate::document::Resource;
use crate::identity::{Identify, Identity, KindsInForce, Whose, in_namespace};
use crate::question::{Asked, Refused, Words};
use crate::shape::Shape;

/// The dialect.
#[derive(Debug)]
pub struct NetworkPolicy;

/// The type of policies.
const POLICY: &str = "NetworkPolicy";

/// The edition of the rules.
const SEMANTICS: &str = "network-policy/v1";

impl Dialect for NetworkPolicy {
    fn name(&self) -> &'static str {
        "network_policy"
    }

    fn kinds(&self) -> &'static [Builtin] {
        &[Builtin {
            name: "builtin:network-policy.yaml",
            text: include_str!("network_policy/kinds/network-policy.yaml"),
        }]
    }

    fn editions(&self) -> &'static [&'static str] {
        &[SEMANTICS]
    }

    fn default_editions(&self) -> &'static [&'static str] {
        &[SEMANTICS]
    }

    fn own_types(&self) -> Vec<&'static str> {
        self.object_types()
    }

    fn cluster_wide(&self) -> &'static [(&'static str, &'static str)] {
        &workloads::CLUSTER_WIDE
    }

    fn owns_type(&self, kind: &str) -> bool {
        kind == POLICY
    }

    fn reader<'f>(&self, opening: Opening<'f, '_>) -> Box<dyn Reader<'f> + 'f> {
        Box::new(reader::NetworkReader::new(opening))
    }

    fn identities<'k>(&self, _kinds: KindsInForce<'k>) -> Box<dyn Identify + 'k> {
        Box::new(NetworkDocuments)
    }

    fn shapes(&self, _snapshot: &Snapshot) -> Vec<(String, Vec<Shape>)> {
        vec![(POLICY.to_owned(), vec![shapes::policy()])]
    }

    fn example(&self, snapshot: &Snapshot) -> Option<&'static str> {
        Network::of(snapshot).map(|_| questions::EXAMPLE)
    }

    fn usual_example(&self) -> Option<&'static str> {
        Some(questions::EXAMPLE)
    }

    fn command_about(&self, object: &Identity) -> Option<String> {
        let Identity { kind, scope, name } = object;
        let is_known = workloads::TYPES.iter().any(|known| known.name == *kind);
        is_known.then(|| format!("upheld explain {}/{scope}/{name}", kind.to_lowercase()))
    }

    fn answer(&self, asked: &Asked<'_>) -> Option<Result<Answer, Refused>> {
        questions::answer(asked)
    }
}

/// Says who its documents are: their namespace and name tell them apart.
struct NetworkDocuments;

impl Identify for NetworkDocuments {
    fn identity(&self, document: Value<'_>) -> Whose {
        match Resource::of(document).filter(|resource| reader::knows(*resource)) {
            Some(resource) => Whose::Own(in_namespace(resource)),
            None => Whose::Others,
        }
    }
}

impl Inventory for NetworkPolicy {
    fn questions(&self, snapshot: &Snapshot, most: usize) -> (Vec<Words>, Listing) {
        Network::of(snapshot).map_or((Vec::new(), Listing::Whole), |network| questions::all(network, most))
    }

    fn reached(&self, worlds: [&Snapshot; 2], changed: &[ChangedDocument], most: usize) -> Option<Reached> {
        reached::reached(worlds, changed, most)
    }

    fn objects(&self, snapshot: &Snapshot) -> Vec<ListedObject> {
        Network::of(snapshot).map(Network::listed).unwrap_or_default()
    }

    fn object(&self, snapshot: &Snapshot, identity: &Identity) -> Option<ListedObject> {
        Network::of(snapshot)?.listed_one(identity)
    }

    fn object_types(&self) -> Vec<&'static str> {
        workloads::TYPES.iter().map(|kind| kind.name).collect()
    }
}
