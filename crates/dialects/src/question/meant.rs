//! What may have been meant by a name that nobody knows, among everything that was read.

use upheld_engine::Snapshot;
use upheld_model::nearest::{did_you_mean, nearest};
use upheld_model::{Diagnostic, Fault};

use super::{Asked, Question, Thing};
use crate::dialect::{Dialect, ListedObject, dialects};
use crate::identity::Identity;

/// Nobody reads more commands at once.
const MOST_SUGGESTED: usize = 3;

/// A problem that a dialect has with the question, with what may have been meant.
pub(super) fn with_meant(mut problem: Diagnostic, dialect: &dyn Dialect, asked: &Asked<'_>) -> Diagnostic {
    let is_told = problem.help.iter().any(|help| help.starts_with("did you mean"));
    let Some(written) = name_in(asked.question).filter(|_| problem.fault == Fault::NotFound && !is_told) else {
        return problem;
    };
    let (scope, name) =
        written.rsplit_once('/').map_or((None, written), |(before, name)| (before.rsplit('/').next(), name));
    let all: Vec<(Identity, String)> = objects(asked.snapshot).filter_map(with_command).collect();
    let called = |wanted: &str| all.iter().filter(|(object, _)| object.name.eq_ignore_ascii_case(wanted)).collect();
    let mut meant: Vec<&(Identity, String)> = called(name);
    // Whoever knows that name has another problem with the question.
    if meant.iter().any(|(object, _)| dialect.command_about(object).is_some()) && scope.is_none() {
        return problem;
    }
    if meant.iter().any(|(object, _)| Some(object.scope.as_str()) == scope) {
        meant.retain(|(object, _)| Some(object.scope.as_str()) == scope);
    }
    let mut commands: Vec<String> = meant.into_iter().map(|(_, command)| command.clone()).collect();
    if commands.is_empty() {
        commands.extend(policy_called(asked.snapshot, name).map(|name| format!("upheld show {name}")));
    }
    if let (true, Some(near)) = (commands.is_empty(), nearest(name, all.iter().map(|(object, _)| object.name.as_str())))
    {
        commands = called(near).into_iter().map(|(_, command)| command.clone()).collect();
    }
    commands.truncate(MOST_SUGGESTED);
    if !commands.is_empty() {
        problem.help.insert(0, did_you_mean(commands.join("` or `")));
    }
    problem
}

fn policy_called<'s>(snapshot: &'s Snapshot, wanted: &str) -> Option<&'s str> {
    let mut names = snapshot.policies().iter().map(|(_, policy)| snapshot.text(policy.name));
    names.find(|name| name.eq_ignore_ascii_case(wanted))
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
    (!name.contains(['=', '~', '#'])).then_some(name)
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
