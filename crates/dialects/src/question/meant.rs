//! What may have been meant by a name that nobody knows, among everything that was read.

use upheld_engine::Snapshot;
use upheld_model::nearest::nearest;
use upheld_model::{Diagnostic, Fault};

use super::{Asked, Question, Thing};
use crate::dialect::{Dialect, ListedObject, dialects};
use crate::identity::Identity;

/// A problem that a dialect has with the question, with what may have been meant.
pub(super) fn with_meant(problem: Diagnostic, dialect: &dyn Dialect, asked: &Asked<'_>) -> Diagnostic {
    let snapshot = asked.snapshot;
    let is_told = problem.help.iter().any(|help| help.starts_with("did you mean"));
    let Some(written) = name_in(asked.question).filter(|_| problem.fault == Fault::NotFound && !is_told) else {
        return problem;
    };
    let all: Vec<(Identity, String)> = objects(snapshot).filter_map(with_command).collect();
    let same = all.iter().find(|(object, _)| object.name.eq_ignore_ascii_case(written));
    // Whoever knows that name has another problem with the question.
    if same.is_some_and(|(object, _)| dialect.command_about(object).is_some()) {
        return problem;
    }
    let near = || {
        let name = nearest(written, all.iter().map(|(object, _)| object.name.as_str()))?;
        all.iter().find(|(object, _)| object.name == name)
    };
    let policy = || {
        let mut names = snapshot.policies().iter().map(|(_, policy)| snapshot.text(policy.name));
        names.find(|name| name.eq_ignore_ascii_case(written)).map(|name| format!("upheld show {name}"))
    };
    let command = |(_, command): &(Identity, String)| command.clone();
    problem.suggest(same.map(command).or_else(policy).or_else(|| near().map(command)))
}

/// A question that can be asked about what was read, for a dialect that has something.
pub(super) fn own_example(dialect: &dyn Dialect, snapshot: &Snapshot) -> Option<String> {
    let command = objects(snapshot).find_map(|object| dialect.command_about(&object))?;
    Some(format!("for example: `{command}`"))
}

/// Nobody who could know a name has anything.
pub(super) fn nothing_called(name: &str) -> Diagnostic {
    let problem = Diagnostic::error(Fault::NotFound, format!("nothing that was read is called `{name}`"));
    problem.help("`upheld list` shows what there is; does `-f` point to the right files?")
}

/// The name that is asked about, if it stands alone.
pub(super) fn name_in(question: &Question) -> Option<&str> {
    let Thing::Connection(connection) = &question.thing else { return None };
    let name = connection.what.as_deref().or(connection.from.as_deref()).or(connection.to.as_deref())?;
    (!name.contains(['/', '=', '~', '#'])).then_some(name)
}

fn objects(snapshot: &Snapshot) -> impl Iterator<Item = Identity> {
    let own = snapshot.objects().iter().map(|(_, object)| {
        Identity::new(snapshot.text(object.kind), snapshot.text(object.scope), snapshot.text(object.name))
    });
    own.chain(dialects().flat_map(|dialect| dialect.objects(snapshot)).map(|object: ListedObject| object.identity()))
}

fn with_command(object: Identity) -> Option<(Identity, String)> {
    let command = dialects().find_map(|dialect| dialect.command_about(&object))?;
    Some((object, command))
}
