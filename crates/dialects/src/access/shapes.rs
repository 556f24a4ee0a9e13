//! What access policies look like.

use upheld_engine::DecideKind;
use upheld_engine::decide::{Algorithm, Clause, Effect};
use upheld_model::nearest::nearest;
use upheld_model::tree::Value;
use upheld_model::{Diagnostic, Fault, SourceId, Sym, Symbols};

use crate::shape::{Field, Shape, list, optional, required};

/// The names that the fields of a policy have, and the words for its effects. Kinds of users choose their own.
#[derive(Clone, Debug)]
pub struct Fields {
    /// The field with the id of a policy.
    pub id: String,
    /// The field with the effect.
    pub effect: String,
    /// Words for the effects.
    pub permit: Vec<String>,
    /// Words for the effects.
    pub deny: Vec<String>,
    /// Who asks.
    pub subjects: String,
    /// With what.
    pub resources: String,
    /// What is to be done.
    pub actions: String,
    /// What must hold besides.
    pub conditions: String,
    /// The higher, the earlier.
    pub priority: String,
}

impl Default for Fields {
    fn default() -> Self {
        Self {
            id: "id".to_owned(),
            effect: "effect".to_owned(),
            permit: vec![Effect::Permit.word().to_owned()],
            deny: vec![Effect::Deny.word().to_owned()],
            subjects: Clause::Subjects.word().to_owned(),
            resources: Clause::Resources.word().to_owned(),
            actions: Clause::Actions.word().to_owned(),
            conditions: Clause::Conditions.word().to_owned(),
            priority: "priority".to_owned(),
        }
    }
}

impl Fields {
    /// As a kind calls them.
    pub fn of_kind(decide: &DecideKind, symbols: &Symbols) -> Self {
        let text = |symbol: Sym| symbols.text(symbol).to_owned();
        let clause = |wanted: &str| {
            let own = decide.fields.clauses.iter().find(|(clause, _)| clause.word() == wanted);
            own.map_or_else(|| wanted.to_owned(), |(_, name)| text(*name))
        };
        Self {
            id: "id".to_owned(),
            effect: text(decide.fields.effect),
            permit: decide.fields.permit.iter().map(|word| text(*word)).collect(),
            deny: decide.fields.deny.iter().map(|word| text(*word)).collect(),
            subjects: clause("subjects"),
            resources: clause("resources"),
            actions: clause("actions"),
            conditions: clause("conditions"),
            priority: text(decide.fields.priority),
        }
    }

    /// The effect of a word.
    pub(super) fn effect_of(&self, word: &str) -> Option<Effect> {
        let is = |words: &[String]| words.iter().any(|known| known == word);
        if is(&self.permit) {
            Some(Effect::Permit)
        } else if is(&self.deny) {
            Some(Effect::Deny)
        } else {
            None
        }
    }

    /// What a policy looks like.
    pub fn policy(&self) -> Shape {
        let mut fields = vec![required(&self.id, Shape::Name, "the id, unique among all policies")];
        fields.extend(self.body());
        Shape::Object(fields)
    }

    /// The fields of a policy but its id.
    pub fn body(&self) -> Vec<Field> {
        vec![
            required(&self.effect, Shape::Text, "what it does: permit or deny"),
            required(&self.subjects, list(subject()), "the subjects; an empty list is everybody"),
            required(&self.resources, list(resource()), "the resources; an empty list is everything"),
            required(&self.actions, list(action()), "the actions; an empty list is anything"),
            optional(&self.conditions, list(Shape::Opaque), "further conditions; all must hold"),
            optional(&self.priority, Shape::Number, "the higher, the earlier; 0 when left out"),
            optional("name", Shape::Text, "a name for people"),
            optional("description", Shape::Text, "what it is for; callers get it as the reason"),
            optional("enabled", Shape::Bool, "whether it is in force; true when left out"),
            optional("version", Shape::Either(vec![Shape::Text, Shape::Number]), "for people"),
            optional("tags", list(Shape::Text), "for people"),
            optional("owner", Shape::Text, "who is responsible for it"),
            optional("valid", validity(), "when it is in force"),
            optional("duties", list(duty()), "what comes with its effect"),
        ]
    }
}

fn one_or_many() -> Shape {
    Shape::Either(vec![Shape::Name, list(Shape::Name)])
}

fn fact() -> Shape {
    let value = || Shape::Either(vec![Shape::Text, Shape::Number, Shape::Bool, list(Shape::Opaque)]);
    Shape::Object(vec![
        required("name", Shape::Name, "its name; dots lead into maps"),
        optional("value", value(), "what it is compared with"),
        optional("operator", Shape::Text, "how; `eq` when left out"),
        optional("absent", Shape::Bool, "true: `neq` and `nin` also hold where the fact is absent"),
    ])
}

fn with_not(fields: Vec<Field>) -> Shape {
    let mut all = fields.clone();
    all.push(optional("not", Shape::Object(fields), "an alternative that must not match"));
    Shape::Object(all)
}

pub(super) fn subject() -> Shape {
    with_not(vec![
        optional("id", one_or_many(), "the id of the subject"),
        optional("type", one_or_many(), "the type of the subject"),
        optional("role", one_or_many(), "a role; `*` is any characters"),
        optional("group", one_or_many(), "a group"),
        optional("claim", fact(), "a claim"),
    ])
}

pub(super) fn resource() -> Shape {
    with_not(vec![
        optional("app", one_or_many(), "the application; `*` is any characters"),
        optional("path", one_or_many(), "the path; `*` within a segment, `**` across segments"),
        optional("type", one_or_many(), "the type of the resource"),
        optional("id", one_or_many(), "the id of the resource"),
        optional("owner", Shape::Choice(&["self"]), "`self`: it belongs to the subject"),
        optional("host", one_or_many(), "the host of the request"),
        optional("header", fact(), "a header of the request"),
        optional("property", fact(), "a property of the resource"),
    ])
}

pub(super) fn action() -> Shape {
    with_not(vec![
        optional("method", one_or_many(), "the method; `*` is any"),
        optional("operation", one_or_many(), "the operation"),
        optional("property", fact(), "a property of the action"),
    ])
}

fn validity() -> Shape {
    Shape::Object(vec![
        optional("from", Shape::Text, "the time it begins, for example 2025-03-01T00:00:00Z"),
        optional("until", Shape::Text, "the time it ends; not included"),
    ])
}

pub(super) fn duty() -> Shape {
    Shape::Object(vec![
        required("kind", Shape::Choice(&["obligation", "advice"]), "whether it must be done"),
        required("id", Shape::Name, "which duty"),
        optional("type", Shape::Text, "the type of duty"),
        required("on", Shape::Choice(&["permit", "deny"]), "the effect that it comes with"),
        optional("properties", Shape::Opaque, "further properties"),
    ])
}

/// The types of conditions.
pub(super) const CONDITIONS: [&str; 3] = ["time", "ip", "custom"];

/// What a condition of a type looks like.
pub(super) fn condition(kind: &str) -> Shape {
    let mut fields = vec![required("type", Shape::Choice(&CONDITIONS), "what it is about")];
    let texts = || Shape::Either(vec![Shape::Text, list(Shape::Text)]);
    fields.extend(match kind {
        "time" => vec![
            optional("after", Shape::Text, "the time of day it begins, HH:mm, or a timestamp"),
            optional("before", Shape::Text, "the time of day it ends, not included, or a timestamp"),
            optional("dayOfWeek", list(Shape::Opaque), "days on which it begins; Sunday is 0"),
            optional("timezone", Shape::Text, "the time zone, for example Europe/Berlin; UTC when left out"),
            optional("from", Shape::Text, "the time it begins"),
            optional("until", Shape::Text, "the time it ends; not included"),
        ],
        "ip" => vec![
            optional("allowlist", list(Shape::Text), "allowed addresses and networks"),
            optional("blocklist", list(Shape::Text), "blocked addresses and networks"),
            optional("cidr", texts(), "allowed networks"),
        ],
        _ => vec![required("expression", Shape::Name, "an expression that must be true")],
    });
    Shape::Object(fields)
}

/// The words for algorithms.
fn algorithms() -> Vec<&'static str> {
    Algorithm::ALL.map(Algorithm::word).to_vec()
}

/// An algorithm that does not exist, with the one that was probably meant.
pub(crate) fn unknown_algorithm(source: SourceId, word: Value<'_>) -> Diagnostic {
    let words = algorithms();
    let message = format!("there is no algorithm `{}`", word.text());
    let diagnostic = Diagnostic::error(Fault::WrongValue, message).at_value(source, word, "unknown algorithm");
    diagnostic.suggest_or(nearest(word.text(), words.iter().copied()), || format!("algorithms: {}", words.join(", ")))
}
