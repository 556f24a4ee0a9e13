//! How the server is started from the command line.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use jiff::SignedDuration;
use upheld_server::config::IpNet;

use super::operations::Operations;

/// Where revisions are kept.
#[derive(Args, Clone, Debug)]
pub(crate) struct Kept {
    /// Keep revisions in this folder [default: the data folder of the platform]
    #[arg(long, value_name = "DIR", env = "UPHELD_DATA", conflicts_with = "database")]
    pub(crate) data: Option<PathBuf>,
    /// Keep revisions in this PostgreSQL database: any number of servers may share it
    #[arg(long, value_name = "URL", env = "UPHELD_DATABASE", hide_env_values = true)]
    pub(crate) database: Option<String>,
}

/// Options of `serve`.
#[derive(Args, Clone, Debug)]
pub(crate) struct Serve {
    /// Where to listen; port 0 takes a free one
    #[arg(long, value_name = "ADDR:PORT", env = "UPHELD_LISTEN", default_value = "127.0.0.1:8181")]
    pub(crate) listen: SocketAddr,
    #[command(flatten)]
    pub(crate) kept: Kept,
    /// Keep nothing: revisions end with the process
    #[arg(long, conflicts_with_all = ["data", "database"])]
    pub(crate) ephemeral: bool,
    /// Forget older revisions, but keep at least so many [default: keep all]
    #[arg(long, value_name = "COUNT")]
    pub(crate) keep_revisions: Option<u64>,
    /// Forget older revisions, but keep them at least so long, for example 30d or 12h [default: keep all]
    #[arg(long, value_name = "TIME", value_parser = age)]
    pub(crate) keep_for: Option<SignedDuration>,
    /// Also serve these files, and read them again when they change; repeatable
    #[arg(long, value_name = "PATH")]
    pub(crate) watch: Vec<PathBuf>,
    /// How the world calls this server, for documents that name it
    #[arg(long, value_name = "URL", env = "UPHELD_PUBLIC_URL")]
    pub(crate) public_url: Option<String>,
    /// Where the administration API of access policies is
    #[arg(long, value_name = "PATH", default_value = "/authz")]
    pub(crate) access_base: String,
    /// The environment, for policies that are seeded in some environments only
    #[arg(long, value_name = "NAME", env = "UPHELD_ENVIRONMENT", default_value = "development")]
    pub(crate) environment: String,
    /// The header in which a proxy in front says who asks, as JSON
    #[arg(long, value_name = "NAME", default_value = "x-identity")]
    pub(crate) identity_header: String,
    /// Believe that header, and forwarded addresses, from this network; repeatable [default: this machine]
    #[arg(long, value_name = "NETWORK")]
    pub(crate) trusted_peer: Vec<IpNet>,
    /// How many proxies in front add to `X-Forwarded-For`
    #[arg(long, value_name = "COUNT", default_value = "0")]
    pub(crate) trusted_hops: usize,
    /// Tokens, keys, rights and certificates: see docs/security.md [default: a token that is printed once]
    #[arg(long, value_name = "FILE", env = "UPHELD_SECURITY")]
    pub(crate) security: Option<PathBuf>,
    /// The most bytes that a body may have
    #[arg(long, value_name = "BYTES", default_value = "1048576", help_heading = "Limits")]
    pub(crate) max_body: usize,
    /// The most documents or questions in one batch
    #[arg(long, value_name = "COUNT", default_value = "1000", help_heading = "Limits")]
    pub(crate) max_batch: usize,
    /// The most requests of one client in a second [default: as many as they like]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..), help_heading = "Limits")]
    pub(crate) max_rate: Option<u32>,
    #[command(flatten, next_help_heading = "Operations")]
    pub(crate) operations: Operations,
}

/// A length of time: `90s`, `15m`, `12h`, `30d`.
fn age(text: &str) -> Result<SignedDuration, String> {
    let wrong = || format!("`{text}` is no length of time; for example 30d, 12h, 15m or 90s");
    let digits = text.trim_end_matches(|unit: char| unit.is_ascii_alphabetic());
    let number: i64 = digits.parse().map_err(|_| wrong())?;
    let seconds = match text.strip_prefix(digits).unwrap_or_default() {
        "s" => 1,
        "m" => 60,
        "h" => 3_600,
        "d" => 86_400,
        _ => return Err(wrong()),
    };
    number.checked_mul(seconds).filter(|seconds| *seconds > 0).map(SignedDuration::from_secs).ok_or_else(wrong)
}
