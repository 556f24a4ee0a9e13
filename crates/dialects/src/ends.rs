//! What users call the ends of a connection, and what the engine gets to see of them.
//!
//! `web` alone finds the only thing of that name; `dataplane/web-1`, `service/backend` and `dataplane/default/web-1#8080`
//! leave no doubt; `kuma.io/service=web,cloud=aws` asks for tags that nobody needs to have, `cloud=?` for one whose value is
//! not known.

use upheld_engine::{ObjectId, Snapshot};
use upheld_model::nearest::nearest;
use upheld_model::{Diagnostic, Fault, Lookup, Object, Role, Side, Sym, TagSet};

use crate::kuma::SERVICE_TAGS;
use crate::kuma::resources::ResourceType;

/// One end of a connection. It has several members when it is a group (all proxies of a service), or when each part is
/// a question of its own (the inbounds of a proxy).
#[derive(Clone, Debug)]
pub struct End {
    /// How it is called in answers.
    pub label: String,
    /// Its mesh; `None` for tags that users made up.
    pub mesh: Option<Sym>,
    /// What is asked about.
    pub members: Vec<Member>,
}

/// One thing to ask about.
#[derive(Clone, Debug)]
pub struct Member {
    /// How it is called in answers.
    pub label: String,
    /// Its tags; any of the sets may match.
    pub parts: Vec<TagSet>,
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

/// A thing that has a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Thing {
    Proxy(ObjectId),
    External(ObjectId),
    /// A service by its tag, in a mesh.
    Service {
        mesh: Sym,
        tag: Sym,
        name: Sym,
    },
}

/// Finds both ends. Each mistake is a diagnostic with the command or name to use instead.
pub fn connect<'s>(
    snapshot: &'s Snapshot,
    lookup: &mut Lookup<'s>,
    mesh: Option<&str>,
    source: Option<&str>,
    destination: Option<&str>,
) -> Result<Connection, Vec<Diagnostic>> {
    let mut problems = Vec::new();
    let mesh = match mesh {
        None => None,
        Some(name) => match meshes(snapshot).into_iter().find(|mesh| snapshot.text(*mesh) == name) {
            Some(mesh) => Some(mesh),
            None => {
                let known: Vec<_> = meshes(snapshot).into_iter().map(|mesh| snapshot.text(mesh)).collect();
                let diagnostic = Diagnostic::error(Fault::NotFound, format!("there is no mesh `{name}`"));
                return Err(vec![suggest(diagnostic, name, &known)]);
            }
        },
    };
    let ends = Ends { snapshot };
    let mut find = |side: Side, written: Option<&str>, mesh: Option<Sym>, lookup: &mut Lookup<'s>| {
        written
            .map(|written| ends.find(side, written, mesh, lookup))
            .transpose()
            .map_err(|problem| problems.push(problem))
    };
    // An end that is clear without help says in which mesh to look for the other.
    let first = find(Side::Source, source, mesh, lookup);
    let known = mesh.or_else(|| first.as_ref().ok().and_then(|end| end.as_ref()?.mesh));
    let second = find(Side::Destination, destination, known, lookup);
    let (Ok(source), Ok(destination)) = (first, second) else { return Err(problems) };
    let of = |end: &Option<End>| end.as_ref().and_then(|end| end.mesh);
    let all = meshes(snapshot);
    let only = match all.as_slice() {
        [only] => Some(*only),
        [] => Some(lookup.symbol(crate::document::DEFAULT_MESH)),
        _ => None,
    };
    match known.or_else(|| of(&destination)).or(only) {
        Some(mesh) => Ok(Connection { mesh, source, destination }),
        None => {
            let names: Vec<_> = all.iter().map(|mesh| format!("`--mesh {}`", snapshot.text(*mesh))).collect();
            let diagnostic = Diagnostic::error(Fault::Ambiguous, "these tags could be in several meshes");
            Err(vec![diagnostic.help(format!("add {}", names.join(" or ")))])
        }
    }
}

/// All meshes that something is in, by name.
pub fn meshes(snapshot: &Snapshot) -> Vec<Sym> {
    let objects = snapshot.objects().iter().map(|(_, object)| object.scope);
    let mut meshes: Vec<Sym> = objects.chain(snapshot.policies().iter().map(|(_, policy)| policy.scope)).collect();
    meshes.sort_by(|a, b| snapshot.text(*a).cmp(snapshot.text(*b)));
    meshes.dedup();
    meshes
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    let keys: Vec<Sym> = SERVICE_TAGS.iter().filter_map(|tag| snapshot.symbols().get(tag)).collect();
    let mut services = Vec::new();
    for (_, object) in snapshot.objects().iter() {
        for part in &object.parts {
            let tag = keys.iter().find_map(|key| part.tags.get(*key));
            if let Some((tag, name)) = tag.and_then(|tag| Some((tag.key, tag.value?))) {
                services.push(Service { mesh: object.scope, tag, name });
            }
        }
    }
    let texts = |service: &Service| {
        let Service { mesh, tag, name } = *service;
        (snapshot.text(mesh), snapshot.text(name), snapshot.text(tag))
    };
    services.sort_by(|a, b| texts(a).cmp(&texts(b)));
    services.dedup();
    services
}

/// What callers look like to selectors: each inbound, and the gateway. A proxy without a gateway offers an empty set
/// there, which only an empty selector matches.
pub fn caller_parts(object: &Object) -> Vec<TagSet> {
    let calls = |role| matches!(role, Role::Inbound | Role::Gateway | Role::Whole);
    let mut parts: Vec<TagSet> =
        object.parts.iter().filter(|part| calls(part.role)).map(|part| part.tags.clone()).collect();
    if !object.parts.iter().any(|part| part.role == Role::Gateway) {
        parts.push(TagSet::default());
    }
    parts
}

struct Ends<'s> {
    snapshot: &'s Snapshot,
}

/// `kind/mesh/name#section`, of which only the name must be there.
struct Written<'w> {
    kind: Option<&'w str>,
    mesh: Option<&'w str>,
    name: &'w str,
    section: Option<&'w str>,
}

impl<'w> Written<'w> {
    fn parse(text: &'w str) -> Self {
        let (whole, section) = match text.split_once('#') {
            Some((whole, section)) => (whole, Some(section)),
            None => (text, None),
        };
        let parts: Vec<&str> = whole.splitn(3, '/').collect();
        match parts.as_slice() {
            [kind, mesh, name] => Self { kind: Some(kind), mesh: Some(mesh), name, section },
            [kind, name] => Self { kind: Some(kind), mesh: None, name, section },
            _ => Self { kind: None, mesh: None, name: whole, section },
        }
    }
}

impl<'s> Ends<'s> {
    fn find(&self, side: Side, written: &str, mesh: Option<Sym>, lookup: &mut Lookup<'s>) -> Result<End, Diagnostic> {
        if written.contains('=') {
            return tags(written, lookup).map(|tags| End {
                label: written.to_owned(),
                mesh,
                members: vec![Member { label: written.to_owned(), parts: vec![tags] }],
            });
        }
        let Written { kind, mesh: mesh_name, name, section } = Written::parse(written);
        let wanted = kind.map(|kind| Kinds::of(kind).ok_or_else(|| unknown_kind(kind))).transpose()?;
        let in_mesh = |thing: &Thing| {
            let of = self.mesh_of(*thing);
            mesh.is_none_or(|mesh| of == Some(mesh))
                && mesh_name.is_none_or(|name| of.is_some_and(|mesh| self.snapshot.text(mesh) == name))
        };
        let things: Vec<Thing> = self
            .things(side)
            .into_iter()
            .filter(|thing| self.name_of(*thing) == name && in_mesh(thing))
            .filter(|thing| wanted.is_none_or(|wanted| wanted == Kinds::of_thing(*thing)))
            .collect();
        match self.without_doubles(things).as_slice() {
            [thing] => self.end(side, *thing, section),
            [] => Err(self.not_found(side, written, name)),
            several => Err(self.ambiguous(side, written, several, section)),
        }
    }

    fn things(&self, side: Side) -> Vec<Thing> {
        let mut things: Vec<Thing> = proxies(self.snapshot).map(|(id, _)| Thing::Proxy(id)).collect();
        if side == Side::Destination {
            let external = of_type(self.snapshot, ResourceType::ExternalService);
            things.extend(external.map(|(id, _)| Thing::External(id)));
        }
        things.extend(services(self.snapshot).into_iter().map(|Service { mesh, tag, name }| Thing::Service {
            mesh,
            tag,
            name,
        }));
        things
    }

    /// An external service and the service that it alone offers are one thing; the first knows all tags.
    fn without_doubles(&self, things: Vec<Thing>) -> Vec<Thing> {
        let externals: Vec<Sym> = (things.iter())
            .filter(|thing| matches!(thing, Thing::External(_)))
            .filter_map(|thing| self.mesh_of(*thing))
            .collect();
        let offered = |thing: &Thing| !self.members_of(*thing).is_empty();
        things
            .into_iter()
            .filter(|thing| match thing {
                Thing::Service { mesh, .. } => !externals.contains(mesh) || offered(thing),
                _ => true,
            })
            .collect()
    }

    fn end(&self, side: Side, thing: Thing, section: Option<&str>) -> Result<End, Diagnostic> {
        let label = self.name_of(thing).to_owned();
        let mesh = self.mesh_of(thing);
        let members = match (thing, side) {
            (Thing::Proxy(id), Side::Source) => self.object(id).map(|object| self.caller(object)).into_iter().collect(),
            (Thing::Proxy(id), Side::Destination) => self.called(id, section)?,
            (Thing::External(id), _) => {
                let parts = self.object(id).map(|object| object.parts.iter().map(|part| part.tags.clone()).collect());
                vec![Member { label: label.clone(), parts: parts.unwrap_or_default() }]
            }
            (Thing::Service { .. }, Side::Source) => {
                let members = self.members_of(thing);
                if members.is_empty() {
                    return Err(self.no_member(thing));
                }
                members
            }
            (Thing::Service { tag, name, .. }, Side::Destination) => {
                vec![Member { label: label.clone(), parts: vec![TagSet::new([(tag, Some(name))])] }]
            }
        };
        Ok(End { label, mesh, members })
    }

    fn caller(&self, object: &Object) -> Member {
        Member { label: self.snapshot.text(object.name).to_owned(), parts: caller_parts(object) }
    }

    /// The inbounds of a proxy, each a question of its own.
    fn called(&self, id: ObjectId, section: Option<&str>) -> Result<Vec<Member>, Diagnostic> {
        let Some(object) = self.object(id) else { return Ok(Vec::new()) };
        let name = self.snapshot.text(object.name);
        let parts: Vec<_> =
            object.parts.iter().filter(|part| matches!(part.role, Role::Inbound | Role::Gateway)).collect();
        let several = parts.len() > 1;
        let members: Vec<Member> = parts
            .iter()
            .filter(|part| section.is_none_or(|section| self.snapshot.text(part.section) == section))
            .map(|part| {
                let section = self.snapshot.text(part.section);
                let label = if several { format!("{name}#{section}") } else { name.to_owned() };
                Member { label, parts: vec![part.tags.clone()] }
            })
            .collect();
        match (members.is_empty(), section) {
            (false, _) => Ok(members),
            (true, None) => Ok(vec![Member { label: name.to_owned(), parts: vec![TagSet::default()] }]),
            (true, Some(section)) => {
                let known: Vec<_> = parts.iter().map(|part| self.snapshot.text(part.section)).collect();
                let diagnostic = Diagnostic::error(Fault::NotFound, format!("`{name}` has no inbound `{section}`"));
                Err(suggest(diagnostic, section, &known))
            }
        }
    }

    /// The proxies that offer a service.
    fn members_of(&self, thing: Thing) -> Vec<Member> {
        let Thing::Service { mesh, tag, name } = thing else { return Vec::new() };
        let offers = |object: &Object| {
            let mut parts = object.parts.iter().filter(|part| part.role != Role::Outbound);
            parts.any(|part| part.tags.get(tag).is_some_and(|tag| tag.value == Some(name)))
        };
        proxies(self.snapshot)
            .filter(|(_, object)| object.scope == mesh && offers(object))
            .map(|(_, object)| self.caller(object))
            .collect()
    }

    fn object(&self, id: ObjectId) -> Option<&'s Object> {
        self.snapshot.objects().get(id)
    }

    fn name_of(&self, thing: Thing) -> &'s str {
        match thing {
            Thing::Proxy(id) | Thing::External(id) => {
                self.object(id).map_or("", |object| self.snapshot.text(object.name))
            }
            Thing::Service { name, .. } => self.snapshot.text(name),
        }
    }

    fn mesh_of(&self, thing: Thing) -> Option<Sym> {
        match thing {
            Thing::Proxy(id) | Thing::External(id) => self.object(id).map(|object| object.scope),
            Thing::Service { mesh, .. } => Some(mesh),
        }
    }

    fn not_found(&self, side: Side, written: &str, name: &str) -> Diagnostic {
        let things = self.things(side);
        let known: Vec<_> = things.iter().map(|thing| self.name_of(*thing)).collect();
        let what = match side {
            Side::Source => "proxy or service",
            Side::Destination => "proxy, service or external service",
        };
        let diagnostic = Diagnostic::error(Fault::NotFound, format!("no {what} is called `{written}`"));
        let diagnostic = suggest(diagnostic, name, &known);
        diagnostic
            .help("`upheld list objects` shows all of them; tags can be asked for as `kuma.io/service=web,cloud=aws`")
    }

    fn ambiguous(&self, side: Side, written: &str, things: &[Thing], section: Option<&str>) -> Diagnostic {
        let flag = if side == Side::Source { "--from" } else { "--to" };
        let same_kind = things.windows(2).all(|pair| match pair {
            [a, b] => Kinds::of_thing(*a) == Kinds::of_thing(*b),
            _ => true,
        });
        let count = things.len();
        let diagnostic = Diagnostic::error(Fault::Ambiguous, format!("`{written}` could be any of {count} things"));
        things.iter().fold(diagnostic, |diagnostic, thing| {
            let kind = Kinds::of_thing(*thing).word();
            let name = self.name_of(*thing);
            let mesh = self.mesh_of(*thing).map_or("", |mesh| self.snapshot.text(mesh));
            let section = section.map(|section| format!("#{section}")).unwrap_or_default();
            diagnostic.help(if same_kind {
                format!("use `{flag} {kind}/{mesh}/{name}{section}`")
            } else {
                format!("use `{flag} {kind}/{name}{section}`")
            })
        })
    }

    fn no_member(&self, thing: Thing) -> Diagnostic {
        let name = self.name_of(thing);
        Diagnostic::error(Fault::NotFound, format!("no proxy offers the service `{name}`, so it cannot call"))
            .help(format!("ask for its tags instead: `--from kuma.io/service={name}`"))
    }
}

/// What can stand before a slash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kinds {
    Dataplane,
    Service,
    ExternalService,
}

impl Kinds {
    const WORDS: [(&'static str, Self); 9] = [
        ("dataplane", Self::Dataplane),
        ("service", Self::Service),
        ("externalservice", Self::ExternalService),
        ("dataplanes", Self::Dataplane),
        ("dp", Self::Dataplane),
        ("proxy", Self::Dataplane),
        ("services", Self::Service),
        ("svc", Self::Service),
        ("externalservices", Self::ExternalService),
    ];

    fn of(word: &str) -> Option<Self> {
        Self::WORDS.iter().find(|(known, _)| known.eq_ignore_ascii_case(word)).map(|(_, kind)| *kind)
    }

    fn of_thing(thing: Thing) -> Self {
        match thing {
            Thing::Proxy(_) => Self::Dataplane,
            Thing::External(_) => Self::ExternalService,
            Thing::Service { .. } => Self::Service,
        }
    }

    fn word(self) -> &'static str {
        Self::WORDS.iter().find(|(_, kind)| *kind == self).map_or("", |(word, _)| word)
    }
}

fn unknown_kind(written: &str) -> Diagnostic {
    let diagnostic = Diagnostic::error(Fault::NotFound, format!("`{written}` is no kind of object"));
    suggest(diagnostic, written, &["dataplane", "service", "externalservice"])
}

fn suggest(diagnostic: Diagnostic, written: &str, known: &[&str]) -> Diagnostic {
    match nearest(written, known.iter().copied()) {
        Some(name) => diagnostic.help(format!("did you mean `{name}`?")),
        None if known.is_empty() => {
            diagnostic.help("nothing of that sort was read; does `-f` point to the right files?")
        }
        None if known.len() <= 12 => diagnostic.help(format!("there are: {}", known.join(", "))),
        None => diagnostic,
    }
}

/// `tag=value,tag=value`; `?` is a value that the asker does not know.
fn tags(written: &str, lookup: &mut Lookup<'_>) -> Result<TagSet, Diagnostic> {
    let mut tags = Vec::new();
    for pair in written.split(',').filter(|pair| !pair.is_empty()) {
        let Some((key, value)) = pair.split_once('=').filter(|(key, value)| !key.is_empty() && !value.is_empty())
        else {
            return Err(Diagnostic::error(Fault::WrongValue, format!("`{pair}` is not `tag=value`"))
                .help("write tags as `kuma.io/service=web,cloud=aws`, and `cloud=?` if you do not know"));
        };
        if value == "*" {
            return Err(Diagnostic::error(
                Fault::WrongValue,
                format!("`{pair}`: a tag has one value, only selectors have `*`"),
            )
            .help(format!("write `{key}=?` if you do not know the value")));
        }
        let value = if value == "?" { None } else { Some(lookup.symbol(value)) };
        tags.push((lookup.symbol(key), value));
    }
    Ok(TagSet::new(tags))
}
