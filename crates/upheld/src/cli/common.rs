//! Options of every command.

use clap::Args;
use clap_complete::engine::ArgValueCompleter;

use super::{Color, Output, SchemaChecks};
use crate::complete;

/// Where documents come from.
pub(super) const FILES: &str = "Files";
/// How answers are printed.
const OUTPUT: &str = "Output";
/// What documents mean.
pub(super) const RULES: &str = "Rules";

/// Options of every command.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Common {
    /// File, folder, glob or `-` to read; repeatable [default: the files of upheld.yaml, else this folder]
    #[arg(short = 'f', long = "file", value_name = "PATH", global = true, help_heading = FILES)]
    pub(crate) files: Vec<String>,
    #[command(flatten)]
    pub(crate) folders: Folders,
    /// Ask about the documents of this server instead of files; a token goes into `UPHELD_TOKEN`
    #[arg(long, value_name = "URL", global = true, conflicts_with = "files", help_heading = FILES)]
    pub(crate) server: Option<String>,
    /// Read the files as of a git revision, or the documents of the server as of one of its revisions
    #[arg(long, value_name = "REV", global = true, help_heading = FILES)]
    pub(crate) at: Option<String>,
    /// Only this mesh
    #[arg(short, long, global = true, add = ArgValueCompleter::new(complete::meshes), help_heading = RULES, hide_short_help = true)]
    pub(crate) mesh: Option<String>,
    /// The edition of the rules, for example kuma/0.4 or kuma/3
    #[arg(long, value_name = "NAME", global = true, value_delimiter = ',', help_heading = RULES)]
    pub(crate) semantics: Vec<String>,
    /// How to print the answer [default: table]
    #[arg(short, long, value_name = "FORMAT", global = true, value_enum, help_heading = OUTPUT, hide_possible_values = true)]
    pub(crate) output: Option<Output>,
    /// What systems were started with, by their names. Each dialect brings a flag of its own.
    #[arg(skip)]
    pub(crate) systems: Vec<(&'static str, Vec<String>)>,
    /// Whether fields of known kinds are checked by name and type [default: on]
    #[arg(long, value_name = "WHEN", global = true, value_enum, help_heading = RULES, hide_short_help = true)]
    pub(crate) schemas: Option<SchemaChecks>,
    /// Run again on every change of the files
    #[arg(short, long, help_heading = FILES)]
    pub(crate) watch: bool,
    /// Show everything, also what does not match
    #[arg(short, long, global = true, help_heading = OUTPUT)]
    pub(crate) verbose: bool,
    /// When to use colour [default: auto]
    #[arg(long, value_name = "WHEN", global = true, value_enum, help_heading = OUTPUT, hide_short_help = true)]
    pub(crate) color: Option<Color>,
    /// Use plain symbols instead of arrows
    #[arg(long, global = true, help_heading = OUTPUT, hide_short_help = true)]
    pub(crate) ascii: bool,
    /// The time at which requests are decided and from which ages are counted, for example 2025-03-01T12:00:00Z [default: the clock]
    #[arg(long, value_name = "TIME", global = true, help_heading = RULES, hide_short_help = true)]
    pub(crate) now: Option<String>,
}

/// What becomes of the files below folders.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Folders {
    /// Leave out what a .gitignore would name so: `charts`, `./overlays/dev`, `*.tpl.yaml`; repeatable
    #[arg(long, value_name = "GLOB", global = true, help_heading = FILES)]
    pub(crate) exclude: Vec<String>,
    /// Everything in the folders must be read: what would be left aside is an error
    #[arg(long, global = true, help_heading = FILES)]
    pub(crate) strict: bool,
    /// Read what helm and kustomize make of charts and kustomizations, in place of their files
    #[arg(long, global = true, help_heading = FILES)]
    pub(crate) render: bool,
}
