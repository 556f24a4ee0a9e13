//! From places of gateways to reports.

mod ends;
mod requests;
mod streams;
mod told;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::sync::Arc;

use crate::gateways::gateway_api::facts::RuleFacts;
use crate::gateways::gateway_api::graph;
use crate::gateways::gateway_api::reported::{report_at, report_of};
use crate::gateways::gateway_api::scopes::{BACKEND, GATEWAY, HOST, LISTENER, ROUTE};
use crate::gateways::gateway_api::topology::{Gateway, Host, Outcome, Place, Step, Topology, Way};
use crate::gateways::gateway_api::{Asked, GatewayKind, Network};
use crate::gateways::kgateway::PolicyType;
use upheld_engine::ObjectId;
use upheld_engine::hierarchy::{CellKey, Effective, Field};
use upheld_model::nearest::nearest;
use upheld_model::{Diagnostic, Fault, NodeRef};

use super::find;
use super::unread::Unread;
use crate::question::Thing;
use upheld_report::{Places, Remark, Report, Sentence, Verdict, each_once};

/// Asks for what the user named.
pub(super) struct Query<'s> {
    pub(super) network: Network<'s>,
    /// The kind that was asked for; all that say something, if none was.
    pub(super) kind: Option<GatewayKind<'s>>,
    /// What was asked about, if it was not read and policies name it.
    pub(super) unread: Option<&'s Unread>,
    /// What the answer rests on, as far as it was asked.
    pub(super) rests_on: RefCell<RestsOn>,
}

/// What an answer rests on.
#[derive(Debug, Default)]
pub(super) struct RestsOn {
    /// The documents of objects that were asked about, or that requests come through.
    pub(super) documents: BTreeSet<NodeRef>,
    /// These objects, their parents, and the backends that requests go to: what is odd about one of them is told with the answer.
    pub(super) objects: BTreeSet<ObjectId>,
}

/// A place of a way: under which host it is, unless its gateway was not read.
#[derive(Clone, Copy, Debug)]
struct Spot<'s, 'w> {
    served: Option<(&'s Gateway, &'s Host)>,
    way: &'w Way,
}

/// Ways with one answer: what it depends on, whose way it is, and its reports.
type Cell = (CellKey, String, Vec<Report>);

impl<'s> Query<'s> {
    fn topology(&self) -> &'s Topology {
        self.network.topology()
    }

    pub(super) fn reports(&self, thing: &Thing) -> Result<Vec<Report>, Diagnostic> {
        let named = match thing {
            Thing::HttpRequest(request) => return self.request(request),
            Thing::Object(named) => named,
            _ => return Ok(Vec::new()),
        };
        let snapshot = self.network.snapshot;
        if let Some(unread) = self.unread {
            return Ok(self.unread(unread));
        }
        let (object, section) = find(snapshot, &named.written)?;
        let kind = self.network.object(object).map_or("", |object| snapshot.text(object.kind));
        self.rest_on(object);
        match kind {
            "HTTPRoute" | "GRPCRoute" => self.route(object, section),
            "TCPRoute" | "TLSRoute" | "UDPRoute" => self.stream(object, section),
            "Gateway" | "ListenerSet" | "XListenerSet" => self.gateway(object, section),
            _ => self.backend(object, section),
        }
    }

    /// What policies say about something that was not read.
    fn unread(&self, Unread { object, section }: &'s Unread) -> Vec<Report> {
        let text = |symbol| self.network.snapshot.text(symbol);
        let what = format!("{} {}/{}", text(object.kind), text(object.scope), text(object.name));
        let title = section.as_ref().map_or_else(|| what.clone(), |section| format!("{what} {section}"));
        let kinds = self.kinds(&[ROUTE, HOST, GATEWAY, LISTENER, BACKEND]).into_iter();
        let reports = kinds.map(|kind| {
            let mut report = report_at(&self.network.unread(kind, object, section.as_deref()), &title);
            report.notes.push(Remark::TargetNotRead { what: what.clone() }.into());
            report
        });
        speaking(reports.collect())
    }

    /// The answer rests on the document of an object.
    fn rest_on(&self, object: ObjectId) {
        self.be_about(object);
        self.rests_on.borrow_mut().documents.extend(self.network.object(object).map(|object| object.at));
    }

    /// What is odd about an object belongs to the answer.
    fn be_about(&self, object: ObjectId) {
        self.rests_on.borrow_mut().objects.insert(object);
    }

    /// The kinds to ask: the one that was named, or all that have policies and can be attached to one of some scopes.
    fn kinds(&self, scopes: &[u8]) -> Vec<GatewayKind<'s>> {
        if let Some(kind) = self.kind {
            return vec![kind];
        }
        let reaches =
            |kind: &GatewayKind<'_>| kind.policies.kind().places.iter().any(|place| scopes.contains(&place.scope));
        // What rules say themselves is reported with policies that are about the same things.
        let has_own_words = |kind: GatewayKind<'_>| {
            let system = self.network.system(kind).filter(|_| self.network.has_own_words(kind));
            system.is_some_and(|system| self.network.is_meant(system))
        };
        let speaks = |kind: &GatewayKind<'_>| !kind.policies.is_empty() || has_own_words(*kind);
        let speaking: Vec<GatewayKind<'s>> =
            self.network.kinds().filter(|kind| reaches(kind) && speaks(kind)).collect();
        if speaking.is_empty() { self.network.kinds().filter(reaches).collect() } else { speaking }
    }

    /// All kinds at one place of a way.
    fn at(&self, spot: Spot<'s, '_>) -> Vec<Report> {
        let kinds = self.kinds(&WAY_SCOPES).into_iter();
        speaking(kinds.flat_map(|kind| self.way_and_backends(kind, spot)).collect())
    }

    /// Every rule of a route, or one, and what it delegates to; ways with the same answer stand together, and are asked once.
    fn route(&self, route: ObjectId, section: Option<&str>) -> Result<Vec<Report>, Diagnostic> {
        let rule = section.map(|section| self.rule_of(route, section)).transpose()?;
        let is_asked = |way: &Way| {
            way.chain.iter().any(|step| step.route == route && rule.is_none_or(|number| number == step.rule))
        };
        let found = self.topology().ways_through(route).filter(|(place, way)| is_asked(way) && self.is_open(*place));
        let found: Vec<(Place, &Way)> = found.collect();
        let places: Vec<Place> = found.iter().map(|(place, _)| *place).collect();
        let served = found.into_iter().filter_map(|(place, way)| Some(Spot { served: Some(self.host(place)?), way }));
        let assumed = if places.is_empty() { self.network.assumed_ways(route) } else { Vec::new() };
        let assumed = assumed.iter().filter(|way| is_asked(way)).map(|way| Spot { served: None, way });
        let mut spots: Vec<Spot<'s, '_>> = served.chain(assumed).collect();
        if spots.is_empty() {
            return Err(self.unreached(route, section));
        }
        // What it answers itself comes before what others answer for it.
        spots.sort_by_key(|spot| spot.way.chain.last().is_none_or(|step| step.route != route));
        let mut reports = self.together_at(&spots);
        reports.extend(self.beyond(&places));
        for report in &mut reports {
            self.tell_parents(route, report);
        }
        Ok(reports)
    }

    /// The number of a rule, by its name or number.
    fn rule_of(&self, route: ObjectId, section: &str) -> Result<usize, Diagnostic> {
        let rules = self.topology().facts(route).map_or(&[][..], |facts| &facts.rules);
        let named = rules.iter().position(|rule| rule.name.as_deref() == Some(section));
        let number = section.strip_prefix("rule").unwrap_or(section).trim_start_matches([' ', '-', '_']);
        let numbered = number.parse().ok().filter(|number| *number < rules.len());
        named.or(numbered).ok_or_else(|| {
            let title = |(number, rule): (usize, &RuleFacts)| {
                rule.name.as_ref().map_or_else(|| number.to_string(), ToString::to_string)
            };
            let known: Vec<String> = rules.iter().enumerate().map(title).collect();
            let message = format!("{} has no rule `{section}`", self.network.title(route));
            let near = nearest(section, known.iter().map(String::as_str)).map(|near| format!("#{near}"));
            let diagnostic = Diagnostic::error(Fault::NotFound, message);
            diagnostic.suggest_or(near, || format!("rules: {}", known.join(", ")))
        })
    }

    /// All kinds at some places of ways: those with the same answer stand together.
    fn together_at(&self, spots: &[Spot<'s, '_>]) -> Vec<Report> {
        let kinds = self.kinds(&WAY_SCOPES);
        let mut cells: Vec<Vec<Cell>> = kinds.iter().map(|_| Vec::new()).collect();
        for spot in spots {
            for (kind, cells) in kinds.iter().zip(&mut cells) {
                self.sort_way(*kind, *spot, cells);
            }
        }
        let reports = cells.into_iter().flatten().flat_map(|(_, _, reports)| reports);
        speaking(reports.fold(Vec::new(), together_by_target))
    }

    /// What holds at the ports and backends of some ways: policies of other kinds than those for traffic, as far as there are any
    /// and no kind was named.
    fn beyond(&self, places: &[Place]) -> Vec<Report> {
        if self.kind.is_some() {
            return Vec::new();
        }
        let on_ways = self.kinds(&WAY_SCOPES);
        let only_at = |scope: u8| {
            let mut kinds = self.kinds(&[scope]);
            kinds.retain(|kind| on_ways.iter().all(|known| known.kind.name != kind.kind.name));
            kinds
        };
        let (at_ports, at_backends) = (only_at(LISTENER), only_at(BACKEND));
        let (mut gateways, mut backends): (Vec<&Gateway>, Vec<(ObjectId, Option<String>)>) = (Vec::new(), Vec::new());
        for place in places {
            let gateway = self.topology().gateways.get(place.gateway);
            gateways.extend(gateway.filter(|one| gateways.iter().all(|known| known.object != one.object)));
            let step = self.topology().way(*place).and_then(|way| way.chain.last());
            let named = step.map(|step| graph::backends(self.network.snapshot, step.route, step.rule));
            for led in named.into_iter().flatten() {
                let Some(object) = led.object else { continue };
                self.be_about(object);
                let port = led.port.and_then(|port| self.port_name(object, &port.to_string()));
                if !backends.contains(&(object, port.clone())) {
                    backends.push((object, port));
                }
            }
        }
        let at_port = |(gateway, kind): (&&'s Gateway, &GatewayKind<'s>)| {
            report_at(&self.network.under(*kind).port(gateway), &self.network.title(gateway.object))
        };
        let at_backend = |((backend, port), kind): (&(ObjectId, Option<String>), &GatewayKind<'s>)| {
            let asked = self.network.backend(*kind, *backend, port.as_deref());
            report_at(&asked, &self.backend_title(*backend, port.as_deref()))
        };
        let pairs = gateways.iter().flat_map(|gateway| at_ports.iter().map(move |kind| (gateway, kind)));
        let mut reports: Vec<Report> = pairs.map(at_port).collect();
        let pairs = backends.iter().flat_map(|backend| at_backends.iter().map(move |kind| (backend, kind)));
        reports.extend(pairs.map(at_backend));
        reports.retain(|report| !report.policies.is_empty() || report.verdict == Verdict::Error);
        together(reports)
    }

    /// Puts a way to those with the same answer.
    fn sort_way(&self, kind: GatewayKind<'s>, spot: Spot<'s, '_>, cells: &mut Vec<Cell>) {
        let (key, title) = (self.asked(kind, spot).cell(), self.rule_title(spot.way));
        match cells.iter_mut().find(|(known, target, _)| *known == key && *target == title) {
            Some((_, _, reports)) => {
                let text = self.way_text(spot);
                for report in reports {
                    report.about.holds_for.push(text.clone());
                }
            }
            None => cells.push((key, title, self.way_and_backends(kind, spot))),
        }
    }

    fn host(&self, place: Place) -> Option<(&'s Gateway, &'s Host)> {
        let gateway = self.topology().gateways.get(place.gateway)?;
        Some((gateway, gateway.hosts.get(place.host)?))
    }

    /// Why no request reaches a route.
    fn unreached(&self, route: ObjectId, section: Option<&str>) -> Diagnostic {
        let rule = section.map(|section| format!(" rule {section}")).unwrap_or_default();
        let message = format!("no request is answered by {}{rule}", self.network.title(route));
        let mut diagnostic = Diagnostic::error(Fault::NotFound, message);
        for told in self.taken_by_others(route) {
            diagnostic = diagnostic.help(told);
        }
        let report = self.topology().report(self.network.snapshot, route);
        let parents = report.into_iter().flat_map(|report| report.parents);
        for condition in parents.flat_map(|parent| parent.conditions) {
            if !condition.status {
                let words = format!("{}=False/{}: {}", condition.name, condition.reason, condition.message);
                diagnostic = diagnostic.help(words);
            }
        }
        diagnostic.help("`upheld graph` draws what leads where")
    }

    fn asked(&self, kind: GatewayKind<'s>, Spot { served, way }: Spot<'s, '_>) -> Asked<'s> {
        let gateway = served.map(|(gateway, _)| gateway.object);
        for object in gateway.into_iter().chain(way.chain.iter().map(|step| step.route)) {
            self.rest_on(object);
        }
        if let Some((gateway, host)) = served {
            gateway.listeners.get(host.listener).into_iter().for_each(|listener| self.be_about(listener.owner));
        }
        let asked = match served {
            Some((gateway, host)) => self.network.way(kind, gateway, host, way),
            None => self.network.alone(kind, way),
        };
        asked.in_effect()
    }

    /// What holds on a way, and beside it at references to backends that say something else.
    fn way_and_backends(&self, kind: GatewayKind<'s>, spot: Spot<'s, '_>) -> Vec<Report> {
        let (text, title) = (self.way_text(spot), self.rule_title(spot.way));
        let mut reports = vec![holding_for(self.way(kind, spot, &title), text.clone())];
        let Some(step) = spot.way.chain.last().filter(|_| forwards(&spot.way.outcome)) else { return reports };
        let rule = self.topology().facts(step.route).and_then(|facts| facts.rules.get(step.rule));
        let named = graph::backends(self.network.snapshot, step.route, step.rule);
        for number in 0..rule.map_or(0, |rule| rule.backends.len()) {
            let asked = self.asked(kind, spot).backend_reference(step, number);
            if asked.cell() != self.asked(kind, spot).cell() {
                let backend = named.get(number).map_or("", |led| led.id.as_str());
                let report = report_at(&asked, &format!("{title} to {backend}"));
                reports.push(holding_for(report, text.clone()));
            }
        }
        reports
    }

    fn way(&self, kind: GatewayKind<'s>, spot: Spot<'s, '_>, target: &str) -> Report {
        let asked = self.asked(kind, spot);
        let ruling = asked.ruling();
        let mut report = report_of(&asked, &ruling, target);
        let replaced = matches!(spot.way.outcome, Outcome::Replaced(_));
        let elsewhere = self.elsewhere(kind, &ruling.answer, |other| self.asked_as(other, spot));
        for (edition, fields) in elsewhere.into_iter().filter(|_| !replaced) {
            let fields = each_once(fields.iter().map(|field| Places::field(&asked, field)));
            report.notes.push(Remark::OtherEdition { edition: edition.to_owned(), fields }.into());
        }
        self.tell(kind, spot, report)
    }

    /// What holds on a way in another edition.
    fn asked_as(&self, kind: GatewayKind<'_>, Spot { served, way }: Spot<'s, '_>) -> Effective {
        match served {
            Some((gateway, host)) => self.network.way(kind, gateway, host, way).in_effect().effective(),
            None => self.network.alone(kind, way).in_effect().effective(),
        }
    }

    /// The fields that come to something else in other editions of a kind.
    fn elsewhere(
        &self,
        kind: GatewayKind<'s>,
        mine: &Effective,
        ask: impl Fn(GatewayKind<'_>) -> Effective,
    ) -> Vec<(&'s str, Vec<String>)> {
        let mut found = Vec::new();
        for other in &self.network.gateways.other_editions {
            let Some(choices) = other.hierarchy() else { continue };
            if other.governs != kind.kind.governs || choices.group != kind.policies.kind().group {
                continue;
            }
            let policies = kind.policies.under(Arc::clone(choices));
            let fields = differing(mine, &ask(GatewayKind { kind: other, policies: &policies }));
            if let (Some(edition), false) = (other.semantics, fields.is_empty()) {
                found.push((self.network.snapshot.text(edition), fields));
            }
        }
        found
    }

    fn rule_title(&self, way: &Way) -> String {
        way.chain.last().map_or_else(String::new, |step| self.step_title(step))
    }

    /// The route of a step, and the name or number of its rule.
    fn step_title(&self, step: &Step) -> String {
        let rule = self.topology().facts(step.route).and_then(|facts| facts.rules.get(step.rule));
        let name = rule.and_then(|rule| rule.name.as_ref()).map(ToString::to_string);
        let rule = name.unwrap_or_else(|| format!("rule {}", step.rule));
        format!("{} {rule}", self.network.title(step.route))
    }

    /// `infra/example-gateway:80 example.com PathPrefix /`, with the routes that delegate.
    fn way_text(&self, Spot { served, way }: Spot<'_, '_>) -> String {
        let part = |field: &str| {
            way.matching.get("path").and_then(|path| path.get(field)).and_then(|text| text.as_text()).unwrap_or("")
        };
        let mut text = match served {
            Some((gateway, host)) => {
                let title = self.network.title(gateway.object);
                let gateway_name = title.split_once(' ').map_or(title.as_str(), |(_, name)| name);
                let port = gateway.listeners.get(host.listener).map_or(0, |listener| listener.port);
                format!("{gateway_name}:{port} {} {} {}", host.name, part("type"), part("value"))
            }
            None => format!("{} {}", part("type"), part("value")),
        };
        if let Some(method) = way.matching.get("method").and_then(|method| method.as_text()) {
            text.push_str(&format!(" {method}"));
        }
        for field in ["headers", "queryParams"] {
            for item in way.matching.get(field).map_or(&[][..], |list| list.items()) {
                let word = |name: &str| item.get(name).and_then(|text| text.as_text()).unwrap_or("");
                text.push_str(&format!(" {}={}", word("name"), word("value")));
            }
        }
        if way.chain.len() > 1 {
            let chain: Vec<String> = way.chain.iter().map(|step| self.network.title(step.route)).collect();
            text.push_str(&format!(" through {}", chain.join(" → ")));
        }
        text
    }
}

/// The scopes that requests on a way meet.
const WAY_SCOPES: [u8; 3] = [ROUTE, HOST, GATEWAY];

fn is(network: Network<'_>, kind: GatewayKind<'_>, policy: PolicyType) -> bool {
    network.snapshot.text(kind.policies.kind().reads) == policy.reader()
}

fn is_traffic(network: Network<'_>, kind: GatewayKind<'_>) -> bool {
    is(network, kind, PolicyType::Traffic)
}

/// Whether requests are passed on to backends.
fn forwards(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Forward | Outcome::Unserved(_))
}

/// Fields that have another value or another origin.
fn differing(mine: &Effective, theirs: &Effective) -> Vec<String> {
    let origins = |answer: &Effective, field: &Field| -> Vec<_> {
        field.by.iter().filter_map(|place| answer.order.get(*place)).map(|member| member.entry).collect()
    };
    let missing = |these: &Effective, those: &Effective| -> Vec<String> {
        let same = |one: &Field, other: &Field| {
            (&one.name, &one.part, &one.value) == (&other.name, &other.part, &other.value)
                && origins(these, one) == origins(those, other)
        };
        let missing = these.fields.iter().filter(|one| !those.fields.iter().any(|other| same(one, other)));
        missing.map(Field::title).collect()
    };
    let mut names = missing(mine, theirs);
    names.extend(missing(theirs, mine));
    names.sort();
    names.dedup();
    names
}

/// Those that say something; if none does, one is enough to say so.
fn speaking(mut reports: Vec<Report>) -> Vec<Report> {
    let speaks = |report: &Report| {
        !report.fields.is_empty() || report.verdict == Verdict::Error || !report.candidates.is_empty()
    };
    if reports.iter().any(speaks) {
        reports.retain(speaks);
        return reports;
    }
    let kinds = each_once(reports.iter().map(|report| report.kind.clone()));
    reports.truncate(1);
    for report in reports.iter_mut().filter(|_| kinds.len() > 1) {
        let (about, kinds) = (report.about.what.clone(), kinds.clone());
        report.headline = Sentence::NoPolicy { kinds, about, fields: 0 }.into();
    }
    reports
}

fn holding_for(mut report: Report, way: String) -> Report {
    report.about.holds_for.push(way);
    report
}

/// Whether two reports say the same of what they are about.
fn agree(one: &Report, other: &Report) -> bool {
    one.kind == other.kind && one.fields == other.fields && one.verdict == other.verdict && one.notes == other.notes
}

/// Ways with the same answer stand together.
fn together_by_target(mut kept: Vec<Report>, report: Report) -> Vec<Report> {
    match kept.iter_mut().find(|known| known.about.what == report.about.what && agree(known, &report)) {
        Some(known) => known.about.holds_for.extend(report.about.holds_for),
        None => kept.push(report),
    }
    kept
}

/// Places with the same answer stand together.
fn together(reports: Vec<Report>) -> Vec<Report> {
    let mut kept: Vec<Report> = Vec::new();
    for report in reports {
        match kept.iter_mut().find(|known| agree(known, &report)) {
            Some(known) => known.about.holds_for.push(format!("the same for {}", report.about.what)),
            None => kept.push(report),
        }
    }
    kept
}
