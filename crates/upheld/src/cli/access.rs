//! How a request for a decision is written on the command line.

use clap::Args;
use upheld_answers::Words;

use super::compliance::ChangeRequest;

/// A request: who wants to do what with what.
#[derive(Args, Clone, Debug, Default)]
pub(crate) struct AccessRequest {
    /// Who asks: alice, or id=alice,role=admin,group=ops,claim.level=5; `?` is unknown; repeatable
    #[arg(long, value_name = "WHO", help_heading = "Decisions")]
    pub(crate) subject: Vec<String>,
    /// What is to be done: DELETE, or method=DELETE, operation=read, or any other property
    #[arg(long, value_name = "WHAT", help_heading = "Decisions")]
    pub(crate) action: Vec<String>,
    /// With what: /api/audit/123, or path=/x,app=shop,type=doc,id=7,owner=bob
    #[arg(long, value_name = "RESOURCE", help_heading = "Decisions")]
    pub(crate) resource: Vec<String>,
    /// Under which circumstances: ip=192.0.2.7,time=2025-03-01T12:00:00Z [default: the time is --now or the clock]
    #[arg(long, value_name = "NAME=VALUE", help_heading = "Decisions")]
    pub(crate) env: Vec<String>,
    /// Requests from a YAML or JSON file, or `-`
    #[arg(long, value_name = "FILE", help_heading = "Decisions", conflicts_with_all = ["subject", "action", "resource", "env"])]
    pub(crate) request: Option<String>,
}

impl AccessRequest {
    /// The parts of the request that were written as flags.
    pub(crate) fn words(&self) -> Words {
        Words {
            subject: self.subject.clone(),
            action: self.action.clone(),
            resource: self.resource.clone(),
            env: self.env.clone(),
            ..Words::default()
        }
    }

    /// Whether a decision is asked for.
    pub(crate) fn is_asked(&self) -> bool {
        let given = [&self.subject, &self.action, &self.resource, &self.env];
        self.request.is_some() || given.iter().any(|given| !given.is_empty())
    }
}

/// Options of `can`.
#[derive(Args, Clone, Debug)]
pub(crate) struct Can {
    #[command(flatten)]
    pub(crate) request: AccessRequest,
    /// Many requests, one JSON document a line, from a file or `-`; answers come in the same order
    #[arg(long, value_name = "FILE", conflicts_with_all = ["subject", "action", "resource", "env", "request"])]
    pub(crate) batch: Option<String>,
    /// The kind of policy, if there are several that answer
    #[arg(short, long)]
    pub(crate) kind: Option<String>,
    // Last, because what follows would stand under its heading.
    #[command(flatten)]
    pub(crate) change_request: ChangeRequest,
}

/// Options of `reach`.
#[derive(Args, Clone, Debug)]
pub(crate) struct Reach {
    #[command(flatten)]
    pub(crate) request: AccessRequest,
    /// The kind of policy, if there are several that answer
    #[arg(short, long)]
    pub(crate) kind: Option<String>,
    /// At most so many rows
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) limit: Option<u32>,
    /// Go on where an answer with a limit ended: its `next`
    #[arg(long, value_name = "NEXT")]
    pub(crate) after: Option<String>,
}
