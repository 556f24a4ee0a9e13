//! How tests are run from the command line.

use clap::Args;

/// Options of `test`.
#[derive(Args, Clone, Debug)]
pub(crate) struct Test {
    /// Only cases with such a name; `*` is any characters
    #[arg(long, value_name = "NAME-GLOB")]
    pub(crate) only: Option<String>,
    /// Only cases with this tag; repeatable
    #[arg(long, value_name = "TAG")]
    pub(crate) tag: Vec<String>,
    /// Also check what invariants say stays `unchanged` since then: a git revision, a folder, or a revision of the server
    #[arg(long, value_name = "BEFORE")]
    pub(crate) since: Option<String>,
    /// Fail if tests decide a smaller percentage of the policies
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(0..=100))]
    pub(crate) fail_under: Option<u8>,
    /// Do not report coverage
    #[arg(long, conflicts_with = "fail_under")]
    pub(crate) no_coverage: bool,
    /// Change access policies one clause at a time, and list the changes that no test notices
    #[arg(long)]
    pub(crate) mutate: bool,
}
