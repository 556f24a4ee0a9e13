//! `PolicyKind` documents of the family decide: the names of fields, the words for effects, the algorithm and the default.

use upheld_engine::decide::{Algorithm, Clause, Effect};
use upheld_engine::{Choices, DecideFields, DecideKind};
use upheld_model::tree::Value;
use upheld_model::{Diagnostic, Diagnostics, Fault, SourceId, Sym, Symbols};

use super::shapes::unknown_algorithm;
use crate::policy_kind::KindForm;
use crate::shape::{Field, Shape, list, optional, required};

/// How documents of such kinds are read.
pub(super) const FORM: KindForm = KindForm {
    name: "decide",
    family: "decide",
    is: |_| true,
    fields,
    read: |source, document, symbols, found| Choices::Decide(read(source, document, symbols, found)),
};

/// The fields of such documents.
fn fields() -> Vec<Field> {
    let clauses = Clause::ALL.map(|clause| optional(clause.word(), Shape::Name, "the field with this clause"));
    let effect = Shape::Object(vec![
        required("field", Shape::Name, "the field with the effect"),
        optional("permit", list(Shape::Name), "words for permit; `permit` when left out"),
        optional("deny", list(Shape::Name), "words for deny; `deny` when left out"),
    ]);
    let highest = Shape::Object(vec![required("highest", Shape::Name, "a number of the policy")]);
    let resolve = Shape::Object(vec![
        required("algorithm", Shape::Text, "how policies are combined"),
        optional(
            "default",
            Shape::Choice(&["permit", "deny"]),
            "the effect when no policy applies; `deny` when left out",
        ),
    ]);
    vec![
        optional("match", Shape::Object(clauses.to_vec()), "the names of the fields of a policy"),
        optional("effect", effect, "the field of the effect, and its words"),
        optional(
            "rank",
            list(Shape::Either(vec![Shape::Choice(&["position"]), highest])),
            "a number, then the position",
        ),
        required("resolve", resolve, "how policies are combined"),
    ]
}

/// Reads what is special about them.
fn read(source: SourceId, document: Value<'_>, symbols: &mut Symbols, found: &mut Diagnostics) -> DecideKind {
    let resolve = document.get("resolve");
    let word = resolve.and_then(|resolve| resolve.get("algorithm"));
    let algorithm = word.and_then(|word| Algorithm::of(word.text()));
    if let (None, Some(word)) = (algorithm, word) {
        found.push(unknown_algorithm(source, word));
    }
    let default = resolve.and_then(|resolve| resolve.get("default")).and_then(|word| Effect::of(word.text()));
    let clauses = Clause::ALL.map(|clause| {
        let own = document.get("match").and_then(|names| names.get(clause.word()));
        (clause, symbols.intern(own.map_or(clause.word(), Value::text)))
    });
    let effect = document.get("effect");
    let mut words = |field: &str| -> Vec<Sym> {
        match effect.and_then(|effect| effect.get(field)) {
            Some(list) => list.items().map(|word| symbols.intern(word.text())).collect(),
            None => vec![symbols.intern(field)],
        }
    };
    let (permit, deny) = (words("permit"), words("deny"));
    if let Some(both) = permit.iter().find(|word| deny.contains(word)) {
        let message = format!("`{}` cannot mean both permit and deny", symbols.text(*both));
        found.push(Diagnostic::error(Fault::BrokenKind, message).at_value(source, effect.unwrap_or(document), "here"));
    }
    let effect = symbols.intern(effect.and_then(|effect| effect.get("field")).map_or("effect", Value::text));
    let rank = document.get("rank").into_iter().flat_map(Value::items).find_map(|item| item.get("highest"));
    let priority = symbols.intern(rank.map_or("priority", Value::text));
    let fields = DecideFields { effect, permit, deny, clauses: clauses.to_vec(), priority };
    DecideKind { algorithm: algorithm.unwrap_or_default(), default: default.unwrap_or(Effect::Deny), fields }
}
