//! What users write for an end: a name with or without its kind and mesh, or tags.

use upheld_engine::Snapshot;
use upheld_model::nearest::nearest;
use upheld_model::{Diagnostic, Fault, Lookup, TagSet};

use super::names::Thing;
use crate::kuma::SERVICE_TAGS;
use crate::kuma::layered::ROUTE;
use crate::kuma::resources::ResourceType;

/// One way to read what was written.
#[derive(Clone, Copy)]
pub(super) struct Reading<'w> {
    pub(super) kind: Option<Kind>,
    pub(super) mesh: Option<&'w str>,
    pub(super) name: &'w str,
}

/// `name`, `kind/name` or `kind/mesh/name`; names may have slashes of their own.
pub(super) fn readings(whole: &str) -> Vec<Reading<'_>> {
    let mut readings = vec![Reading { kind: None, mesh: None, name: whole }];
    if let Some((kind, rest)) = whole.split_once('/')
        && let Some(kind) = Kind::named(kind)
    {
        readings.push(Reading { kind: Some(kind), mesh: None, name: rest });
        readings.extend(rest.split_once('/').map(|(mesh, name)| Reading { kind: Some(kind), mesh: Some(mesh), name }));
    }
    readings
}

/// What can stand before a slash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Dataplane,
    Service,
    ExternalService,
    MeshService,
    MeshExternalService,
    MeshMultiZoneService,
    MeshHTTPRoute,
    Mesh,
}

impl Kind {
    pub(super) const NAMES: [&'static str; 8] = [
        "mesh",
        "dataplane",
        "service",
        "externalservice",
        "meshservice",
        "meshexternalservice",
        "meshmultizoneservice",
        "meshhttproute",
    ];

    /// Real resources that can be called.
    pub(super) const REAL: [Self; 5] =
        [Self::MeshService, Self::MeshExternalService, Self::MeshMultiZoneService, Self::MeshHTTPRoute, Self::Mesh];

    /// The type of real resources.
    pub(super) fn type_name(self) -> Option<&'static str> {
        match self {
            Self::MeshService => Some(ResourceType::MeshService.name()),
            Self::MeshExternalService => Some(ResourceType::MeshExternalService.name()),
            Self::MeshMultiZoneService => Some(ResourceType::MeshMultiZoneService.name()),
            Self::MeshHTTPRoute => Some(ROUTE),
            Self::Mesh => Some(ResourceType::Mesh.name()),
            Self::Dataplane | Self::Service | Self::ExternalService => None,
        }
    }

    fn named(word: &str) -> Option<Self> {
        match word.to_ascii_lowercase().as_str() {
            "dataplane" | "dataplanes" | "dp" | "proxy" => Some(Self::Dataplane),
            "service" | "services" | "svc" => Some(Self::Service),
            "externalservice" | "externalservices" => Some(Self::ExternalService),
            "meshservice" | "meshservices" | "msvc" => Some(Self::MeshService),
            "meshexternalservice" | "meshexternalservices" | "extsvc" => Some(Self::MeshExternalService),
            "meshmultizoneservice" | "meshmultizoneservices" | "mzsvc" => Some(Self::MeshMultiZoneService),
            "meshhttproute" | "meshhttproutes" | "mhttpr" => Some(Self::MeshHTTPRoute),
            "mesh" | "meshes" => Some(Self::Mesh),
            _ => None,
        }
    }

    pub(super) fn of(thing: Thing, snapshot: &Snapshot) -> Self {
        match thing {
            Thing::Resource(id) => {
                let kind = snapshot.objects().get(id).map(|object| snapshot.text(object.kind));
                Self::REAL.into_iter().find(|known| known.type_name() == kind).unwrap_or(Self::MeshService)
            }
            Thing::Proxy(_) => Self::Dataplane,
            Thing::External(_) => Self::ExternalService,
            Thing::Service(_) => Self::Service,
        }
    }

    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Dataplane => "dataplane",
            Self::Service => "service",
            Self::ExternalService => "externalservice",
            Self::MeshService => "meshservice",
            Self::MeshExternalService => "meshexternalservice",
            Self::MeshMultiZoneService => "meshmultizoneservice",
            Self::MeshHTTPRoute => "meshhttproute",
            Self::Mesh => "mesh",
        }
    }
}

/// Adds the nearest name, or all of them if they are few.
pub(super) fn suggest(diagnostic: Diagnostic, written: &str, known: &[&str]) -> Diagnostic {
    let mut known = known.to_vec();
    known.sort_unstable();
    known.dedup();
    match nearest(written, known.iter().copied()) {
        Some(name) => diagnostic.suggest(Some(name)),
        None if known.is_empty() => diagnostic.help("no such object was read; does `-f` point to the right files?"),
        None if known.len() <= 12 => diagnostic.help(format!("there are: {}", known.join(", "))),
        None => diagnostic,
    }
}

/// `tag=value,tag=value`; `?` is a value that the asker does not know.
pub(super) fn tags(written: &str, lookup: &mut Lookup<'_>) -> Result<TagSet, Diagnostic> {
    let mut tags = Vec::new();
    for pair in written.split(',').filter(|pair| !pair.is_empty()) {
        let Some((key, value)) = pair.split_once('=').filter(|(key, value)| !key.is_empty() && !value.is_empty())
        else {
            return Err(Diagnostic::error(Fault::WrongValue, format!("`{pair}` is not `tag=value`")).help(format!(
                "write tags as `{}=web,cloud=aws`, and `cloud=?` if you do not know",
                SERVICE_TAGS.first().copied().unwrap_or_default()
            )));
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
