//! Which policies are attached to which places of a proxy.
//!
//! | place | kinds | asked with |
//! |---|---|---|
//! | the whole proxy | `TrafficTrace`, `ProxyTemplate` | what the proxy looks like as a caller |
//! | the whole proxy | all with target references | the proxy itself |
//! | each inbound | `TrafficPermission`, `FaultInjection`, `RateLimit` | the tags of the inbound, from whomever |
//! | each outbound | `TrafficRoute`, `Timeout`, `RateLimitOutbound` | the caller and the one tag that names the service |
//! | each called service | `TrafficLog` | the same |
//! | each reachable service | `HealthCheck`, `CircuitBreaker`, `Retry` | the same |

use std::collections::BTreeMap;

use upheld_engine::{
    KindId, ObjectId, PolicyId, PolicyKind, Question, Resolve, Scratch, Select, SelectKind, Snapshot, work,
};
use upheld_model::{Object, Policy, Role, Side, Sym, TagSet};

use super::listed::listed;
use super::metrics::metrics_inbound;
use super::policy_dataplanes::attached_ids;
use super::{EDITION, InspectError};
use crate::document::Resource;
use crate::kuma::SERVICE_TAGS;
use crate::kuma::ends::caller_parts;
use crate::kuma::resources::{Dataplane, Outbound};
use crate::kuma::routes::{self, Route, Tags};
use crate::kuma::rules::mesh_object;
use crate::kuma::services::Leading;

const OF_DATAPLANE: [&str; 2] = ["TrafficTrace", "ProxyTemplate"];
const OF_INBOUND: [&str; 3] = ["TrafficPermission", "FaultInjection", "RateLimit"];
const OF_OUTBOUND: [&str; 3] = [TRAFFIC_ROUTE, "Timeout", "RateLimitOutbound"];
const OF_CALLED_SERVICE: [&str; 1] = ["TrafficLog"];
const OF_REACHABLE_SERVICE: [&str; 3] = ["HealthCheck", "CircuitBreaker", "Retry"];
const TRAFFIC_ROUTE: &str = "TrafficRoute";

/// A place of a proxy and what is attached there.
#[derive(Debug)]
pub(super) struct Attachment {
    /// What it is to the proxy.
    pub(super) place: Place,
    /// How it is called; empty for the whole proxy.
    pub(super) name: String,
    /// Its service, if it is about one.
    pub(super) service: String,
    /// The policies by kind, best first.
    pub(super) policies: Vec<PolicyId>,
}

/// What a place is to its proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Dataplane,
    Inbound,
    Outbound,
    Service,
}

impl Place {
    /// The word in responses.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Dataplane => "dataplane",
            Self::Inbound => "inbound",
            Self::Outbound => "outbound",
            Self::Service => "service",
        }
    }
}

/// Asks the engine about the proxies of one mesh.
#[derive(Debug)]
pub(super) struct Inspector<'s> {
    snapshot: &'s Snapshot,
    mesh: Sym,
    /// Kinds of which all policies count, see [`once_for_each_selector`].
    lists: BTreeMap<KindId, Select>,
}

impl<'s> Inspector<'s> {
    /// For a mesh; an error unless the edition of these endpoints is in force.
    pub(super) fn new(snapshot: &'s Snapshot, mesh: Sym) -> Result<Self, InspectError> {
        let mut lists = BTreeMap::new();
        let mut kinds = snapshot.kinds().iter().filter(|(_, kind)| in_edition(snapshot, kind)).peekable();
        kinds.peek().ok_or(InspectError::OtherEdition)?;
        for (id, kind) in kinds {
            let Some(select) = kind.select().filter(|select| select.resolve == Resolve::All) else { continue };
            let policies: Vec<_> = snapshot.policies().in_scope(kind.governs, mesh, snapshot.symbols()).collect();
            let list = Select::compile(&once_for_each_selector(select), &policies, snapshot.symbols());
            lists.insert(id, list.map_err(|_| InspectError::TooManyPolicies)?);
        }
        Ok(Self { snapshot, mesh, lists })
    }

    /// The proxies that a policy may be attached to, and those that nobody can tell about, in the order in which they were written.
    pub(super) fn reachable(&self, id: PolicyId, policy: &Policy) -> Vec<&'s Object> {
        let (snapshot, mesh) = (self.snapshot, self.mesh);
        let leading = Leading::of(snapshot);
        let mut found: Vec<ObjectId> = leading.builtin_gateways(mesh).to_vec();
        match policy.layers() {
            Some(_) => found.extend(attached_ids(snapshot, id, policy)),
            None => {
                for (_, kind) in snapshot.kinds().iter().filter(|(_, kind)| kind.governs == policy.kind) {
                    let name = snapshot.text(kind.name);
                    let (is_inbound, Some(select)) = (OF_INBOUND.contains(&name), self.select(name)) else { continue };
                    let side = if is_inbound { Side::Destination } else { Side::Source };
                    // Who has metrics has an inbound that no document declares.
                    match select
                        .needs(policy.name, snapshot.symbols(), side)
                        .filter(|_| !(is_inbound && self.has_metrics()))
                    {
                        Some(needs) => needs.iter().for_each(|tag| found.extend(leading.with_tag(mesh, *tag))),
                        None => found.extend(leading.all(mesh)),
                    }
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        let mut found: Vec<&Object> = found.into_iter().filter_map(|id| snapshot.objects().get(id)).collect();
        found.sort_by_key(|proxy| proxy.at);
        found
    }

    /// Where policies are attached to a proxy, in the order of the texts `{place name service}`.
    pub(super) fn attachments(&self, object: &Object) -> Result<Vec<Attachment>, InspectError> {
        work::step();
        let resource = self.snapshot.files().value(object.at).and_then(Resource::of);
        let Some(dataplane) = resource.map(Dataplane::of) else { return Ok(Vec::new()) };
        if dataplane.gateway().and_then(|gateway| gateway.get("type")).is_some_and(|kind| kind.text() == "BUILTIN") {
            return Err(InspectError::BuiltinGateway { name: self.snapshot.text(object.name).to_owned() });
        }
        let mut places = Places::default();
        let caller = caller_parts(object);
        let whole = Question { source: Some(&caller), destination: None };
        let layered = listed(self.snapshot, self.mesh, object).into_iter().flat_map(|listed| listed.policies());
        let policies = self.counting(&OF_DATAPLANE, &whole).into_iter().chain(layered).collect();
        places.attach(Place::Dataplane, "", "", policies);
        self.attach_inbounds(object, dataplane, &mut places);
        self.attach_outbounds(dataplane, &caller, &mut places);
        self.attach_services(dataplane, &caller, &mut places);
        Ok(places.by_text.into_values().collect())
    }

    fn attach_inbounds(&self, object: &Object, dataplane: Dataplane<'_>, places: &mut Places) {
        let parts = object.parts.iter().filter(|part| part.role == Role::Inbound);
        for (inbound, part) in dataplane.inbounds().zip(parts) {
            let name = format!("{}:{}:{}", inbound.proxy_address(), inbound.proxy_port(), inbound.workload_port());
            let mut service = SERVICE_TAGS.iter().filter_map(|tag| inbound.value.at_path(&["tags", tag]));
            let service = service.next().map_or("", |service| service.text());
            places.attach(Place::Inbound, &name, service, self.counting_at_inbound(&part.tags));
        }
        if let Some(inbound) = metrics_inbound(self.snapshot, object) {
            let name = format!("{}:{port}:{port}", dataplane.address(), port = inbound.port);
            places.attach(Place::Inbound, &name, "", self.counting_at_inbound(&self.tag_set(&inbound.tags)));
        }
    }

    fn attach_outbounds(&self, dataplane: Dataplane<'_>, caller: &[TagSet], places: &mut Places) {
        // An address has one outbound: the last of those that claim it.
        let by_address: BTreeMap<String, Outbound<'_>> =
            routes::service_outbounds(dataplane).map(|outbound| (outbound.section(), outbound)).collect();
        for (address, outbound) in by_address {
            if let Some(service) = routes::service(outbound) {
                let policies = self.counting_for_service(&OF_OUTBOUND, caller, service);
                places.attach(Place::Outbound, &address, service, policies);
            }
        }
    }

    fn attach_services(&self, dataplane: Dataplane<'_>, caller: &[TagSet], places: &mut Places) {
        for service in routes::outbound_services(dataplane) {
            let policies = self.counting_for_service(&OF_CALLED_SERVICE, caller, service);
            places.attach(Place::Service, service, service, policies);
        }
        let reachable = routes::destination_map(dataplane, |outbound| self.route(outbound, caller));
        for service in reachable.into_keys() {
            let policies = self.counting_for_service(&OF_REACHABLE_SERVICE, caller, service);
            places.attach(Place::Service, service, service, policies);
        }
    }

    /// The route that stands for an outbound. One without a `conf` leads nowhere else.
    fn route<'t>(&'t self, outbound: Outbound<'t>, caller: &[TagSet]) -> Option<Route<'t>> {
        let winner = self.counting_for_service(&[TRAFFIC_ROUTE], caller, routes::service(outbound)?);
        let policy = self.snapshot.policy(*winner.first()?)?;
        let conf = self.snapshot.files().value(policy.payload?)?;
        Some(Route::of(conf).resolved(&routes::outbound_tags(outbound)))
    }

    fn has_metrics(&self) -> bool {
        let mesh = mesh_object(self.snapshot, self.mesh).and_then(|mesh| self.snapshot.objects().get(mesh));
        let mesh = mesh.and_then(|mesh| self.snapshot.files().value(mesh.at)).and_then(Resource::of);
        mesh.is_some_and(|mesh| mesh.field("metrics").is_some())
    }

    fn counting_at_inbound(&self, tags: &TagSet) -> Vec<PolicyId> {
        let destination = std::slice::from_ref(tags);
        self.counting(&OF_INBOUND, &Question { source: None, destination: Some(destination) })
    }

    /// Callers know nothing of a service but its name.
    fn counting_for_service(&self, kinds: &[&str], caller: &[TagSet], service: &str) -> Vec<PolicyId> {
        let [tag, _] = SERVICE_TAGS;
        let destination = [self.tag_set(&Tags::from([(tag, service)]))];
        self.counting(kinds, &Question { source: Some(caller), destination: Some(&destination) })
    }

    /// The policies that count for a question, kind by kind.
    fn counting(&self, kinds: &[&str], question: &Question<'_>) -> Vec<PolicyId> {
        let mut policies = Vec::new();
        for select in kinds.iter().filter_map(|kind| self.select(kind)) {
            policies.extend(select.standing(question, &mut Scratch::default()).into_iter().map(|entry| entry.policy));
        }
        policies
    }

    fn select(&self, name: &str) -> Option<&Select> {
        let named = |kind: &PolicyKind| self.snapshot.text(kind.name) == name && in_edition(self.snapshot, kind);
        let (id, _) = self.snapshot.kinds().iter().find(|(_, kind)| named(kind))?;
        self.lists.get(&id).or_else(|| self.snapshot.select(id, self.mesh))
    }

    fn tag_set(&self, tags: &Tags<'_>) -> TagSet {
        let mut lookup = self.snapshot.lookup();
        TagSet::new(
            tags.iter().map(|(key, value)| (lookup.symbol(key), Some(lookup.symbol(value)))).collect::<Vec<_>>(),
        )
    }
}

/// Where all policies count, Kuma lists one once for each of its destination selectors that matches, in the order of its
/// first source selector. That is the same kind with an entry for each destination selector.
fn once_for_each_selector(kind: &SelectKind) -> SelectKind {
    SelectKind { split: kind.side(Side::Destination).map(|item| item.field), ..kind.clone() }
}

fn in_edition(snapshot: &Snapshot, kind: &PolicyKind) -> bool {
    kind.semantics.is_some_and(|edition| snapshot.text(edition) == EDITION)
}

/// Places with policies, by the text that orders them.
#[derive(Debug, Default)]
struct Places {
    by_text: BTreeMap<String, Attachment>,
}

impl Places {
    /// Adds policies to a place; a place without any is none.
    fn attach(&mut self, place: Place, name: &str, service: &str, policies: Vec<PolicyId>) {
        if policies.is_empty() {
            return;
        }
        let text = format!("{{{} {name} {service}}}", place.word());
        let attachment = self.by_text.entry(text).or_insert_with(|| Attachment {
            place,
            name: name.to_owned(),
            service: service.to_owned(),
            policies: Vec::new(),
        });
        attachment.policies.extend(policies);
    }
}
