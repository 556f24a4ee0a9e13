//! Options of what compares: `diff`, `prove`, `affected`.

use clap::{Args, ValueEnum};
use clap_complete::engine::ArgValueCompleter;

use upheld_answers::Remade;

use super::Question;
use crate::complete;

/// Two sides: folders, files, or revisions.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Sides {
    /// Two files or folders; or revisions: main..HEAD, main.. (against the files as they are), main [default: HEAD]
    #[arg(value_name = "BEFORE AFTER | REV..REV", num_args = 0..=2)]
    pub(crate) sides: Vec<String>,
}

/// Options of `diff`.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Diff {
    #[command(flatten)]
    pub(crate) sides: Sides,
    /// What if a policy were deleted and made again now; without a name: all of them at once, as after a restore from a backup
    #[arg(long, value_name = "POLICY", num_args = 0..=1, require_equals = true, value_delimiter = ',', conflicts_with = "sides")]
    pub(crate) recreated: Option<Vec<String>>,
    /// What if a policy had another name; repeatable
    #[arg(long, value_name = "OLD=NEW", conflicts_with = "sides", value_parser = renamed)]
    pub(crate) renamed: Vec<(String, String)>,
    /// Exit with 1 only if this is among what changes; repeatable, or with commas [default: anything]
    #[arg(long, value_name = "WHAT", value_enum, value_delimiter = ',')]
    pub(crate) fail_on: Vec<Worse>,
    /// Exit with 0 whatever changes
    #[arg(long, conflicts_with = "fail_on")]
    pub(crate) exit_zero: bool,
    /// Say how many requests of a log change, too; repeatable
    #[arg(long, value_name = "LOG")]
    pub(crate) log: Vec<String>,
}

impl Diff {
    /// What is supposed of documents, in place of a second side.
    pub(crate) fn supposed(&self) -> Remade {
        let recreated = self.recreated.clone().unwrap_or_default();
        Remade {
            restored: self.recreated.is_some() && recreated.is_empty(),
            recreated,
            renamed: self.renamed.iter().cloned().collect(),
        }
    }
}

/// Reads `OLD=NEW`.
fn renamed(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((old, new)) if !old.is_empty() && !new.is_empty() => Ok((old.to_owned(), new.to_owned())),
        _ => Err("write the old name and the new one: OLD=NEW".to_owned()),
    }
}

/// What a change can bring that somebody may not want.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Worse {
    /// Something is permitted that was not
    Widened,
    /// Something is not permitted any more
    Narrowed,
    /// A violation begins that would be refused
    Hard,
    /// A violation begins that is accepted
    Soft,
    /// Results rest on the order of names, or on age, that did not
    Arbitrary,
    /// An invariant says that something stays `unchanged`, and it does not, or nobody can tell
    Invariants,
}

/// Options of `affected`.
#[derive(Args, Clone, Debug)]
pub(crate) struct Affected {
    /// The policy: a name, kind/name, or kind/mesh/name
    #[arg(value_name = "POLICY", add = ArgValueCompleter::new(complete::things))]
    pub(crate) policy: String,
    /// What is supposed: that it is deleted, disabled, or edited: --if edited FILE
    #[arg(long = "if", value_names = ["WHAT", "FILE"], num_args = 1..=2, default_value = "deleted")]
    pub(crate) supposed: Vec<String>,
}

/// Options of `why-not`.
#[derive(Args, Clone, Debug)]
pub(crate) struct WhyNot {
    /// The policy: a name, kind/name, or kind/mesh/name
    #[arg(value_name = "POLICY", add = ArgValueCompleter::new(complete::things))]
    pub(crate) policy: String,
    #[command(flatten)]
    pub(crate) question: Question,
}

/// Options of `replay`.
#[derive(Args, Clone, Debug)]
pub(crate) struct Replay {
    /// Logs with a JSON object a line: of decisions, of requests, or of an access log; - is standard input
    #[arg(value_name = "LOG", required = true)]
    pub(crate) logs: Vec<String>,
    /// The draft that decides again: files, a folder or a git revision [default: the files as they are]
    #[arg(long, value_name = "FOLDER|REV")]
    pub(crate) against: Option<String>,
    /// Which field of a line has a part of the request: subject.id=user, resource.path=uri; repeatable
    #[arg(long, value_name = "PART=FIELD")]
    pub(crate) map: Vec<String>,
    /// The kind of policies, if several decide
    #[arg(long, value_name = "KIND", add = ArgValueCompleter::new(complete::kinds))]
    pub(crate) kind: Option<String>,
    /// Exit with 0 whatever is decided otherwise
    #[arg(long)]
    pub(crate) exit_zero: bool,
}

/// Options of `bisect`.
#[derive(Args, Clone, Debug)]
pub(crate) struct Bisect {
    #[command(flatten)]
    pub(crate) question: Question,
    /// A revision at which the answer was still as it should be
    #[arg(long, value_name = "REV")]
    pub(crate) good: String,
    /// A revision at which it is not
    #[arg(long, value_name = "REV", default_value = "HEAD")]
    pub(crate) bad: String,
}

/// Options of `lint`.
#[derive(Args, Clone, Debug)]
pub(crate) struct Lint {
    /// Only these codes, or all that begin so: UP201, UP4; repeatable, or with commas
    #[arg(long, value_name = "CODE", value_delimiter = ',')]
    pub(crate) only: Vec<String>,
    /// Exit with 1 if there is a finding at least as bad
    #[arg(long, value_name = "SEVERITY", value_enum, default_value = "warning")]
    pub(crate) fail_on: LintFail,
    /// An earlier run, made with -o json or -o sarif: says of each finding whether it is new
    #[arg(long, value_name = "FILE")]
    pub(crate) baseline: Option<String>,
    /// Let only findings that the baseline does not have make the exit code 1
    #[arg(long, requires = "baseline")]
    pub(crate) fail_on_new: bool,
    /// Write what was found into a file, to be the baseline of later runs; the exit code is 0 then
    #[arg(long, value_name = "FILE")]
    pub(crate) write_baseline: Option<String>,
    /// Find also what no policy of this kind reaches (UP602); repeatable, or with commas
    #[arg(long, value_name = "KIND", value_delimiter = ',', add = ArgValueCompleter::new(complete::kinds))]
    pub(crate) require: Vec<String>,
    /// Find also policies of which nobody says whose they are or what they are for (UP603)
    #[arg(long)]
    pub(crate) require_owner: bool,
    /// Find also what the requests of a log show: those that only the default decides (UP404), and policies that apply to none (UP407); repeatable
    #[arg(long, value_name = "LOG")]
    pub(crate) log: Vec<String>,
    /// Make the edits that end findings and change no result, each proved first; with -o patch, print them as a diff
    #[arg(long)]
    pub(crate) fix: bool,
}

/// Which findings fail a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LintFail {
    /// Errors
    Error,
    /// Warnings and errors
    Warning,
    /// All
    Note,
    /// None
    Never,
}
