//! What users call the ends of a connection, and what the engine gets to see of them.
//!
//! `web` alone finds the only thing of that name; `dataplane/web-1`, `service/backend` and `dataplane/default/web-1#8080`
//! leave no doubt; `kuma.io/service=web,cloud=aws` asks for tags that nobody needs to have, `cloud=?` for one whose value is
//! not known.

mod directory;
mod names;
pub(in crate::kuma) mod tagged;
mod written;

use std::collections::HashSet;

use rustc_hash::FxHashMap;
use upheld_engine::merge::Target;
use upheld_engine::{Granularity, ObjectId, Snapshot};
use upheld_model::{Diagnostic, Fault, Lookup, Object, Part, Role, Side, Sym, TagSet};

use self::directory::Named;
pub(super) use self::directory::{Directory, meshes};
use self::names::{Finder, offers};
use self::written::suggest;
use super::resources::ResourceType;
use crate::document::DEFAULT_MESH;

/// One end of a connection. It has several members when it is a group (all proxies of a service), or when each part is
/// a question of its own (the inbounds of a proxy).
#[derive(Clone, Debug)]
pub struct End {
    /// How it is called in answers.
    pub label: String,
    /// What is asked about.
    pub members: Vec<Member>,
    /// For a service that is called: the inbounds that offer it, with all of their tags.
    pub inbounds: Vec<Member>,
    /// What is taken for granted about it, for people.
    pub assumed: Option<String>,
}

impl End {
    /// What to ask for a kind: some look at inbounds, others know a service by its name.
    pub fn members_for(&self, each: Granularity) -> &[Member] {
        if each == Granularity::Inbound && !self.inbounds.is_empty() { &self.inbounds } else { &self.members }
    }
}

/// One thing to ask about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// How it is called in answers.
    pub label: String,
    /// Its tags; any of the sets may match.
    pub parts: Vec<TagSet>,
    /// What it is, if it is more than tags.
    pub is: Option<Is>,
}

/// What a member is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Is {
    /// A proxy that calls.
    Proxy(ObjectId),
    /// A part of a proxy that is called.
    Inbound(ObjectId, u32),
    /// A real resource that is called, or a section of it.
    Resource(Target),
}

impl Member {
    /// Tags alone.
    fn tags(label: impl Into<String>, tags: TagSet) -> Self {
        Self { label: label.into(), parts: vec![tags], is: None }
    }

    /// Whose configuration an answer for calls is about.
    pub fn caller(&self) -> Option<ObjectId> {
        match self.is {
            Some(Is::Proxy(id)) => Some(id),
            _ => None,
        }
    }
}

/// The two ends and their mesh.
#[derive(Clone, Debug)]
pub struct Connection {
    /// The mesh.
    pub mesh: Sym,
    /// Who calls.
    pub source: Option<End>,
    /// Who is called.
    pub destination: Option<End>,
}

/// Finds both ends. Each mistake is a diagnostic with the command or name to use instead.
pub fn connect<'s>(
    snapshot: &'s Snapshot,
    lookup: &mut Lookup<'s>,
    mesh: Option<&str>,
    source: Option<&str>,
    destination: Option<&str>,
) -> Result<Connection, Vec<Diagnostic>> {
    let wanted = mesh.map(|name| find_mesh(snapshot, name)).transpose().map_err(|problem| vec![problem])?;
    let finder = Finder { snapshot };
    let mut problems = Vec::new();
    let mut look = |side, written: Option<&str>, lookup: &mut Lookup<'s>| {
        let found = written.map(|written| finder.find(side, written, wanted, lookup)).transpose();
        found.map_err(|problem| problems.push(problem)).ok().flatten()
    };
    let mut from = look(Side::Source, source, lookup);
    let mut to = look(Side::Destination, destination, lookup);
    if !problems.is_empty() {
        return Err(problems);
    }
    // An end that is clear without help says in which mesh to look for the other.
    let clear = |found: &Option<names::Found>| found.as_ref().and_then(names::Found::only_mesh);
    let known = wanted.or_else(|| clear(&from)).or_else(|| clear(&to));
    if let Some(mesh) = known {
        for (found, side) in [(&mut from, Side::Source), (&mut to, Side::Destination)] {
            if let Some(found) = found
                && let Err(problem) = finder.keep_mesh(found, side, mesh)
            {
                return Err(vec![problem]);
            }
        }
    }
    let mut end = |side, found: Option<names::Found>| {
        let end = found.map(|found| finder.end(side, found)).transpose();
        end.map_err(|problem| problems.push(problem)).ok().flatten()
    };
    let (source, destination) = (end(Side::Source, from), end(Side::Destination, to));
    if !problems.is_empty() {
        return Err(problems);
    }
    match (known, meshes(snapshot).as_slice()) {
        (Some(mesh), _) => Ok(Connection { mesh, source, destination }),
        (None, [mesh]) => Ok(Connection { mesh: *mesh, source, destination }),
        (None, []) => Ok(Connection { mesh: lookup.symbol(DEFAULT_MESH), source, destination }),
        (None, several) => {
            let names: Vec<_> = several.iter().map(|mesh| format!("`--mesh {}`", snapshot.text(*mesh))).collect();
            let diagnostic = Diagnostic::error(Fault::Ambiguous, "these tags could be in several meshes");
            Err(vec![diagnostic.help(format!("add {}", names.join(" or ")))])
        }
    }
}

/// The mesh of a name.
pub fn find_mesh(snapshot: &Snapshot, name: &str) -> Result<Sym, Diagnostic> {
    let all = meshes(snapshot);
    all.iter().copied().find(|mesh| snapshot.text(*mesh) == name).ok_or_else(|| {
        let known: Vec<_> = all.iter().map(|mesh| snapshot.text(*mesh)).collect();
        suggest(Diagnostic::error(Fault::NotFound, format!("there is no mesh `{name}`")), name, &known)
    })
}

/// All proxies, by mesh and name.
pub fn proxies(snapshot: &Snapshot) -> impl Iterator<Item = (ObjectId, &Object)> {
    of_type(snapshot, ResourceType::Dataplane)
}

fn of_type(snapshot: &Snapshot, kind: ResourceType) -> impl Iterator<Item = (ObjectId, &Object)> {
    let kind = snapshot.symbols().get(kind.name());
    snapshot.objects().iter().filter(move |(_, object)| Some(object.kind) == kind)
}

/// A service: who it is, and the one tag that callers know of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Service {
    /// Its mesh.
    pub mesh: Sym,
    /// The tag that names it.
    pub tag: Sym,
    /// Its name.
    pub name: Sym,
}

/// All services that something offers or calls, by mesh and name.
pub fn services(snapshot: &Snapshot) -> Vec<Service> {
    Named::of(snapshot).services.clone()
}

/// The service that a tag names in a mesh.
pub fn service_tagged(snapshot: &Snapshot, mesh: Sym, key: &str, value: &str) -> Option<Service> {
    let symbols = snapshot.symbols();
    let service = Service { mesh, tag: symbols.get(key)?, name: symbols.get(value)? };
    Named::of(snapshot).has_service(service).then_some(service)
}

/// What a proxy offers under one of some tags: each tag with the name of the service.
fn offered(proxy: &Object, tags: &[Sym]) -> impl Iterator<Item = (Sym, Sym)> {
    let parts = proxy.parts.iter().filter(|part| part.role != Role::Outbound);
    parts.flat_map(|part| {
        tags.iter().filter_map(|tag| part.tags.get(*tag)).filter_map(|tag| Some((tag.key, tag.value?)))
    })
}

/// What callers look like to selectors: each inbound, and the gateway. A proxy without a gateway offers an empty set
/// there, which only an empty selector matches.
pub fn caller_parts(object: &Object) -> Vec<TagSet> {
    let calls = |role| matches!(role, Role::Inbound | Role::Gateway | Role::BuiltinGateway | Role::Whole);
    let mut parts: Vec<TagSet> =
        object.parts.iter().filter(|part| calls(part.role)).map(|part| part.tags.clone()).collect();
    if !object.parts.iter().any(|part| matches!(part.role, Role::Gateway | Role::BuiltinGateway)) {
        parts.push(TagSet::default());
    }
    parts
}

/// Everything that can be called in a mesh, as a kind looks at it: services, or inbounds and external services.
pub fn destinations(snapshot: &Snapshot, mesh: Sym, each: Granularity) -> Vec<Member> {
    let own = || proxies(snapshot).filter(|(_, proxy)| proxy.scope == mesh);
    let tags = |part: &Part| part.tags.as_slice().to_vec();
    let offered: HashSet<(Sym, Option<Sym>)> =
        own().flat_map(|(_, proxy)| called_parts(proxy)).flat_map(tags).map(|tag| (tag.key, tag.value)).collect();
    let inbounds = |proxy| called_parts(proxy).filter(|part| part.role == Role::Inbound);
    let offering: HashSet<(Sym, Option<Sym>)> =
        own().flat_map(|(_, proxy)| inbounds(proxy)).flat_map(tags).map(|tag| (tag.key, tag.value)).collect();
    match each {
        Granularity::Service => {
            let own = services(snapshot).into_iter().filter(|service| service.mesh == mesh);
            let mut external: FxHashMap<Sym, Vec<&Object>> = FxHashMap::default();
            for (_, object) in of_type(snapshot, ResourceType::ExternalService).filter(|(_, one)| one.scope == mesh) {
                external.entry(object.name).or_default().push(object);
            }
            own.map(|service| {
                // As a name does: an external service that alone offers a service of its name knows all tags.
                let external = external.get(&service.name).into_iter().flatten().find(|one| offers(one, service));
                match external.filter(|_| !offered.contains(&(service.tag, Some(service.name)))) {
                    Some(object) => external_member(snapshot, object),
                    None => service_member(snapshot, service),
                }
            })
            .collect()
        }
        Granularity::Inbound => {
            let inbounds = own().flat_map(|(id, proxy)| {
                let inbounds = called_parts(proxy).filter(|part| part.role == Role::Inbound);
                inbounds.map(move |part| inbound_member(snapshot, id, proxy, part))
            });
            let external = of_type(snapshot, ResourceType::ExternalService).filter(|(_, object)| object.scope == mesh);
            let external = external.map(|(_, object)| object).collect::<Vec<_>>();
            // A service that nobody here offers is known by its name alone.
            let unoffered = services(snapshot).into_iter().filter(|service| {
                let elsewhere = external.iter().any(|object| offers(object, *service));
                service.mesh == mesh && !elsewhere && !offering.contains(&(service.tag, Some(service.name)))
            });
            inbounds
                .chain(external.iter().map(|object| external_member(snapshot, object)))
                .chain(unoffered.map(|service| service_member(snapshot, service)))
                .collect()
        }
    }
}

fn service_member(snapshot: &Snapshot, service: Service) -> Member {
    let Service { tag, name, .. } = service;
    Member::tags(snapshot.text(name), TagSet::new([(tag, Some(name))]))
}

fn external_member(snapshot: &Snapshot, object: &Object) -> Member {
    let parts = object.parts.iter().map(|part| part.tags.clone()).collect();
    Member { label: snapshot.text(object.name).to_owned(), parts, is: None }
}

/// The parts of a proxy that can be called.
fn called_parts(object: &Object) -> impl Iterator<Item = &Part> {
    object.parts.iter().filter(|part| matches!(part.role, Role::Inbound | Role::Gateway | Role::BuiltinGateway))
}

fn inbound_member(snapshot: &Snapshot, id: ObjectId, object: &Object, part: &Part) -> Member {
    let name = snapshot.text(object.name);
    let several = called_parts(object).nth(1).is_some();
    let label = if several { format!("{name}#{}", snapshot.text(part.section)) } else { name.to_owned() };
    let number =
        object.parts.iter().position(|known| std::ptr::eq(known, part)).and_then(|place| u32::try_from(place).ok());
    Member { label, parts: vec![part.tags.clone()], is: number.map(|number| Is::Inbound(id, number)) }
}
