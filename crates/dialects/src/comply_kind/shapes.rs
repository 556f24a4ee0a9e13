//! What such documents look like.

use crate::shape::{Field, Shape, list, optional, required};

const KEYS: &[&str] = &["defined", "any-until-defined", "any"];
const ENDS: &[&str] = &["a", "b", "role", "scope"];
const CLASSES: &[&str] = &["endUser", "administrator"];

/// The fields of such documents.
pub(crate) fn fields() -> Vec<Field> {
    let resolve = Shape::Object(vec![
        optional("order", Shape::Choice(&["either", "fixed"]), "whether the sides of a policy can change places"),
        optional("rules", Shape::Choice(&["many", "one"]), "how many rules a policy may have"),
        optional(
            "strategies",
            list(Shape::Choice(&["intersection", "subset"])),
            "what rules may ask for; the first is the default",
        ),
    ]);
    let effect = Shape::Object(vec![
        required("on", Shape::Choice(&["link", "tags"]), "what was done"),
        optional("of", Shape::Name, "to which subject; to any when left out"),
        optional("with", Shape::Name, "the other side of the pair; any when left out"),
        optional("by", Shape::Choice(CLASSES), "by whom; by anybody when left out"),
        required("effect", Shape::Choice(&["block", "record"]), "what happens to a violation"),
    ]);
    let role = Shape::Object(vec![
        required("name", Shape::Name, "how it is called"),
        optional("aliases", list(Shape::Name), "other names that are understood"),
        required("class", Shape::Choice(CLASSES), "what it counts as; the first of a class is the default"),
        optional("may", list(Shape::Name), "rights: `tag project`, or a verb alone for all kinds"),
    ]);
    vec![
        required("objects", list(object()), "the kinds of objects"),
        optional("subjects", list(subject()), "kinds that policies treat as one"),
        optional("scope", Shape::Name, "the kind in which others live and by which violations are listed"),
        required("relationships", list(relationship()), "how objects are related, and which pairs that makes"),
        required("match", list(list(Shape::Name)), "the pairs that policies may be about"),
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
        required("field", paths(), "where its id stands"),
        path("within", "where it stands in what the other side lives"),
        path("role", "where its role stands"),
    ]);
    let paid_by = Shape::Object(vec![
        required("to", Shape::Name, "the kind of what pays"),
        required("field", paths(), "where its id stands"),
    ]);
    let document = Shape::Object(vec![
        required("kind", Shape::Name, "the `kind` or `type` of the documents"),
        required("id", paths(), "where the id stands"),
        path("within", "where it stands in what it lives: the id becomes `within/id`"),
        path("name", "where the name for people stands"),
        path("tags", "where the tags stand"),
        path("deleted", "a field that is there, and not false, when the object is gone"),
        path("disabled", "a field that is true when the object takes no new relationships"),
        optional("paidBy", paid_by, "what pays for it"),
        optional("links", list(link), "relationships that the document names"),
    ]);
    Shape::Object(vec![
        required("name", Shape::Name, "the name that stands in references"),
        optional("title", Shape::Name, "what the house calls it"),
        optional("aliases", list(Shape::Name), "other names that are understood"),
        optional("defaults", Shape::Bool, "whether default tags are added; false when left out"),
        optional("keys", Shape::Choice(KEYS), "which tags it may carry; those with a definition when left out"),
        optional("documents", list(document), "documents that describe such objects"),
    ])
}

fn subject() -> Shape {
    Shape::Object(vec![
        required("name", Shape::Name, "the name that stands in policies"),
        optional("title", Shape::Name, "what the house calls it"),
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
        required("a", paths(), "where the id of the first side stands"),
        path("aWithin", "where it stands in what the first side lives"),
        optional("aKind", Shape::Name, "the kind of the first side, where it can be several"),
        required("b", paths(), "where the id of the second side stands"),
        path("bWithin", "where it stands in what the second side lives"),
        optional("bKind", Shape::Name, "the kind of the second side, where it can be several"),
        path("role", "where the role stands"),
        path("deleted", "a field that is there, and not false, when the relationship is over"),
    ]);
    Shape::Object(vec![
        required("a", Shape::Name, "one side"),
        required("b", Shape::Name, "the other side"),
        optional("role", Shape::Name, "the kind of what may qualify it"),
        optional("holds", Shape::Bool, "whether the second side lives in the first"),
        optional("needsScope", Shape::Bool, "whether the second side has to be related to the scope of the first"),
        optional("gives", list(given), "the pairs that it makes"),
        optional("documents", list(document), "documents that describe such relationships"),
    ])
}
