//! References to proxies, services and routes, as policies write them.

use upheld_model::nearest::nearest;
use upheld_model::tree::{Kind, Value};
use upheld_model::{Diagnostic, Diagnostics, Fault, SourceId};

use super::SERVICE_TAGS;
use super::edition::Edition;

/// What a reference is about, the least specific first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TargetKind {
    /// Everything in the mesh.
    Mesh,
    /// Proxies.
    Dataplane,
    /// Proxies or services with tags.
    MeshSubset,
    /// A built-in gateway.
    MeshGateway,
    /// A service: of real resources, or by its tag.
    MeshService,
    /// A service outside the mesh.
    MeshExternalService,
    /// A service over several zones.
    MeshMultiZoneService,
    /// A service by its tag and other tags.
    MeshServiceSubset,
    /// A route.
    MeshHTTPRoute,
}

impl TargetKind {
    /// All of them, the least specific first.
    pub const ALL: [Self; 9] = [
        Self::Mesh,
        Self::Dataplane,
        Self::MeshSubset,
        Self::MeshGateway,
        Self::MeshService,
        Self::MeshExternalService,
        Self::MeshMultiZoneService,
        Self::MeshServiceSubset,
        Self::MeshHTTPRoute,
    ];

    /// The name in documents.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mesh => "Mesh",
            Self::Dataplane => "Dataplane",
            Self::MeshSubset => "MeshSubset",
            Self::MeshGateway => "MeshGateway",
            Self::MeshService => "MeshService",
            Self::MeshExternalService => "MeshExternalService",
            Self::MeshMultiZoneService => "MeshMultiZoneService",
            Self::MeshServiceSubset => "MeshServiceSubset",
            Self::MeshHTTPRoute => "MeshHTTPRoute",
        }
    }

    /// The kind of a name.
    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// How specific it is, from one; what an edition does not have is less specific than anything else.
    pub fn specificity(self, edition: Edition) -> i64 {
        if !self.is_in(edition) {
            return 0;
        }
        Self::ALL.iter().position(|kind| *kind == self).map_or(0, |place| i64::try_from(place + 1).unwrap_or(0))
    }

    /// Whether it is the type of resources that can be called. The others mean tags, or proxies.
    pub fn is_resource(self) -> bool {
        use TargetKind::{Mesh, MeshExternalService, MeshHTTPRoute, MeshMultiZoneService, MeshService};
        matches!(self, Mesh | MeshService | MeshExternalService | MeshMultiZoneService | MeshHTTPRoute)
    }

    /// Whether an edition has it.
    pub fn is_in(self, edition: Edition) -> bool {
        edition != Edition::V3 || !matches!(self, Self::MeshSubset | Self::MeshGateway | Self::MeshServiceSubset)
    }
}

/// Fields of references that Kuma 3 does not read.
pub(crate) const FORGOTTEN: [&str; 5] = ["name", "namespace", "tags", "proxyTypes", "mesh"];

/// Where a reference stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position {
    /// `spec.targetRef`: whom the policy is attached to.
    Top,
    /// An item of `to`.
    To,
    /// An item of `from`.
    From,
}

/// A reference.
#[derive(Clone, Debug)]
pub struct TargetRef<'t> {
    /// What it is about.
    pub kind: TargetKind,
    /// By name.
    pub name: Option<&'t str>,
    /// The namespace of the name.
    pub namespace: Option<&'t str>,
    /// By labels; an empty list has all.
    pub labels: Option<Vec<(&'t str, &'t str)>>,
    /// By tags.
    pub tags: Vec<(&'t str, &'t str)>,
    /// A port or inbound.
    pub section: Option<&'t str>,
    /// Only proxies of these types.
    pub proxy_types: Vec<&'t str>,
    /// Where it was written; `None` where it was left out.
    pub value: Option<Value<'t>>,
}

impl<'t> TargetRef<'t> {
    /// Everything in the mesh: what it means to leave it out.
    pub fn mesh() -> Self {
        Self {
            kind: TargetKind::Mesh,
            name: None,
            namespace: None,
            labels: None,
            tags: Vec::new(),
            section: None,
            proxy_types: Vec::new(),
            value: None,
        }
    }

    /// Tags that it means, for services and clients that are known by tags; `None` for newer references.
    pub fn as_tags(&self) -> Option<Vec<(&'t str, &'t str)>> {
        let service = (SERVICE_TAGS[0], self.name.unwrap_or_default());
        match self.kind {
            TargetKind::Mesh => Some(Vec::new()),
            TargetKind::MeshSubset => Some(self.tags.clone()),
            TargetKind::MeshService => Some(vec![service]),
            TargetKind::MeshServiceSubset => Some([service].into_iter().chain(self.tags.iter().copied()).collect()),
            _ => None,
        }
    }

    /// Reads a reference. What does not go together is reported; what an edition does not know is reported and left out.
    pub fn read(
        value: Value<'t>,
        position: Position,
        edition: Edition,
        source: SourceId,
        found: &mut Diagnostics,
    ) -> Option<Self> {
        let written = value.get("kind");
        let Some(kind) = written.and_then(|kind| TargetKind::of(kind.text())) else {
            found.push(unknown_kind(value, written, source));
            return None;
        };
        let text = |name: &str| value.get(name).filter(|value| value.kind() != Kind::Null).map(Value::text);
        let pairs = |value: Value<'t>| value.entries().map(|(key, value)| (key.text(), value.text())).collect();
        let present = |name: &str| value.get(name).filter(|value| value.kind() != Kind::Null);
        let mut reference = Self {
            kind,
            name: text("name").filter(|name| !name.is_empty()),
            namespace: text("namespace").filter(|namespace| !namespace.is_empty()),
            labels: present("labels").map(pairs),
            tags: present("tags").map(pairs).unwrap_or_default(),
            section: text("sectionName").filter(|section| !section.is_empty()),
            proxy_types: present("proxyTypes").into_iter().flat_map(Value::items).map(Value::text).collect(),
            value: Some(value),
        };
        let mut judge = Judge { value, position, edition, source, found };
        judge.fields(&reference);
        if edition == Edition::V3 {
            (reference.name, reference.namespace) = (None, None);
            reference.tags.clear();
            reference.proxy_types.clear();
        }
        Some(reference)
    }
}

fn unknown_kind(value: Value<'_>, written: Option<Value<'_>>, source: SourceId) -> Diagnostic {
    let names = || TargetKind::ALL.iter().map(|kind| kind.name());
    match written {
        None => Diagnostic::error(Fault::MissingField, "a targetRef has no `kind`")
            .at_value(source, value, "`kind` is missing here")
            .help(format!("kinds: {}", names().collect::<Vec<_>>().join(", "))),
        Some(kind) => {
            let diagnostic = Diagnostic::error(
                Fault::WrongValue,
                format!("there is no targetRef kind `{}`", kind.text()),
            )
            .at_value(source, kind, "unknown kind");
            diagnostic.suggest_or(nearest(kind.text(), names()), || {
                format!("kinds: {}", names().collect::<Vec<_>>().join(", "))
            })
        }
    }
}

/// Tells what is wrong with a reference that can still be read.
struct Judge<'t, 'd> {
    value: Value<'t>,
    position: Position,
    edition: Edition,
    source: SourceId,
    found: &'d mut Diagnostics,
}

impl Judge<'_, '_> {
    fn fields(&mut self, reference: &TargetRef<'_>) {
        let kind = reference.kind;
        if self.edition == Edition::V3 {
            for field in FORGOTTEN {
                let message = format!("`{field}` of a targetRef is not read by {}", self.edition.name());
                self.warn(field, message, "left out", "refer by `labels`, or ask with `--semantics kuma/2`");
            }
            if !kind.is_in(self.edition) {
                let message = format!("{} has no targetRef kind `{}`", self.edition.name(), kind.name());
                self.warn("kind", message, "selects nothing", "use `Dataplane` or `MeshService` with `labels`");
                return;
            }
        }
        if reference.name.is_some() && reference.labels.is_some() {
            let message = format!("a {} is referred to by both name and labels", kind.name());
            self.warn("labels", message, "either of them is enough to match", "keep one of the two");
        }
        let unheard = match self.position {
            Position::Top => None,
            Position::From => reference.as_tags().is_none().then_some("clients"),
            Position::To => matches!(kind, TargetKind::Dataplane | TargetKind::MeshGateway).then_some("destinations"),
        };
        if let Some(ends) = unheard {
            let message = format!("a {} does not describe {ends}", kind.name());
            self.warn("kind", message, "has no effect", "use `Mesh`, `MeshService` or `MeshServiceSubset`");
            return;
        }
        let allowed: &[&str] = match kind {
            TargetKind::Mesh => &["proxyTypes"],
            TargetKind::MeshSubset => &["tags", "proxyTypes"],
            TargetKind::MeshGateway | TargetKind::MeshServiceSubset => &["name", "tags"],
            TargetKind::Dataplane | TargetKind::MeshService | TargetKind::MeshMultiZoneService => {
                &["name", "namespace", "labels", "sectionName"]
            }
            TargetKind::MeshExternalService | TargetKind::MeshHTTPRoute => &["name", "namespace", "labels"],
        };
        let forgotten: &[&str] = if self.edition == Edition::V3 { &FORGOTTEN } else { &[] };
        for field in ["name", "namespace", "labels", "tags", "sectionName", "proxyTypes", "mesh"] {
            // What the edition forgot was reported already.
            if !allowed.contains(&field) && !forgotten.contains(&field) {
                let message = format!("a reference to a {} has no `{field}`", kind.name());
                self.warn(field, message, "has no effect here", &format!("it may have: kind, {}", allowed.join(", ")));
            }
        }
    }

    fn warn(&mut self, field: &str, message: String, label: &str, help: &str) {
        let Some(value) = self.value.get(field).filter(|value| value.kind() != Kind::Null) else { return };
        let diagnostic = Diagnostic::warning(Fault::BadReference, message).at_value(self.source, value, label);
        self.found.push(diagnostic.help(help));
    }
}
