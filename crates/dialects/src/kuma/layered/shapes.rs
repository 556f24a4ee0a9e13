//! What documents of a kind look like.

use upheld_engine::{FacetChoice, MergeKind, Payload};
use upheld_model::{Facet, Symbols};

use crate::document::Shapes;
use crate::shape::{Field, Need, Shape, list, map_of, optional, required};

/// Which of its two fields a facet is read from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    /// Its own.
    Own,
    /// The one that counts where its own is empty.
    Instead,
}

/// What documents of a kind look like.
pub fn shapes(merge: &MergeKind, symbols: &Symbols) -> Shapes {
    let mut fields: Vec<Field> =
        vec![optional("targetRef", target_ref_shape(), "what the policy is attached to; the whole mesh when left out")];
    for choice in &merge.facets {
        let own = [(choice.field, Source::Own)];
        for (field, source) in own.into_iter().chain(choice.instead.map(|field| (field, Source::Instead))) {
            let name = symbols.text(field);
            if fields.iter().any(|known| known.name == name) {
                continue;
            }
            let shape = match choice.facet {
                Facet::Whole => Shape::Opaque,
                facet => list(item_shape(facet, choice, source, symbols)),
            };
            fields.push(optional(name, shape, about(choice.facet)));
        }
    }
    // What this edition does not have is reported, not refused.
    for name in ["to", "from", "rules", "default"] {
        if !fields.iter().any(|known| known.name == name) {
            fields.push(optional(name, Shape::Opaque, "not read for this kind"));
        }
    }
    Shapes::with_spec(&fields)
}

fn about(facet: Facet) -> &'static str {
    match facet {
        Facet::Whole => "the configuration of the proxy",
        Facet::Objects | Facet::Services => "configurations by destination",
        Facet::Clients => "configurations by client",
        Facet::Inbound => "configurations for what comes in",
    }
}

fn item_shape(facet: Facet, choice: &FacetChoice, source: Source, symbols: &Symbols) -> Shape {
    let payload = match choice.payload {
        // Anything may stand there, so only the reference is checked, when it is read.
        Payload::Rest => return map_of(Shape::Opaque),
        Payload::Field(field) | Payload::FirstOf(field) => symbols.text(field),
    };
    let mut fields = vec![optional(payload, Shape::Opaque, "the configuration, kept whole")];
    if facet == Facet::Inbound && source == Source::Own {
        fields.push(optional("matches", list(callers_shape()), "the callers that it is about; all when left out"));
    } else {
        fields.push(Field {
            name: "targetRef".to_owned(),
            shape: target_ref_shape(),
            need: Need::Required,
            about: "what it is about, for example `kind: Mesh`",
        });
    }
    Shape::Object(fields)
}

/// What a caller looks like: a misspelt field must not mean everybody.
fn callers_shape() -> Shape {
    let pattern = || {
        Shape::Object(vec![
            required("type", Shape::Choice(&["Exact", "Prefix"]), "how much of it is described"),
            required("value", Shape::Text, "the text"),
        ])
    };
    Shape::Object(vec![
        optional("spiffeID", pattern(), "who it proves to be"),
        optional("sni", pattern(), "the server name that it asks for"),
    ])
}

fn target_ref_shape() -> Shape {
    let text = |name, about| optional(name, Shape::Text, about);
    let pairs = |name, about| optional(name, map_of(Shape::Text), about);
    Shape::Object(vec![
        required("kind", Shape::Text, "the kind of what is meant, for example `MeshService`"),
        text("name", "its name"),
        text("namespace", "the namespace of the name"),
        pairs("labels", "its labels, instead of a name"),
        pairs("tags", "its tags"),
        text("sectionName", "a port or an inbound"),
        optional("proxyTypes", list(Shape::Choice(&["Sidecar", "Gateway"])), "the types of proxies that it is for"),
        text("mesh", "never used"),
    ])
}
