//! `replay`: what would a draft have decided otherwise?

use std::fs::File;
use std::io::{BufRead, BufReader, Read, stdin};

use upheld_answers::formats::shifts_markdown;
use upheld_answers::replay::{Earlier, Lines, Replay, Replayed};
use upheld_answers::{Progress, World};
use upheld_loader::load::Loaded;
use upheld_model::{Diagnostic, Fault};

use super::{Side, exit_of, paths};
use crate::cli::{Findings, Format, Output, Replay as Wanted};
use crate::commands::{Session, print_refused, refuse, say};
use crate::config::{Setting, Settings};
use crate::exit::Exit;
use crate::load;
use crate::render::{bar, print_document, print_names, replayed};
use crate::report::{Phrase, Shifting};

/// So many lines are held at a time.
const PIECE: usize = 4_096;
/// A line that is longer is nobody's request.
const LONGEST: u64 = 1 << 20;

pub(in crate::commands) fn run(session: &Session<'_>, wanted: &Wanted) -> Exit {
    let options = session.options();
    let Some((before, after)) = sides(session, wanted) else { return Exit::Failed };
    let earlier = before.as_ref().map(|loaded| World::new(&loaded.snapshot, &options));
    let world = World::new(&after.snapshot, &options);
    let replay = Replay::new(earlier.as_ref(), Earlier::Logged, &world, wanted.kind.as_deref(), &wanted.map);
    let mut replay = match replay {
        Ok(replay) => replay,
        Err(refused) => return print_refused(&after, &refused),
    };
    if let Err(problem) = each_piece(&wanted.logs, |lines| replay.lines(lines)) {
        return refuse(&[problem]);
    }
    let replayed = replay.finish();
    print(session, &replayed, &after);
    if wanted.exit_zero { Exit::Yes } else { exit_of(&replayed.shifts) }
}

/// How many requests of some logs are decided otherwise by the policies of another world.
pub(super) fn known(before: &World<'_>, after: &World<'_>, logs: &[String]) -> Result<Phrase, Exit> {
    let replay = Replay::new(Some(before), Earlier::Asked, after, None, &[]);
    let mut replay = replay.map_err(|refused| refuse(&refused.diagnostics))?;
    each_piece(logs, |lines| replay.lines(lines)).map_err(|problem| refuse(&[problem]))?;
    Ok(Shifting::KnownRequests { counts: replay.finish().counts }.into())
}

/// Who decided where lines do not say it, and who decides again. Without a draft, the files do, and lines must say what was decided.
fn sides(session: &Session<'_>, wanted: &Wanted) -> Option<(Option<Loaded>, Loaded)> {
    let Some(against) = &wanted.against else { return Some((None, session.load()?)) };
    let side = paths(against).map_or_else(|| Side::Revision(against.clone()), Side::Paths);
    let mut settings = session.settings.clone();
    let mut revision = None;
    match side {
        Side::Paths(value) => settings.files = Setting { value, origin: "argument".to_owned() },
        Side::Revision(name) => revision = Some(name),
        Side::Files | Side::Served(_) => {}
    }
    let Some(after) = load::snapshot(&settings, revision.as_deref()) else {
        if let Some(name) = revision {
            say(&format!("note: there is no file or folder `{name}`, so it was taken for a git revision"));
        }
        return None;
    };
    let before = before(&session.settings);
    Some((before, after))
}

/// The files as they are. A log that says what was decided needs none.
fn before(settings: &Settings) -> Option<Loaded> {
    let read = load::try_snapshot(settings, None);
    if read.is_err() {
        say("note: there are no policies to read here, so lines count only if they say what was decided");
    }
    read.ok()
}

/// Reads logs piece by piece.
pub(super) fn each_piece(logs: &[String], mut take: impl FnMut(Lines<'_>)) -> Result<(), Diagnostic> {
    let bar = bar::Bar::new("bytes");
    for file in logs {
        let unreadable = |error: std::io::Error| {
            Diagnostic::error(Fault::Unreadable, format!("cannot read `{file}`: {error}"))
                .help("name a log with a JSON object a line, or `-` for standard input")
        };
        let mut log: Box<dyn BufRead> = if file == "-" {
            Box::new(stdin().lock())
        } else {
            let opened = File::open(file).map_err(unreadable)?;
            bar.expect(opened.metadata().map_or(0, |metadata| metadata.len()));
            Box::new(BufReader::new(opened))
        };
        let mut first = 1;
        loop {
            let (lines, bytes) = piece(&mut log).map_err(unreadable)?;
            if lines.is_empty() {
                break;
            }
            take(Lines { file, first, lines: &lines });
            first += lines.len() as u64;
            bar.done(bytes);
        }
    }
    bar.finish();
    Ok(())
}

/// The next lines, and how many bytes they were.
fn piece(log: &mut dyn BufRead) -> std::io::Result<(Vec<String>, u64)> {
    let (mut lines, mut bytes) = (Vec::new(), 0);
    while lines.len() < PIECE {
        let mut line = Vec::new();
        let read = log.take(LONGEST).read_until(b'\n', &mut line)?;
        if read == 0 {
            break;
        }
        bytes += read as u64;
        // The rest of a line that is too long is passed over; what is left of it cannot be read as a request.
        if read as u64 == LONGEST && line.last() != Some(&b'\n') {
            bytes += log.skip_until(b'\n')? as u64;
        }
        lines.push(String::from_utf8_lossy(&line).into_owned());
    }
    Ok((lines, bytes))
}

fn print(session: &Session<'_>, found: &Replayed, after: &Loaded) {
    let screen = &session.screen;
    if session.settings.output.value == Output::Report(Findings::Markdown) {
        return print_document(&shifts_markdown(&found.shifts));
    }
    match screen.format {
        Format::Json | Format::Yaml => screen.print_data(&found.document(after.snapshot.digest())),
        Format::Jsonl => found.shifts.shifts.iter().for_each(|shift| screen.print_data(shift)),
        Format::Name => {
            let policies = found.shifts.shifts.iter().flat_map(|shift| &shift.after.policies);
            print_names(policies);
        }
        Format::Table | Format::Wide => screen.print(&replayed::text(found, screen)),
    }
}
