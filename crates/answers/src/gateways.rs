//! Questions about gateways: routes and their rules, listeners, backends, requests.

mod asker;
#[cfg(test)]
mod tests;

use upheld_dialects::gateway_api::{GatewayKind, Network};
use upheld_engine::{ObjectId, Snapshot};
use upheld_model::nearest::{did_you_mean, nearest};
use upheld_model::{Diagnostic, Fault};

use self::asker::Asker;
use crate::question::Question;
use crate::report::GatewayReport;

/// Answers to a question about gateways.
#[derive(Debug)]
pub struct GatewayAnswers {
    /// One for each place and kind of policy.
    pub reports: Vec<GatewayReport>,
    /// Remarks on the answers, for people.
    pub notes: Vec<String>,
}

impl GatewayAnswers {
    /// The policies that shape something, each once.
    pub fn names(&self) -> Vec<&str> {
        let sources = self.reports.iter().flat_map(|report| report.fields.iter().flat_map(|field| &field.from));
        let mut names: Vec<&str> =
            sources.map(|source| source.policy.as_str()).filter(|name| !name.starts_with('(')).collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}

/// What can stand before a slash here.
const KINDS: [(&str, &[&str]); 5] = [
    ("httproute", &["HTTPRoute"]),
    ("grpcroute", &["GRPCRoute"]),
    ("gateway", &["Gateway"]),
    ("listenerset", &["ListenerSet", "XListenerSet"]),
    ("backend", &["Service", "Backend"]),
];

/// Whether a question is about gateways.
pub(crate) fn is_asked(question: &Question) -> bool {
    let kind = question.what.as_deref().and_then(|what| what.split_once('/')).map(|(kind, _)| kind);
    question.host.is_some() || kind.is_some_and(|kind| types(kind).is_some())
}

fn types(kind: &str) -> Option<&'static [&'static str]> {
    KINDS.iter().find(|(word, _)| word.eq_ignore_ascii_case(kind)).map(|(_, types)| *types)
}

/// The gateways of a snapshot.
pub(crate) fn network(snapshot: &Snapshot) -> Result<Network<'_>, Diagnostic> {
    let missing = || Diagnostic::error(Fault::NotFound, "this snapshot was made without its gateways");
    Network::of(snapshot).ok_or_else(missing)
}

/// The answers as they are told.
pub(crate) fn told(network: Network<'_>, question: &Question) -> Result<GatewayAnswers, Diagnostic> {
    let kind = question.kind.as_deref().map(|name| find_kind(network, name)).transpose()?;
    let mut reports = Asker { network, kind }.reports(question)?;
    let mut notes = Vec::new();
    if let Some(path) = &question.field {
        for report in &mut reports {
            let known: Vec<String> = report.fields.iter().map(|field| field.field.clone()).collect();
            report.fields.retain(|field| is_within(&field.field, path));
            report.overridden.retain(|field| is_within(&field.field, path));
            if report.fields.is_empty() {
                let near = nearest(path, known.iter().map(String::as_str));
                let hint = near.map(|name| format!("; {}", did_you_mean(name)));
                notes.push(format!("note: {}: `{path}` is not set{}", report.target, hint.unwrap_or_default()));
            }
        }
    }
    Ok(GatewayAnswers { reports, notes })
}

/// Policies that have no effect, because no request reaches what they are attached to: they are told, not forgotten.
pub(crate) fn unattached(network: Network<'_>) -> Vec<Diagnostic> {
    let snapshot = network.snapshot;
    let statuses = network.kgateway_statuses();
    let alone = statuses.iter().filter(|status| status.ancestors.is_empty());
    alone
        .filter_map(|status| {
            let policy = snapshot.policy(status.policy)?;
            let document = snapshot.files().value(policy.at)?;
            let place =
                document.get("spec").and_then(|spec| spec.get("targetRefs")).or_else(|| document.get("metadata"))?;
            let [kind, scope, name] = [policy.kind, policy.scope, policy.name].map(|symbol| snapshot.text(symbol));
            let message = format!("{kind} {scope}/{name} is attached to nothing that requests reach");
            let diagnostic = Diagnostic::warning(Fault::DanglingReference, message);
            Some(diagnostic.at_value(policy.at.source, place, "has no effect"))
        })
        .collect()
}

fn is_within(field: &str, path: &str) -> bool {
    field == path || field.strip_prefix(path).is_some_and(|rest| rest.starts_with('.'))
}

fn find_kind<'s>(network: Network<'s>, name: &str) -> Result<GatewayKind<'s>, Diagnostic> {
    network.kind(name).ok_or_else(|| {
        let all: Vec<&str> = network.kinds().map(|known| network.snapshot.text(known.kind.name)).collect();
        let diagnostic = Diagnostic::error(Fault::NotFound, format!("there is no kind `{name}` for gateways"));
        diagnostic.suggest_or(nearest(name, all.iter().copied()).map(|near| format!("--kind {near}")), || {
            format!("kinds: {}", all.join(", "))
        })
    })
}

/// Finds `kind/namespace/name#section`, or `kind/name` where one namespace has it.
fn find<'w>(snapshot: &Snapshot, written: &'w str) -> Result<(ObjectId, Option<&'w str>), Diagnostic> {
    let (whole, section) = written.split_once('#').map_or((written, None), |(whole, section)| (whole, Some(section)));
    let (kind, rest) = whole.split_once('/').unwrap_or(("", whole));
    let (namespace, name) = rest.split_once('/').map_or((None, rest), |(namespace, name)| (Some(namespace), name));
    let wanted = types(kind).unwrap_or_default();
    let of_kind = || snapshot.objects().iter().filter(|(_, object)| wanted.contains(&snapshot.text(object.kind)));
    let found: Vec<_> = of_kind()
        .filter(|(_, object)| {
            snapshot.text(object.name) == name
                && namespace.is_none_or(|namespace| snapshot.text(object.scope) == namespace)
        })
        .collect();
    match found.as_slice() {
        [(id, _)] => Ok((*id, section)),
        [] => {
            let names: Vec<String> = of_kind()
                .map(|(_, object)| format!("{}/{}", snapshot.text(object.scope), snapshot.text(object.name)))
                .collect();
            let diagnostic = Diagnostic::error(Fault::NotFound, format!("there is no {kind} `{rest}`"));
            let near = nearest(rest, names.iter().map(String::as_str)).or_else(|| {
                nearest(name, names.iter().filter_map(|known| known.split_once('/')).map(|(_, name)| name))
            });
            Err(diagnostic.suggest_or(near.map(|near| format!("{kind}/{near}")), || match names.as_slice() {
                [] => "none was read; does `-f` point to the right files?".to_owned(),
                names => format!("there are: {}", names.join(", ")),
            }))
        }
        several => {
            let message = format!("`{written}` could be any of {} things", several.len());
            Err(several.iter().fold(Diagnostic::error(Fault::Ambiguous, message), |diagnostic, (_, object)| {
                diagnostic.help(format!("use `{kind}/{}/{name}`", snapshot.text(object.scope)))
            }))
        }
    }
}
