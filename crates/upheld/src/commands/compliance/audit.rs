//! `audit`: who violates, hard or soft?

use std::time::Instant;

use smol_str::SmolStr;
use upheld_engine::comply::{Actor, Class, Comply, Cut, Level};
use upheld_model::nearest::nearest;
use upheld_model::{Diagnostic, Fault};

use super::{Asked, not_found};
use crate::cli::{Audit, FailOn, Person};
use crate::commands::{Session, refuse, say};
use crate::exit::Exit;
use crate::render::compliance::{self, Baseline, Beside};
use crate::report::compliance::{self as report, Audit as Report, CheckState, Filter, Fixes, MENDED, Passes, Wanted};

pub(in crate::commands) fn run(session: &Session<'_>, audit: &Audit) -> Exit {
    let Some(mut asked) = Asked::load(session, &audit.organisation, None) else { return Exit::Failed };
    let (cut, filters, viewer) = match cut(&asked, audit) {
        Ok(cut) => cut,
        Err(problems) => return refuse(&problems),
    };
    let previous = match audit.baseline.as_deref().map(baseline).transpose() {
        Ok(previous) => previous,
        Err(problem) => return refuse(&[problem]),
    };
    let output = session.settings.output.value;
    let passes = if compliance::lists_passes(output) { Passes::Listed } else { Passes::Counted };
    let fixes = if audit.no_fixes { Fixes::None } else { Fixes::Tried };
    let (files, digest) = (asked.loaded.snapshot.files(), asked.loaded.snapshot.digest().to_owned());
    let started = Instant::now();
    let report = report::audit(&mut asked.comply, files, &Wanted { cut, viewer, passes, fixes });
    // Who says what time it is wants the same answer again.
    let took = session.common.now.is_none().then(|| started.elapsed());
    let report = Report { snapshot: Some(digest), filters, ..report }.finished();
    if fixes == Fixes::Tried && report.violations().count() > MENDED {
        say(&format!("note: ways to mend are told for the first {MENDED} violations; `upheld fix` plans for all"));
    }
    compliance::print(&report, output, &session.screen, &Beside { baseline: previous.as_ref(), took });
    exit_of(&report, audit.fail_on)
}

/// What the audit is cut to, and for whom.
fn cut(asked: &Asked, audit: &Audit) -> Result<(Cut, Vec<Filter>, Actor), Vec<Diagnostic>> {
    let comply = &asked.comply;
    let mut problems = Vec::new();
    let mut filters = Vec::new();
    let mut cut = Cut::default();
    let mut note = |by: &str, value: &str| filters.push(Filter { by: by.to_owned(), value: value.to_owned() });
    if let Some(written) = &audit.workspace {
        match asked.scope(written) {
            Ok(scope) => {
                note(scope_word(comply), &comply.reference(scope));
                cut.scope = Some(scope);
            }
            Err(problem) => problems.push(problem),
        }
    }
    if let Some(written) = &audit.object {
        match asked.object(written) {
            Ok(object) => {
                note("object", &comply.reference(object));
                cut.object = Some(object);
            }
            Err(problem) => problems.push(problem),
        }
    }
    if let Some(written) = &audit.policy {
        match comply.policy(written) {
            Some(policy) => {
                note("policy", &policy.id);
                cut.policy = Some(policy.id.clone());
            }
            None => problems.push(unknown_policy(comply, written)),
        }
    }
    if let Some(written) = &audit.kind {
        match comply.kinds_of(written) {
            Ok(kinds) => {
                note("kind", written);
                cut.kinds = Some(kinds);
            }
            Err(refusal) => problems.push(not_found(comply, &refusal)),
        }
    }
    let actor = asked.actor(&audit.person, None).unwrap_or_else(|problem| {
        problems.push(problem);
        Actor::System
    });
    if problems.is_empty() {
        let seen = cut_to_sight(asked, &mut cut, &actor).map_err(|problem| vec![problem])?;
        filters.extend(seen);
        // Everything is shown to whoever runs it; what would mend it is told for end-users, who need it most.
        let viewer = match actor {
            Actor::System => asked.actor(&Person::default(), Some(Class::EndUser)).unwrap_or(Actor::System),
            person @ Actor::Person { .. } => person,
        };
        Ok((cut, filters, viewer))
    } else {
        Err(problems)
    }
}

/// What the kind of policies calls a workspace.
fn scope_word(comply: &Comply) -> &str {
    comply.profile().scope.map_or("workspace", |scope| comply.profile().kind_name(scope))
}

/// Cuts an audit to what somebody may see, and says so.
fn cut_to_sight(asked: &Asked, cut: &mut Cut, actor: &Actor) -> Result<Option<Filter>, Diagnostic> {
    let comply = &asked.comply;
    let visible = comply.sight(actor).map_err(|refusal| {
        let message = upheld_engine::words::comply::refusal(comply.profile(), &refusal);
        Diagnostic::error(Fault::Forbidden, message)
    })?;
    let mut filter = None;
    if let Some(own) = visible {
        if cut.scope.is_some_and(|scope| scope != own) {
            let message = format!("only violations of `{}` can be seen by this role", comply.reference(own));
            return Err(Diagnostic::error(Fault::Forbidden, message));
        }
        if cut.scope.is_none() {
            let own = comply.reference(own);
            say(&format!("note: cut to {own}, which is what this role may see"));
            filter = Some(Filter { by: scope_word(comply).to_owned(), value: own.to_string() });
        }
        cut.scope = Some(own);
    }
    Ok(filter)
}

pub(super) fn unknown_policy(comply: &Comply, written: &str) -> Diagnostic {
    let policies = comply.policies();
    let diagnostic = Diagnostic::error(Fault::NotFound, format!("there is no policy `{written}`"));
    match nearest(written, policies.iter().map(|policy| policy.id.as_str())) {
        Some(meant) => diagnostic.help(format!("did you mean `{meant}`?")),
        None => {
            let names: Vec<SmolStr> = policies.iter().take(12).map(|policy| policy.id.clone()).collect();
            diagnostic.help(format!("policies: {}", names.join(", ")))
        }
    }
}

/// No if anything violates a policy of the level that counts.
fn exit_of(report: &Report, fail_on: FailOn) -> Exit {
    let counts = |level: Level| match fail_on {
        FailOn::Enforce => level == Level::Enforce,
        FailOn::Warn => matches!(level, Level::Enforce | Level::Warn),
        FailOn::Audit => level != Level::Off,
    };
    let fails = report
        .violations()
        .any(|check| check.state != CheckState::Waived && Level::of(check.level.name()).is_some_and(counts));
    if fails { Exit::No } else { Exit::Yes }
}

/// What an earlier run found.
fn baseline(file: &str) -> Result<Baseline, Diagnostic> {
    let unreadable = |problem: String| {
        Diagnostic::error(Fault::Unreadable, format!("cannot read the baseline `{file}`: {problem}"))
            .help("it is made by `upheld audit -o sarif`")
    };
    let text = std::fs::read_to_string(file).map_err(|error| unreadable(error.to_string()))?;
    Baseline::read(&text).map_err(unreadable)
}
