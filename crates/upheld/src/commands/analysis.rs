//! Commands that compare: what changes from one set of documents to another.

pub(super) mod affected;
pub(super) mod bisect;
pub(super) mod blame;
pub(super) mod diff;
pub(super) mod lint;
pub(super) mod prove;
pub(super) mod replay;
pub(super) mod why_not;

use std::path::Path;

use crate::report::{Comparison, Shifts};
use upheld_answers::{Options, Remade, World};
use upheld_loader::load::Loaded;
use upheld_model::{Diagnostic, Fault};

use super::{Session, not_answered, print_refused, refuse, server};
use crate::cli::Sides;
use crate::config::{Setting, Settings};
use crate::exit::Exit;
use crate::load;
use crate::remote::Server;
use crate::render::bar;

/// What is compared, and what changes.
struct Compared {
    before: Loaded,
    after: Loaded,
    shifts: Shifts,
}

/// Reads both sides and compares them, the requests of some logs among it; problems were printed if that cannot be done.
fn compare(session: &Session<'_>, sides: &Sides, logs: &[String]) -> Result<Compared, Exit> {
    super::decision::now(session).map_err(|problems| refuse(&[problems]))?;
    let [before, after] = read(session, sides)?;
    let [old, new] = [&before.1, &after.1];
    let bar = bar::Bar::new("results");
    let (old, new) = (World::new(&before.0.snapshot, old), World::new(&after.0.snapshot, new));
    let mut shifts = old.review(&new, &bar);
    bar.finish();
    if !logs.is_empty() {
        shifts.notes.push(replay::known(&old, &new, logs)?);
    }
    Ok(Compared { before: before.0, after: after.0, shifts })
}

/// What would change if something about the documents were otherwise.
fn suppose(session: &Session<'_>, supposed: &Remade) -> Result<Compared, Exit> {
    super::decision::now(session).map_err(|problems| refuse(&[problems]))?;
    let side = server(session.common).map_or(Side::Files, Side::Served);
    let [semantics, _] = editions(&session.settings);
    let (before, options) = read_side(session, side, semantics)?;
    let bar = bar::Bar::new("results");
    let found = World::new(&before.snapshot, &options).if_supposed(&before, supposed, &bar);
    drop(bar);
    match found {
        Ok((after, shifts)) => Ok(Compared { before, after, shifts }),
        Err(refused) => Err(print_refused(&before, &refused)),
    }
}

/// One side: what was read, and how it is asked.
type Read = (Loaded, Options);

fn read(session: &Session<'_>, sides: &Sides) -> Result<[Read; 2], Exit> {
    let wanted = wanted(session, sides).map_err(|problem| refuse(&[problem]))?;
    let semantics = editions(&session.settings);
    let mut read = Vec::new();
    for (side, semantics) in wanted.into_iter().zip(semantics) {
        read.push(read_side(session, side, semantics)?);
    }
    <[Read; 2]>::try_from(read).map_err(|_| Exit::Failed)
}

fn read_side(session: &Session<'_>, side: Side, semantics: Setting<Vec<String>>) -> Result<Read, Exit> {
    let mut settings = Settings { semantics, ..session.settings.clone() };
    let mut revision = None;
    match side {
        Side::Paths(value) => settings.files = Setting { value, origin: "argument".to_owned() },
        Side::Revision(name) => revision = Some(name),
        Side::Files => {}
        Side::Served(server) => {
            super::take_along(&server, &mut settings).map_err(|no_answer| not_answered(&no_answer))?;
        }
    }
    let loaded = load::snapshot(&settings, revision.as_deref()).ok_or(Exit::Failed)?;
    let options = Options { semantics: settings.semantics.value.clone(), ..session.options() };
    Ok((loaded, options))
}

/// What was before: files and folders, or a revision of git or of a server. Problems were printed if it cannot be read.
pub(super) fn earlier(session: &Session<'_>, since: &str) -> Result<(Loaded, Options), Exit> {
    let side = paths(since).map_or_else(|| revision(server(session.common).as_ref(), since), Side::Paths);
    let [semantics, _] = editions(&session.settings);
    read_side(session, side, semantics)
}

/// Where one side comes from.
#[derive(Debug)]
enum Side {
    /// Files and folders.
    Paths(Vec<String>),
    /// A git revision of the files.
    Revision(String),
    /// The files as they are.
    Files,
    /// The documents of a server.
    Served(Server),
}

/// A revision by its name; what is there now has none.
fn revision(server: Option<&Server>, name: &str) -> Side {
    match (server, name) {
        (Some(server), "") => Side::Served(Server { at: None, ..server.clone() }),
        (Some(server), name) => Side::Served(Server { at: Some(name.to_owned()), ..server.clone() }),
        (None, "") => Side::Files,
        (None, name) => Side::Revision(name.to_owned()),
    }
}

fn wanted(session: &Session<'_>, sides: &Sides) -> Result<[Side; 2], Diagnostic> {
    let server = server(session.common);
    let revision = |name: &str| revision(server.as_ref(), name);
    match sides.sides.as_slice() {
        // Two editions of the rules are two sides already.
        [] if editions_differ(&session.settings) => Ok([revision(""), revision("")]),
        [] if server.is_some() => Err(usage("which revisions of the server?", "upheld diff --server URL 3..5")),
        [] => Ok([revision("HEAD"), Side::Files]),
        [one] if one.contains("..") && !Path::new(one).exists() => {
            let (before, after) = one.split_once("..").unwrap_or((one, ""));
            // As git has it: of three dots, what the second side did since they parted. Both mean the same to a reader in a hurry.
            let after = after.trim_start_matches('.');
            Ok([revision(if before.is_empty() { "HEAD" } else { before }), revision(after)])
        }
        [one] if Path::new(one).exists() => {
            let help = format!(
                "name the other one: `upheld diff {one} AFTER`, or two revisions: `upheld diff -f {one} main..HEAD`"
            );
            Err(usage(&format!("`{one}` is one side only"), &help))
        }
        [one] => Ok([revision(one), revision("")]),
        [before, after] => match (paths(before), paths(after)) {
            (Some(before), Some(after)) => Ok([Side::Paths(before), Side::Paths(after)]),
            (None, None) => Ok([revision(before), revision(after)]),
            (found, _) => {
                let missing = if found.is_some() { after } else { before };
                Err(usage(
                    &format!("there is no file or folder `{missing}`"),
                    "both sides are paths, or both are revisions",
                ))
            }
        },
        _ => Err(usage("there are two sides at most", "upheld diff BEFORE AFTER")),
    }
}

/// Files and folders that are there, with commas between them.
fn paths(written: &str) -> Option<Vec<String>> {
    if Path::new(written).exists() {
        return Some(vec![written.to_owned()]);
    }
    let each: Vec<String> = written.split(',').map(str::to_owned).collect();
    each.iter().all(|path| Path::new(path).exists()).then_some(each)
}

fn usage(message: &str, help: &str) -> Diagnostic {
    Diagnostic::error(Fault::BadSetting, message.to_owned()).help(help)
}

/// The editions of both sides: `kuma/0.3..kuma/0.4` names two.
fn editions(settings: &Settings) -> [Setting<Vec<String>>; 2] {
    let side = |pick: fn((&str, &str)) -> String| Setting {
        value: (settings.semantics.value.iter())
            .map(|name| name.split_once("..").map_or_else(|| name.clone(), pick))
            .collect(),
        origin: settings.semantics.origin.clone(),
    };
    [side(|(before, _)| before.to_owned()), side(|(_, after)| after.to_owned())]
}

fn editions_differ(settings: &Settings) -> bool {
    settings.semantics.value.iter().any(|name| name.contains(".."))
}

/// What scripts learn.
fn exit_of(shifts: &Shifts) -> Exit {
    match shifts.verdict {
        Comparison::Equal => Exit::Yes,
        Comparison::Differs => Exit::No,
        Comparison::Undecided => Exit::Undecided,
    }
}
