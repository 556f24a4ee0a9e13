//! Changes: what was done, or what somebody thinks of doing.

use smol_str::SmolStr;
use upheld_engine::comply::{Class, Holds, Profile, Tags};
use upheld_governance::{Action, Actor, Filling, NewLink, NewObject};
use upheld_model::tree::{Kind as ValueKind, Tree, Value};
use upheld_model::{Diagnostics, Fault, NodeRef, SourceId, Timestamp};

use super::kind::or_nearest;
use super::reader::{Reader, partner, text};
use super::shapes::{self, Whole};
use crate::shape::{Checker, Field, Shape, list, map_of, optional, required};

/// The value of `kind:` that marks documents with changes.
pub const CHANGES: &str = "Changes";

/// One change.
#[derive(Clone, Debug)]
pub struct Change {
    /// When.
    pub at: Option<Timestamp>,
    /// By whom.
    pub actor: Actor,
    /// What.
    pub action: Action,
    /// Where it was written.
    pub place: NodeRef,
}

/// The verbs of changes.
const VERBS: [&str; 18] = [
    "create",
    "createProject",
    "createWorkspace",
    "createObject",
    "deleteObject",
    "setTags",
    "link",
    "unlink",
    "createPolicy",
    "updatePolicy",
    "deletePolicy",
    "createTagDefinition",
    "updateTagDefinition",
    "deleteTagDefinition",
    "setUserDefaultTags",
    "grantWaiver",
    "revokeWaiver",
    "advance",
];

/// Reads all changes of a text: `Changes` documents, lists of changes, or one change a document. Where a change does not
/// say who makes it, `usual` does.
pub fn read(source: SourceId, tree: &Tree, profile: &Profile, usual: &Actor, found: &mut Diagnostics) -> Vec<Change> {
    let mut reader = Reader::new(source, profile, found);
    let mut changes = Vec::new();
    for document in tree.documents() {
        match document.kind() {
            ValueKind::Null => {}
            ValueKind::List => changes.extend(document.items().filter_map(|one| reader.change(one, usual))),
            _ if document.get("verb").is_some() => changes.extend(reader.change(document, usual)),
            _ => changes.extend(reader.changes(document, usual)),
        }
    }
    changes
}

impl Reader<'_> {
    /// The changes of a document.
    pub(super) fn changes(&mut self, document: Value<'_>, usual: &Actor) -> Vec<Change> {
        if !Checker::new(self.source, self.found).check(document, &shapes::changes()) {
            return Vec::new();
        }
        let items = document.get("changes").into_iter().flat_map(Value::items);
        items.filter_map(|one| self.change(one, usual)).collect()
    }

    fn change(&mut self, written: Value<'_>, usual: &Actor) -> Option<Change> {
        let Some(verb) = written.get("verb") else {
            let message = "a change needs a `verb`".to_owned();
            self.wrong(
                Fault::MissingField,
                written,
                message,
                "`verb` is missing here",
                &or_nearest("", VERBS.into_iter()),
            );
            return None;
        };
        if !VERBS.contains(&verb.text()) {
            let (message, help) =
                (format!("there is no verb `{}`", verb.text()), or_nearest(verb.text(), VERBS.into_iter()));
            self.wrong(Fault::WrongValue, verb, message, "unknown verb", &help);
            return None;
        }
        if !Checker::new(self.source, self.found).of("this change").check(written, &shape(verb.text())) {
            return None;
        }
        let at = self.moment(written, "at");
        let actor = match written.get("by") {
            Some(by) => self.actor(by)?,
            None => usual.clone(),
        };
        let action = self.action(verb.text(), written)?;
        Some(Change { at, actor, action, place: self.place(written) })
    }

    /// `endUser`, `admin`, a role, or all of it in a map.
    fn actor(&mut self, by: Value<'_>) -> Option<Actor> {
        let field = |name: &str| by.get(name).filter(|value| !value.text().is_empty());
        let word = by.as_text().map(|_| by).or_else(|| field("role")).or_else(|| field("class"));
        let Some(word) = word else {
            self.wrong(Fault::MissingField, by, "the actor has no role".to_owned(), "expected `class` or `role`", "");
            return None;
        };
        if word.text() == "system" {
            return Some(Actor::System);
        }
        let role = match word.text() {
            "endUser" => self.profile.role_of(Class::EndUser),
            "admin" | "administrator" => self.profile.role_of(Class::Administrator),
            name => self.profile.role(name),
        };
        let Some(role) = role else {
            // Without roles everybody may do everything.
            if self.profile.roles.is_empty() {
                return Some(Actor::System);
            }
            let known = ["endUser", "admin", "system"].into_iter();
            let known = known.chain(self.profile.roles.iter().map(|role| role.name.as_str()));
            let (message, help) = (format!("there is no role `{}`", word.text()), or_nearest(word.text(), known));
            self.wrong(Fault::WrongValue, word, message, "unknown role", &help);
            return None;
        };
        let scope = match (field("workspace"), self.profile.scope) {
            (Some(value), Some(scope)) => self.reference_to(scope, value).map(|id| self.told(scope, id)),
            _ => None,
        };
        Some(Actor::Person { role, scope, name: text(by, "name") })
    }

    fn action(&mut self, verb: &str, written: Value<'_>) -> Option<Action> {
        let field = |name: &str| written.get(name);
        let tags = |reader: &mut Self| field("tags").map_or_else(Tags::new, |tags| reader.tags(tags));
        Some(match verb {
            "deleteObject" => Action::Delete { object: self.object_name(field("object")?)? },
            "setTags" => Action::SetTags { object: self.object_name(field("object")?)?, tags: tags(self) },
            "link" | "unlink" => {
                let (a, b, role) = self.related(written)?;
                if verb == "link" { Action::Link { a, b, role } } else { Action::Unlink { a, b, role } }
            }
            "createPolicy" => Action::CreatePolicy(self.policy(field("policy")?, Whole::Item, None)?),
            "updatePolicy" => Action::UpdatePolicy(self.policy(field("policy")?, Whole::Item, None)?),
            "deletePolicy" => Action::DeletePolicy { policy: text(written, "policy")? },
            "createTagDefinition" => Action::Define(self.definition(field("definition")?, Whole::Item)?),
            "updateTagDefinition" => Action::Redefine(self.redefinition(field("definition")?)?),
            "deleteTagDefinition" => {
                let definition = field("definition")?;
                let subject = self.defined_subject(definition)?;
                let subject = SmolStr::new(self.profile.subject_name(subject));
                Action::Undefine { subject, key: text(definition, "key")? }
            }
            "setUserDefaultTags" => Action::SetDefaults { tags: tags(self) },
            "grantWaiver" => Action::Grant(self.waiver(field("waiver")?, Whole::Item)?),
            "revokeWaiver" => Action::Revoke { waiver: text(written, "waiver")? },
            "advance" => Action::Advance { to: self.moment(written, "to")? },
            _ => Action::Create(self.new_object(written)?),
        })
    }

    /// A reference by the neutral name of its kind.
    fn object_name(&mut self, value: Value<'_>) -> Option<SmolStr> {
        self.reference(value).map(|(kind, id)| self.told(kind, id))
    }

    /// The two sides in the order of their relationship, and its role.
    fn related(&mut self, written: Value<'_>) -> Option<(SmolStr, SmolStr, Option<SmolStr>)> {
        let (first, second) = (self.reference(written.get("a")?)?, self.reference(written.get("b")?)?);
        let relation = |a, b| super::mapping::related(self.profile, a, b);
        let (a, b, role) = match (relation(first.0, second.0), relation(second.0, first.0)) {
            (None, Some(turned)) => (second, first, turned.role),
            (straight, _) => (first, second, straight.and_then(|relation| relation.role)),
        };
        let role = written.get("role").map(|value| self.role_name(role, value));
        Some((self.told(a.0, a.1), self.told(b.0, b.1), role))
    }

    /// A role may leave out its kind.
    fn role_name(&mut self, kind: Option<upheld_engine::comply::Kind>, value: Value<'_>) -> SmolStr {
        let id = kind.and_then(|kind| self.reference_to(kind, value));
        match kind.zip(id) {
            Some((kind, id)) => self.told(kind, id),
            None => SmolStr::new(value.text()),
        }
    }

    fn new_object(&mut self, written: Value<'_>) -> Option<NewObject> {
        let object = written.get("object")?;
        let (kind, id) = self.reference(object.get("ref")?)?;
        let tags = object.get("tags").map_or_else(Tags::new, |tags| self.tags(tags));
        let mut links = Vec::new();
        // Only what lives in a scope is related to it by this field: a group only comes from there.
        if let (Some(scope), Some(value)) = (self.profile.scope, object.get("workspace"))
            && super::mapping::related(self.profile, scope, kind).is_some_and(|own| own.holds == Holds::Owned)
        {
            let id = self.reference_to(scope, value)?;
            links.push(NewLink { other: self.told(scope, id), role: None });
        }
        let lists = ["landingZones", "principals", "links"].map(|field| written.get(field));
        for item in lists.into_iter().flatten().flat_map(Value::items) {
            let other = item.as_text().map(|_| item).or_else(|| item.get("ref")).or_else(|| item.get("to"))?;
            let (of, id) = self.reference(other)?;
            let relation = super::mapping::related(self.profile, kind, of);
            let relation = relation.or_else(|| super::mapping::related(self.profile, of, kind));
            let role = item.get("role").map(|role| self.role_name(relation.and_then(|relation| relation.role), role));
            links.push(NewLink { other: self.told(of, id), role });
        }
        let paid_by = self.payer(object).map(|(_, kind, id)| self.told(kind, id));
        let (name, partner) = (text(object, "name"), partner(object));
        let filling = Filling::default();
        Some(NewObject { object: self.told(kind, id), name, tags, links, partner, paid_by, filling })
    }
}

/// What a change with a verb looks like.
fn shape(verb: &str) -> Shape {
    let by = Shape::Object(vec![
        optional("class", Shape::Choice(&["endUser", "admin", "administrator"]), "the class of the person"),
        optional("role", Shape::Name, "the role"),
        optional("workspace", Shape::Name, "where the role holds"),
        optional("name", Shape::Text, "who it is"),
    ]);
    let mut fields = vec![
        optional("at", Shape::Text, "when"),
        optional("by", Shape::Either(vec![Shape::Name, by]), "who does it"),
        required("verb", Shape::Name, "what is done"),
        optional("why", Shape::Text, "for people"),
    ];
    fields.extend(arguments(verb));
    Shape::Object(fields)
}

fn arguments(verb: &str) -> Vec<Field> {
    let name = |field: &str, about: &'static str| required(field, Shape::Name, about);
    let tags = || required("tags", map_of(Shape::Opaque), "keys with values; an empty value removes the tag");
    let definition = || required("definition", shapes::redefinition(), "the tag definition");
    match verb {
        "deleteObject" => vec![name("object", "which, `kind/id`")],
        "setTags" => vec![name("object", "which, `kind/id`"), tags()],
        "link" | "unlink" => {
            vec![name("a", "one side"), name("b", "the other side"), optional("role", Shape::Name, "the role")]
        }
        // What is in these is checked where each is read.
        "createPolicy" | "updatePolicy" => vec![required("policy", map_of(Shape::Opaque), "the policy")],
        "deletePolicy" => vec![name("policy", "its id")],
        "createTagDefinition" => vec![required("definition", map_of(Shape::Opaque), "the tag definition")],
        "updateTagDefinition" | "deleteTagDefinition" => vec![definition()],
        "setUserDefaultTags" => vec![tags()],
        "grantWaiver" => vec![required("waiver", map_of(Shape::Opaque), "the waiver")],
        "revokeWaiver" => vec![name("waiver", "its id")],
        "advance" => vec![name("to", "until when")],
        _ => creation(),
    }
}

fn creation() -> Vec<Field> {
    let object = Shape::Object(vec![
        required("ref", Shape::Name, "its reference, `kind/id`"),
        optional("name", Shape::Text, "its display name"),
        optional("tags", map_of(Shape::Opaque), "keys with values"),
        optional("workspace", Shape::Name, "what it belongs to"),
        optional("class", Shape::Choice(&["partner", "managed"]), "`partner` if it is the provider's own"),
        optional("paymentMethod", Shape::Name, "the payment method"),
    ]);
    let other = || {
        let with_role = Shape::Object(vec![
            optional("ref", Shape::Name, "the other side, `kind/id`"),
            optional("to", Shape::Name, "the other side, `kind/id`"),
            optional("role", Shape::Name, "the role"),
        ]);
        list(Shape::Either(vec![Shape::Name, with_role]))
    };
    vec![
        required("object", object, "the object to create"),
        optional("landingZones", other(), "what it uses from the beginning"),
        optional("principals", other(), "who has access from the beginning"),
        optional("links", other(), "what it is related to from the beginning"),
    ]
}
