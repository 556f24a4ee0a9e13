//! Questions about gateways: routes and their rules, listeners, backends, requests.

mod asker;
mod controller;
mod declared;
mod envoy;

use upheld_dialects::envoy_gateway::{Attachments, PolicyKind as EnvoyKind, by_age};
use upheld_dialects::gateway_api::declared::Declared;
use upheld_dialects::gateway_api::topology::Topology;
use upheld_dialects::kgateway::{Resolver, Semantics, Settings, Subject};
use upheld_engine::{ObjectId, Snapshot};
use upheld_model::nearest::nearest;
use upheld_model::{Diagnostic, Fault};

use self::asker::Asker;
use crate::options::Options;
use crate::question::Question;
use crate::report::{GatewayReport, GatewayTeller};

/// The gateways of a snapshot as their controller sees them.
#[derive(Debug)]
pub struct Gateways<'s> {
    /// What leads where; also what is odd about it.
    pub topology: Topology<'s>,
    /// How the controller is started.
    pub controller: Settings,
}

impl<'s> Gateways<'s> {
    /// Looks through all gateways and routes.
    pub(crate) fn new(snapshot: &'s Snapshot, options: &Options) -> Result<Self, Vec<Diagnostic>> {
        let (settings, controller) = controller::settings(&options.controller)?;
        Ok(Self { topology: Topology::build(snapshot, &settings), controller })
    }
}

/// Answers to a question about gateways.
#[derive(Debug)]
pub struct GatewayAnswers {
    /// One for each place and kind of policy.
    pub reports: Vec<GatewayReport>,
    /// Policies that have no effect, because no request reaches what they are attached to.
    pub unattached: Vec<Diagnostic>,
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

/// The answers as they are told.
pub(crate) fn told(
    gateways: &Gateways<'_>,
    semantics: Semantics,
    question: &Question,
) -> Result<GatewayAnswers, Diagnostic> {
    let Gateways { topology, controller } = gateways;
    let snapshot = topology.snapshot;
    let declared = question.kind.as_deref().and_then(|name| declared::find(snapshot, name));
    let envoy = question.kind.as_deref().and_then(envoy::find);
    let known = declared.is_some() || envoy.is_some();
    let subject = question.kind.as_deref().filter(|_| !known).map(find_subject);
    let subject = subject.transpose()?;
    let resolver = Resolver::new(topology, controller, semantics);
    let other = match semantics {
        Semantics::Current => Semantics::Ep11268,
        Semantics::Ep11268 => Semantics::Current,
    };
    let asker = Asker {
        topology,
        resolver: &resolver,
        teller: GatewayTeller { resolver: &resolver, semantics: semantics.name() },
        other: (other.name(), Resolver::new(topology, controller, other)),
        subject,
        declared: declared.and_then(|kind| Some((kind, Declared::new(snapshot, kind)?))),
        envoy: envoy.map(|kind| (kind, Attachments::new(topology, &by_age(snapshot)))),
    };
    let mut reports = asker.reports(snapshot, question)?;
    let mut notes = Vec::new();
    if let Some(path) = &question.field {
        for report in &mut reports {
            let known: Vec<String> = report.fields.iter().map(|field| field.field.clone()).collect();
            report.fields.retain(|field| is_within(&field.field, path));
            report.overridden.retain(|field| is_within(&field.field, path));
            if report.fields.is_empty() {
                let hint =
                    nearest(path, known.iter().map(String::as_str)).map(|name| format!("; did you mean `{name}`?"));
                notes.push(format!("note: {}: `{path}` is not set{}", report.target, hint.unwrap_or_default()));
            }
        }
    }
    Ok(GatewayAnswers { reports, unattached: unattached(snapshot, &resolver), notes })
}

/// Policies that are attached to nothing are told, not forgotten.
fn unattached(snapshot: &Snapshot, resolver: &Resolver<'_>) -> Vec<Diagnostic> {
    let statuses = resolver.statuses();
    let alone = statuses.iter().filter(|status| status.ancestors.is_empty());
    alone
        .filter_map(|status| {
            let policy = resolver.policies().get(status.policy)?;
            let document = snapshot.files().value(policy.at)?;
            let place =
                document.get("spec").and_then(|spec| spec.get("targetRefs")).or_else(|| document.get("metadata"))?;
            let message = format!("{} is attached to nothing that requests reach", policy.title());
            let diagnostic = Diagnostic::warning(Fault::DanglingReference, message);
            Some(diagnostic.at_value(policy.at.source, place, "has no effect"))
        })
        .collect()
}

fn is_within(field: &str, path: &str) -> bool {
    field == path || field.strip_prefix(path).is_some_and(|rest| rest.starts_with('.'))
}

fn find_subject(name: &str) -> Result<Subject, Diagnostic> {
    let envoy = || EnvoyKind::ALL.iter().map(|kind| kind.name());
    let all = || Subject::ALL.iter().map(|subject| subject.kind()).chain(envoy());
    let found = Subject::ALL.into_iter().find(|subject| subject.kind().eq_ignore_ascii_case(name));
    found.ok_or_else(|| {
        let diagnostic = Diagnostic::error(Fault::NotFound, format!("there is no kind `{name}` for gateways"));
        match nearest(name, all()) {
            Some(near) => diagnostic.help(format!("did you mean `--kind {near}`?")),
            None => diagnostic.help(format!("kinds: {}", all().collect::<Vec<_>>().join(", "))),
        }
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
            Err(match near {
                Some(near) => diagnostic.help(format!("did you mean `{kind}/{near}`?")),
                None if names.is_empty() => diagnostic.help("none was read; does `-f` point to the right files?"),
                None => diagnostic.help(format!("there are: {}", names.join(", "))),
            })
        }
        several => {
            let message = format!("`{written}` could be any of {} things", several.len());
            Err(several.iter().fold(Diagnostic::error(Fault::Ambiguous, message), |diagnostic, (_, object)| {
                diagnostic.help(format!("use `{kind}/{}/{name}`", snapshot.text(object.scope)))
            }))
        }
    }
}
