//! What is asked about: the words of all commands that answer a question.

use clap::Args;
use clap_complete::engine::ArgValueCompleter;
use upheld_answers::Words;
use upheld_answers::report::Skipped;

use super::AccessRequest;
use crate::complete;

/// Questions about requests have nothing in common with those about connections.
const DECISION: [&str; 5] = ["subject", "action", "resource", "env", "request"];

/// A connection, and what to know of it.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct Question {
    /// What is asked about: a proxy (it calls with --to, is called with --from), a route, a gateway, a backend, or two objects
    #[arg(value_name = "WHAT", conflicts_with_all = DECISION, add = ArgValueCompleter::new(complete::ends))]
    pub(crate) what: Option<String>,
    /// The calling proxy or service, its tags (kuma.io/service=web,cloud=?) or its identity (spiffe://…)
    #[arg(long, value_name = "NAME|TAGS", conflicts_with_all = DECISION, add = ArgValueCompleter::new(complete::ends))]
    pub(crate) from: Option<String>,
    /// The called proxy (backend-1, backend-1#8080), service, real resource (meshservice/backend#http), or its tags
    #[arg(long, value_name = "NAME|TAGS", conflicts_with_all = DECISION, add = ArgValueCompleter::new(complete::ends))]
    pub(crate) to: Option<String>,
    /// The kind of policy; all kinds when left out
    #[arg(short, long, add = ArgValueCompleter::new(complete::kinds))]
    pub(crate) kind: Option<String>,
    /// One field of the result, for example http.requestTimeout
    #[arg(long, value_name = "PATH", conflicts_with_all = DECISION)]
    pub(crate) field: Option<String>,
    #[command(flatten)]
    pub(crate) request: Request,
    #[command(flatten)]
    pub(crate) access: AccessRequest,
}

/// A request to a gateway, or from a proxy to what it calls.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Requests to gateways and services")]
pub(crate) struct Request {
    /// The host of a request to a gateway
    #[arg(long, value_name = "HOST")]
    pub(crate) host: Option<String>,
    /// The path of the request; with --to, which rule of a route takes it
    #[arg(long, value_name = "PATH")]
    pub(crate) path: Option<String>,
    /// The method of the request [default: GET]
    #[arg(long, value_name = "METHOD")]
    pub(crate) method: Option<String>,
    /// A header of the request; repeatable
    #[arg(long, value_name = "NAME=VALUE")]
    pub(crate) header: Vec<String>,
    /// The port of the listener, or the port that is called with --to; any when left out
    #[arg(long, value_name = "PORT")]
    pub(crate) port: Option<u16>,
    /// The protocol of a connection: TCP, UDP or SCTP [default: TCP]
    #[arg(long, value_name = "PROTOCOL", requires = "to")]
    pub(crate) protocol: Option<String>,
}

impl Question {
    /// The words of the question, whatever they were written as.
    pub(crate) fn words(&self) -> Words {
        let Request { host, path, method, header, port, protocol } = self.request.clone();
        Words {
            what: self.what.clone(),
            from: self.from.clone(),
            to: self.to.clone(),
            kind: self.kind.clone(),
            field: self.field.clone(),
            host,
            path,
            method,
            header,
            port,
            protocol,
            ..self.access.words()
        }
    }
}

/// Options of `explain`.
#[derive(Args, Clone, Debug)]
pub(crate) struct Explain {
    /// Every proxy and every service of the mesh
    #[arg(long, requires = "kind", conflicts_with_all = ["what", "from", "to", "field"])]
    pub(crate) all_pairs: bool,
    /// The answer if a policy were not there, and what changes in it; repeatable
    #[arg(long, value_name = "POLICY", conflicts_with_all = ["all_pairs", "request"])]
    pub(crate) without: Vec<String>,
    /// So many of the policies that do not match in each answer, or `all`; the others are counted
    #[arg(long, value_name = "NUMBER", conflicts_with = "all_pairs")]
    pub(crate) skipped: Option<Skipped>,
    /// Show the answer in a browser, from a server for oneself
    #[cfg(feature = "server")]
    #[arg(long)]
    pub(crate) open: bool,
    #[command(flatten)]
    pub(crate) question: Question,
}
