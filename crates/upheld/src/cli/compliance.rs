//! Questions about related objects and their tags, on the command line.

use clap::{Args, ValueEnum};

/// Who asks or acts.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Person {
    /// Who asks: user, admin, or a role such as workspaceOwner; with @workspace/ID where it holds there only
    #[arg(long = "as", value_name = "PERSON")]
    pub(crate) person: Option<String>,
}

/// Which organisation is asked about, if there are several.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Organisation {
    /// The kind of policy, if there are several whose objects must agree
    #[arg(long, value_name = "KIND")]
    pub(crate) policies: Option<String>,
}

/// Options of `audit`.
#[derive(Args, Clone, Debug)]
pub(crate) struct Audit {
    /// Only this workspace, or what your kinds call it
    #[arg(long, value_name = "NAME", alias = "scope")]
    pub(crate) workspace: Option<String>,
    /// Only this policy
    #[arg(long, value_name = "NAME")]
    pub(crate) policy: Option<String>,
    /// Only pairs with an object of this kind
    #[arg(short, long, value_name = "KIND")]
    pub(crate) kind: Option<String>,
    /// Only pairs with this object
    #[arg(long, value_name = "KIND/ID")]
    pub(crate) object: Option<String>,
    /// The lowest level whose violations make the exit code 1
    #[arg(long, value_name = "LEVEL", value_enum, default_value_t)]
    pub(crate) fail_on: FailOn,
    /// An earlier audit, made with -o json or -o sarif: says of each violation whether it is new
    #[arg(long, value_name = "FILE")]
    pub(crate) baseline: Option<String>,
    /// Let only violations that the baseline does not have make the exit code 1
    #[arg(long, requires = "baseline")]
    pub(crate) fail_on_new: bool,
    #[command(flatten)]
    pub(crate) more: MoreOfAudits,
    /// Do not look for fixes, which takes a while where there are thousands of violations
    #[arg(long)]
    pub(crate) no_fixes: bool,
    #[command(flatten)]
    pub(crate) person: Person,
    #[command(flatten)]
    pub(crate) organisation: Organisation,
}

/// What audits tell on request.
#[derive(Args, Clone, Copy, Debug)]
pub(crate) struct MoreOfAudits {
    /// Say since which commit each violation is there: the same audit of the files as they were, the latest commits first
    #[arg(long)]
    pub(crate) history: bool,
    /// List what passes in policyreport and openreports, too
    #[arg(long)]
    pub(crate) all: bool,
}

/// From which level on violations fail a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum FailOn {
    /// Policies that can refuse a change
    #[default]
    Enforce,
    /// Also those that warn
    Warn,
    /// Also those that only record
    Audit,
}

/// Options of `candidates`.
#[derive(Args, Clone, Debug)]
pub(crate) struct Candidates {
    /// For which object
    #[arg(value_name = "KIND/ID")]
    pub(crate) object: String,
    /// Candidates of this kind, for example landingZone
    #[arg(short, long, value_name = "KIND")]
    pub(crate) kind: String,
    /// In this role
    #[arg(long, value_name = "KIND/ID")]
    pub(crate) role: Option<String>,
    #[command(flatten)]
    pub(crate) person: Person,
    #[command(flatten)]
    pub(crate) organisation: Organisation,
}

/// Options of `values`.
#[derive(Args, Clone, Debug)]
pub(crate) struct Values {
    /// Of which object
    #[arg(value_name = "KIND/ID")]
    pub(crate) object: String,
    /// Which tag
    #[arg(value_name = "TAG")]
    pub(crate) tag: String,
    #[command(flatten)]
    pub(crate) person: Person,
    #[command(flatten)]
    pub(crate) organisation: Organisation,
}

/// Options of `what-if`.
#[derive(Args, Clone, Debug)]
pub(crate) struct WhatIf {
    /// A file with changes, or `-`
    #[arg(value_name = "CHANGES")]
    pub(crate) changes: String,
    /// Refuse if the files or the changes are not those of this plan any more
    #[arg(long, value_name = "ID")]
    pub(crate) plan: Option<String>,
    #[command(flatten)]
    pub(crate) person: Person,
    #[command(flatten)]
    pub(crate) organisation: Organisation,
}

/// Options of `fix`.
#[derive(Args, Clone, Debug)]
pub(crate) struct Fix {
    /// Only between these two, or around this object: project/a~workspace/b, or project/a
    #[arg(value_name = "WHAT")]
    pub(crate) what: Option<String>,
    /// Only in this workspace
    #[arg(long, value_name = "NAME", alias = "scope")]
    pub(crate) workspace: Option<String>,
    /// Only this policy
    #[arg(long, value_name = "NAME")]
    pub(crate) policy: Option<String>,
    /// What fixes may do although others are concerned
    #[arg(long, value_name = "WHAT", value_delimiter = ',')]
    pub(crate) allow: Vec<Allowed>,
    /// Make the edits in the files, and leave everything else in them as it is
    #[arg(long)]
    pub(crate) apply: bool,
    #[command(flatten)]
    pub(crate) person: Person,
    #[command(flatten)]
    pub(crate) organisation: Organisation,
}

/// What fixes may do although others are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Allowed {
    /// Open the side that grants to others, too
    Widen,
    /// Protect less than before
    Lower,
}

impl Allowed {
    /// The word for it in questions.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Widen => "widen",
            Self::Lower => "lower",
        }
    }
}

/// Options of `waivers`.
#[derive(Args, Clone, Debug)]
pub(crate) struct Waivers {
    /// Only those that cover nothing
    #[arg(long)]
    pub(crate) unused: bool,
    /// Only those that have expired
    #[arg(long)]
    pub(crate) expired: bool,
    /// Only those that end within this many days
    #[arg(long, value_name = "DAYS")]
    pub(crate) expiring: Option<u32>,
    #[command(flatten)]
    pub(crate) organisation: Organisation,
}

/// A change that `can` asks about.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct ChangeRequest {
    /// A change: link A~B, unlink A~B, tag OBJECT KEY=VALUE,VALUE, create OBJECT KEY=VALUE, or delete OBJECT
    #[arg(value_name = "CHANGE", num_args = 0.., help_heading = "Changes of related objects")]
    pub(crate) change: Vec<String>,
    /// In this role
    #[arg(long, value_name = "KIND/ID", help_heading = "Changes of related objects")]
    pub(crate) role: Option<String>,
    /// Where it is to be created
    #[arg(long = "in", value_name = "KIND/ID", help_heading = "Changes of related objects")]
    pub(crate) inside: Option<String>,
    #[command(flatten, next_help_heading = "Changes of related objects")]
    pub(crate) person: Person,
}
