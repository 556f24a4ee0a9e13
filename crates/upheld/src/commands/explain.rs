//! `explain`: what is the result here, and why? For every kind of question.

use std::collections::BTreeSet;

use upheld_answers::stamp::line;
use upheld_answers::{Answer, Question, Supposition, Thing, Words, World};

#[cfg(feature = "server")]
use super::page::page;
use super::{Asked, Session, ask, parsed, print_concerning, print_refused, say};
use crate::cli::{self, Format};
use crate::exit::Exit;
use crate::load;
#[cfg(feature = "server")]
use crate::render::print_document;
use crate::render::text::{Text, text};
use crate::render::{self, hints, print_names, report, style, table};
use crate::report::{Depth, Family, Report, quoted};

/// How many reports are shown in full where no kind was named.
const IN_FULL: usize = 3;

pub(super) fn run(session: &Session<'_>, explain: &cli::Explain) -> Exit {
    let question = &explain.question;
    if !explain.without.is_empty() {
        return supposed(session, explain);
    }
    let Some(Asked { loaded, question: asked, answer }) = ask(session, question, Depth::All) else {
        return Exit::Failed;
    };
    for note in &answer.notes {
        say(note);
    }
    let (screen, snapshot) = (&session.screen, &loaded.snapshot);
    #[cfg(feature = "server")]
    if session.settings.output.value.is_page() {
        print_document(&page(&question.words(), &answer.document(snapshot), &answer.stamp(snapshot)));
        return Exit::Yes;
    }
    match screen.format {
        Format::Json | Format::Yaml => screen.print_data(&answer.document(snapshot)),
        Format::Jsonl => answer.reports.iter().for_each(|report| screen.print_data(&line(snapshot, report))),
        Format::Name => print_names(answer.names()),
        Format::Table | Format::Wide => {
            let footer = render::stamp(&answer.stamp(snapshot), screen);
            let explained = Explained { session, words: &question.words(), question: &asked, answer: &answer };
            screen.print(&(explained.text() + footer));
        }
    }
    Exit::Yes
}

/// The answer if some policies were not there, over what changes in it.
fn supposed(session: &Session<'_>, explain: &cli::Explain) -> Exit {
    let (words, options, screen) = (explain.question.words(), session.options(), &session.screen);
    let requests = explain.question.access.request.as_deref();
    let Some(asked) = parsed(session, &words, requests) else { return Exit::Failed };
    let Some(loaded) = session.load_beside(requests) else { return Exit::Failed };
    let supposition =
        Supposition { without: explain.without.clone(), question: Some(words.clone()), ..Supposition::default() };
    let found = match World::new(&loaded.snapshot, &options).suppose(&loaded, &supposition) {
        Ok(found) => found,
        Err(refused) => {
            load::print_warnings(&loaded);
            return print_refused(&loaded, &refused);
        }
    };
    print_concerning(session, &loaded, &found.was);
    let (document, answer) = (found.document(loaded.snapshot.digest()), &found.told);
    #[cfg(feature = "server")]
    if session.settings.output.value.is_page() {
        print_document(&super::page::supposed(&words, &explain.without, &document, loaded.snapshot.digest()));
        return Exit::Yes;
    }
    match screen.format {
        Format::Json | Format::Yaml | Format::Jsonl => screen.print_data(&document),
        Format::Name => print_names(answer.names()),
        Format::Table | Format::Wide => {
            say(&format!("note: as if {} were not there; nothing is written", explain.without.join(", ")));
            let explained = Explained { session, words: &words, question: &asked, answer };
            let otherwise = found.here.as_ref().map(|here| render::shifts::text(here, screen)).unwrap_or_default();
            screen.print(&text!("{}\n{}", explained.text(), otherwise));
        }
    }
    Exit::Yes
}

/// An answer on its way to a terminal.
pub(super) struct Explained<'a> {
    pub(super) session: &'a Session<'a>,
    pub(super) words: &'a Words,
    pub(super) question: &'a Question,
    pub(super) answer: &'a Answer,
}

impl Explained<'_> {
    pub(super) fn text(&self) -> Text {
        let Self { session, answer, .. } = self;
        let screen = &session.screen;
        let separate = |report: &Report| !matches!(report.family, Family::Select | Family::Merge);
        if answer.reports.iter().any(separate) {
            return self.several(&answer.about, &answer.reports.iter().collect::<Vec<_>>());
        }
        let groups = answer.groups();
        let mut text = Text::default();
        if groups.len() > 1 {
            let mut all = BTreeSet::new();
            let several = groups.iter().any(|(_, reports)| {
                let own: BTreeSet<&str> = reports.iter().map(|report| report.kind.as_str()).collect();
                let is_known = own.iter().any(|kind| all.contains(kind));
                all.extend(own);
                is_known
            });
            // Kinds that are each asked in one way only do not differ: they look at different ends.
            let sentence = if several {
                format!("{} has {} different answers.", answer.about, groups.len())
            } else {
                format!("{} is answered in {} parts.", answer.about, groups.len())
            };
            text.push_str(style::paint(style::ANSWER, &table::wrap(&sentence, screen.width)));
            text.push_str("\n\n");
        }
        if groups.is_empty() {
            text.push_str(self.several(&answer.about, &[]));
            text.push_str(self.not_asked());
        }
        for (index, (pairs, reports)) in groups.iter().enumerate() {
            if index > 0 {
                text.push_str("\n");
            }
            if groups.len() > 1 {
                let heading = text!("{}. {}\n", index + 1, listed(pairs, screen.verbose));
                text.push_str(style::paint(style::HEADING, &heading));
            }
            text.push_str(self.several(pairs.first().map_or("", String::as_str), reports));
            text.push_str(self.not_asked());
            if groups.len() == 1 && pairs.len() > 1 {
                text.push_str(text!("\n  The same holds for all {}: {}\n", pairs.len(), listed(pairs, screen.verbose)));
            }
        }
        text
    }

    /// Kinds that need the other end, too.
    fn not_asked(&self) -> Text {
        let Self { session, question, answer, .. } = self;
        if answer.incomplete.is_empty() {
            return Text::default();
        }
        let called = matches!(&question.thing, Thing::Connection(ends) if ends.destination().is_some());
        let flag = if called { "--from" } else { "--to" };
        let sentence = format!("Not asked, because they need {flag}: {}", answer.incomplete.join(", "));
        text!("\n{}", table::indented(&sentence, 2, session.screen.width))
    }

    /// Reports about one thing: in full, or a line each.
    fn several(&self, about: &str, reports: &[&Report]) -> Text {
        let Self { session, question, .. } = self;
        let screen = &session.screen;
        let family = reports.first().map(|report| report.family);
        let few = reports.len() <= IN_FULL;
        let in_full = match (family, &question.kind) {
            (Some(Family::Decide | Family::Comply), _) => true,
            (Some(Family::Hierarchy), None) => few,
            // What a kind says at a few places of one connection is shown in full.
            (Some(_), Some(_)) => reports.len() == 1 || (few && question.field.is_none()),
            (_, None) | (None, _) => false,
        };
        match (reports, &question.field) {
            ([], _) => text!(
                "No kind of policy that can be asked here has a policy in this mesh.\n\n  {}\n",
                hints::with_sources("`upheld list policies` shows what was read; `upheld kinds` what is known.")
            ),
            ([one], Some(path)) if question.kind.is_some() => report::field(path, one, screen),
            (reports, _) if in_full => Text::joined(reports.iter().map(|one| report::one(one, screen)), "\n"),
            (reports, _) => {
                let details = reports.iter().find(|report| report.is_tie()).or_else(|| reports.first());
                let details = details.map(|report| self.command(report));
                report::overview(about, reports, details.as_deref(), screen)
            }
        }
    }

    /// The command that shows one kind in full, ready to paste.
    fn command(&self, report: &Report) -> String {
        let Self { session, words: question, .. } = self;
        let mut words = vec!["upheld".to_owned(), "explain".to_owned()];
        let mut flag = |name: &str, value: &str| words.extend([name.to_owned(), quoted(value)]);
        for file in &session.common.files {
            flag("-f", file);
        }
        if let Some(server) = &session.common.server {
            flag("--server", server);
        }
        if let Some(revision) = &session.common.at {
            flag("--at", revision);
        }
        flag("--kind", &report.kind);
        // A proxy alone has many answers: the command is about one of them.
        let alone = question.from.is_none() && question.to.is_none();
        let called = report.about.to.as_deref().filter(|to| alone && to.contains('/') && !to.contains(' '));
        let from = if question.to.is_none() { question.from.as_deref() } else { source(question) };
        for (name, value) in [("--from", from), ("--to", question.to.as_deref().or(called))] {
            if let Some(value) = value {
                flag(name, value);
            }
        }
        for (name, value) in [("--host", &question.host), ("--path", &question.path), ("--method", &question.method)] {
            if let Some(value) = value {
                flag(name, value);
            }
        }
        for header in &question.header {
            flag("--header", header);
        }
        if let Some(mesh) = &session.common.mesh {
            flag("--mesh", mesh);
        }
        for semantics in &session.common.semantics {
            flag("--semantics", semantics);
        }
        words.extend(question.what.as_deref().filter(|_| question.to.is_none()).map(quoted));
        words.join(" ")
    }
}

/// Who calls: the one that was named without saying which, if it was not said.
fn source(words: &Words) -> Option<&str> {
    words.from.as_deref().or(words.what.as_deref())
}

fn listed(pairs: &[String], verbose: bool) -> String {
    const SHOWN: usize = 5;
    if verbose || pairs.len() <= SHOWN {
        return pairs.join(", ");
    }
    let shown: Vec<&str> = pairs.iter().take(SHOWN).map(String::as_str).collect();
    format!("{} and {} more", shown.join(", "), pairs.len() - SHOWN)
}
