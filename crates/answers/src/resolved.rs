//! Just the result of a connection.

use serde_json::{Map, Value as Json, json};
use upheld_model::nearest::{did_you_mean, nearest};
use upheld_model::{Diagnostic, Fault};

use crate::connections::Answers;
use crate::question::Question;
use crate::report::{Explanation, Outcome};
use crate::stamp::{Stamp, distinct};

/// Just a result, and which rules gave it.
#[derive(Clone, Debug, PartialEq)]
pub struct Resolution {
    /// The result.
    pub result: Json,
    /// Where it comes from.
    pub stamp: Stamp,
}

/// What a connection gets.
#[derive(Clone, Debug, PartialEq)]
pub struct Resolved {
    /// The configuration, or the field that was asked for; none if that is not set.
    pub value: Option<Json>,
    /// Remarks on it, for people.
    pub notes: Vec<String>,
    /// What scripts want to know of it.
    pub verdict: Verdict,
    /// The editions of the kinds that gave it.
    pub semantics: Vec<String>,
}

/// What a result comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// There is one.
    Yes,
    /// The connection is refused, or the field is not set.
    No,
    /// A fact is missing.
    Undecided,
}

/// The result that all pairs have in common.
pub(crate) fn resolved(answers: &Answers, question: &Question) -> Result<Resolved, Diagnostic> {
    let [group] = answers.groups.as_slice() else { return Err(several(answers)) };
    let semantics = distinct(group.explanations.iter().filter_map(|explanation| explanation.semantics.as_deref()));
    let undecided = group.explanations.iter().find(|explanation| explanation.outcome == Outcome::Undecided);
    if let Some(undecided) = undecided.filter(|_| question.field.is_some()) {
        let notes = vec![format!("note: {}", undecided.answer)];
        return Ok(Resolved { value: Some(Json::Null), notes, verdict: Verdict::Undecided, semantics });
    }
    let mut missing = Vec::new();
    let mut value_of = |explanation: &Explanation| {
        let whole = result(explanation);
        match &question.field {
            None => whole,
            Some(path) => field_of(explanation, &whole, path).unwrap_or_else(|| {
                missing.push(not_set(explanation, path));
                Json::Null
            }),
        }
    };
    let value = match (group.explanations.as_slice(), &question.kind) {
        ([one], Some(_)) => value_of(one),
        (several, _) => {
            let names = names_of(several);
            let map: Map<String, Json> =
                several.iter().zip(names).map(|(explanation, name)| (name, value_of(explanation))).collect();
            Json::Object(map)
        }
    };
    // Under all kinds, most have no such field; it is missing only if none has it.
    if !missing.is_empty() && missing.len() == group.explanations.len() {
        return Ok(Resolved { value: None, notes: missing, verdict: Verdict::No, semantics });
    }
    let unspoken = group.explanations.iter().filter(|explanation| explanation.policies.is_empty());
    let notes = unspoken.map(|explanation| format!("note: {}", explanation.answer)).collect();
    Ok(Resolved { value: Some(value), notes, verdict: verdict(&group.explanations), semantics })
}

fn several(answers: &Answers) -> Diagnostic {
    let examples: Vec<&str> =
        answers.groups.iter().filter_map(|group| group.pairs.first()).map(String::as_str).collect();
    let message = format!("{} has {} different results", answers.between, answers.groups.len());
    Diagnostic::error(Fault::Ambiguous, message)
        .help(format!("ask for one pair, for example `{}`", pasteable(examples.first().copied().unwrap_or_default())))
        .help("`upheld explain` shows all of them")
}

/// For scripts: a refused connection is a no.
fn verdict(explanations: &[Explanation]) -> Verdict {
    match explanations {
        _ if explanations.iter().any(|explanation| explanation.outcome == Outcome::Undecided) => Verdict::Undecided,
        [one] if one.granted == Some(false) => Verdict::No,
        _ => Verdict::Yes,
    }
}

/// The kind; where one has several results, with the place or the destination of each.
fn names_of(explanations: &[Explanation]) -> Vec<String> {
    let alone = |kind: &str| explanations.iter().filter(|other| other.kind == kind).count() == 1;
    let mut names: Vec<String> = Vec::new();
    for Explanation { kind, place, from, to, .. } in explanations {
        let words = [Some(kind), place.as_ref(), from.as_ref(), to.as_ref()].into_iter().flatten();
        let mut name = if alone(kind) { kind.clone() } else { words.cloned().collect::<Vec<_>>().join(" ") };
        while names.contains(&name) {
            name.push('\'');
        }
        names.push(name);
    }
    names
}

/// A pair as flags.
fn pasteable(pair: &str) -> String {
    let quoted = |name: &str| if name.contains('#') { format!("'{name}'") } else { name.to_owned() };
    match pair.split_once(" → ") {
        Some((from, to)) => format!("--from {} --to {}", quoted(from), quoted(to)),
        None => pair.to_owned(),
    }
}

/// The configuration; for kinds that grant, whether it is granted and by whom.
fn result(explanation: &Explanation) -> Json {
    match explanation.granted {
        Some(granted) => json!({"allowed": granted, "by": explanation.policies}),
        // Who grants, where it was not asked whom.
        None if explanation.fields.is_empty() && !explanation.policies.is_empty() => {
            json!({"by": explanation.policies})
        }
        None => explanation.result.clone(),
    }
}

/// A leaf by its path as `explain` shows it, or whatever a path leads to.
fn field_of(explanation: &Explanation, whole: &Json, path: &str) -> Option<Json> {
    let leaf = explanation.fields.iter().find(|field| field.path == path);
    leaf.map(|leaf| leaf.value.clone()).or_else(|| at_path(whole, path))
}

/// Follows `a.b[0].c`.
fn at_path(value: &Json, path: &str) -> Option<Json> {
    let mut value = value;
    for step in path.split('.') {
        let (key, indexes) = step.split_once('[').map_or((step, ""), |(key, rest)| (key, rest));
        if !key.is_empty() {
            value = value.get(key)?;
        }
        for index in indexes.split('[').filter(|index| !index.is_empty()) {
            value = value.get(index.trim_end_matches(']').parse::<usize>().ok()?)?;
        }
    }
    Some(value.clone())
}

fn not_set(explanation: &Explanation, path: &str) -> String {
    let known = explanation.fields.iter().map(|field| field.path.as_str());
    let hint = nearest(path, known).map(|name| format!("; {}", did_you_mean(name))).unwrap_or_default();
    format!("{}: `{path}` is not set{hint}", explanation.kind)
}
