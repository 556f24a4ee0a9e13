//! What became of values, as findings.

use upheld_dialects::dialect::Finding;
use upheld_model::{Code, Diagnostic, Fault, Files, Label, Span};
use upheld_report::{At, Family, counted};

use super::super::values::quoted;
use super::{Loss, Tie, Value, Values, all_of_it_path};
use crate::World;

/// Of so many questions, a value that holds for a tenth or less holds almost nowhere.
const MANY: u64 = 10;

impl Values {
    /// What is to be said of all of them.
    pub(super) fn findings(&self, world: &World<'_>) -> Vec<Finding> {
        let files = world.snapshot().files();
        let mut found = Vec::new();
        for ((_, _, _, path), value) in &self.all {
            found.extend(value.dead(files, path));
            found.extend(value.losses.iter().filter_map(|(winner, loss)| value.replaced(files, path, winner, loss)));
        }
        found.extend(self.ties.values().map(|tie| tie.finding(files)));
        found
    }
}

impl Value {
    /// A value that counts nowhere, or almost nowhere. What controllers report of fields has its own findings.
    fn dead(&self, files: &Files, path: &str) -> Option<Finding> {
        let is_dead = self.holds == 0;
        let is_partly = self.reached >= MANY && self.holds * MANY <= self.reached;
        if self.family != Family::Merge || self.reached == 0 || !(is_dead || is_partly) {
            return None;
        }
        let (policy, reached) = (&self.policy, self.reached);
        let connections =
            |count: u64| counted(usize::try_from(count).unwrap_or(usize::MAX), "connection", "connections");
        let name = if path.is_empty() { "what it sets".to_owned() } else { format!("`{path}`") };
        let problem = if is_dead {
            let reached = connections(reached);
            let message =
                format!("{name} of {policy} counts nowhere: others override it for all of {reached} that it reaches");
            Diagnostic::warning(Fault::DeadField, message).help("remove it there, or from those that go before")
        } else {
            let overridden = reached - self.holds;
            let message = format!(
                "{name} of {policy} counts almost nowhere: others override it for {overridden} of {} that it reaches",
                connections(reached)
            );
            Diagnostic::note(Fault::PartlyDead, message).help("is it still meant for all that it reaches?")
        };
        let example = self.losses.values().next().map_or(&self.example, |loss| &loss.example);
        let problem = problem.help(format!("for example: {} for {example}", self.kind));
        let problem = placed(files, problem, &self.at, "overridden");
        let others = self.losses.values().filter_map(|loss| loss.at.as_ref());
        let problem = others.fold(problem, |problem, at| beside(files, problem, at, "goes before"));
        Some(Finding::from(problem).about(format!("{policy} {path}")))
    }

    /// What is lost because something else takes the place of the whole.
    fn replaced(&self, files: &Files, path: &str, winner: &str, loss: &Loss) -> Option<Finding> {
        let policy = &self.policy;
        let [unsaid, lists] = [&loss.unsaid, &loss.lists].map(|names| names.iter().cloned().collect::<Vec<String>>());
        let many = format!("{} times", loss.questions);
        let often = match loss.questions {
            1 => "once",
            _ => many.as_str(),
        };
        let (fault, message, help) = if loss.all_of_it && all_of_it_path(path) && !unsaid.is_empty() {
            let message =
                format!("{winner} takes the place of {policy} as a whole ({often}): {} is lost", quoted(&unsaid));
            (Fault::SilentReplace, message, format!("write into {winner} what should hold there, too"))
        } else if !unsaid.is_empty() {
            let message = format!(
                "{} of {policy} is lost ({often}): {winner} sets `{path}`, and what is nested in it is not merged",
                quoted(&unsaid)
            );
            (Fault::ShallowLoss, message, format!("write it into {winner} as well, or have both merged deeply"))
        } else if !lists.is_empty() {
            let message =
                format!("the list {} of {winner} takes the place of that of {policy} ({often})", quoted(&lists));
            (Fault::ListReplaced, message, format!("write all items into {winner}, if it should add to them"))
        } else {
            return None;
        };
        let problem = Diagnostic::warning(fault, message).help(help);
        let problem = problem.help(format!("for example: {} for {}", self.kind, loss.example));
        let problem = placed(files, problem, &self.at, "lost");
        let problem = match &loss.at {
            Some(at) => beside(files, problem, at, "takes its place"),
            None => problem,
        };
        Some(Finding::from(problem).about(format!("{policy} {path} {winner}")))
    }
}

impl Tie {
    fn finding(&self, files: &Files) -> Finding {
        let ((winner, winner_at), (loser, loser_at)) = (&self.winner, &self.loser);
        let fields: Vec<String> = self.fields.iter().cloned().collect();
        let fields = quoted(&fields);
        let count = counted(usize::try_from(self.questions).unwrap_or(usize::MAX), "result", "results");
        let bare = |name: &str| name.rsplit('/').next().unwrap_or(name).to_owned();
        let problem = if matches!(self.code, Code::MergeOlder | Code::MergeNewer) {
            let message = format!(
                "{winner} goes before {loser} in {fields} only because of when they were made ({count}); making one again turns it round"
            );
            Diagnostic::warning(Fault::AgeTie, message)
        } else if bare(winner) == bare(loser) {
            let message = format!(
                "{winner} and {loser} have one name, and only where they live tells which goes before in {fields} ({count})"
            );
            Diagnostic::warning(Fault::UnstableTie, message)
        } else if self.agree {
            let message = format!("{winner} goes before {loser} in {fields} by name only ({count}); both say the same");
            Diagnostic::warning(Fault::ArbitraryTie, message)
        } else {
            let message = format!(
                "{winner} goes before {loser} in {fields} by name only ({count}), and they say different things; renaming one turns it round"
            );
            Diagnostic::error(Fault::ContradictingTie, message)
        };
        let problem = problem.help("make one of them more specific, or remove it");
        let problem = problem.help(format!("for example: {} for {}", self.kind, self.example));
        let problem = match winner_at {
            Some(at) => placed(files, problem, at, "goes before"),
            None => problem,
        };
        let problem = match loser_at {
            Some(at) => beside(files, problem, at, "gives way"),
            None => problem,
        };
        Finding::from(problem).about(format!("{winner} {loser}"))
    }
}

fn placed(files: &Files, problem: Diagnostic, at: &At, text: &str) -> Diagnostic {
    match label(files, at, text) {
        Some(Label { source, span, text }) => problem.at(source, span, text),
        None => problem,
    }
}

fn beside(files: &Files, problem: Diagnostic, at: &At, text: &str) -> Diagnostic {
    match label(files, at, text) {
        Some(Label { source, span, text }) => problem.related(source, span, text),
        None => problem,
    }
}

/// The rest of the line at a place.
fn label(files: &Files, at: &At, text: &str) -> Option<Label> {
    let (source, file) = files.iter().find(|(_, file)| file.name == at.file())?;
    let written = file.tree.text();
    let start: usize = written.split_inclusive('\n').take(at.line() - 1).map(str::len).sum();
    let line = written.get(start..)?.lines().next()?;
    let before: usize = line.chars().take(at.column() - 1).map(char::len_utf8).sum();
    let [start, end] = [start + before, start + line.trim_end().len()].map(u32::try_from);
    let (start, end) = (start.ok()?, end.ok()?);
    Some(Label { source, span: Span { start, end: end.max(start) }, text: text.to_owned() })
}
