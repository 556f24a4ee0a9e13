//! Connections: may this pod reach that one, and because of which policy? Both ends must agree: what leaves the caller, and
//! what comes to the called one.

use std::collections::BTreeSet;

use smol_str::SmolStr;
use upheld_engine::decide::{Action, Decide, Fact, Facts, Maybe, Outcome, Request, Resource, Subject};
use upheld_engine::{KindId, Scratch, Silent, ask, work};
use upheld_model::nearest::nearest;
use upheld_model::{Diagnostic, Fault};
use upheld_report::{About, Answer, Report, Verdict, decide_about, each_once};

use super::POLICY;
use super::ends::{End, Is, find};
use super::network::{Directions, Network};
use super::rules::{PORT, PROTOCOL, port_name};
use super::shapes::PROTOCOLS;
use super::workloads::Workload;
use crate::dialect::Listing;
use crate::question::{Asked, Connection, Refused, Thing, Words};

/// How a question is asked.
pub(super) const EXAMPLE: &str =
    "name a connection between pods: `--from web --to db --port 5432`, or a pod: `prod/db`";

/// The protocol of connections of which nobody says another.
const USUAL_PROTOCOL: &str = "TCP";

/// More pairs than these are asked one by one.
const MOST_PAIRS: usize = 32;

/// Answers questions about connections, if there are policies about them.
pub(super) fn answer(asked: &Asked<'_>) -> Option<Result<Answer, Refused>> {
    let Thing::Connection(words) = &asked.question.thing else { return None };
    let network = Network::of(asked.snapshot)?;
    let named = match asked.kind() {
        Err(problem) => return Some(Err(problem.into())),
        Ok(Some((_, kind))) if asked.snapshot.text(kind.governs) != POLICY => return None,
        Ok(named) => named.map(|(id, _)| id),
    };
    let all = asked.snapshot.kinds().iter().filter(|(id, _)| named.is_none_or(|named| named == *id));
    let own = all.filter_map(|(id, kind)| {
        let (_, directions) = network.kinds.iter().find(|(name, _)| *name == kind.name)?;
        Some((id, directions))
    });
    let kinds: Vec<(KindId, &Directions)> = own.collect();
    let answer = Query { asked, network, kinds }.answer(words);
    Some(answer.map_err(Refused::from))
}

struct Query<'q> {
    asked: &'q Asked<'q>,
    network: &'q Network,
    kinds: Vec<(KindId, &'q Directions)>,
}

/// A connection.
#[derive(Clone, Copy)]
pub(super) struct Call<'q> {
    source: &'q End,
    destination: &'q End,
    port: Option<u16>,
    protocol: &'static str,
}

/// At which end a connection is decided.
#[derive(Clone, Copy)]
pub(super) enum Direction {
    Egress,
    Ingress,
}

impl Query<'_> {
    fn answer(&self, words: &Connection) -> Result<Answer, Vec<Diagnostic>> {
        let protocol = protocol(words.protocol.as_deref()).map_err(|problem| vec![problem])?;
        let pairs = self.pairs(words)?;
        let (mut reports, mut notes) = (Vec::new(), Vec::new());
        for (source, destination) in &pairs {
            let call = Call { source, destination, port: words.port, protocol };
            let answered = self.reports(call);
            notes.extend(call.together(&answered));
            notes.extend(self.open_ports(call, &answered));
            reports.extend(answered);
        }
        let about = match pairs.as_slice() {
            [(source, destination)] => format!("{} → {}", source.title, destination.title),
            several => format!("{} connections", several.len()),
        };
        Ok(Answer { notes, ..Answer::about(about, reports) }.only(self.asked.question.field.as_deref()))
    }

    /// Everybody who calls with everybody who is called.
    fn pairs(&self, words: &Connection) -> Result<Vec<(End, End)>, Vec<Diagnostic>> {
        if let (Some(what), Some(_), Some(_)) = (&words.what, &words.from, &words.to) {
            let message = format!("`{what}`, `--from` and `--to` are three ends of one connection");
            return Err(vec![Diagnostic::error(Fault::IncompleteQuestion, message).help("leave one of them out")]);
        }
        // A pod alone: what may leave it, and what may come to it.
        if let (Some(what), None, None) = (&words.what, &words.from, &words.to) {
            let ends = find(self.network, what).map_err(|problem| vec![problem])?;
            let both = ends.into_iter().flat_map(|end| [(end.clone(), End::anyone()), (End::anyone(), end)]);
            return checked(both.collect());
        }
        let mut problems = Vec::new();
        let mut ends = |written: Option<&str>| {
            let found = written.map_or_else(|| Ok(vec![End::anyone()]), |written| find(self.network, written));
            found.map_err(|problem| problems.push(problem)).unwrap_or_default()
        };
        let (sources, destinations) = (ends(words.source()), ends(words.destination()));
        if !problems.is_empty() {
            return Err(problems);
        }
        let pairs =
            sources.iter().flat_map(|source| destinations.iter().map(move |other| (source.clone(), other.clone())));
        checked(pairs.collect())
    }

    fn reports(&self, call: Call<'_>) -> Vec<Report> {
        let request = call.request(self.network);
        let mut reports = Vec::new();
        for (kind, directions) in &self.kinds {
            for (direction, end, _) in call.decisions() {
                let decide = directions.of(direction);
                let about = About {
                    what: call.title(),
                    scope: end.pod().map(|pod| pod.namespace.to_string()),
                    from: Some(call.source.title.clone()),
                    to: Some(call.destination.title.clone()),
                    place: Some(format!("{} of {}", direction.word(), end.title)),
                    ..About::default()
                };
                let Asked { snapshot, options, depth, .. } = self.asked;
                reports.push(decide_about(snapshot, *kind, decide, &request, about, *depth, &options.skipped));
            }
        }
        reports
    }

    /// Where the answer depends on a port that nobody named: those that are open among all that somebody names.
    fn open_ports(&self, call: Call<'_>, reports: &[Report]) -> Option<String> {
        let undecided = reports.iter().any(|report| report.verdict == Verdict::Undecided);
        let is_known = |end: &End| !matches!(end.is, Is::Anyone);
        if call.port.is_some() || !undecided || !is_known(call.source) || !is_known(call.destination) {
            return None;
        }
        let mut ports: BTreeSet<u16> = self.network.mentioned.ports.keys().copied().collect();
        let declared = call.destination.pod().and_then(|pod| pod.ports.as_ref()).into_iter().flatten();
        ports.extend(declared.filter(|port| port.protocol == call.protocol).map(|port| port.number));
        let open: Vec<String> =
            ports.into_iter().filter(|port| self.is_open(call, *port)).map(|port| port.to_string()).collect();
        let open = if open.is_empty() { "none is".to_owned() } else { format!("open are {}", open.join(", ")) };
        Some(format!(
            "note: {} depends on the port: add `--port`; of the {} ports that policies and pods name, {open}",
            call.title(),
            call.protocol
        ))
    }

    fn is_open(&self, call: Call<'_>, port: u16) -> bool {
        let request = Call { port: Some(port), ..call }.request(self.network);
        let permits =
            |decide: &Decide| ask(decide, &&request, &mut Scratch::default(), &mut Silent).outcome == Outcome::Permit;
        let all = self
            .kinds
            .iter()
            .flat_map(|(_, directions)| call.decisions().into_iter().map(|(direction, ..)| directions.of(direction)));
        all.into_iter().all(permits)
    }
}

/// Every pod that calls another one, at each port that policies and pods name and at one that nobody does.
pub(super) fn all(network: &Network, most: usize) -> (Vec<Words>, Listing) {
    let ports = ports(network);
    let titles: Vec<String> = network.workloads.iter().map(Workload::title).collect();
    // A step for each row: to list is nothing beside to ask.
    let rows = titles.iter().inspect(|_| work::step());
    let pairs = rows.flat_map(|from| titles.iter().map(move |to| (from, to))).filter(|(from, to)| from != to);
    let asked = pairs.flat_map(|(from, to)| ports.iter().map(move |port| words(from, to, *port)));
    let mut all: Vec<Words> = asked.take(most + 1).collect();
    let listing = if all.len() > most { Listing::Cut } else { Listing::Whole };
    all.truncate(most);
    (all, listing)
}

/// The ports that policies and pods name, and one that nobody does.
pub(super) fn ports(network: &Network) -> BTreeSet<u16> {
    let declared = network.workloads.iter().flat_map(|workload| workload.pod.ports.iter().flatten());
    let mut ports: BTreeSet<u16> =
        network.mentioned.ports.keys().copied().chain(declared.map(|port| port.number)).collect();
    let unnamed = (1024..u16::MAX).find(|port| !ports.contains(port));
    ports.extend(unnamed);
    ports
}

/// The question about one connection.
pub(super) fn words(from: &str, to: &str, port: u16) -> Words {
    Words { from: Some(from.to_owned()), to: Some(to.to_owned()), port: Some(port), ..Words::default() }
}

fn checked(pairs: Vec<(End, End)>) -> Result<Vec<(End, End)>, Vec<Diagnostic>> {
    let refuse =
        |message: String, help: &str| Err(vec![Diagnostic::error(Fault::IncompleteQuestion, message).help(help)]);
    if pairs.len() > MOST_PAIRS {
        let message = format!("these labels fit {} connections", pairs.len());
        return refuse(message, "name more labels, or workloads: `deployment/prod/web`");
    }
    if let Some((source, destination)) = pairs.iter().find(|(one, other)| one.pod().is_none() && other.pod().is_none())
    {
        let message = format!("neither {} nor {} is a pod", source.title, destination.title);
        return refuse(message, "network policies are about pods: name one with `--from` or `--to`");
    }
    if let Some((pod, _)) = pairs.iter().find(|(one, other)| one.title == other.title && one.title.starts_with("pod/"))
    {
        return refuse(format!("{} is both ends", pod.title), "a pod always reaches itself, whatever policies say");
    }
    Ok(pairs)
}

impl Directions {
    /// The rules of a direction.
    pub(super) fn of(&self, direction: Direction) -> &Decide {
        match direction {
            Direction::Egress => &self.egress,
            Direction::Ingress => &self.ingress,
        }
    }
}

impl Direction {
    fn word(self) -> &'static str {
        match self {
            Self::Egress => "egress",
            Self::Ingress => "ingress",
        }
    }
}

impl<'q> Call<'q> {
    /// One in the usual protocol.
    pub(super) fn on(source: &'q End, destination: &'q End, port: u16) -> Self {
        Self { source, destination, port: Some(port), protocol: USUAL_PROTOCOL }
    }

    /// Where it is decided: at every end that is a pod.
    pub(super) fn decisions(self) -> Vec<(Direction, &'q End, &'q End)> {
        let Self { source, destination, .. } = self;
        let both = [(Direction::Egress, source, destination), (Direction::Ingress, destination, source)];
        both.into_iter().filter(|(_, end, _)| end.pod().is_some()).collect()
    }

    /// `prod/web → prod/db on TCP 5432`
    fn title(self) -> String {
        let port = self.port.map(|port| format!(" on {} {port}", self.protocol)).unwrap_or_default();
        format!("{} → {}{port}", self.source.title, self.destination.title)
    }

    /// What both ends come to together.
    fn together(self, reports: &[Report]) -> Option<String> {
        if matches!(self.source.is, Is::Anyone) || matches!(self.destination.is, Is::Anyone) {
            return None;
        }
        let places = |verdict: Verdict| {
            let own = reports.iter().filter(|report| report.verdict == verdict);
            each_once(own.filter_map(|report| report.about.place.clone())).join(" and ")
        };
        let (denied, doubtful) = (places(Verdict::Deny), places(Verdict::Undecided));
        let sentence = match (denied.as_str(), doubtful.as_str()) {
            ("", "") => "is allowed".to_owned(),
            ("", doubtful) => format!("is undecided, because of {doubtful}"),
            (denied, _) => format!("is refused, because of {denied}"),
        };
        Some(format!("note: {} {sentence}", self.title()))
    }

    /// What policies are asked.
    pub(super) fn request(self, network: &Network) -> Request {
        let id = |end: &End| match end.is {
            Is::Anyone => Maybe::Unknown,
            Is::Pod(_) | Is::Address(_) => Maybe::Is(SmolStr::new(&end.title)),
        };
        let mut port = Facts::default();
        port.set(PROTOCOL, Fact::Text(SmolStr::new_static(self.protocol)));
        port.set(PORT, self.port.map_or(Fact::Unknown, |port| Fact::Number(port.into())));
        for wanted in network.mentioned.port_names.keys() {
            port.set(&port_name(wanted), self.port_names(wanted));
        }
        let Self { source, destination, .. } = self;
        Request {
            subject: Subject { id: id(source), claims: source.facts(network), ..Subject::default() },
            action: Action { facts: port, ..Action::default() },
            resource: Resource { id: id(destination), facts: destination.facts(network), ..Resource::default() },
            ..Request::default()
        }
    }

    /// What the called pod calls the port; outside of the cluster ports have no names. Where nobody says which port is
    /// called, it is not known whether it has a name that the pod has for one.
    fn port_names(self, wanted: &str) -> Fact {
        let declared = match &self.destination.is {
            Is::Address(_) => &Vec::new(),
            Is::Anyone => return Fact::Unknown,
            Is::Pod(pod) => match &pod.ports {
                Some(ports) => ports,
                None => return Fact::Unknown,
            },
        };
        let own = declared.iter().filter(|port| port.protocol == self.protocol);
        let called = own.filter(|port| self.port.is_none_or(|number| number == port.number));
        let names = each_once(called.filter_map(|port| port.name.clone()));
        if self.port.is_none() && names.iter().any(|name| name == wanted) {
            return Fact::Unknown;
        }
        Fact::List(names.into_iter().map(Fact::Text).collect())
    }
}

fn protocol(written: Option<&str>) -> Result<&'static str, Diagnostic> {
    let Some(written) = written else { return Ok(USUAL_PROTOCOL) };
    let upper = written.to_uppercase();
    PROTOCOLS.iter().copied().find(|known| *known == upper).ok_or_else(|| {
        let problem =
            Diagnostic::error(Fault::WrongValue, format!("there is no protocol `{written}` in network policies"));
        problem
            .suggest_or(nearest(&upper, PROTOCOLS.iter().copied()), || format!("protocols: {}", PROTOCOLS.join(", ")))
    })
}
