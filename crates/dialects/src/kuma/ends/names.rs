//! From what users write to things of the snapshot.

use upheld_engine::merge::Target;
use upheld_engine::{ObjectId, Snapshot};
use upheld_model::tree::Value;
use upheld_model::{Diagnostic, Fault, Lookup, Object, Role, Side, Sym, TagSet};

use super::directory::Named;
use super::tagged::{has_policies, without_proxies};
use super::written::{Kind, Reading, readings, suggest, tags};
use super::{End, Is, Member, Service, called_parts, caller_parts, external_member, inbound_member, service_member};
use crate::document::Resource;
use crate::kuma::SERVICE_TAGS;

/// A thing that has a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Thing {
    Proxy(ObjectId),
    External(ObjectId),
    Service(Service),
    /// A real resource that can be called.
    Resource(ObjectId),
}

impl Thing {
    /// Whether it can be who calls.
    fn calls(self) -> bool {
        matches!(self, Self::Proxy(_) | Self::Service(_))
    }
}

/// What was found for one end.
pub(super) enum Found {
    /// Tags that the asker made up.
    Tags(String, TagSet),
    /// A service that nothing offers and that policies name.
    OnlyNamed(String, TagSet),
    /// At least one thing with the name.
    Things { written: String, section: Option<String>, things: Vec<(Thing, Sym)> },
}

impl Found {
    /// The mesh, if there is no doubt about it.
    pub(super) fn only_mesh(&self) -> Option<Sym> {
        match self {
            Self::Tags(..) | Self::OnlyNamed(..) => None,
            Self::Things { things, .. } => {
                let (_, first) = things.first()?;
                things.iter().all(|(_, mesh)| mesh == first).then_some(*first)
            }
        }
    }
}

pub(super) struct Finder<'s> {
    pub(super) snapshot: &'s Snapshot,
}

impl<'s> Finder<'s> {
    /// Everything that could be meant.
    pub(super) fn find(
        &self,
        side: Side,
        written: &str,
        mesh: Option<Sym>,
        lookup: &mut Lookup<'s>,
    ) -> Result<Found, Diagnostic> {
        if written.trim().is_empty() || written.starts_with('#') {
            return Err(Diagnostic::error(Fault::WrongValue, format!("`{written}` does not exist"))
                .help("`upheld list objects` shows what there is"));
        }
        if written.starts_with("spiffe://") {
            let tags = TagSet::new([(lookup.symbol("spiffeID"), Some(lookup.symbol(written)))]);
            return Ok(Found::Tags(written.to_owned(), tags));
        }
        if written.contains('=') {
            return tags(written, lookup).map(|tags| Found::Tags(written.to_owned(), tags));
        }
        let (whole, section) = match written.split_once('#') {
            Some((whole, section)) => (whole, Some(section.to_owned())),
            None => (written, None),
        };
        let readings = readings(whole);
        let fits = |thing: Thing, of_mesh: Sym, matches: &dyn Fn(&str, &str) -> bool| {
            mesh.is_none_or(|mesh| mesh == of_mesh)
                && readings.iter().any(|reading| {
                    reading.kind.is_none_or(|kind| kind == Kind::of(thing, self.snapshot))
                        && reading.mesh.is_none_or(|mesh| self.snapshot.text(of_mesh) == mesh)
                        && matches(self.name(thing), reading.name)
                })
        };
        let named = Named::of(self.snapshot);
        let can_be = |thing: Thing| side == Side::Destination || thing.calls();
        let names = readings.iter().filter_map(|reading| self.snapshot.symbols().get(reading.name));
        let mut things: Vec<(Thing, Sym)> = named
            .called(names)
            .filter(|(thing, mesh)| can_be(*thing) && fits(*thing, *mesh, &|name, wanted| name == wanted))
            .collect();
        let all = || named.things.iter().copied().filter(|(thing, _)| can_be(*thing));
        if things.is_empty() {
            // A name of Kubernetes without its namespace.
            let without =
                |name: &str, wanted: &str| name.strip_prefix(wanted).is_some_and(|rest| rest.starts_with('.'));
            things = all().filter(|(thing, mesh)| fits(*thing, *mesh, &without)).collect();
        }
        // Only a called proxy has inbounds to pick, and a real resource ports.
        let has_inbounds =
            |thing: &Thing| matches!(thing, Thing::Proxy(_) | Thing::Resource(_)) && side == Side::Destination;
        if section.is_some() && things.iter().any(|(thing, _)| has_inbounds(thing)) {
            things.retain(|(thing, _)| has_inbounds(thing));
        }
        if things.is_empty() && written == whole && side == Side::Destination && self.is_named_by_policies(written) {
            let tag = (lookup.symbol(SERVICE_TAGS[0]), Some(lookup.symbol(written)));
            return Ok(Found::OnlyNamed(written.to_owned(), TagSet::new([tag])));
        }
        if things.is_empty() {
            return Err(self.not_found(side, written, whole, &readings, &all().collect::<Vec<_>>()));
        }
        Ok(Found::Things { written: written.to_owned(), section, things: self.without_doubles(side, things) })
    }

    /// Keeps what is in a mesh.
    pub(super) fn keep_mesh(&self, found: &mut Found, side: Side, mesh: Sym) -> Result<(), Diagnostic> {
        let Found::Things { written, things, .. } = found else { return Ok(()) };
        let others: Vec<&str> = things.iter().map(|(_, mesh)| self.snapshot.text(*mesh)).collect();
        let elsewhere = others.join(", ");
        things.retain(|(_, of)| *of == mesh);
        if things.is_empty() {
            let mesh = self.snapshot.text(mesh);
            let message = format!("`{written}` is in mesh {elsewhere}, but the {} is in mesh {mesh}", other(side));
            return Err(Diagnostic::error(Fault::NotFound, message).help("a connection stays within one mesh"));
        }
        Ok(())
    }

    /// The end, if only one thing can be meant.
    pub(super) fn end(&self, side: Side, found: Found) -> Result<End, Diagnostic> {
        let (written, section, things) = match found {
            Found::Tags(label, tags) => {
                let members = vec![Member::tags(label.clone(), tags)];
                return Ok(End { label, members, inbounds: Vec::new(), assumed: None });
            }
            Found::OnlyNamed(label, tags) => {
                let members = vec![Member::tags(label.clone(), tags)];
                let assumed =
                    format!("note: nothing that was read offers {label}: this is what policies say that name it");
                return Ok(End { label, members, inbounds: Vec::new(), assumed: Some(assumed) });
            }
            Found::Things { written, section, things } => (written, section, things),
        };
        let [(thing, _)] = things.as_slice() else {
            return Err(self.ambiguous(side, &written, &things, section.as_deref()));
        };
        if let (Some(section), true) =
            (&section, !matches!((thing, side), (Thing::Proxy(_) | Thing::Resource(_), Side::Destination)))
        {
            let message =
                format!("`#{section}` picks an inbound or a port, which only called proxies and real resources have");
            return Err(
                Diagnostic::error(Fault::WrongValue, message).help(format!("leave it out: `{}`", self.name(*thing)))
            );
        }
        let label = self.name(*thing).to_owned();
        let one = |member: Member| vec![member];
        let (members, inbounds) = match (thing, side) {
            (Thing::Proxy(id), Side::Source) => (one(self.caller(*id)), Vec::new()),
            (Thing::Resource(id), _) => (one(self.resource(*id, section.as_deref())?), Vec::new()),
            (Thing::Proxy(id), Side::Destination) => (self.called(*id, section.as_deref())?, Vec::new()),
            (Thing::External(id), _) => (
                self.object(*id).map(|object| one(external_member(self.snapshot, object))).unwrap_or_default(),
                Vec::new(),
            ),
            (Thing::Service(service), Side::Source) => (self.callers(*service)?, Vec::new()),
            (Thing::Service(service), Side::Destination) => {
                (one(service_member(self.snapshot, *service)), self.offering(*service))
            }
        };
        Ok(End { label, members, inbounds, assumed: None })
    }

    /// Whether a policy speaks about calls of a service of this name.
    fn is_named_by_policies(&self, name: &str) -> bool {
        let specs = self.snapshot.policies().iter().filter(|(_, policy)| policy.layers().is_some());
        let specs = specs.filter_map(|(_, policy)| self.snapshot.files().value(policy.at)).filter_map(Resource::of);
        let items = specs.filter_map(Resource::spec).filter_map(|spec| spec.get("to")).flat_map(Value::items);
        let mut references = items.filter_map(|item| item.get("targetRef"));
        let says = |reference: &Value<'_>, field: &str, wanted: &str| {
            reference.get(field).is_some_and(|value| value.text() == wanted)
        };
        references.any(|reference| says(&reference, "kind", "MeshService") && says(&reference, "name", name))
    }

    /// Two names of one thing are not ambiguous: an external service and the service that it alone offers (the first knows all
    /// tags), and a proxy that is all of the service that calls.
    fn without_doubles(&self, side: Side, mut things: Vec<(Thing, Sym)>) -> Vec<(Thing, Sym)> {
        let all = things.clone();
        things.retain(|(thing, _)| {
            let Thing::Service(service) = thing else { return true };
            let offering = self.offering(*service);
            !all.iter().any(|(other, _)| match other {
                Thing::External(id) => {
                    offering.is_empty() && self.object(*id).is_some_and(|object| offers(object, *service))
                }
                Thing::Proxy(id) => {
                    let only = self.proxies_of(*service).iter().map(|(id, _)| *id).eq([*id]);
                    side == Side::Source && only
                }
                Thing::Service(_) | Thing::Resource(_) => false,
            })
        });
        things
    }

    fn caller(&self, id: ObjectId) -> Member {
        let parts = self.object(id).map(caller_parts).unwrap_or_default();
        Member { label: self.name(Thing::Proxy(id)).to_owned(), parts, is: Some(Is::Proxy(id)) }
    }

    /// A real resource, or the port that a section names.
    fn resource(&self, id: ObjectId, section: Option<&str>) -> Result<Member, Diagnostic> {
        let name = self.name(Thing::Resource(id));
        let ports: Vec<_> = self.object(id).into_iter().flat_map(|object| &object.parts).collect();
        let text = |symbol: Sym| self.snapshot.text(symbol);
        let label = format!("{}/{name}", Kind::of(Thing::Resource(id), self.snapshot).word());
        let Some(section) = section else {
            return Ok(Member { label, parts: Vec::new(), is: Some(Is::Resource(Target::whole(id))) });
        };
        let wanted = |part: &&&upheld_model::Part| {
            text(part.section) == section || part.port.is_some_and(|port| text(port) == section)
        };
        match ports.iter().find(wanted) {
            Some(port) => {
                let target = Target { object: id, section: Some(port.section) };
                let label = format!("{label}#{}", text(port.section));
                Ok(Member { label, parts: Vec::new(), is: Some(Is::Resource(target)) })
            }
            None => {
                let known: Vec<_> = ports.iter().map(|port| text(port.section)).collect();
                let diagnostic = Diagnostic::error(Fault::NotFound, format!("`{name}` has no port `{section}`"));
                Err(suggest(diagnostic, section, &known))
            }
        }
    }

    fn proxies_of(&self, service: Service) -> Vec<(ObjectId, &'s Object)> {
        let named = Named::of(self.snapshot);
        named.proxies_of(service).iter().filter_map(|id| Some((*id, self.object(*id)?))).collect()
    }

    /// The proxies of a service that calls.
    fn callers(&self, service: Service) -> Result<Vec<Member>, Diagnostic> {
        let members: Vec<Member> = self.proxies_of(service).into_iter().map(|(id, _)| self.caller(id)).collect();
        if members.is_empty() {
            let name = self.snapshot.text(service.name);
            return Err(Diagnostic::error(
                Fault::NotFound,
                format!("no proxy offers the service `{name}`, so it cannot call"),
            )
            .help(format!("ask for its tags instead: `--from {}={name}`", self.snapshot.text(service.tag))));
        }
        Ok(members)
    }

    /// The inbounds that offer a service.
    fn offering(&self, service: Service) -> Vec<Member> {
        let offers = |tags: &TagSet| tags.get(service.tag).is_some_and(|tag| tag.value == Some(service.name));
        self.proxies_of(service)
            .into_iter()
            .flat_map(|(id, object)| {
                let parts = called_parts(object).filter(|part| part.role == Role::Inbound && offers(&part.tags));
                parts.map(|part| inbound_member(self.snapshot, id, object, part)).collect::<Vec<_>>()
            })
            .collect()
    }

    /// The inbounds of a proxy, each a question of its own.
    fn called(&self, id: ObjectId, section: Option<&str>) -> Result<Vec<Member>, Diagnostic> {
        let Some(object) = self.object(id) else { return Ok(Vec::new()) };
        let name = self.snapshot.text(object.name);
        let text = |symbol: Sym| self.snapshot.text(symbol);
        let wanted = |part: &&upheld_model::Part| {
            section.is_none_or(|section| {
                text(part.section) == section || part.port.is_some_and(|port| text(port) == section)
            })
        };
        let members: Vec<Member> =
            called_parts(object).filter(wanted).map(|part| inbound_member(self.snapshot, id, object, part)).collect();
        match (members.is_empty(), section) {
            (false, _) => Ok(members),
            (true, None) => Ok(vec![Member::tags(name, TagSet::default())]),
            (true, Some(section)) => {
                let known: Vec<_> = called_parts(object).map(|part| text(part.section)).collect();
                let diagnostic = Diagnostic::error(Fault::NotFound, format!("`{name}` has no inbound `{section}`"));
                Err(suggest(diagnostic, section, &known))
            }
        }
    }

    fn object(&self, id: ObjectId) -> Option<&'s Object> {
        self.snapshot.objects().get(id)
    }

    fn name(&self, thing: Thing) -> &'s str {
        match thing {
            Thing::Proxy(id) | Thing::External(id) | Thing::Resource(id) => {
                self.object(id).map_or("", |object| self.snapshot.text(object.name))
            }
            Thing::Service(service) => self.snapshot.text(service.name),
        }
    }

    fn not_found(
        &self,
        side: Side,
        written: &str,
        whole: &str,
        readings: &[Reading<'_>],
        all: &[(Thing, Sym)],
    ) -> Diagnostic {
        let what = match side {
            Side::Source => "proxy or service",
            Side::Destination => "proxy, service or other destination",
        };
        // On Kubernetes, names are found without their namespace, too.
        let wanted = readings.last().map_or(whole, |reading| reading.name);
        let short = |name: &'s str| name.split('.').next().filter(|_| !wanted.contains('.')).unwrap_or(name);
        let known: Vec<_> = all.iter().map(|(thing, _)| short(self.name(*thing))).collect();
        let diagnostic = Diagnostic::error(Fault::NotFound, format!("no {what} is called `{written}`"));
        let diagnostic = match (whole.split_once('/'), readings) {
            (Some((kind, _)), [reading]) if reading.kind.is_none() => {
                suggest(diagnostic.help(format!("`{kind}` is not a kind of object")), kind, &Kind::NAMES)
            }
            _ if known.is_empty() && has_policies(self.snapshot) => {
                return without_proxies(diagnostic, self.snapshot, side, wanted);
            }
            _ => suggest(diagnostic, wanted, &known),
        };
        diagnostic.help("`upheld list objects` shows all of them; tags are written `kuma.io/service=web,cloud=aws`")
    }

    fn ambiguous(&self, side: Side, written: &str, things: &[(Thing, Sym)], section: Option<&str>) -> Diagnostic {
        let flag = if side == Side::Source { "--from" } else { "--to" };
        let several_meshes = things.iter().any(|(_, mesh)| things.first().is_some_and(|(_, first)| first != mesh));
        let message = format!("`{written}` could be any of {} things", things.len());
        things.iter().fold(Diagnostic::error(Fault::Ambiguous, message), |diagnostic, (thing, mesh)| {
            let mesh = if several_meshes { format!("{}/", self.snapshot.text(*mesh)) } else { String::new() };
            let section = section.map(|section| format!("#{section}")).unwrap_or_default();
            diagnostic.help(format!(
                "use `{flag} {}/{mesh}{}{section}`",
                Kind::of(*thing, self.snapshot).word(),
                self.name(*thing)
            ))
        })
    }
}

/// Whether an object is where a service is.
pub(super) fn offers(object: &Object, service: Service) -> bool {
    let mut parts = object.parts.iter().filter(|part| part.role != Role::Outbound);
    parts.any(|part| part.tags.get(service.tag).is_some_and(|tag| tag.value == Some(service.name)))
}

fn other(side: Side) -> &'static str {
    match side {
        Side::Source => Side::Destination.word(),
        Side::Destination => Side::Source.word(),
    }
}
