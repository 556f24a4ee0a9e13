//! `resolve`: just the result, for pipes.

use serde_json::{Map, Value as Json, json};
use upheld_model::nearest::nearest;
use upheld_model::{Diagnostic, Fault};

use super::explain::names;
use super::question::answer;
use super::{Session, refuse, say};
use crate::cli::{Format, Question};
use crate::exit::Exit;
use crate::render::print_plain;
use crate::render::yaml;
use crate::report::{Explanation, Outcome};

pub(super) fn run(session: &Session<'_>, question: &Question) -> Exit {
    let Some(loaded) = session.load() else { return Exit::Failed };
    let answers = match answer(session, &loaded.snapshot, question) {
        Ok(answers) => answers,
        Err(problems) => return refuse(&problems),
    };
    let [group] = answers.groups.as_slice() else {
        let examples: Vec<&str> =
            answers.groups.iter().filter_map(|group| group.pairs.first()).map(String::as_str).collect();
        let message = format!("{} has {} different results", answers.between, answers.groups.len());
        return refuse(&[Diagnostic::error(Fault::Ambiguous, message)
            .help(format!(
                "ask for one pair, for example `{}`",
                pasteable(examples.first().copied().unwrap_or_default())
            ))
            .help("`upheld explain` shows all of them")]);
    };
    if session.screen.format == Format::Name {
        print_plain(&names(&answers));
        return exit(&group.explanations);
    }
    if let Some(undecided) = group.explanations.iter().find(|explanation| explanation.outcome == Outcome::Undecided)
        && question.field.is_some()
    {
        print(session, &Json::Null);
        say(&format!("note: {}", undecided.answer));
        return Exit::Undecided;
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
        for text in &missing {
            say(text);
        }
        return Exit::No;
    }
    print(session, &value);
    for explanation in group.explanations.iter().filter(|explanation| explanation.policies.is_empty()) {
        say(&format!("note: {}", explanation.answer));
    }
    exit(&group.explanations)
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

/// For scripts: a refused connection is a no.
fn exit(explanations: &[Explanation]) -> Exit {
    match explanations {
        _ if explanations.iter().any(|explanation| explanation.outcome == Outcome::Undecided) => Exit::Undecided,
        [one] if one.granted == Some(false) => Exit::No,
        _ => Exit::Yes,
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

fn print(session: &Session<'_>, value: &Json) {
    match (session.screen.format, value) {
        // A single scalar is most useful bare.
        (Format::Table | Format::Wide, Json::String(text)) => print_plain(&format!("{text}\n")),
        (Format::Table | Format::Wide, _) => print_plain(&yaml(value).unwrap_or_default()),
        _ => session.screen.print_data(value),
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
    let hint = nearest(path, known).map(|name| format!("; did you mean `{name}`?")).unwrap_or_default();
    format!("{}: `{path}` is not set{hint}", explanation.kind)
}
