//! Requests from flags and files, and who decided them.

pub(super) mod can;
pub(super) mod reach;

use std::io::Read;
use std::time::SystemTime;

use upheld_answers::Refused;
use upheld_dialects::access::{Edition, questions};
use upheld_engine::decide::Request;
use upheld_loader::Format as Reading;
use upheld_model::{Diagnostic, Fault, Timestamp};

use super::Session;
use crate::report::{Outcome, Report};

/// Who decided, by a word.
pub(super) fn by(report: &Report) -> &str {
    match (report.policies.first(), report.outcome) {
        (Some(policy), _) => policy,
        (None, Outcome::Default) => "(default)",
        (None, Outcome::Undecided) => "(nobody)",
        (None, _) => "(algorithm)",
    }
}

/// What must be done along with a decision: whoever reads the word must not miss it.
pub(super) fn obligations(report: &Report) -> Option<String> {
    let obligations = report.decision().map_or(&[][..], |detail| detail.obligations.as_slice());
    let ids: Vec<&str> = obligations.iter().map(|duty| duty.id.as_str()).collect();
    (!ids.is_empty()).then(|| ids.join(", "))
}

/// The same, after a word.
pub(super) fn with_obligations(report: &Report) -> String {
    obligations(report).map(|ids| format!(" with obligations: {ids}")).unwrap_or_default()
}

/// The requests of a file.
pub(super) fn from_file(session: &Session<'_>, file: &str) -> Result<Vec<Request>, Refused> {
    read_as(file, questions::edition(&session.options()))
}

/// The same in an edition.
fn read_as(file: &str, edition: Edition) -> Result<Vec<Request>, Refused> {
    let format = Reading::of_name(file).unwrap_or(Reading::Yaml);
    questions::read(file, format, read(file)?, edition)
}

/// The time that the user named, or that of the clock.
pub(super) fn now(session: &Session<'_>) -> Result<Timestamp, Diagnostic> {
    let Some(text) = &session.common.now else { return Ok(clock()) };
    text.parse().map_err(|_| {
        let message = format!("`--now {text}` is not a valid timestamp");
        Diagnostic::error(Fault::BadSetting, message).help("for example `--now 2025-03-01T12:00:00Z`")
    })
}

/// The time of the clock.
pub(super) fn clock() -> Timestamp {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(since.as_nanos()).unwrap_or(i64::MAX))
}

/// The text of a file, or of standard input.
pub(super) fn read(file: &str) -> Result<String, Vec<Diagnostic>> {
    let text = if file == "-" {
        let mut text = String::new();
        std::io::stdin().lock().read_to_string(&mut text).map(|_| text)
    } else {
        std::fs::read_to_string(file)
    };
    text.map_err(|error| vec![Diagnostic::error(Fault::Unreadable, format!("cannot read `{file}`: {error}"))])
}
