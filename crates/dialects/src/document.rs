//! The two forms in which a resource is written, seen as one: Universal (`type:`, fields at the top) and Kubernetes
//! (`apiVersion:`, `kind:`, `metadata:`, fields under `spec:`).

use std::borrow::Cow;

use upheld_model::tree::{Kind, Value};
use upheld_model::{Diagnostic, Diagnostics, Fault, SourceId, Timestamp};

use crate::dialect::dialects;
use crate::shape::{Field, Need, Shape, list, map_of, optional, required};

/// How a resource was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// `type: TrafficLog`
    Universal,
    /// `kind: TrafficLog`
    Kubernetes,
}

/// What every document says of itself, found in one pass.
#[derive(Clone, Copy, Debug)]
pub struct Header<'t> {
    /// The whole document.
    pub document: Value<'t>,
    /// `type`, of the Universal form.
    pub universal_type: Option<Value<'t>>,
    /// `apiVersion`, of the Kubernetes form.
    pub api_version: Option<Value<'t>>,
    /// `kind`, of the Kubernetes form.
    pub kind: Option<Value<'t>>,
    /// `items`, of a list.
    pub items: Option<Value<'t>>,
    mesh: Option<Value<'t>>,
    metadata: Option<Value<'t>>,
    spec: Option<Value<'t>>,
    name: Option<Value<'t>>,
}

impl<'t> Header<'t> {
    /// Of a document.
    pub fn of(document: Value<'t>) -> Self {
        let mut header = Self {
            document,
            universal_type: None,
            api_version: None,
            kind: None,
            items: None,
            mesh: None,
            metadata: None,
            spec: None,
            name: None,
        };
        for (key, value) in document.entries() {
            let place = match key.text() {
                "type" => &mut header.universal_type,
                "apiVersion" => &mut header.api_version,
                "kind" => &mut header.kind,
                "items" => &mut header.items,
                "mesh" => &mut header.mesh,
                "metadata" => &mut header.metadata,
                "spec" => &mut header.spec,
                "name" => &mut header.name,
                _ => continue,
            };
            *place = Some(value);
        }
        header
    }
}

/// A document with a type and a name; what it says is in its body.
#[derive(Clone, Copy, Debug)]
pub struct Resource<'t> {
    /// How it was written.
    pub form: Form,
    /// Its type.
    pub kind: Value<'t>,
    /// The whole document.
    pub document: Value<'t>,
    header: Header<'t>,
    /// The namespace that it gets where it names none.
    given: Option<&'t str>,
}

/// The mesh of resources that name none.
pub const DEFAULT_MESH: &str = "default";

impl<'t> Resource<'t> {
    /// The resource of a document, if it has a type.
    pub fn of(document: Value<'t>) -> Option<Self> {
        Self::with_header(Header::of(document))
    }

    /// The resource of a document whose header is known.
    pub fn with_header(header: Header<'t>) -> Option<Self> {
        let document = header.document;
        // Some Kubernetes documents have a `type`, too.
        match (header.api_version, header.kind, header.universal_type) {
            (Some(_), Some(kind), _) => Some(Self { form: Form::Kubernetes, kind, document, header, given: None }),
            (_, _, Some(kind)) => Some(Self { form: Form::Universal, kind, document, header, given: None }),
            _ => None,
        }
    }

    /// The same, with the namespace that it gets where it names none, unless its type is in no namespace.
    #[must_use]
    pub fn given(self, namespace: Option<&'t str>) -> Self {
        Self { given: namespace.filter(|_| self.form == Form::Kubernetes && !self.is_cluster_wide()), ..self }
    }

    /// Whether it is of a type that is in no namespace.
    pub fn is_cluster_wide(self) -> bool {
        let (group, kind) = (self.group().unwrap_or_default(), self.kind.text());
        self.form == Form::Kubernetes && dialects().any(|dialect| dialect.cluster_wide().contains(&(group, kind)))
    }

    /// The API group of the Kubernetes form: `kuma.io` of `kuma.io/v1alpha1`.
    pub fn group(self) -> Option<&'t str> {
        let version = self.header.api_version?.text();
        Some(version.split_once('/').map_or("", |(group, _)| group))
    }

    /// The fields that are not about who the resource is.
    pub fn body(self) -> Option<Value<'t>> {
        match self.form {
            Form::Universal => Some(self.document),
            Form::Kubernetes => self.header.spec,
        }
    }

    /// A field of the body.
    pub fn field(self, name: &str) -> Option<Value<'t>> {
        self.body()?.get(name).filter(|value| value.kind() != Kind::Null)
    }

    /// A field of the body by a path of names with dots.
    pub fn at_path(self, path: &str) -> Option<Value<'t>> {
        path.split('.').try_fold(self.body()?, Value::get)
    }

    fn meta(self, name: &str) -> Option<Value<'t>> {
        match self.form {
            Form::Universal => self.document.get(name),
            Form::Kubernetes => self.header.metadata?.get(name),
        }
    }

    /// The labels.
    pub fn labels(self) -> Option<Value<'t>> {
        self.meta("labels")
    }

    /// Name and namespace of the Kubernetes form. Where a cluster makes up the end of a name, what stands before it is all that
    /// is known.
    pub fn kubernetes_name(self) -> (&'t str, Option<&'t str>) {
        let text = |field: &str| self.meta(field).map(Value::text).filter(|text| !text.is_empty());
        (text("name").or_else(|| text("generateName")).unwrap_or_default(), self.kubernetes_namespace())
    }

    /// The namespace of the Kubernetes form: the one that it names, or the one that it gets.
    pub fn kubernetes_namespace(self) -> Option<&'t str> {
        self.named_namespace().or(self.given)
    }

    /// The namespace that it names.
    pub fn named_namespace(self) -> Option<&'t str> {
        let named = self.meta("namespace").filter(|_| self.form == Form::Kubernetes).map(Value::text);
        named.filter(|namespace| !namespace.is_empty())
    }

    /// What stands under `spec`, in either form.
    pub fn spec(self) -> Option<Value<'t>> {
        self.header.spec.filter(|spec| spec.kind() != Kind::Null)
    }

    /// The name; in Kubernetes with its namespace, as in `backend.finance`.
    pub fn name(self) -> Cow<'t, str> {
        if self.form == Form::Universal {
            return Cow::Borrowed(self.header.name.map_or("", Value::text));
        }
        match self.kubernetes_name() {
            (name, Some(namespace)) => Cow::Owned(format!("{name}.{namespace}")),
            (name, None) => Cow::Borrowed(name),
        }
    }

    /// Whether it says its name.
    pub fn has_name(self) -> bool {
        match self.form {
            Form::Universal => self.header.name.is_some_and(|name| !name.text().is_empty()),
            Form::Kubernetes => !self.kubernetes_name().0.is_empty(),
        }
    }

    /// The mesh: its own field, or the label, or the default one.
    pub fn mesh(self) -> &'t str {
        self.mesh_field().or_else(|| self.mesh_label()).map_or(DEFAULT_MESH, Value::text)
    }

    /// The field that names the mesh.
    pub fn mesh_field(self) -> Option<Value<'t>> {
        self.header.mesh.filter(|mesh| mesh.kind() == Kind::Text && !mesh.text().is_empty())
    }

    /// The label that names the mesh.
    pub fn mesh_label(self) -> Option<Value<'t>> {
        self.meta("labels").and_then(|labels| labels.get("kuma.io/mesh"))
    }

    /// What holds its name, and the field beside it that says when it was created.
    pub fn made_in(self) -> Option<(Value<'t>, &'static str)> {
        match self.form {
            Form::Universal => Some((self.document, "creationTime")),
            Form::Kubernetes => Some((self.header.metadata?, "creationTimestamp")),
        }
    }

    /// When it was created, if the document says so. The zero time of the source systems means unknown.
    pub fn created(self, source: SourceId, found: &mut Diagnostics) -> Option<Timestamp> {
        let (holder, field) = self.made_in()?;
        let value = holder.get(field).filter(|value| value.kind() != Kind::Null)?;
        if value.text().starts_with("0001-01-01T00:00:00") {
            return None;
        }
        let created = value.text().parse().ok();
        if created.is_none() {
            found.push(
                Diagnostic::error(Fault::WrongValue, format!("`{field}` is no time: `{}`", value.text())).at_value(
                    source,
                    value,
                    "expected a time such as 2025-03-01T12:00:00Z",
                ),
            );
        }
        created
    }
}

/// The first `${NAME}` of a text: something else is put in its place before anybody applies the document.
pub(crate) fn placeholder(text: &str) -> Option<&str> {
    let (start, _) = text.match_indices("${").find(|(start, _)| {
        let named = text.get(start + 2..).and_then(|rest| rest.chars().next());
        named.is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
    })?;
    let rest = text.get(start..)?;
    rest.get(..=rest.find('}')?)
}

/// What the resources of a type look like, in either form.
#[derive(Debug)]
pub struct Shapes {
    universal: Shape,
    kubernetes: Shape,
}

impl Shapes {
    /// Given the fields of `spec`, which Universal resources of this sort have, too.
    pub fn with_spec(spec: &[Field]) -> Self {
        let kubernetes = resource_shape(Form::Kubernetes, spec.to_vec());
        let body = vec![
            optional("spec", Shape::Object(spec.to_vec()), "what it says"),
            optional("status", Shape::Opaque, "kept by the control plane"),
        ];
        Self { universal: resource_shape(Form::Universal, body), kubernetes }
    }

    /// Given the fields of the body.
    pub fn new(body: &[Field]) -> Self {
        let shape = |form| resource_shape(form, body.to_vec());
        Self { universal: shape(Form::Universal), kubernetes: shape(Form::Kubernetes) }
    }

    /// In one form.
    pub fn of(&self, form: Form) -> &Shape {
        match form {
            Form::Universal => &self.universal,
            Form::Kubernetes => &self.kubernetes,
        }
    }
}

/// The shape of a resource in one form, given the fields of its body.
fn resource_shape(form: Form, body: Vec<Field>) -> Shape {
    match form {
        Form::Universal => {
            let mut fields = vec![
                required("type", Shape::Text, "the type of the resource"),
                required("name", Shape::Text, "the name, unique in its mesh"),
                optional("mesh", Shape::Text, "the mesh; `default` when left out"),
                optional("labels", map_of(Shape::Text), "labels of the resource"),
                optional("creationTime", Shape::Text, "when it was created"),
                optional("modificationTime", Shape::Text, "when it was changed last"),
                optional("kri", Shape::Text, "identifier given by the control plane"),
                optional("apiVersion", Shape::Text, "left over from the form of Kubernetes; means nothing here"),
            ];
            fields.extend(body);
            Shape::Object(fields)
        }
        Form::Kubernetes => {
            let spec_needed = body.iter().any(|field| field.need == Need::Required);
            let spec = Shape::Object(body);
            Shape::Object(vec![
                required("apiVersion", Shape::Text, "`kuma.io/v1alpha1`"),
                required("kind", Shape::Text, "the type of the resource"),
                optional("mesh", Shape::Text, "the mesh; `default` when left out"),
                required("metadata", metadata(), "name, namespace and the rest"),
                if spec_needed { required("spec", spec, "the policy") } else { optional("spec", spec, "the policy") },
                optional("status", Shape::Opaque, "kept by the control plane"),
            ])
        }
    }
}

pub(crate) fn metadata() -> Shape {
    let opaque = |name: &str| optional(name, Shape::Opaque, "kept by Kubernetes");
    let mut fields = vec![
        Field { need: Need::Unless("generateName"), ..required("name", Shape::Text, "the name") },
        optional("namespace", Shape::Text, "the namespace"),
        optional("labels", map_of(Shape::Text), "labels"),
        optional("annotations", map_of(Shape::Text), "annotations"),
        optional("creationTimestamp", Shape::Text, "when it was created"),
        optional("generateName", Shape::Text, "what the name begins with, where the cluster makes up the rest"),
        optional("finalizers", list(Shape::Text), "kept by Kubernetes"),
    ];
    fields.extend(
        [
            "clusterName",
            "deletionGracePeriodSeconds",
            "deletionTimestamp",
            "generation",
            "managedFields",
            "ownerReferences",
            "resourceVersion",
            "selfLink",
            "uid",
        ]
        .map(opaque),
    );
    Shape::Object(fields)
}
