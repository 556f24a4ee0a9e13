//! Typed views over the documents of gateways and routes, with the defaults of the Gateway API filled in.

use std::sync::Arc;

use upheld_engine::{ObjectId, Snapshot};
use upheld_model::tree::{Kind, Value};
use upheld_model::{NodeRef, SourceId, Span, Timestamp};

use super::claim::GATEWAY;
use super::matches::Match;
use crate::document::Resource;

/// A scalar field that says something.
pub(super) fn text<'s>(value: Value<'s>, key: &str) -> Option<&'s str> {
    value.get(key).filter(|value| value.kind() != Kind::Null).map(Value::text)
}

/// The items of a list field.
pub(super) fn children<'s>(value: Value<'s>, key: &str) -> impl Iterator<Item = Value<'s>> + use<'s> {
    value.get(key).into_iter().flat_map(Value::items)
}

/// An object with its document.
#[derive(Clone, Copy, Debug)]
pub struct View<'s> {
    /// The object.
    pub object: ObjectId,
    /// Its type.
    pub kind: &'s str,
    /// Its namespace.
    pub namespace: &'s str,
    /// Its name.
    pub name: &'s str,
    /// When it was created, if it was.
    pub created: Option<Timestamp>,
    /// Its file.
    pub source: SourceId,
    resource: Resource<'s>,
}

impl<'s> View<'s> {
    /// Of an object.
    pub fn of(snapshot: &'s Snapshot, id: ObjectId) -> Option<Self> {
        let object = snapshot.objects().get(id)?;
        let resource = snapshot.files().value(object.at).and_then(Resource::of)?;
        Some(Self {
            object: id,
            kind: snapshot.text(object.kind),
            namespace: snapshot.text(object.scope),
            name: snapshot.text(object.name),
            created: object.created,
            source: object.at.source,
            resource,
        })
    }

    /// How people write it: `HTTPRoute infra/example`.
    pub fn title(&self) -> String {
        format!("{} {}/{}", self.kind, self.namespace, self.name)
    }

    /// Namespace and name as one text, by which ties are broken.
    pub fn path(&self) -> String {
        format!("{}/{}", self.namespace, self.name)
    }

    /// The items of a list in `spec`.
    pub fn spec_items(&self, key: &str) -> impl Iterator<Item = Value<'s>> + use<'s> {
        self.resource.spec().and_then(|spec| spec.get(key)).into_iter().flat_map(Value::items)
    }

    /// What is at a path in `spec`.
    pub fn spec_at(&self, path: &[&str]) -> Option<Value<'s>> {
        self.resource.spec()?.at_path(path).filter(|value| value.kind() != Kind::Null)
    }

    /// An annotation.
    pub fn annotation(&self, name: &str) -> Option<Value<'s>> {
        self.resource.document.at_path(&["metadata", "annotations", name])
    }

    /// A label.
    pub fn label(&self, name: &str) -> Option<&'s str> {
        self.resource.labels()?.get(name).map(Value::text)
    }

    /// All labels.
    pub fn labels(&self) -> impl Iterator<Item = (&'s str, &'s str)> + use<'s> {
        let labels = self.resource.labels().into_iter().flat_map(Value::entries);
        labels.map(|(key, value)| (key.text(), value.text()))
    }

    /// Where its name is written.
    pub fn name_span(&self) -> Span {
        let name = self.resource.document.at_path(&["metadata", "name"]);
        name.unwrap_or(self.resource.document).span()
    }

    /// Where a value of its document is.
    pub fn node(&self, value: Value<'_>) -> NodeRef {
        NodeRef { source: self.source, node: value.number() }
    }
}

/// What a route names as its parent.
#[derive(Clone, Copy, Debug)]
pub struct ParentReference<'s> {
    /// The API group, if it is written.
    pub group: Option<&'s str>,
    /// The type, if it is written.
    pub kind: Option<&'s str>,
    /// The namespace; that of the route if it is left out.
    pub namespace: &'s str,
    /// The name.
    pub name: &'s str,
    /// The listener.
    pub section: Option<&'s str>,
    /// The port.
    pub port: Option<u16>,
    /// What was written.
    pub value: Value<'s>,
}

impl<'s> ParentReference<'s> {
    /// Of an entry of `parentRefs` of a route in a namespace.
    pub fn of(value: Value<'s>, namespace: &'s str) -> Self {
        Self {
            group: text(value, "group"),
            kind: text(value, "kind"),
            namespace: text(value, "namespace").filter(|namespace| !namespace.is_empty()).unwrap_or(namespace),
            name: text(value, "name").unwrap_or_default(),
            section: text(value, "sectionName").filter(|section| !section.is_empty()),
            port: port(value),
            value,
        }
    }

    /// The type; a Gateway if it is left out.
    pub fn kind(&self) -> &'s str {
        self.kind.unwrap_or("Gateway")
    }

    /// The API group; that of the Gateway API if it is left out.
    pub fn group(&self) -> &'s str {
        self.group.unwrap_or(GATEWAY)
    }
}

/// What a rule sends requests to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BackendReference<'s> {
    /// The API group.
    pub group: &'s str,
    /// The type.
    pub kind: &'s str,
    /// The namespace.
    pub namespace: &'s str,
    /// The name.
    pub name: &'s str,
    /// The port.
    pub port: Option<u16>,
}

impl BackendReference<'_> {
    /// The API group and the type of references to routes by label.
    pub const LABEL: (&'static str, &'static str) = ("delegation.kgateway.dev", "label");

    /// Whether other routes go on from here.
    pub fn delegates(&self) -> bool {
        [(GATEWAY, "HTTPRoute"), Self::LABEL].contains(&(self.group, self.kind))
    }

    /// As messages name it.
    pub fn title(&self) -> String {
        format!("{}/{}/{}/{}", self.group, self.kind, self.namespace, self.name)
    }
}

/// A reference with the place where it was written.
#[derive(Clone, Copy, Debug)]
pub struct Backend<'s> {
    /// What it refers to.
    pub reference: BackendReference<'s>,
    /// What was written.
    pub value: Value<'s>,
}

impl<'s> Backend<'s> {
    /// Of a `backendRef` in a namespace.
    pub fn of(value: Value<'s>, namespace: &'s str) -> Self {
        let reference = BackendReference {
            group: text(value, "group").unwrap_or_default(),
            kind: text(value, "kind").unwrap_or("Service"),
            namespace: text(value, "namespace").filter(|namespace| !namespace.is_empty()).unwrap_or(namespace),
            name: text(value, "name").unwrap_or_default(),
            port: port(value),
        };
        Self { reference, value }
    }
}

/// A rule of a route.
#[derive(Clone, Debug)]
pub struct Rule<'s> {
    /// Its name, by which policies pick it.
    pub name: Option<&'s str>,
    /// What requests must look like; one of these is enough.
    pub matches: Vec<Arc<Match>>,
    /// Where they go.
    pub backends: Vec<Backend<'s>>,
    /// What was written.
    pub value: Value<'s>,
}

impl<'s> Rule<'s> {
    /// Its filters.
    pub fn filters(&self) -> impl Iterator<Item = Value<'s>> + use<'s> {
        children(self.value, "filters")
    }

    /// References of its filters to policies: group, type, name.
    pub fn extensions(&self) -> impl Iterator<Item = (&'s str, &'s str, &'s str, Value<'s>)> + use<'s> {
        let references = self.filters().filter_map(|filter| filter.get("extensionRef"));
        references.map(|reference| {
            let part = |key| text(reference, key).unwrap_or_default();
            (part("group"), part("kind"), part("name"), reference)
        })
    }
}

/// A route.
#[derive(Clone, Debug)]
pub struct Route<'s> {
    /// The resource.
    pub view: View<'s>,
    /// What it wants to be attached to.
    pub parents: Vec<ParentReference<'s>>,
    /// The host names that it is for.
    pub hostnames: Vec<&'s str>,
    /// Its rules.
    pub rules: Vec<Rule<'s>>,
}

impl<'s> Route<'s> {
    /// The types of routes.
    pub const KINDS: [&'static str; 5] = ["GRPCRoute", "HTTPRoute", "TCPRoute", "TLSRoute", "UDPRoute"];

    /// Of an object that is a route.
    pub fn of(view: View<'s>) -> Self {
        let parents = view.spec_items("parentRefs").map(|value| ParentReference::of(value, view.namespace)).collect();
        let hostnames = view.spec_items("hostnames").map(Value::text).collect();
        let rules = view.spec_items("rules").map(|rule| Self::rule(&view, rule)).collect();
        Self { view, parents, hostnames, rules }
    }

    /// Whether its rules have matches, so that requests find ways through it.
    pub fn matches_requests(&self) -> bool {
        matches!(self.view.kind, "HTTPRoute" | "GRPCRoute")
    }

    fn rule(view: &View<'s>, value: Value<'s>) -> Rule<'s> {
        let read = if view.kind == "GRPCRoute" { Match::of_grpc } else { Match::of_http };
        let mut matches: Vec<_> = children(value, "matches").map(|item| Arc::new(read(view.source, item))).collect();
        if matches.is_empty() {
            matches.push(Arc::new(Match::everything()));
        }
        let backends = children(value, "backendRefs").map(|item| Backend::of(item, view.namespace)).collect();
        Rule { name: text(value, "name"), matches, backends, value }
    }
}

/// A port that is one.
pub(super) fn port(value: Value<'_>) -> Option<u16> {
    value.get("port")?.as_integer().and_then(|port| u16::try_from(port).ok())
}
