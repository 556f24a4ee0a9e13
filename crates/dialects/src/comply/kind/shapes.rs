//! What such documents look like.

use crate::shape::{Field, Shape, list, optional, required};

const KEYS: &[&str] = &["defined", "any-until-defined", "any"];
const ENDS: &[&str] = &["a", "b", "role", "scope"];
const CLASSES: &[&str] = &["endUser", "administrator"];

/// The fields of such documents.
pub(crate) fn fields() -> Vec<Field> {
    let resolve = Shape::Object(vec![
        optional("order", Shape::Choice(&["either", "fixed"]), "whether the order of the two sides matters"),
        optional("rules", Shape::Choice(&["many", "one"]), "how many rules a policy may have"),
        optional(
            "strategies",
            list(Shape::Choice(&["intersection", "subset"])),
            "what rules between two objects may ask for; the first is the default",
        ),
        optional("selectors", Shape::Bool, "whether policies may be cut to some objects; false when left out"),
    ]);
    let effect = Shape::Object(vec![
        required("on", Shape::Choice(&["link", "tags"]), "what was done"),
        optional("of", Shape::Name, "to which subject; to any when left out"),
        optional("with", Shape::Name, "the other side of the pair; any when left out"),
        optional("by", Shape::Choice(CLASSES), "by whom; by anybody when left out"),
        required("effect", Shape::Choice(&["block", "record"]), "what happens to a violation"),
    ]);
    let role = Shape::Object(vec![
        required("name", Shape::Name, "its name"),
        optional("aliases", list(Shape::Name), "other names that are understood"),
        required("class", Shape::Choice(CLASSES), "its class; the first role of a class is the default"),
        optional("may", list(Shape::Name), "rights: `tag project`, or a verb alone for all kinds"),
    ]);
    vec![
        required("objects", list(object()), "the kinds of objects"),
        optional("subjects", list(subject()), "kinds that policies treat as one"),
        optional("scope", Shape::Name, "the kind that others belong to and by which violations are listed"),
        optional("relationships", list(relationship()), "how objects are related, and which pairs that makes"),
        required(
            "match",
            list(list(Shape::Name)),
            "what policies may be about: pairs, or one subject for its own tags",
        ),
        optional("resolve", resolve, "what policies may look like"),
        optional("enforcement", list(effect), "what is refused: the first row that fits; else it is recorded"),
        optional("roles", list(role), "who may do what; without roles everybody may do everything"),
    ]
}

fn path(name: &str, about: &'static str) -> Field {
    optional(name, paths(), about)
}

/// One path, or several of which the first that is there counts.
fn paths() -> Shape {
    Shape::Either(vec![Shape::Name, list(Shape::Name)])
}

fn object() -> Shape {
    let link = Shape::Object(vec![
        required("to", Shape::Name, "the kind of the other side"),
        required("field", paths(), "the path of its id"),
        path("within", "the path of what the other side belongs to"),
        path("role", "the path of its role"),
    ]);
    let paid_by = Shape::Object(vec![
        required("to", Shape::Name, "the kind of the payment method"),
        required("field", paths(), "the path of its id"),
    ]);
    let document = Shape::Object(vec![
        required("kind", Shape::Name, "the `kind` or `type` of the documents"),
        required("id", paths(), "the path of the id"),
        path("within", "the path of what it belongs to: the id becomes `within/id`"),
        path("name", "the path of the display name"),
        path("tags", "the path of the tags"),
        path("deleted", "a field that is there, and not false, when the object is gone"),
        path("disabled", "a field that is true when the object takes no new relationships"),
        optional("paidBy", paid_by, "the payment method"),
        optional("links", list(link), "relationships that the document names"),
    ]);
    Shape::Object(vec![
        required("name", Shape::Name, "its name in references"),
        optional("title", Shape::Name, "what your organisation calls it"),
        optional("aliases", list(Shape::Name), "other names that are understood"),
        optional("defaults", Shape::Bool, "whether default tags are added; false when left out"),
        optional("keys", Shape::Choice(KEYS), "which tags it may carry; those with a definition when left out"),
        optional("documents", list(document), "documents that describe such objects"),
    ])
}

fn subject() -> Shape {
    Shape::Object(vec![
        required("name", Shape::Name, "its name in policies"),
        optional("title", Shape::Name, "what your organisation calls it"),
        optional("aliases", list(Shape::Name), "other names that are understood"),
        required("objects", list(Shape::Name), "the kinds that it is made of"),
        optional("keys", Shape::Choice(KEYS), "which tags they may carry; those with a definition when left out"),
    ])
}

fn relationship() -> Shape {
    let given = Shape::Object(vec![
        required("a", Shape::Choice(ENDS), "the first side of the pair"),
        required("b", Shape::Choice(ENDS), "the second side of the pair"),
    ]);
    let document = Shape::Object(vec![
        required("kind", Shape::Name, "the `kind` or `type` of the documents"),
        required("a", paths(), "the path of the id of the first side"),
        path("aWithin", "the path of what the first side belongs to"),
        optional("aKind", Shape::Name, "the kind of the first side, where it can be several"),
        required("b", paths(), "the path of the id of the second side"),
        path("bWithin", "the path of what the second side belongs to"),
        optional("bKind", Shape::Name, "the kind of the second side, where it can be several"),
        path("role", "the path of the role"),
        path("deleted", "a field that is there, and not false, when the relationship is over"),
        optional(
            "unique",
            list(list(paths())),
            "the paths of what tells documents of one first side apart; the first row of which all is there counts",
        ),
        optional("as", Shape::Name, "the type under which it is kept, where documents go by several"),
    ]);
    Shape::Object(vec![
        required("a", Shape::Name, "one side"),
        required("b", Shape::Name, "the other side"),
        optional("role", Shape::Name, "the kind of its role"),
        optional("holds", Shape::Bool, "whether the second side belongs to the first"),
        optional("needsScope", Shape::Bool, "whether the second side has to be related to the scope of the first"),
        optional("gives", list(given), "the pairs that it makes"),
        optional("documents", list(document), "documents that describe such relationships"),
    ])
}
