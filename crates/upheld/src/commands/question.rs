//! From the names on the command line to explanations.

use upheld_dialects::ends::{Connection, End, Member, connect};
use upheld_engine::{KindId, PolicyKind, Resolve, Snapshot};
use upheld_model::nearest::nearest;
use upheld_model::{Diagnostic, Fault, Lookup, Side};

use super::Session;
use crate::cli::Question;
use crate::report::{Asked, Explanation, explain};

/// Answers to one question, grouped: pairs of members with the same answers are told together.
#[derive(Debug)]
pub(crate) struct Answers {
    /// How the ends are called.
    pub(crate) between: String,
    /// At least one.
    pub(crate) groups: Vec<Group>,
}

/// Pairs with the same answers.
#[derive(Debug)]
pub(crate) struct Group {
    /// The pairs, as users would write them.
    pub(crate) pairs: Vec<String>,
    /// One explanation for each kind.
    pub(crate) explanations: Vec<Explanation>,
}

/// Asks what the user asked.
pub(crate) fn answer(
    session: &Session<'_>,
    snapshot: &Snapshot,
    question: &Question,
) -> Result<Answers, Vec<Diagnostic>> {
    let mut lookup = snapshot.lookup();
    let mesh = session.settings.mesh.value.as_deref();
    let kind = question.kind.as_deref().map(|name| find_kind(snapshot, name)).transpose();
    let connection = connect(snapshot, &mut lookup, mesh, question.source(), question.to.as_deref());
    let (kind, connection) = match (kind, connection) {
        (Ok(kind), Ok(connection)) => (kind, connection),
        (kind, connection) => {
            return Err(kind.err().into_iter().chain(connection.err().into_iter().flatten()).collect());
        }
    };
    if connection.source.is_none() && connection.destination.is_none() {
        return Err(vec![
            Diagnostic::error(Fault::IncompleteQuestion, "whose policies?")
                .help("name a connection: `--from web-1 --to backend-1`")
                .help("`upheld list objects` shows what there is"),
        ]);
    }
    let kinds = match kind {
        Some(kind) => vec![complete(snapshot, kind, &connection)?],
        None => kinds_for(snapshot, &connection),
    };
    let between = between(&connection);
    Ok(Answers { between, groups: groups(snapshot, &lookup, &kinds, &connection) })
}

/// The kind of a name, in any case; a typo gets the nearest.
pub(crate) fn find_kind(snapshot: &Snapshot, name: &str) -> Result<KindId, Diagnostic> {
    let text = |kind: &PolicyKind| snapshot.text(kind.name);
    let found = snapshot.kinds().iter().find(|(_, kind)| text(kind).eq_ignore_ascii_case(name));
    found.map(|(id, _)| id).ok_or_else(|| {
        let diagnostic = Diagnostic::error(Fault::NotFound, format!("there is no kind `{name}`"));
        let diagnostic = match nearest(name, snapshot.kinds().iter().map(|(_, kind)| text(kind))) {
            Some(nearest) => diagnostic.help(format!("did you mean `--kind {nearest}`?")),
            None => diagnostic,
        };
        diagnostic.help("`upheld kinds` lists all of them")
    })
}

/// A kind that chooses needs every side that it looks at; one that keeps all does not.
fn missing_side(kind: &PolicyKind, connection: &Connection) -> Option<Side> {
    Side::BOTH.into_iter().find(|side| {
        let asked = match side {
            Side::Source => connection.source.is_some(),
            Side::Destination => connection.destination.is_some(),
        };
        kind.select.resolve == Resolve::First && kind.select.side(*side).is_some() && !asked
    })
}

fn complete(snapshot: &Snapshot, id: KindId, connection: &Connection) -> Result<KindId, Vec<Diagnostic>> {
    let missing = snapshot.kind(id).and_then(|kind| Some((kind, missing_side(kind, connection)?)));
    let Some((kind, side)) = missing else { return Ok(id) };
    let name = snapshot.text(kind.name);
    let (flag, example) = match side {
        Side::Source => ("--from", "--from web-1"),
        Side::Destination => ("--to", "--to backend-1"),
    };
    Err(vec![
        Diagnostic::error(
            Fault::IncompleteQuestion,
            format!("{name} depends on the {}, so it needs `{flag}`", side.word()),
        )
        .help(format!("for example `upheld explain --kind {name} … {example}`")),
    ])
}

/// All kinds that can be asked and that have a policy in this mesh.
fn kinds_for(snapshot: &Snapshot, connection: &Connection) -> Vec<KindId> {
    let kinds = snapshot.kinds().iter();
    let asked = |kind: &PolicyKind| {
        Side::BOTH.iter().any(|side| {
            kind.select.side(*side).is_some()
                && match side {
                    Side::Source => connection.source.is_some(),
                    Side::Destination => connection.destination.is_some(),
                }
        })
    };
    kinds
        .filter(|(id, kind)| {
            missing_side(kind, connection).is_none() && asked(kind) && snapshot.select(*id, connection.mesh).is_some()
        })
        .map(|(id, _)| id)
        .collect()
}

fn groups(snapshot: &Snapshot, lookup: &Lookup<'_>, kinds: &[KindId], connection: &Connection) -> Vec<Group> {
    let members = |end: &Option<End>| -> Vec<Option<Member>> {
        end.as_ref().map_or(vec![None], |end| end.members.iter().cloned().map(Some).collect())
    };
    let destinations = members(&connection.destination);
    let mut groups: Vec<(String, Group)> = Vec::new();
    for source in members(&connection.source) {
        for destination in &destinations {
            let explanations: Vec<Explanation> = (kinds.iter())
                .filter_map(|kind| {
                    let (source, destination) = (source.as_ref(), destination.as_ref());
                    explain(&Asked { snapshot, lookup, kind: *kind, mesh: connection.mesh, source, destination })
                })
                .collect();
            let labels = source.iter().chain(destination).map(|member| member.label.clone());
            let pair = labels.collect::<Vec<_>>().join(" → ");
            let key = same_answer_key(&explanations);
            match groups.iter_mut().find(|(known, _)| *known == key) {
                Some((_, group)) => group.pairs.push(pair),
                None => groups.push((key, Group { pairs: vec![pair], explanations })),
            }
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

/// Two pairs have the same answer when the same policies stand for the same reasons.
fn same_answer_key(explanations: &[Explanation]) -> String {
    let mut key = String::new();
    for explanation in explanations {
        let rung = explanation.rung.as_ref().map(|rung| rung.number);
        key.push_str(&format!("{:?}{:?}{:?}{rung:?};", explanation.policies, explanation.outcome, explanation.granted));
    }
    key
}

fn between(connection: &Connection) -> String {
    let labels = connection.source.iter().chain(&connection.destination).map(|end| end.label.as_str());
    labels.collect::<Vec<_>>().join(" → ")
}
