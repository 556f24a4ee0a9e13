//! Questions about gateways: routes and their rules, listeners, backends, requests.

mod query;
mod unread;

use std::cell::RefCell;

use upheld_engine::{ObjectId, Snapshot};
use upheld_model::nearest::nearest;
use upheld_model::{Diagnostic, Fault, NodeRef, Object};

use upheld_report::{Answer, Depth};

use self::query::{Query, RestsOn};
use super::gateway_api::gateways::Absent;
use super::gateway_api::{GatewayKind, Network};
use super::kgateway::fields::asked_name;
use super::unattached;
use crate::dialect::Listing;
use crate::identity::Identity;
use crate::question::{Asked, HttpRequest, Named, Refused, Thing, Words};

/// What can stand before a slash here.
const KINDS: [(&str, &[&str]); 9] = [
    ("httproute", &["HTTPRoute"]),
    ("grpcroute", &["GRPCRoute"]),
    ("tcproute", &["TCPRoute"]),
    ("tlsroute", &["TLSRoute"]),
    ("udproute", &["UDPRoute"]),
    ("gateway", &["Gateway"]),
    ("listenerset", &["ListenerSet", "XListenerSet"]),
    ("backend", &["Service", "Backend"]),
    ("service", &["Service"]),
];

/// How a question is asked.
pub(super) const EXAMPLE: &str =
    "name a route: `httproute/shop/cart`, or a request: `--host shop.example --path /cart`";

/// What words about gateways mean.
pub(super) fn parse(words: &Words) -> Option<Result<Thing, Refused>> {
    if let Some(host) = &words.host {
        return Some(HttpRequest::of(words, host).map(Thing::HttpRequest).map_err(Refused::from));
    }
    let named = Named { written: words.what.clone()? };
    types(named.noun()).map(|_| Ok(Thing::Object(named)))
}

/// The command that asks about a route, a gateway or a backend.
pub(super) fn command_about(object: &Identity) -> Option<String> {
    let (word, _) = KINDS.iter().find(|(_, types)| types.contains(&object.kind.as_str()))?;
    Some(format!("upheld explain {word}/{}/{}", object.scope, object.name))
}

/// Everything that can be asked about by its name.
pub(super) fn questions(snapshot: &Snapshot, most: usize) -> (Vec<Words>, Listing) {
    let about = |object: &Object| words([object.kind, object.scope, object.name].map(|symbol| snapshot.text(symbol)));
    let mut all: Vec<Words> =
        snapshot.objects().iter().filter_map(|(_, object)| about(object)).take(most + 1).collect();
    let listing = if all.len() > most { Listing::Cut } else { Listing::Whole };
    all.truncate(most);
    (all, listing)
}

/// The question about something by its type, namespace and name.
pub(super) fn words([kind, namespace, name]: [&str; 3]) -> Option<Words> {
    let (word, _) = KINDS.iter().find(|(_, types)| types.contains(&kind))?;
    Some(Words { what: Some(format!("{word}/{namespace}/{name}")), ..Words::default() })
}

fn types(kind: &str) -> Option<&'static [&'static str]> {
    KINDS.iter().find(|(word, _)| word.eq_ignore_ascii_case(kind)).map(|(_, types)| *types)
}

/// The gateways of a snapshot.
pub fn network(snapshot: &Snapshot) -> Result<Network<'_>, Diagnostic> {
    let missing = || Diagnostic::error(Fault::NotFound, "this snapshot was made without its gateways");
    Network::of(snapshot).ok_or_else(missing)
}

/// Answers questions about routes, listeners, backends and requests.
pub(super) fn answer(asked: &Asked<'_>) -> Option<Result<Answer, Refused>> {
    let about = match &asked.question.thing {
        Thing::HttpRequest(request) => request.host.clone(),
        Thing::Object(named) if types(named.noun()).is_some() => named.written.clone(),
        _ => return None,
    };
    Some(answer_about(asked, about).map_err(Refused::from))
}

fn answer_about(asked: &Asked<'_>, about: String) -> Result<Answer, Diagnostic> {
    let network = network(asked.snapshot)?.taking(Absent::Assumed);
    let kind = asked.question.kind.as_deref().map(|name| find_kind(network, name)).transpose()?;
    let unread = unread::object(network, &asked.question.thing);
    let query = Query { network, kind, unread: unread.as_ref(), rests_on: RefCell::default() };
    let reports = query.reports(&asked.question.thing)?;
    let RestsOn { documents, objects } = query.rests_on.into_inner();
    let documents: Vec<NodeRef> = documents.into_iter().collect();
    let field = asked.question.field.as_deref().map(asked_name);
    let mut warnings = Vec::new();
    if asked.depth == Depth::All {
        warnings.extend(network.warnings_about(&objects));
        warnings.extend(unattached::warnings_about(network, &objects, unread.as_ref().map(|unread| &unread.object)));
    }
    Ok(Answer { warnings, documents, ..Answer::about(about, reports) }.only(field.as_deref()))
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

/// The objects of some types with a name, in one namespace or in all.
fn objects_named<'s>(
    snapshot: &'s Snapshot,
    types: &[&str],
    namespace: Option<&str>,
    name: &str,
) -> impl Iterator<Item = (ObjectId, &'s Object)> {
    let symbols = snapshot.symbols();
    let keys = types.iter().filter_map(|kind| Some((symbols.get(kind)?, symbols.get(name)?)));
    let objects = keys.flat_map(|(kind, name)| snapshot.objects().named(kind, name));
    objects.filter(move |(_, object)| namespace.is_none_or(|namespace| snapshot.text(object.scope) == namespace))
}

/// Finds `kind/namespace/name#section`, or `kind/name` where one namespace has it.
fn find<'w>(snapshot: &Snapshot, written: &'w str) -> Result<(ObjectId, Option<&'w str>), Diagnostic> {
    let (whole, section) = written.split_once('#').map_or((written, None), |(whole, section)| (whole, Some(section)));
    let (kind, rest) = whole.split_once('/').unwrap_or(("", whole));
    let (namespace, name) = rest.split_once('/').map_or((None, rest), |(namespace, name)| (Some(namespace), name));
    let wanted = types(kind).unwrap_or_default();
    let found: Vec<_> = objects_named(snapshot, wanted, namespace, name).collect();
    match found.as_slice() {
        [(id, _)] => Ok((*id, section)),
        [] => {
            let all = snapshot.objects().iter();
            let names: Vec<String> = all
                .filter(|(_, object)| wanted.contains(&snapshot.text(object.kind)))
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
