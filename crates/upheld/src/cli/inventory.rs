//! Options of what lists and shows.

use clap::{Args, Subcommand, ValueEnum};
use clap_complete::engine::ArgValueCompleter;

use crate::complete;

/// Options of `list`.
#[derive(Args, Clone, Debug)]
pub(crate) struct List {
    /// What to list
    #[arg(value_enum)]
    pub(crate) what: Option<Listed>,
    /// Only this type
    #[arg(short, long, add = ArgValueCompleter::new(complete::kinds))]
    pub(crate) kind: Option<String>,
}

/// What `list` can list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Listed {
    /// Policies
    #[value(alias = "policy")]
    Policies,
    /// Proxies, external services and meshes
    #[value(alias = "object")]
    Objects,
    /// Services that something offers or calls
    #[value(alias = "service")]
    Services,
    /// Meshes
    #[value(alias = "mesh")]
    Meshes,
}

/// Options of `show`.
#[derive(Args, Clone, Debug)]
pub(crate) struct Show {
    /// A name, or kind/name, or kind/mesh/name
    #[arg(add = ArgValueCompleter::new(complete::things))]
    pub(crate) name: String,
    /// In how many results each field of a policy is what holds, and who goes before it in the others
    #[arg(long)]
    pub(crate) fields: bool,
}

/// Options of `kinds`.
#[derive(Args, Clone, Debug)]
pub(crate) struct Kinds {
    #[command(subcommand)]
    pub(crate) action: Option<KindsAction>,
}

/// What to do with kinds.
#[derive(Clone, Debug, Subcommand)]
pub(crate) enum KindsAction {
    /// The document of one kind
    Show {
        /// Its name
        #[arg(add = ArgValueCompleter::new(complete::kinds))]
        name: String,
    },
}
