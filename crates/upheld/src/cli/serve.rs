//! How the server is started from the command line.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;

/// Options of `serve`.
#[derive(Args, Clone, Debug)]
pub(crate) struct Serve {
    /// Where to listen; port 0 takes a free one
    #[arg(long, value_name = "ADDR:PORT", env = "UPHELD_LISTEN", default_value = "127.0.0.1:8181")]
    pub(crate) listen: SocketAddr,
    /// Keep revisions in this folder [default: the data folder of the platform]
    #[arg(long, value_name = "DIR", env = "UPHELD_DATA", conflicts_with_all = ["ephemeral", "database"])]
    pub(crate) data: Option<PathBuf>,
    /// Keep revisions in this PostgreSQL database: any number of servers may share it
    #[arg(long, value_name = "URL", env = "UPHELD_DATABASE", hide_env_values = true, conflicts_with = "ephemeral")]
    pub(crate) database: Option<String>,
    /// Keep nothing: revisions end with the process
    #[arg(long)]
    pub(crate) ephemeral: bool,
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
}
