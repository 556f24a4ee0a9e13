//! Sets of policies in each other.

use smol_str::SmolStr;
use upheld_engine::decide::{Algorithm, Effect, Member, Set, Target};
use upheld_model::tree::{Kind, Value};
use upheld_model::{Diagnostic, Diagnostics, Fault, NodeRef, SourceId};

use super::super::claim::POLICY_SET;
use super::super::policy::Reading;
use super::super::shapes::{self, unknown_algorithm};
use super::{Again, New, PolicySetBuilder, first_span};
use crate::shape::{Checker, Shape, list, optional, required};

/// The most that sets may be nested.
const MOST_DEPTH: usize = 16;

/// What a set looks like; its members are checked one by one.
pub fn set_shape() -> Shape {
    let target = Shape::Object(vec![
        optional("subjects", list(shapes::subject()), "the subjects"),
        optional("resources", list(shapes::resource()), "the resources"),
        optional("actions", list(shapes::action()), "the actions"),
    ]);
    Shape::Object(vec![
        optional("kind", Shape::Choice(&[POLICY_SET]), "marks the document"),
        required("id", Shape::Name, "the id of the set"),
        required("algorithm", Shape::Text, "how its members are combined"),
        optional("default", Shape::Choice(&["permit", "deny"]), "the effect when no member applies"),
        optional("description", Shape::Text, "what it is for"),
        optional("target", target, "which requests it is about"),
        optional("priority", Shape::Number, "the higher, the earlier"),
        optional("policies", list(Shape::Opaque), "policies"),
        optional("sets", list(Shape::Opaque), "sets within it"),
        optional("duties", list(shapes::duty()), "what comes with its answer"),
    ])
}

impl PolicySetBuilder<'_> {
    /// Reads a set with all that is in it; every mistake is reported.
    pub(super) fn set(
        &mut self,
        source: SourceId,
        document: Value<'_>,
        depth: usize,
        found: &mut Diagnostics,
    ) -> Option<Set> {
        if depth > MOST_DEPTH {
            let message = format!("sets are nested more than {MOST_DEPTH} deep");
            found.push(Diagnostic::error(Fault::Limit, message).at(source, first_span(document), "here"));
            return None;
        }
        if !Checker::new(source, found).check(document, &set_shape()) {
            return None;
        }
        let before = found.errors();
        let get = |field: &str| document.get(field).filter(|value| value.kind() != Kind::Null);
        let word = get("algorithm")?;
        let algorithm = Algorithm::of(word.text());
        if algorithm.is_none() {
            found.push(unknown_algorithm(source, word));
        }
        let mut members = Vec::new();
        for item in get("policies").into_iter().flat_map(Value::items) {
            if let Some(rule) = self.read_strictly(source, item, found)
                && matches!(self.is_new(&rule, Again::Refused, found), New::Yes)
            {
                members.push(Member::Rule(rule));
            }
        }
        for item in get("sets").into_iter().flat_map(Value::items) {
            members.extend(self.set(source, item, depth + 1, found).map(Member::from));
        }
        let mut reading = Reading::new(source, self.standing(source), found);
        let target = get("target").map_or_else(Target::default, |target| Target {
            subjects: reading.matchers(target.get("subjects"), Reading::subject),
            resources: reading.matchers(target.get("resources"), Reading::resource),
            actions: reading.matchers(target.get("actions"), Reading::action),
        });
        let duties = reading.duties(get("duties"));
        let id = get("id")?;
        reading.id(id);
        let priority = get("priority").map_or(Some(0.0), |priority| reading.priority(priority));
        if found.errors() > before {
            return None;
        }
        Some(Set {
            name: SmolStr::new(id.text()),
            algorithm: algorithm?,
            default: get("default").and_then(|word| Effect::of(word.text())),
            target,
            duties,
            priority: priority?,
            members,
            at: Some(NodeRef { source, node: document.number() }),
        })
    }
}
