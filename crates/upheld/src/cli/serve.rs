//! How the server is started from the command line.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use clap::Args;
use jiff::SignedDuration;
use upheld_server::config::IpNet;

use super::formats::AnonymousCallers;
use super::operations::Operations;
use super::times::{MaxStale, length};

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
    /// Keep revisions in memory only, until the process ends
    #[arg(long, conflicts_with_all = ["data", "database"])]
    pub(crate) ephemeral: bool,
    /// Compact older revisions, but keep at least this many [default: keep all]
    #[arg(long, value_name = "COUNT")]
    pub(crate) keep_revisions: Option<u64>,
    /// Compact older revisions, but keep them at least this long, for example 30d or 12h [default: keep all]
    #[arg(long, value_name = "TIME", value_parser = age)]
    pub(crate) keep_for: Option<SignedDuration>,
    /// Refuse to answer when the store has not confirmed for this long that there is nothing newer, for example 30s; off for never
    /// [default: the setting `max-stale`, which is off]
    #[arg(long, value_name = "TIME")]
    pub(crate) max_stale: Option<MaxStale>,
    /// Also serve these files, and read them again when they change; repeatable
    #[arg(long, value_name = "PATH")]
    pub(crate) watch: Vec<PathBuf>,
    /// The public URL of this server, for documents that name it
    #[arg(long, value_name = "URL", env = "UPHELD_PUBLIC_URL")]
    pub(crate) public_url: Option<String>,
    /// Where the administration API of access policies is
    #[arg(long, value_name = "PATH", default_value = "/authz")]
    pub(crate) access_base: String,
    /// The environment, for policies that are seeded in some environments only
    #[arg(long, value_name = "NAME", env = "UPHELD_ENVIRONMENT", default_value = "development")]
    pub(crate) environment: String,
    #[command(flatten, next_help_heading = "Proxies in front")]
    pub(crate) proxies: Proxies,
    /// Tokens, keys, rights, certificates and tokens of end users: see docs/security.md [default: a token that is printed once]
    #[arg(long, value_name = "FILE", env = "UPHELD_SECURITY")]
    pub(crate) security: Option<PathBuf>,
    #[arg(
        long,
        value_name = "FILE",
        env = "UPHELD_BOOTSTRAP_TOKEN_FILE",
        help = "A file with the token that may do everything, the same for all servers that share a store [default: the token in \
                $UPHELD_BOOTSTRAP_TOKEN, or the setting `bootstrapToken` of --security]"
    )]
    pub(crate) bootstrap_token_file: Option<PathBuf>,
    /// A file with what sessions of pages are sealed with, the same for all servers that share a store [default: what the bootstrap token
    /// comes to, or the setting `sessionKey` of --security]
    #[arg(long, value_name = "FILE", env = "UPHELD_SESSION_KEY_FILE")]
    pub(crate) session_key_file: Option<PathBuf>,
    /// What those may do at most who do not say who they are [default: the setting `anonymous`, which is auto]
    #[arg(long, value_enum, value_name = "WHAT")]
    pub(crate) anonymous: Option<AnonymousCallers>,
    /// A name by which this server is called, besides that of its public URL; repeatable
    #[arg(long, value_name = "NAME")]
    pub(crate) host: Vec<String>,
    /// The most bytes that a body may have
    #[arg(long, value_name = "BYTES", default_value = "1048576", help_heading = "Limits")]
    pub(crate) max_body: usize,
    /// The most documents or questions in one batch
    #[arg(long, value_name = "COUNT", default_value = "1000", help_heading = "Limits")]
    pub(crate) max_batch: usize,
    /// The most requests of one client in a second [default: unlimited]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..), help_heading = "Limits")]
    pub(crate) max_rate: Option<u32>,
    /// The most steps that one request may take under policies that are written [default: unlimited]
    #[arg(long, value_name = "COUNT", help_heading = "Limits")]
    pub(crate) max_request_steps: Option<usize>,
    /// The most steps that the answer to one request may take
    #[arg(long, value_name = "COUNT", default_value = "268435456", value_parser = clap::value_parser!(u64).range(1..), help_heading = "Limits")]
    pub(crate) max_steps: u64,
    /// Where else to listen, for whether the server lives and nothing else [default: nowhere]
    #[arg(long, value_name = "ADDR:PORT", env = "UPHELD_HEALTH", help_heading = "Operations")]
    pub(crate) health: Option<SocketAddr>,
    #[command(flatten, next_help_heading = "Operations")]
    pub(crate) operations: Operations,
}

/// Options of `health`.
#[derive(Args, Clone, Debug)]
pub(crate) struct Health {
    #[arg(
        value_name = "URL",
        help = "The server [default: the one of this machine, at $UPHELD_HEALTH unless --ready is asked, at $UPHELD_LISTEN or \
                127.0.0.1:8181, with https if the file in $UPHELD_SECURITY has tls]"
    )]
    pub(crate) url: Option<String>,
    /// Whether it is ready, and not only alive
    #[arg(long)]
    pub(crate) ready: bool,
    /// How long it may take
    #[arg(long, value_name = "TIME", value_parser = age, default_value = "3s")]
    pub(crate) timeout: SignedDuration,
}

/// Options of `open`.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Open {
    /// The page to begin with, for example /compliance [default: the first]
    #[arg(value_name = "PAGE", default_value = "/")]
    pub(crate) page: String,
    /// Only print the address
    #[arg(long)]
    pub(crate) print: bool,
}

/// Whom to believe what proxies pass on, and what they ask.
#[derive(Args, Clone, Debug)]
pub(crate) struct Proxies {
    /// Believe proxies of this network what the settings below say; repeatable [default: nobody]
    #[arg(long, value_name = "NETWORK", value_parser = network)]
    trusted_peer: Vec<IpNet>,
    /// How many proxies in front add to `X-Forwarded-For` [default: the address of clients is unknown]
    #[arg(long, value_name = "COUNT")]
    trusted_hops: Option<usize>,
    /// The header in which they name the caller, as JSON [default: x-identity]
    #[arg(long, value_name = "NAME")]
    identity_header: Option<String>,
    /// The header in which they name the application [default: none, the host stands for it]
    #[arg(long, value_name = "NAME")]
    app_header: Option<String>,
    /// The header in which they name the host that clients asked for, for example x-forwarded-host [default: the host is unknown]
    #[arg(long, value_name = "NAME")]
    host_header: Option<String>,
    /// They pass on all headers of clients [default: a header that is not there may have been sent]
    #[arg(long)]
    all_headers: bool,
    /// An obligation that they fulfil; repeatable [default: none, permits with obligations do not open]
    #[arg(long, value_name = "ID")]
    pub(crate) fulfils: Vec<String>,
    /// The kind of policies that decides requests where nobody names another
    #[arg(long, value_name = "KIND", default_value = "AccessPolicy")]
    pub(crate) deciding_kind: String,
}

impl Proxies {
    /// As settings have it.
    pub(crate) fn trust(&self) -> Vec<String> {
        let peers = self.trusted_peer.iter().map(|network| format!("peer={network}"));
        let others = [
            self.trusted_hops.map(|hops| format!("hops={hops}")),
            self.identity_header.as_ref().map(|name| format!("identity-header={name}")),
            self.app_header.as_ref().map(|name| format!("app-header={name}")),
            self.host_header.as_ref().map(|name| format!("host-header={name}")),
            self.all_headers.then(|| "headers=all".to_owned()),
        ];
        peers.chain(others.into_iter().flatten()).collect()
    }
}

/// A network, or an address for a network of one.
fn network(text: &str) -> Result<IpNet, String> {
    let address = || text.parse::<IpAddr>().map(|address| IpNet::from(address.to_canonical()));
    let network = text.parse::<IpNet>().or_else(|_| address());
    network.map_err(|_| format!("`{text}` is neither a network nor an address; for example 10.0.0.0/8 or 127.0.0.1"))
}

/// A length of time, as clocks have it.
fn age(text: &str) -> Result<SignedDuration, String> {
    length(text)?.try_into().map_err(|_| format!("`{text}` is longer than clocks count"))
}
